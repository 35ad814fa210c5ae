"""The timeline: what it accepts and sends, and the timelines that are made from a run."""

import base64
import dataclasses
from itertools import pairwise

import numpy as np
import pytest

from sim import metrics, scheduler, workload
from sim.cost import SimpleClock
from sim.engine import Setup
from sim.kv import Paged
from sim.request import Request
from ui import player
from ui.player.painters.timeline import QUANTA, LaneSpan, Timeline
from ui.results import runs
from ui.subjects.batching import frames
from ui.words import language

CLOCK = SimpleClock(prefill_tokens_per_second=20_000, decode_seconds_per_step=1 / 64)


@pytest.fixture(autouse=True)
def _english(monkeypatch):
    monkeypatch.setattr(language, "current", lambda: "en")


def timeline(**changes):
    """Two lanes over 10 ms, three moments."""
    whole = Timeline(
        lanes=("CPU", "GPU"),
        spans=(
            LaneSpan(1, 0.002, 0.006, "kernel", "a"),
            LaneSpan(0, 0.004, 0.008, "launch", "b"),
            LaneSpan(0, 0.0, 0.002, "launch", "a", owner="A"),
        ),
        at=(0.002, 0.005, 0.01),
        notes=("one", "two", "three"),
        events=((), ("done",), ()),
        alt="two lanes",
    )
    return dataclasses.replace(whole, **changes)


def numbers(text, kind):
    return np.frombuffer(base64.b64decode(text), kind).tolist()


def test_spans_travel_lane_by_lane_in_the_order_of_their_starts():
    payload = player.encode(timeline())
    picture, texts = payload["picture"], payload["texts"]
    assert numbers(picture["lanes"], "<u2") == [0, 0, 1]
    assert numbers(picture["kinds"], "u1") == [0, 0, 1]
    assert [state["name"] for state in payload["states"]] == ["launch", "kernel"]
    starts = np.array(numbers(picture["starts"], "<u4")) / QUANTA * picture["end"]
    assert starts == pytest.approx([0, 0.004, 0.002], abs=1e-11)
    said = [texts["labels"][index] for index in numbers(texts["said"], "<u2")]
    assert said == ["a", "b", "a"]
    assert [picture["owners"][index] for index in numbers(picture["whose"], "<u2")] == ["A", "", ""]


def test_the_axis_ends_with_the_last_span_or_moment():
    assert timeline().end == 0.01
    assert timeline(spans=(LaneSpan(0, 0, 0.3, "idle"),)).end == 0.3


def test_other_words_are_the_same_timeline_and_other_times_are_not():
    def identity(shown):
        return player.encode(shown)["id"]

    words = timeline(lanes=("处理器", "显卡"), notes=("一", "二", "三"), title="另一个")
    assert identity(timeline()) == identity(words)
    assert identity(timeline()) != identity(timeline(at=(0.001, 0.005, 0.01)))


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (timeline(lanes=()), "at least one lane"),
        (timeline(lanes=("CPU",)), "outside the 1 lanes"),
        (timeline(at=(0.002, 0.002, 0.01)), "not in order"),
        (timeline(at=(-1.0, 0.002, 0.01)), "from 0 on"),
        (timeline(at=(), notes=(), events=()), "at least one step"),
        (timeline(notes=("one",)), "notes has 1 entries"),
        (timeline(spans=(LaneSpan(0, 0, 1, "sleeping"),)), "'sleeping'"),
        (timeline(spans=(LaneSpan(0, 0.2, 0.1, "launch"),)), "ends before it starts"),
        (timeline(spans=(LaneSpan(0, 0, float("inf"), "launch"),)), "not seconds"),
    ],
)
def test_timelines_that_contradict_themselves_are_refused_with_the_place(wrong, says):
    with pytest.raises(player.FramesError, match=says):
        player.check(wrong)


def busy(num_lanes, num_steps, note="step {}"):
    at = np.arange(1, num_steps + 1) / 100
    return timeline(
        lanes=tuple(f"lane {lane}" for lane in range(num_lanes)),
        spans=tuple(
            LaneSpan(lane, float(end) - 0.01, float(end), "decode", str(number % 7))
            for lane in range(num_lanes)
            for number, end in enumerate(at)
        ),
        at=tuple(at.tolist()),
        notes=tuple(note.format(number) for number in range(num_steps)),
        events=tuple(("done",) if number == 5 else () for number in range(num_steps)),
    )


def test_40_lanes_with_200_steps_are_sent_whole():
    payload = player.encode(busy(40, 200))
    assert payload["at"] is None
    assert player.weight(payload) < player.MAX_BYTES


def test_a_heavy_timeline_is_thinned_and_neither_time_nor_events_are_lost():
    heavy = busy(10, 3000, note="a sentence long enough to weigh something, number {}")
    payload = player.encode(heavy)
    assert player.weight(payload) <= player.MAX_BYTES
    assert {0, 5, 2999} <= set(payload["at"])
    assert payload["events"] == [payload["at"].index(5)]
    picture = payload["picture"]
    lengths = np.array(numbers(picture["ends"], "<u4"), float) - numbers(picture["starts"], "<u4")
    assert lengths.sum() / QUANTA * picture["end"] == pytest.approx(10 * 30.0)


