"""Pictures of a run of the server: what they draw adds up to what the run gave."""

import numpy as np
import pytest

from sim import engine, metrics, scheduler, workload
from sim.cost import SimpleClock
from sim.engine import Setup
from sim.kv import Paged
from sim.request import Request
from ui.results import run_pictures
from ui.words import language

TICK = 1 / 64
CLOCK = SimpleClock(20_000, TICK)
REQUESTS = workload.of_lengths((10, 100, 30, 50, 20, 40), (12, 40, 6, 24, 18, 30))


@pytest.fixture(autouse=True)
def _english(monkeypatch):
    monkeypatch.setattr(language, "current", lambda: "en")


def setup(policy, requests=REQUESTS, blocks=4096):
    return Setup(requests, policy, Paged(blocks), CLOCK)


def test_a_life_is_drawn_from_arrival_to_the_last_token_without_gaps(rows):
    run = engine.simulate(setup(scheduler.Chunked(2), blocks=12))
    assert run.num_preemptions > 0
    run_pictures.timeline(run)
    assert len(rows) == len(REQUESTS)
    for row, record in zip(rows, run.records, strict=True):
        assert row.spans[0].start == record.request.arrival_seconds
        assert [span.start for span in row.spans[1:]] == [span.end for span in row.spans[:-1]]
        length = sum(span.end - span.start for span in row.spans)
        assert length == pytest.approx(metrics.e2e(record))
    assert {span.state for row in rows for span in row.spans} >= {"prefill", "decode", "preempted"}


def test_only_the_first_few_dozen_are_drawn_and_fewer_in_a_lecture(rows):
    run = engine.simulate(setup(scheduler.Chunked(8), workload.of_lengths([3] * 60)))
    run_pictures.timeline(run)
    usual = len(rows)
    rows.clear()
    run_pictures.timeline(run, large=True)
    assert usual == run_pictures.TIMELINE_ROWS > len(rows) == run_pictures.LECTURE_ROWS


@pytest.mark.parametrize("large", [False, True])
def test_those_are_drawn_who_are_preempted_also_in_a_lecture(rows, large):
    lengths = [3] * 60 + [40] * 12  # the last ones grow until the pool is full
    run = engine.simulate(setup(scheduler.Chunked(8), workload.of_lengths(lengths), blocks=24))
    assert run.num_preemptions > 0
    assert not any(record.pauses for record in run.records[:36])
    figure = run_pictures.timeline(run, large=large)
    assert "preempted" in {span.state for row in rows for span in row.spans}
    assert f"of {len(lengths)}" in figure.layout.xaxis.title.text
    assert "first" not in figure.layout.xaxis.title.text


def test_a_thinned_curve_keeps_its_highest_and_lowest_points():
    requests = tuple(Request(who, who * 0.3, 16, 20) for who in range(200))
    run = engine.simulate(setup(scheduler.Chunked(8), requests))
    series = run.series
    assert len(series.end_seconds) > 1000
    figure = run_pictures.load(run)
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
    figure = run_pictures.frontier(points, 2)
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
    run_pictures.timeline(refused, large=large)
    run_pictures.load(refused, large=large)
