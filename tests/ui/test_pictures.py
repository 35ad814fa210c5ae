"""Pictures of one idea: what they draw adds up to what the run gave."""

import numpy as np
import pytest

from sim import engine, metrics, scheduler, workload
from sim.cost import SimpleClock
from sim.engine import Setup
from sim.kv import Paged
from sim.request import Request
from sim.views import slots, stalls
from ui import language, pictures

TICK = 1 / 64
CLOCK = SimpleClock(20_000, TICK)
REQUESTS = workload.of_lengths((10, 100, 30, 50, 20, 40), (12, 40, 6, 24, 18, 30))


@pytest.fixture(autouse=True)
def _english(monkeypatch):
    monkeypatch.setattr(language, "current", lambda: "en")


def setup(policy, requests=REQUESTS, blocks=4096):
    return Setup(requests, policy, Paged(blocks), CLOCK)


def step(number):
    return list(engine.steps(setup(scheduler.Chunked(4))))[number - 1]


def names(figure):
    return {trace.name for trace in figure.data if trace.name}


# -- a shared step ------------------------------------------------------------------------------


@pytest.fixture
def rows(monkeypatch):
    """The rows of the timeline that a picture draws."""
    drawn = []
    draw = pictures.charts.request_timeline

    def noting(given, *more, **rest):
        drawn.extend(given)
        return draw(given, *more, **rest)

    monkeypatch.setattr(pictures.charts, "request_timeline", noting)
    return drawn


@pytest.mark.parametrize("number", [1, 5, 11, 31])
def test_a_step_lays_all_tokens_end_to_end_and_attention_apart(rows, number):
    shared = step(number)
    pictures.shared_step(shared)
    together, *apart = rows
    lengths = [span.end - span.start for span in together.spans]
    assert lengths == [work.num_tokens for work in shared.work]
    assert [span.start for span in together.spans[1:]] == [span.end for span in together.spans[:-1]]
    assert together.spans[-1].end == shared.num_tokens
    for row, work in zip(apart, shared.work, strict=True):
        assert row.spans[-1].end == work.context
        assert row.spans[-1].end - row.spans[-1].start == work.num_tokens
        stored = [span for span in row.spans if span.state == "stored"]
        assert sum(span.end - span.start for span in stored) == work.context - work.num_tokens
        assert row.spans[-1].state == ("prefill" if work.is_prefill else "decode")


def test_contexts_are_those_of_the_step_in_the_readers_list(monkeypatch):
    lengths = [str(work.context) for work in step(11).work]
    assert pictures.contexts(step(11)).split(", ") == lengths
    monkeypatch.setattr(language, "current", lambda: "zh")
    assert pictures.contexts(step(11)).split("、") == lengths


# -- where the slots' time goes -----------------------------------------------------------------


@pytest.mark.parametrize("policy", [scheduler.Static(3), scheduler.Continuous(3)], ids=str)
def test_shares_of_the_slots_time_sum_up_to_a_hundred(rows, policy):
    grid = slots.slot_grid(setup(policy), TICK)
    pictures.slot_shares([("one", grid)])
    spans = rows[0].spans
    assert spans[0].start == 0
    ends = [span.end for span in spans]
    assert [span.start for span in spans[1:]] == pytest.approx(ends[:-1])
    assert ends[-1] == pytest.approx(100)
    for span in spans:
        assert span.end - span.start == pytest.approx(100 * grid.shares[span.state])


def test_every_state_of_a_slot_has_its_place_in_a_bar():
    assert set(pictures.SHARES) == set(slots.STATES)


# -- a run of the server ------------------------------------------------------------------------


def test_a_life_is_drawn_from_arrival_to_the_last_token_without_gaps(rows):
    run = engine.simulate(setup(scheduler.Chunked(2), blocks=12))
    assert run.num_preemptions > 0
    pictures.timeline(run)
    assert len(rows) == len(REQUESTS)
    for row, record in zip(rows, run.records, strict=True):
        assert row.spans[0].start == record.request.arrival_seconds
        assert [span.start for span in row.spans[1:]] == [span.end for span in row.spans[:-1]]
        length = sum(span.end - span.start for span in row.spans)
        assert length == pytest.approx(metrics.e2e(record))
    assert {span.state for row in rows for span in row.spans} >= {"prefill", "decode", "preempted"}


def test_only_the_first_few_dozen_are_drawn_and_fewer_in_a_lecture(rows):
    run = engine.simulate(setup(scheduler.Chunked(8), workload.of_lengths([3] * 60)))
    pictures.timeline(run)
    usual = len(rows)
    rows.clear()
    pictures.timeline(run, large=True)
    assert usual == pictures.TIMELINE_ROWS > len(rows) == pictures.LECTURE_ROWS


