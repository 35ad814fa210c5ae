"""Pictures of formats: what they show is what the simulation says."""

from unittest import mock

import numpy as np
import pytest

from sim import scheduler, specs, workload
from sim.cost.formats import StoredModel
from sim.engine import Setup
from sim.specs import GIB
from ui import charts, theme
from ui.results import runs
from ui.subjects.quantization import formats as pictures
from ui.words import language

MODEL, GPU = specs.MODELS["Llama-3.1-8B"], specs.GPUS["RTX 4090"]
FORMATS = [StoredModel(MODEL, GPU, name) for name in ("fp8", "int8", "int4")]


@pytest.fixture(params=["zh", "en"], autouse=True)
def reader(request):
    with mock.patch.object(language, "current", return_value=request.param):
        yield request.param


def spans(figure, row):
    """State -> (start, end) in one row."""
    found = {}
    for trace in figure.data:
        for y, start, size in zip(trace.y, trace.base, trace.x, strict=True):
            if y == row:
                found[trace.name] = (start, start + size)
    return found


def test_a_bar_is_the_memory_of_the_gpu_in_four_parts_without_gaps():
    one = StoredModel(MODEL, GPU, "int4")
    figure = pictures.divided({"int4": one}, one)
    parts = sorted(spans(figure, 0).values())
    assert [start for start, _ in parts] == pytest.approx([0, *(end for _, end in parts[:-1])])
    assert parts[0][1] == pytest.approx(one.model.memory_bytes / GIB)
    assert parts[-1][1] == pytest.approx(GPU.memory_bytes / GIB)
    words = [each.text for each in figure.layout.annotations]
    assert any(text.startswith(f"{one.pool_tokens:,}") for text in words)


def test_the_chosen_format_and_those_of_its_size_are_bold():
    rows = {"bf16": StoredModel(MODEL, GPU), "8 bit": StoredModel(MODEL, GPU, "fp8")}
    figure = pictures.divided(rows, StoredModel(MODEL, GPU, "int8"))
    assert list(figure.layout.yaxis.ticktext) == ["bf16", "<b>8 bit</b>"]


def test_weights_that_do_not_fit_go_beyond_the_gpu_and_have_no_pool():
    large = StoredModel(specs.MODELS["Qwen3-14B"], GPU)
    figure = pictures.divided({"bf16": large}, large)
    ((_, end),) = spans(figure, 0).values()
    assert end > GPU.memory_bytes / GIB
    assert figure.layout.xaxis.range[1] > end


def test_a_curve_ends_where_kv_is_full_and_its_mark_lies_on_it():
    figure = pictures.decode_gains(FORMATS, 64, 512, 1_024)
    level, *curves = figure.data[:4]
    assert set(level.y) == {1.0}
    for one, curve in zip(FORMATS, curves, strict=True):
        assert curve.x[-1] == min(512, one.num_requests(1_024))
        gains = [one.decode_gain(batch, 1_024) for batch in curve.x]
        assert curve.y == pytest.approx(gains)
    marks = figure.data[4:]
    for one, mark in zip(FORMATS, marks, strict=True):
        assert (mark.x[0], mark.y[0]) == (64, one.decode_gain(64, 1_024))


def test_a_batch_that_does_not_fit_has_no_mark():
    figure = pictures.decode_gains(FORMATS, 512, 512, 1_024)
    assert len(figure.data) == 4


@pytest.mark.parametrize("large", [False, True])
def test_every_gain_that_can_be_reached_stays_within_the_axis(large):
    for name in ("RTX 4090", "A100 80G SXM", "H100 SXM"):
        formats = [StoredModel(MODEL, specs.GPUS[name], one.weights) for one in FORMATS]
        figure = pictures.decode_gains(formats, 1, 512, 128, large=large)
        low, high = figure.layout.yaxis.range
        for curve in figure.data[:4]:
            assert low < min(curve.y)
            assert max(curve.y) < high


def test_a_format_looks_the_same_in_every_picture():
    bars = pictures.prefills(FORMATS, 2_048)
    gains = pictures.decode_gains(FORMATS, 1, 512, 128)
    colours = [trace.line.color for trace in gains.data[1:4]]
    assert list(bars.data[0].marker.color) == colours
    assert len({trace.line.dash for trace in gains.data[:4]}) >= 3  # never by colour alone
    assert set(colours) <= set(theme.SERIES)


def test_servers_are_compared_by_their_own_runs():
    requests = workload.of_lengths([20] * 6, 50)
    servers = {
        name: Setup(requests, scheduler.Chunked(8), one.pool(), one.clock)
        for name, one in (("before", StoredModel(MODEL, GPU)), ("after", FORMATS[2]))
    }
    bars = pictures.throughputs(servers)
    assert list(bars.data[0].x) == [
        runs.summary(setup).output_tokens_per_second for setup in servers.values()
    ]
    curves = pictures.crowds(servers)
    peaks = [float(np.max(trace.y)) for trace in curves.data]
    assert peaks == [6, 6, 0, 0]  # running, running, waiting, waiting
    assert charts.colour(5) in curves.layout.annotations[0].text
