"""Pictures of latency: what a run did is what they draw, in either language."""

import numpy as np
import pytest

from sim.cost import SimpleClock
from sim.engine import Record, Setup, simulate, steps
from sim.kv import Paged
from sim.metrics import itl, queue_time, summarize, ttft
from sim.request import Request
from sim.scheduler import Chunked
from sim.views import stations, streaming
from ui import charts, player, theme
from ui.subjects.latency import journeys, pictures

CLOCK = SimpleClock.of_milliseconds(20_000, 10)
HOST = stations.HostTimes()
WORDS = ("It", "is", "hot")


def setup(*requests: Request) -> Setup:
    return Setup(requests, Chunked(2), Paged(1024), CLOCK)


def journey() -> stations.Journey:
    asked = Request(1, 0.012, 400, len(WORDS))
    ran = steps(setup(Request(0, 0.0, 50, 30), stations.tokenized(asked, HOST)))
    return stations.journey(asked, ran, HOST)


def written(gaps_ms: list[float]) -> Record:
    at = np.cumsum([0, *gaps_ms]) / 1000
    return Record(Request(0, 0.0, 5, len(at)), 0.0, at, (), 0, rejected=False)


def named(figure) -> list[str]:
    """What is written beside the lines, from the top down."""
    notes = [note for note in figure.layout.annotations if note.xshift == 8]
    return [note.text for note in sorted(notes, key=lambda note: -note.y)]


def test_a_journey_can_be_played_and_each_lane_tells_one_thing():
    frames = journeys.journey_timeline(journey(), WORDS, "alt")
    player.check(frames)
    kinds = [{span.kind for span in frames.spans if span.lane == lane} for lane in range(5)]
    assert kinds == [
        {"tokenize", "detokenize"},
        {"queue"},
        {"prefill", "decode", "sample"},
        {"answer"},
        {"measured"},
    ]


def test_a_word_stands_on_the_screen_when_the_cursor_tells_of_it():
    way = journey()
    frames = journeys.journey_timeline(way, WORDS, "alt")
    words = [span for span in frames.spans if span.kind == "answer"]
    told = [at for at, note in zip(frames.at, frames.notes, strict=True) if "“" in note]
    assert [word.label for word in words] == list(WORDS)
    for word, at in zip(words, told, strict=True):
        assert word.start < at < word.end


def test_messages_can_be_played_and_the_last_one_is_seen():
    record = simulate(setup(Request(0, 0.0, 400, 12))).records[0]
    frames = journeys.message_timeline(record, streaming.stream(record, 5), "alt")
    player.check(frames)
    lower = [span for span in frames.spans if span.lane == 1]
    assert [span.label for span in lower] == ["+1", "+5", "+5", "+1"]
    assert frames.at[-1] == pytest.approx(lower[-1].end)


def test_each_bar_is_a_ttft_queue_below_prefill():
    run = simulate(setup(*(Request(index, 0.0, 200, 20) for index in range(5))))
    queue, prefill = pictures.ttft_split(run).data
    assert queue.y == pytest.approx([1000 * queue_time(record) for record in run.records])
    assert np.add(queue.y, prefill.y) == pytest.approx([1000 * ttft(r) for r in run.records])
    assert queue.marker.color == theme.MEANINGS["queue"].colour


def test_the_rate_in_use_is_marked_among_the_others_and_no_wait_still_has_a_place():
    alone = summarize(simulate(setup(Request(0, 0.0, 200, 2))))
    figure = pictures.ttft_by_rate({1: alone, 2: alone}, chosen=2)
    (line,) = figure.layout.shapes
    assert (line.x0, line.x1) == (2, 2)
    assert all(min(curve.y) > 0 for curve in figure.data)


def test_stalled_gaps_are_drawn_apart_and_levels_far_from_each_other_named_apart():
    record = written([10.0] * 49 + [500.0])
    stalled = itl(record) > 0.1
    figure = pictures.gaps(record, stalled)
    dots = [trace for trace in figure.data if trace.mode == "markers"]
    assert [(len(trace.y), trace.marker.symbol) for trace in dots] == [
        (49, "circle"),
        (1, "diamond"),
    ]
    assert [name.split(" ")[0].split("<br>")[0] for name in named(figure)] == [
        "最大",
        "p99",
        "平均",
        "p50",
    ]


def test_levels_that_fall_together_share_a_name_without_overlap():
    (together,) = named(pictures.gaps(written([10.0] * 50), np.zeros(50, dtype=bool)))
    assert together.count("<br>") == 3


def test_one_token_is_said_to_have_no_gap():
    figure = pictures.gaps(written([]), np.zeros(0, dtype=bool))
    assert any("TPOT" in note.text for note in figure.layout.annotations)
    assert len(figure.data) == 0


def test_tools_with_the_same_formula_have_the_same_colour():
    record = simulate(setup(Request(0, 0.0, 400, 11))).records[0]
    reported = streaming.reported(streaming.stream(record, 5))
    (bars,) = pictures.by_tool(reported).data
    by_formula: dict[object, set[str]] = {}
    for (one, value), length, colour in zip(reported, bars.x, bars.marker.color, strict=True):
        assert length == pytest.approx(1000 * value)
        by_formula.setdefault(one.of, set()).add(colour)
    assert [len(colours) for colours in by_formula.values()] == [1, 1, 1]
    assert len(set.union(*by_formula.values())) == 3
    assert set.union(*by_formula.values()) <= {charts.colour(index) for index in range(3)}


@pytest.mark.parametrize(
    ("code", "parts"),
    [("prefill", ["prefill"]), ("all_stations", None), ("nonsense", ()), (None, ())],
)
def test_a_guess_of_what_the_first_token_takes_is_marked_where_its_parts_add_up(code, parts):
    way = journey()
    marks = journeys.journey_timeline(way, WORDS, "alt", code).marks
    total = way.ttft if parts is None else sum(way.seconds_of(part) for part in parts)
    assert [seconds for seconds, _ in marks] == ([total] if total else [])
