"""Pictures of prefill and decode: to scale, at the places that their numbers name."""

from unittest import mock

import numpy as np
import pytest

from sim import engine, specs, workload
from sim.cost import Roofline, phases
from sim.kv import Paged
from sim.scheduler import Chunked
from ui import player, theme
from ui.subjects.phases import pictures, roofline_pictures
from ui.words import language

MODEL = specs.MODELS["Llama-3.1-8B"]
CLOCK = Roofline(MODEL, specs.GPUS["H100 SXM"])
MARKS = ["square", "circle-open", "diamond", "triangle-up"]


@pytest.fixture(params=["zh", "en"], autouse=True)
def reader(request):
    with mock.patch.object(language, "current", return_value=request.param):
        yield request.param


@pytest.mark.parametrize("rows", [1, 64, 2_048])
def test_the_three_matrices_are_to_scale_and_fit_each_other(rows):
    figure = pictures.matrices(MODEL, rows, 2_048, "decode")
    sides = [(one.x1 - one.x0, one.y1 - one.y0) for one in figure.layout.shapes]
    assert sides == [(4_096, rows), (14_336, 4_096), (14_336, rows)]
    assert figure.layout.yaxis.scaleanchor == "x"
    low, high = figure.layout.yaxis.range
    assert all(low < one.y0 and one.y1 < high for one in figure.layout.shapes)
    rows_in, weights, out = figure.layout.shapes
    assert (out.y0, out.y1) == (rows_in.y0, rows_in.y1)
    assert (out.x0, out.x1) == (weights.x0, weights.x1)


@pytest.mark.parametrize("load", [phases.prefill(2_048), phases.decode(128, 2_048)])
def test_the_step_is_its_kernels_one_after_the_other_and_the_fixed_rest(load):
    kernels, fixed = CLOCK.kernels(load), CLOCK.used_efficiency.fixed_seconds
    figure = pictures.kernel_bar(kernels, fixed)
    spans: dict[int, list[tuple[float, float]]] = {}
    for trace in figure.data:
        for row, start, length in zip(trace.y, trace.base, trace.x, strict=True):
            spans.setdefault(row, []).append((start, start + length))
    step, moving, computing = (sorted(spans[row]) for row in range(3))
    assert [end for _, end in step[:-1]] == pytest.approx([start for start, _ in step[1:]])
    assert step[-1][1] == pytest.approx(CLOCK.step_time(load).seconds * 1000)
    starts = [start for start, _ in step[:-1]]
    for row in (moving, computing):
        assert [start for start, _ in row] == pytest.approx(starts)
    longer = [max(one[1], other[1]) for one, other in zip(moving, computing, strict=True)]
    assert longer == pytest.approx([end for _, end in step[:-1]])


@pytest.mark.parametrize("batch", [1, 64, 1_024])
def test_every_point_lies_on_the_roof(batch):
    figure = roofline_pictures.roofline(CLOCK, 512, batch, 256)
    points = [trace for trace in figure.data if "markers" in trace.mode]
    assert len(points) == 6
    for trace in points:
        for x, y in zip(trace.x, trace.y, strict=True):
            roof = min(x * CLOCK.bytes_per_second, CLOCK.flops_per_second) / 1e12
            assert y == pytest.approx(roof)


def test_the_trail_has_a_dot_for_every_smaller_batch():
    figure = roofline_pictures.roofline(CLOCK, 512, 64, 256)
    trail = [one for one in figure.data if one.mode == "markers" and one.showlegend is False]
    assert [len(one.x) for one in trail] == [6, 6]


def test_marks_that_may_meet_are_named_in_the_corner_and_not_beside_each_other():
    figure = roofline_pictures.roofline(CLOCK, 64, 64, 512)
    named = [trace for trace in figure.data if trace.showlegend is not False]
    assert [trace.marker.symbol for trace in named] == MARKS
    assert not any("text" in trace.mode for trace in figure.data)
    assert figure.layout.showlegend


def test_now_at_a_single_request_stays_clear_of_the_numbers_of_the_axis():
    batches = (1, 32, 1_024)
    places = [
        pictures.along_the_batch(CLOCK, batches, 128, batch, 5_000).data[-1].textposition
        for batch in batches
    ]
    assert places == ["top right", "top center", "top center"]


def test_where_kv_does_not_fit_the_batch_is_shaded():
    batches = (1, 32, 1_024)
    figure = pictures.along_the_batch(CLOCK, batches, 1_024, 32, fitting=446)
    (shade,) = figure.layout.shapes
    assert (shade.x0, shade.x1) == (446, 1_024)
    assert len(pictures.along_the_batch(CLOCK, batches, 64, 32, 5_000).layout.shapes) == 0


def test_the_point_of_now_is_the_longer_time():
    figure = pictures.along_the_batch(CLOCK, (1, 32, 1_024), 128, 1_024, 5_000)
    moving, computing, now = figure.data
    assert now.y[0] == max(moving.y[-1], computing.y[-1]) == computing.y[-1]


# -- step by step --------------------------------------------------------------------------------


def played(number=2, prompt=5, output=3):
    requests = workload.of_lengths([output] * number, prompt)
    setup = engine.Setup(requests, Chunked(8), Paged(64), CLOCK)
    return tuple(engine.steps(setup))


def test_a_frame_for_each_step_with_the_rows_and_contexts_of_the_run():
    frames = pictures.passes(played(), CLOCK, "alt")
    assert frames.num_steps == 3
    assert frames.requests == ("A", "B")
    assert frames.rows.tolist() == [[5, 1, 1]] * 2
    assert frames.context.tolist() == [[5, 6, 7]] * 2
    assert frames.prefill.tolist() == [[1, 0, 0]] * 2
    player.check(frames)


def test_the_note_of_a_step_counts_rows_and_kv(reader):
    first, second, last = pictures.passes(played(), CLOCK, "alt").notes
    assert "10" in first
    assert "A" in first
    assert "B" in first
    for number in ("2", "10"):  # rows; KV rows read
        assert number in second
    assert ("写完" if reader == "zh" else "done") in last


def test_thinned_frames_keep_rows_and_contexts_together():
    frames = pictures.passes(played(), CLOCK, "alt")
    two = frames.take(np.array([0, 2]))
    assert two.rows.tolist() == [[5, 1]] * 2
    assert two.context.tolist() == [[5, 7]] * 2
    assert two.num_steps == 2
    player.check(two)


def test_more_new_rows_than_tokens_are_refused():
    frames = pictures.passes(played(), CLOCK, "alt")
    broken = frames.rows.copy()
    broken[0, 0] = 6
    with pytest.raises(player.FramesError, match="more new rows"):
        player.check(frames.__class__(**{**vars(frames), "rows": broken}))
    with pytest.raises(player.FramesError, match="context has shape"):
        player.check(frames.__class__(**{**vars(frames), "context": broken[:, :2]}))


def test_the_states_of_the_picture_are_known():
    frames = pictures.passes(played(), CLOCK, "alt")
    assert set(frames.meanings()) <= set(theme.MEANINGS)