def test_a_thinned_curve_keeps_its_highest_and_lowest_points():
    requests = tuple(Request(who, who * 0.3, 16, 20) for who in range(200))
    run = engine.simulate(setup(scheduler.Chunked(8), requests))
    series = run.series
    assert len(series.end_seconds) > 1000
    figure = pictures.load(run)
    points = [np.asarray(trace.y, dtype=float) for trace in figure.data if trace.y is not None]
    assert max(map(len, points)) < 1000
    peaks = [np.max(each) for each in points if len(each) > 2]
    for wanted in (series.num_running, series.num_waiting, 100 * series.kv_usage):
        assert any(peak == pytest.approx(np.max(wanted)) for peak in peaks)


def test_a_point_per_limit_and_the_chosen_one_is_marked():
    points = {
        limit: metrics.summarize(engine.simulate(setup(scheduler.Chunked(limit))))
        for limit in (1, 2, 4)
    }
    figure = pictures.frontier(points, 2)
    curve = max(figure.data, key=lambda trace: len(trace.x))
    assert list(curve.y) == [points[limit].output_tokens_per_second for limit in (1, 2, 4)]
    assert list(curve.x) == [1000 * points[limit].itl.mean for limit in (1, 2, 4)]
    said = " ".join(str(note.text) for note in figure.layout.annotations)
    assert "limit 2" in said + " ".join(
        str(text) for trace in figure.data for text in (trace.text or ()) if trace.text
    )


@pytest.mark.parametrize("large", [False, True])
def test_a_run_in_which_everybody_was_refused_can_be_drawn(large):
    giant = (Request(0, 0.0, 9000, 9000),)
    refused = engine.simulate(setup(scheduler.Chunked(4), giant, blocks=20))
    assert metrics.summarize(refused).num_served == 0
    pictures.timeline(refused, large=large)
    pictures.load(refused, large=large)


# -- chunked prefill -----------------------------------------------------------------------------


def latencies(gap, ttft):
    """A chat with one gap, and a document, in seconds."""
    nobody = metrics.Distribution.of([])
    return (
        stalls.Latencies(nobody, metrics.Distribution.of([gap])),
        stalls.Latencies(metrics.Distribution.of([ttft]), nobody),
    )


def test_a_budget_is_a_point_at_its_longest_gap_and_its_ttft_and_the_chosen_one_is_marked():
    points = {256: latencies(0.015, 0.9), 512: latencies(0.03, 0.6), 8192: latencies(0.4, 0.5)}
    curve, mark = pictures.smooth_or_soon(points, chosen=512).data
    assert curve.x.tolist() == pytest.approx([15, 30, 400])
    assert curve.y.tolist() == pytest.approx([900, 600, 500])
    assert (mark.x[0], mark.y[0]) == (30, 600)
    notes = pictures.smooth_or_soon(points, chosen=512).layout.annotations
    assert [note.text for note in notes if note.text[-1].isdigit() or "<b>" in note.text] == [
        "256",
        "<b>512</b>",
        "8,192",
    ]


@pytest.mark.parametrize("chosen", [4_096, 8_192, 16_384])
def test_the_two_largest_budgets_are_named_on_either_side_of_their_points(chosen):
    points = {size: latencies(0.4, 0.5) for size in (4_096, 8_192, 16_384)}
    notes = pictures.smooth_or_soon(points, chosen).layout.annotations
    above, below = (next(one for one in notes if name in one.text) for name in ("8,192", "16,384"))
    assert above.yshift > 0 > below.yshift


@pytest.mark.parametrize(
    ("decode", "prefill", "widths"),
    [(4, 508, [4, 508]), (256, 0, [256, 256]), (100, 200, [100, 200, 212]), (512, 0, [512])],
)
def test_the_budget_of_a_step_is_split_into_decode_prefill_and_what_nobody_takes(
    rows, decode, prefill, widths
):
    pictures.budget_of_a_step(512, decode, prefill)
    (row,) = rows
    assert [span.end - span.start for span in row.spans] == widths
    assert [span.start for span in row.spans[1:]] == [span.end for span in row.spans[:-1]]
    assert row.spans[0].state == "decode"
    assert row.spans[-1].end == 512


def test_a_change_of_ttft_is_drawn_in_ms_with_a_mark_at_each_change_of_sign():
    change = stalls.TtftChange((1.0, 2.0, 4.0), (0.0, -0.01, -0.02), (0.02, 0.01, -0.01))
    long, short, mark = pictures.ttft_change(change, [3.0]).data
    assert long.y.tolist() == pytest.approx([20, 10, -10])
    assert short.y.tolist() == pytest.approx([0, -10, -20])
    assert (mark.x[0], mark.y[0], mark.text[0]) == (3.0, 0, "3.0")


def test_later_and_sooner_stand_in_corners_where_no_curve_begins():
    change = stalls.TtftChange((1.0, 2.0, 4.0), (0.0, 0.01, 0.02), (0.02, 0.03, 0.2))
    figure = pictures.ttft_change(change, [])
    top, bottom = (
        next(one for one in figure.layout.annotations if one.text.startswith(arrow))
        for arrow in "↑↓"
    )
    assert (bottom.y, top.y) == figure.layout.yaxis.range
    assert (bottom.yanchor, top.yanchor) == ("bottom", "top")
