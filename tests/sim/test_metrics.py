"""The metrics by hand, and the laws that any run must obey."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim import metrics
from sim.cost import Roofline, SimpleClock
from sim.engine import Record, Run, Setup, simulate
from sim.kv import Paged
from sim.metrics import Distribution, spans, summarize
from sim.request import Request
from sim.scheduler import Chunked, Continuous, Static
from sim.scheduler.batch import Load
from sim.specs import GPUS, MODELS
from sim.workload import FixedLength, LognormalLength, PoissonArrivals, Workload
from tests.sim.helpers import PLENTY, SECOND, request
from tests.sim.strategies import setups


def record(tokens, arrival=0.0, scheduled=1.0, pauses=(), id=0) -> Record:
    asked = Request(id, arrival, 10, max(1, len(tokens)))
    return Record(asked, scheduled, np.array(tokens, dtype=float), tuple(pauses), 0, False)


def rejected(id: int) -> Record:
    return Record(Request(id, 0.0, 10, 1), None, np.zeros(0), (), 0, True)


def run_of(records: list[Record]) -> Run:
    """A run with the series of somebody else: only its records matter here."""
    some = simulate(Setup((request(0, 4, 2),), Chunked(), PLENTY, SECOND))
    return Run(some.setup, tuple(records), some.series, 0)


# -- by hand ---------------------------------------------------------------------------------


def test_the_latencies_of_one_request_by_hand():
    one = record([5.0, 6.0, 6.5, 9.0], arrival=2.0, scheduled=3.5)
    assert metrics.queue_time(one) == 1.5
    assert metrics.ttft(one) == 3.0
    assert metrics.itl(one).tolist() == [1.0, 0.5, 2.5]
    assert metrics.tpot(one) == pytest.approx(4 / 3)
    assert metrics.e2e(one) == 7.0


def test_tpot_is_undefined_for_one_token_and_left_out_of_the_distribution():
    run = run_of([record([4.0], id=0), record([4.0, 6.0], id=1)])
    assert math.isnan(metrics.tpot(run.records[0]))
    summary = summarize(run)
    assert summary.tpot.values.tolist() == [2.0]
    assert len(summary.ttft) == 2
    assert metrics.itl(run.records[0]).size == 0


def test_throughput_is_per_second_from_the_first_arrival_to_the_last_token():
    run = run_of([record([5.0, 6.0], arrival=2.0), record([8.0, 9.0, 12.0], arrival=3.0, id=1)])
    summary = summarize(run)
    assert summary.duration_seconds == 10.0
    assert summary.requests_per_second == 2 / 10
    assert summary.output_tokens_per_second == 5 / 10
    assert summary.total_tokens_per_second == (5 + 20) / 10


def test_the_mean_of_gaps_weighs_tokens_and_the_mean_of_tpot_weighs_requests():
    quick = record([1.0 + k for k in range(101)])
    slow = record([1.0, 11.0], id=1)
    summary = summarize(run_of([quick, slow]))
    assert summary.tpot.mean == pytest.approx((1 + 10) / 2)
    assert summary.itl.mean == pytest.approx((100 * 1 + 10) / 101)


def test_rejected_requests_are_counted_and_in_no_latency():
    summary = summarize(run_of([record([4.0, 6.0]), rejected(1), rejected(2)]))
    assert (summary.num_served, summary.num_rejected) == (1, 2)
    assert len(summary.ttft) == len(summary.e2e) == 1


def test_percentiles_lie_between_ranks_as_in_numpy():
    sample = Distribution.of([4.0, 1.0, 3.0, 2.0])
    assert (sample.p50, sample.mean, sample.max) == (2.5, 2.5, 4.0)
    assert sample.percentile(25) == 1.75
    assert sample.p90 == pytest.approx(3.7)
    assert sample.p99 == pytest.approx(3.97)


def test_statistics_of_nothing_are_not_numbers():
    nothing = Distribution.of([])
    assert len(nothing) == 0
    assert all(math.isnan(v) for v in (nothing.mean, nothing.max, nothing.p50, nothing.p99))


def test_goodput_counts_those_who_meet_both_limits():
    run = run_of(
        [
            record([2.0, 3.0]),  # TTFT 2, TPOT 1
            record([2.0, 6.0], id=1),  # TPOT 4
            record([9.0, 10.0], id=2),  # TTFT 9
            record([2.0], id=3),  # one token has only a TTFT to meet
            rejected(4),
        ]
    )
    summary = summarize(run)
    assert summary.meeting(2.0, 1.0, run) == 2 / 10
    assert summary.meeting(9.0, 4.0, run) == 4 / 10
    assert summary.meeting(1.9, 4.0, run) == 0


def test_when_nobody_was_served_every_rate_is_zero():
    setup = Setup((request(0, 400, 1),), Chunked(), Paged(4, 4), SECOND)
    run = simulate(setup)
    summary = summarize(run)
    assert (summary.num_served, summary.num_rejected, summary.num_steps) == (0, 1, 0)
    assert summary.requests_per_second == summary.slot_utilization == summary.mean_kv_usage == 0
    assert summary.memory_bound_share == summary.compute_bound_share == 0
    assert summary.meeting(1.0, 1.0, run) == 0


def test_time_is_split_between_the_two_bounds():
    clock = SimpleClock(prefill_tokens_per_second=10, decode_seconds_per_step=1)
    run = simulate(Setup((request(0, 40, 5),), Chunked(), PLENTY, clock))
    summary = summarize(run)
    assert summary.compute_bound_share == pytest.approx(4 / 8)  # four seconds of prefill
    assert summary.memory_bound_share == pytest.approx(4 / 8)


def test_kv_usage_counts_blocks_while_the_step_runs():
    memory = Paged(num_blocks=1 + 10, block_size=4)
    run = simulate(Setup((request(0, 8, 3),), Chunked(), memory, SECOND))
    assert run.series.kv_usage.tolist() == pytest.approx([0.2, 0.3, 0.3])
    summary = summarize(run)
    assert summary.peak_kv_usage == pytest.approx(0.3)
    assert summary.mean_kv_usage == pytest.approx(0.8 / 3)


# -- one request alone -----------------------------------------------------------------------


@pytest.mark.parametrize("policy", [Static(1), Continuous(4), Chunked(4, 512)])
def test_one_request_alone_pays_its_prefill_and_then_one_step_per_token(policy):
    clock = SimpleClock(prefill_tokens_per_second=100, decode_seconds_per_step=0.25)
    run = simulate(Setup((request(0, 200, 9, arrival=3.0),), policy, PLENTY, clock))
    (alone,) = run.records
    assert metrics.queue_time(alone) == 0
    assert metrics.ttft(alone) == pytest.approx(2.0)
    assert metrics.e2e(alone) == pytest.approx(2.0 + 8 * 0.25)
    assert metrics.tpot(alone) == pytest.approx(0.25)


def test_one_request_alone_on_a_real_gpu_takes_the_rooflines_own_times():
    clock = Roofline(MODELS["Llama-3.1-8B"], GPUS["H100 SXM"])
    run = simulate(Setup((request(0, 1000, 3),), Chunked(4, 8192), PLENTY, clock))
    expected = np.cumsum(
        [
            clock.step_time(Load.of_rows([1000], [1000], 1)).seconds,
            clock.step_time(Load.of_rows([1], [1001], 1)).seconds,
            clock.step_time(Load.of_rows([1], [1002], 1)).seconds,
        ]
    )
    assert run.records[0].token_seconds == pytest.approx(expected)


# -- laws ------------------------------------------------------------------------------------


def time_average_in_system(run: Run) -> float:
    """By sweeping over arrivals and departures, from the first arrival to the last token."""
    done = metrics.served(run)
    moves = sorted(
        [(r.request.arrival_seconds, 1) for r in done]
        + [(float(r.token_seconds[-1]), -1) for r in done]
    )
    area, inside = 0.0, 0
    for (time, change), (later, _) in pairwise(moves):
        inside += change
        area += inside * (later - time)
    return area / (moves[-1][0] - moves[0][0])


@given(setups())
def test_littles_law_holds_exactly(setup):
    """Requests in the system, averaged over time = arrival rate x mean time in the system."""
    run = simulate(setup)
    summary = summarize(run)
    if summary.num_served:
        expected = summary.requests_per_second * summary.e2e.mean
        assert time_average_in_system(run) == pytest.approx(expected)


def test_littles_law_shows_in_the_charts_of_running_and_waiting():
    """The series counts at steps, not at arrivals, so it agrees up to a step per request."""
    work = Workload(400, PoissonArrivals(4.0), FixedLength(64), LognormalLength(40, 120))
    clock = SimpleClock(prefill_tokens_per_second=8000, decode_seconds_per_step=0.02)
    run = simulate(Setup(work.requests(), Chunked(16, 512), PLENTY, clock))
    series, summary = run.series, summarize(run)
    seconds = series.end_seconds - series.start_seconds
    area = float(np.dot(series.num_running + series.num_waiting, seconds))
    expected = summary.requests_per_second * summary.e2e.mean
    assert area / summary.duration_seconds == pytest.approx(expected, rel=0.03)


@given(setups())
def test_the_life_of_a_request_is_told_without_gaps(setup):
    run = simulate(setup)
    for one in metrics.served(run):
        told = spans(one)
        assert told[0].start_seconds == one.request.arrival_seconds
        assert told[-1].end_seconds == one.token_seconds[-1]
        for span, following in pairwise(told):
            assert span.end_seconds == following.start_seconds
            assert span.kind != following.kind or span.kind == "preempted"
        assert sum(span.end_seconds - span.start_seconds for span in told) == pytest.approx(
            metrics.e2e(one)
        )
        assert sum(span.kind == "preempted" for span in told) == len(one.pauses)


def test_a_preempted_life_by_hand():
    one = record([3.0, 4.0, 9.0], arrival=0.5, scheduled=1.0, pauses=[(2.0, 2.5), (4.0, 7.0)])
    assert [(s.kind, s.start_seconds, s.end_seconds) for s in spans(one)] == [
        ("queue", 0.5, 1.0),
        ("prefill", 1.0, 2.0),
        ("preempted", 2.0, 2.5),
        ("prefill", 2.5, 3.0),
        ("decode", 3.0, 4.0),
        ("preempted", 4.0, 7.0),
        ("decode", 7.0, 9.0),
    ]


def test_a_rejected_request_has_no_life():
    assert spans(rejected(0)) == []


@given(setups())
def test_every_gap_lies_between_first_and_last_token(setup):
    summary = summarize(simulate(setup))
    assert len(summary.itl) == summary.output_tokens - summary.num_served
    assert float(np.sum(summary.itl.values)) == pytest.approx(
        float(np.sum(summary.e2e.values) - np.sum(summary.ttft.values)), abs=1e-9
    )
    assert 0 <= summary.slot_utilization <= 1
    assert 0 <= summary.mean_kv_usage <= summary.peak_kv_usage * (1 + 1e-12)
    assert summary.peak_kv_usage <= 1


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=50), st.floats(0, 100))
def test_a_percentile_lies_within_the_sample(values, percent):
    sample = Distribution.of(values)
    slack = 1e-12 * max(values)  # of interpolation
    assert min(values) - slack <= sample.percentile(percent) <= max(values) + slack