def test_thinning_joins_only_spans_that_are_alike_and_touch():
    spans = (
        LaneSpan(0, 0.0, 0.1, "decode", "8"),
        LaneSpan(0, 0.1, 0.2, "decode", "8"),
        LaneSpan(0, 0.2, 0.3, "mixed", "8 + 1"),
        LaneSpan(0, 0.4, 0.5, "mixed", "8 + 1"),
        LaneSpan(0, 0.5, 0.6, "mixed", "4 + 1"),
    )
    at = (0.1, 0.2, 0.3, 0.5, 0.6)
    whole = timeline(lanes=("engine",), spans=spans, at=at, notes=("",) * 5, events=((),) * 5)
    thin = whole.take(np.array([1, 4]))
    assert thin.at == (0.2, 0.6)
    assert thin.spans == (
        LaneSpan(0, 0.0, 0.2, "decode", "8"),
        LaneSpan(0, 0.2, 0.3, "mixed", "8 + 1"),
        LaneSpan(0, 0.4, 0.6, "mixed", ""),
    )


# -- from a run ---------------------------------------------------------------------------------


def setup(policy=None, outputs=(4, 9, 3), prompts=(600, 40, 900)):
    requests = workload.of_lengths(outputs, prompts)
    return Setup(requests, policy or scheduler.Continuous(2), Paged(4096), CLOCK)


def test_each_request_has_a_lane_from_its_arrival_to_its_last_token():
    shown = frames.request_timeline(setup(), "requests")
    player.check(shown)
    assert shown.lanes == ("A", "B", "C")
    for lane, record in enumerate(runs.run(setup()).records):
        spans = [span for span in shown.spans if span.lane == lane]
        assert sum(s.end - s.start for s in spans) == pytest.approx(metrics.e2e(record))
        assert all(one.end == two.start for one, two in pairwise(spans))
    assert [span.kind for span in shown.spans if span.lane == 2] == ["queue", "prefill", "decode"]


def test_there_is_a_frame_with_a_note_for_each_engine_step():
    shown = frames.request_timeline(setup(), "requests")
    steps = runs.steps(setup())
    assert shown.at == tuple(step.end_seconds for step in steps)
    assert shown.notes[0] == "A and B join together and are prefilled."
    assert shown.events[0] == ("admitted", "first_token")


def test_a_step_says_what_it_carries():
    chunked = scheduler.Chunked(max_num_seqs=2, max_num_batched_tokens=512)
    shown = frames.step_timeline({"chunked": setup(chunked)}, "steps")
    player.check(shown)
    labels = {(span.kind, span.label) for span in shown.spans}
    assert ("prefill", "512") in labels
    assert ("decode", "2") in labels
    mixed = [span.label for span in shown.spans if span.kind == "mixed"]
    assert "511 + 1" in mixed
    assert shown.notes[0] == "A joins the batch."


def test_several_setups_stop_at_the_steps_of_each_and_say_whose_it_was():
    slow = setup(outputs=(2, 2), prompts=(1000, 1000))
    fast = setup(outputs=(3,), prompts=(100,))
    shown = frames.step_timeline({"slow": slow, "fast": fast}, "steps")
    player.check(shown)
    ends = {step.end_seconds for each in (slow, fast) for step in runs.steps(each)}
    assert shown.at == tuple(sorted(ends))
    assert shown.notes[0].startswith("fast: ")
    assert [span.lane for span in shown.spans].count(1) == 3


# -- requests that share steps -------------------------------------------------------------------

CHATS_AND_A_DOCUMENT = (
    *workload.of_lengths((30, 30), 8),
    Request(2, 0.05, 3_000, 2),
)


def shared(budget):
    policy = scheduler.Chunked(16, budget, chunked_prefill=budget < 3_000)
    setup = Setup(CHATS_AND_A_DOCUMENT, policy, Paged(4_096), CLOCK)
    return frames.shared_steps(setup, "three requests"), runs.steps(setup)


def spans_of(shown, lane, kind):
    return [span for span in shown.spans if (span.lane, span.kind) == (lane, kind)]


@pytest.mark.parametrize("budget", [512, 4_096])
def test_every_step_of_a_request_is_a_span_and_so_is_its_wait_for_a_prefill(budget):
    shown, steps = shared(budget)
    player.check(shown)
    assert shown.lanes == ("A", "B", "C", "step")
    for lane in range(3):
        worked = [step for step in steps if lane in {work.request_id for work in step.work}]
        mine = [*spans_of(shown, lane, "prefill"), *spans_of(shown, lane, "decode")]
        assert sorted(span.start for span in mine) == [step.start_seconds for step in worked]
    for span in spans_of(shown, 0, "stalled"):
        (step,) = [step for step in steps if step.end_seconds == span.end]
        assert span.start == step.start_seconds + 1 / 64  # a decode alone takes one tick
        assert any(work.is_prefill for work in step.work)


def test_whole_it_waits_once_and_long_in_chunks_often_and_briefly():
    (whole, _), (chunked, _) = shared(4_096), shared(512)
    (wait,) = spans_of(whole, 0, "stalled")
    waits = spans_of(chunked, 0, "stalled")
    assert len(waits) == 6
    assert max(span.end - span.start for span in waits) < (wait.end - wait.start) / 5
    assert wait.label == "134 ms"


def test_the_lane_of_steps_adds_up_decode_and_prefill():
    shown, _ = shared(512)
    labels = [span.label for span in shown.spans if span.lane == 3]
    assert labels[:2] == ["16", "2"]
    assert labels.count("512 = 2 + 510") == 5
    assert "452 = 2 + 450" in labels


def test_the_document_queues_until_the_step_in_progress_is_over():
    shown, steps = shared(512)
    (waited,) = spans_of(shown, 2, "queue")
    assert waited.start == 0.05
    assert waited.end in {step.start_seconds for step in steps}
