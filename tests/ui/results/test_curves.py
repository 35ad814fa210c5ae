"""Curves over a setting: what is marked, and what a click finds."""

from dataclasses import replace

import numpy as np
import pytest

from sim import engine, metrics, scheduler, workload
from sim.cost import SimpleClock
from sim.kv import Paged
from sim.studies.sweep import knee
from ui.results import curves, runs

RATES = (1, 2, 4, 8)


def setup_at(rate):
    requests = workload.Workload(
        30,
        workload.PoissonArrivals(rate),
        workload.FixedLength(100),
        workload.FixedLength(20),
    ).requests()
    return engine.Setup(requests, scheduler.Chunked(2), Paged(1024), SimpleClock(10_000, 0.02))


@pytest.fixture(scope="module")
def points():
    return runs.sweep({rate: setup_at(rate) for rate in RATES})


def texts(figure):
    return [text for trace in figure.data if trace.text is not None for text in trace.text]


def test_a_sweep_tells_its_progress_and_gives_a_point_per_value():
    told = []
    points = runs.sweep(
        {rate: setup_at(rate) for rate in RATES}, lambda done, total: told.append((done, total))
    )
    assert [point.value for point in points] == list(RATES)
    assert [point.summary for point in points] == [runs.summary(setup_at(r)) for r in RATES]
    assert told == [(1, 4), (2, 4), (3, 4), (4, 4)]


def test_every_point_carries_the_rate_that_a_click_opens(points):
    for figure in (
        curves.load_curve(points, 2, None),
        curves.goodput_curve(points, [metrics.Goodput(1, 0.5, 0.5)] * 4, 2),
    ):
        assert list(figure.data[0].customdata) == list(RATES)
        for trace in figure.data:
            assert trace.unselected.marker.opacity == 1  # a click must not fade the others


def test_this_run_and_the_knee_are_named_once(points):
    bend = knee(points)
    assert bend is not None
    other = next(rate for rate in RATES if rate != bend.value)
    both = texts(curves.load_curve(points, other, bend))
    assert sum("拐点" in text for text in both) == 1
    assert sum("本次" in text for text in both) == 1
    same = [text for text in texts(curves.load_curve(points, bend.value, bend)) if "<b>" in text]
    assert same == [f"<b>拐点 {bend.value}/s，本次</b>"]
    alone = [text for text in texts(curves.load_curve(points, 2, None)) if "<b>" in text]
    assert alone == ["<b>本次 2/s</b>"]


def test_runs_that_rounding_alone_tells_apart_have_an_axis_with_short_ticks(points):
    tiny = [
        replace(point, summary=replace(point.summary, output_tokens_per_second=value))
        for point, value in zip(points, 95.6380773895828 + np.arange(4) * 1e-13, strict=True)
    ]
    low, high = curves.load_curve(tiny, 2, None).layout.xaxis.range
    assert high - low > 0.5
    assert low < 95.6 < high


def test_two_loops_are_two_named_curves_on_logarithmic_axes(points):
    summaries = [point.summary for point in points]
    figure = curves.two_loops((50, 100, 200, 400), summaries, summaries[::-1], 100)
    assert [trace.name for trace in figure.data[:2]] == ["开环", "闭环"]
    assert (figure.layout.xaxis.type, figure.layout.yaxis.type) == ("log", "log")
    assert list(figure.data[0].y) == [summary.ttft.p50 for summary in summaries]
