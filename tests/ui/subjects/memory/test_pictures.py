"""Pictures of KV memory: every bar ends where its bytes end, in either language."""

from unittest import mock

import numpy as np
import pytest

from sim import engine, specs, workload
from sim.cost import SimpleClock
from sim.kv import Paged, sizes
from sim.scheduler import Chunked
from sim.specs import GIB
from sim.views.growth import growth
from ui import player, theme
from ui.subjects.memory import growth_pictures, memory_notes, pictures
from ui.words import language

OLD, NEW = specs.MODELS["Llama-2-7B"], specs.MODELS["Llama-3.1-8B"]
SMALL = sizes.Division(OLD, specs.GPUS["RTX 4090"])
CLOCK = SimpleClock.of_milliseconds(20_000, 10)
REQUESTS = workload.of_lengths((6, 3), (20, 40))


@pytest.fixture(params=["zh", "en"], autouse=True)
def reader(request):
    with mock.patch.object(language, "current", return_value=request.param):
        yield request.param


STATES = {word: key for key, one in theme.MEANINGS.items() for word in (one.zh, one.en)}


def spans(figure):
    """(row, start, end) of every bar, by its state."""
    return {
        STATES[trace.name]: [
            (row, start, start + length)
            for row, start, length in zip(trace.y, trace.base, trace.x, strict=True)
        ]
        for trace in figure.data
    }


def ran():
    steps = tuple(engine.steps(engine.Setup(REQUESTS, Chunked(4), Paged(64), CLOCK)))
    return steps, growth(steps, 16)


def test_the_bar_of_a_gpu_is_as_long_as_its_memory():
    figure = pictures.conversations(SMALL, 4_096, 3, 2)
    ends = [end for rows in spans(figure).values() for row, _, end in rows if row == 0]
    assert max(ends) == pytest.approx(SMALL.gpu.memory_bytes / GIB)


def test_each_conversation_is_a_piece_of_2_gib_but_for_the_seam_and_carries_its_number():
    figure = pictures.conversations(SMALL, 4_096, 3, 2)
    by_name = spans(figure)
    stored = by_name["stored"]
    queued = by_name["queue"]
    assert [row for row, _, _ in stored] == [0] * 3
    assert [row for row, _, _ in queued] == [1] * 2
    assert [end - start for _, start, end in stored + queued] == pytest.approx([2] * 5, abs=0.1)
    written = [note.text for note in figure.layout.annotations]
    assert [text for text in written if text in "12345"] == ["1", "2", "3", "4", "5"]


@pytest.mark.parametrize(("guess", "beyond"), [(2, False), (4.0, False), (30, True)])
def test_a_guess_stands_where_so_many_conversations_would_end(guess, beyond):
    figure = pictures.conversations(SMALL, 4_096, 0, 0, guess=guess)
    line, note = figure.layout.shapes[-1], figure.layout.annotations[-1]
    first = (OLD.memory_bytes + SMALL.overhead_bytes) / GIB
    end = SMALL.gpu.memory_bytes / GIB
    assert line.x0 == pytest.approx(end if beyond else first + 2 * guess)
    assert note.text.endswith("→") == beyond


def test_what_goes_beyond_the_pool_is_drawn_as_waiting():
    groups = {
        "A": sizes.RequestGroup(2, 4_096),
        "B": sizes.RequestGroup(2, 4_096),
    }  # 8 GiB for 7.45
    by_name = spans(pictures.shared_pool(SMALL, groups))
    ((row, start, end),) = by_name["queue"]
    assert row == 2
    assert end - start == pytest.approx(8 - SMALL.pool_bytes / GIB)


def test_every_group_begins_where_the_one_before_ended():
    groups = {"A": sizes.RequestGroup(1, 2_048), "B": sizes.RequestGroup(1, 4_096)}
    stored = spans(pictures.shared_pool(SMALL, groups))["stored"]
    (_, first, last), (_, a, a_end), (_, b, b_end) = sorted(stored)
    assert (first, a_end, last) == pytest.approx((a, b, b_end))
    assert (a_end - a, b_end - b) == pytest.approx((1, 2))


def test_the_level_of_the_weights_crosses_kv_at_the_break_even():
    division = sizes.Division(OLD, specs.GPUS["H100 SXM"])
    kv, weights = pictures.against_weights(division, 10_240).data[:2]
    slope = kv.y[-1] / kv.x[-1]
    assert weights.y[0] / slope == pytest.approx(division.break_even_tokens, abs=1)


@pytest.mark.parametrize(("model", "each"), [(OLD, 1), (NEW, 4)])
def test_a_line_leads_from_every_query_head_to_its_kv_head(model, each):
    lines, queries, keys = pictures.heads(model).data
    assert (len(queries.x), len(keys.x)) == (model.q_heads, model.kv_heads)
    below = [x for x, y in zip(lines.x, lines.y, strict=True) if y == 0]
    assert {below.count(x) for x in keys.x} == {each}


def test_the_layers_add_up_to_the_sum_of_active_tokens():
    _, grown = ran()
    _, *layers = growth_pictures.growth_curves(grown, OLD).data
    total = np.sum([layer.y for layer in layers], axis=0)
    assert total[:-1] == pytest.approx(grown.active_tokens / 2)  # half a MiB each
    assert total[-1] == total[-2]


def test_the_player_takes_the_frames_and_the_bottom_lane_is_the_sum():
    steps, grown = ran()
    frames = growth_pictures.growth_timeline(steps, grown, OLD, "alt")
    player.check(frames)
    sums = [span.label for span in frames.spans if span.lane == 2]
    assert sums == [str(total) for total in grown.active_tokens]
    assert frames.num_steps == len(steps)


def test_a_note_adds_up_and_says_what_is_given_back(reader):
    steps, grown = ran()
    said = [
        memory_notes.kept(step, column.tolist(), grown.request_ids, OLD.kv_bytes_per_token)
        for step, column in zip(steps, grown.tokens.T, strict=True)
    ]
    token = {"zh": "token", "en": "tokens"}[reader]
    assert said[0].startswith(f"A 20 + B 40 = 60 {token} · 30.0 MiB")
    assert (
        said[2]
        == {
            "zh": "A 22 + B 42 = 64 token · 32.0 MiB；B 写完，归还 42 个。",
            "en": "A 22 + B 42 = 64 tokens · 32.0 MiB; B done: gives back 42.",
        }[reader]
    )
    assert said[3].startswith(f"A 23 {token} · 11.5 MiB")


def test_nvidia_smi_is_level_and_kv_in_use_is_that_of_the_run():
    division = sizes.Division(NEW, specs.GPUS["RTX 4090"])
    setup = engine.Setup(REQUESTS, Chunked(4), Paged(division.num_blocks), CLOCK)
    run = engine.simulate(setup)
    smi, kv, running, waiting = growth_pictures.two_gauges(run, division).data
    assert set(smi.y) == {division.occupied_bytes / GIB}
    assert kv.y == pytest.approx(run.series.kv_usage * division.pool_bytes / GIB)
    assert (max(running.y), max(waiting.y)) == (2, 0)
