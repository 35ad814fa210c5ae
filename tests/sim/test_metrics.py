"""The metrics by hand, and the laws that any run must obey."""

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim import metrics
from sim.cost import Roofline, SimpleClock
from sim.engine import Record, Run, Setup, simulate, steps
from sim.errors import SimError
from sim.events import Admitted
from sim.kv import Paged
from sim.metrics import Distribution, computed_tokens, reused_tokens, summarize
from sim.request import Request
from sim.scheduler import Chunked, Continuous, Load, Static
from sim.specs import GPUS, MODELS
from sim.views import over_time
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
    return Run(
        setup=some.setup,
        requests=tuple(record.request for record in records),
        scheduled_seconds=np.array([record.scheduled_seconds for record in records], dtype=float),
        hit_tokens=np.array([record.hit_tokens for record in records]),
        num_tokens=np.array([len(record.token_seconds) for record in records]),
        token_seconds=np.concatenate([record.token_seconds for record in records]),
        pauses={record.request.id: record.pauses for record in records if record.pauses},
        series=some.series,
        num_preemptions=0,
    )


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
    assert [math.isnan(each) for each in metrics.ServedColumns(run).tpot] == [True, False]
    assert len(summary.ttft) == 2
    assert metrics.itl(run.records[0]).size == 0


def test_the_queue_has_its_share_of_the_mean_ttft():
    waits = [record([2.25], arrival=2.0, scheduled=2.125), record([4.75], 4.0, 4.25, id=1)]
    assert summarize(run_of(waits)).queue_share == 0.375  # 1/8 and 1/4 s of 1/4 and 3/4 s
    assert summarize(run_of([rejected(0)])).queue_share == 0


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


FOUR_AND_A_REFUSED = [
    record([2.0, 3.0]),  # TTFT 2, TPOT 1
    record([2.0, 6.0], id=1),  # TPOT 4
    record([9.0, 10.0], id=2),  # TTFT 9
    record([2.0], id=3),  # one token has only a TTFT to meet
    rejected(4),
]


@pytest.mark.parametrize(
    ("ttft_seconds", "tpot_seconds", "good"),
    [
        (2.0, 1.0, 2),
        (9.0, 4.0, 4),
        (1.9, 4.0, 0),
        (2.0, math.inf, 3),
        (math.inf, 1.0, 3),
        (math.inf, math.inf, 4),
        (0.0, 0.0, 0),
    ],
)
def test_goodput_counts_those_who_meet_both_limits(ttft_seconds, tpot_seconds, good):
    found = metrics.goodput(run_of(FOUR_AND_A_REFUSED), ttft_seconds, tpot_seconds)
    assert found.num_requests == good
    assert found.requests_per_second == good / 10
    assert found.share == good / 5  # whoever was refused got nothing in time


@pytest.mark.parametrize("limits", [(-0.1, 1.0), (1.0, -0.1), (math.nan, 1.0), (1.0, math.nan)])
def test_a_limit_is_a_time_or_infinity(limits):
    with pytest.raises(SimError, match="latency_limit_negative"):
        metrics.goodput(run_of(FOUR_AND_A_REFUSED), *limits)


@given(setups())
def test_goodput_without_limits_is_the_request_throughput(setup):
    run = simulate(setup)
    summary, all_of_them = summarize(run), metrics.goodput(run)
    assert all_of_them.requests_per_second == summary.requests_per_second
    assert all_of_them.num_requests == summary.num_served


@given(setups(), st.floats(0, 30), st.floats(0, 3))
def test_goodput_judges_each_request_by_its_own_ttft_and_tpot(setup, ttft_limit, tpot_limit):
    run = simulate(setup)
    good = [
        one
        for one in metrics.served(run)
        if metrics.ttft(one) <= ttft_limit and not metrics.tpot(one) > tpot_limit
    ]
    assert metrics.goodput(run, ttft_limit, tpot_limit).num_requests == len(good)


def test_when_nobody_was_served_every_rate_is_zero():
    setup = Setup((request(0, 400, 1),), Chunked(), Paged(4, 4), SECOND)
    run = simulate(setup)
    summary = summarize(run)
    assert (summary.num_served, summary.num_rejected, summary.num_steps) == (0, 1, 0)
    assert summary.duration_seconds == summary.requests_per_second == 0
    assert summary.slot_utilization == summary.mean_kv_usage == 0
    assert summary.memory_bound_share == summary.compute_bound_share == 0
    assert summary.prefix_hit_rate == 0
    assert metrics.goodput(run) == metrics.Goodput(0, 0.0, 0.0)
    assert over_time.log_line(run, 1.0) == over_time.LogLine(0, 0, 0, 0, 0, 0)
    assert over_time.rates(run, 1.0).generation_tokens_per_second.tolist() == [0]


def test_time_is_split_between_the_two_bounds():
    clock = SimpleClock(prefill_tokens_per_second=10, decode_seconds_per_step=1)
    run = simulate(Setup((request(0, 40, 5),), Chunked(), PLENTY, clock))
    summary = summarize(run)
    assert summary.compute_bound_share == pytest.approx(4 / 8)  # four seconds of prefill
    assert summary.memory_bound_share == pytest.approx(4 / 8)


def test_a_share_is_one_of_time_however_short_the_run():
    """The prefill takes three tenths of a second, as long as the three decodes together."""
    clock = SimpleClock(prefill_tokens_per_second=400, decode_seconds_per_step=0.1)
    run = simulate(Setup((request(0, 120, 4),), Chunked(), PLENTY, clock))
    summary = summarize(run)
    assert summary.duration_seconds == pytest.approx(0.3 + 3 * 0.1)
    assert summary.memory_bound_share == pytest.approx(1 / 2)  # though of three in four steps


def test_kv_usage_counts_blocks_while_the_step_runs():
    memory = Paged(num_blocks=1 + 10, block_size=4)
    run = simulate(Setup((request(0, 8, 3),), Chunked(), memory, SECOND))
    assert run.series.kv_usage.tolist() == pytest.approx([0.2, 0.3, 0.3])
    summary = summarize(run)
    assert summary.peak_kv_usage == pytest.approx(0.3)
    assert summary.mean_kv_usage == pytest.approx(0.8 / 3)


def test_steps_too_short_for_the_clock_to_tell_still_have_shares():
    clock = SimpleClock(prefill_tokens_per_second=1e15, decode_seconds_per_step=1e-12)
    run = simulate(Setup((request(0, 8, 3, arrival=1e6),), Chunked(), PLENTY, clock))
    assert run.series.start_seconds.tolist() == run.series.end_seconds.tolist()
    summary = summarize(run)
    assert summary.mean_running == summary.memory_bound_share == 1
    assert 0 < summary.mean_kv_usage <= summary.peak_kv_usage
    assert summary.requests_per_second == 0  # of no time at all


# -- a long sample -----------------------------------------------------------------------------


def test_a_long_sample_is_kept_light_and_its_statistics_are_those_of_all_of_it():
    values = np.random.default_rng(1).lognormal(size=123_457)
    sample = Distribution.of(values)
    assert len(sample.values) == metrics.THINNED
    assert len(sample) == len(values)
    assert sample.mean == np.mean(values)
    assert sample.max == np.max(values)
    for percent in (0, 0.1, 25, 50, 90, 99, 99.9):
        assert sample.percentile(percent) == pytest.approx(np.percentile(values, percent))
    assert sample.percentile(12.34) == pytest.approx(np.percentile(values, 12.34), rel=1e-3)


def test_a_percentile_is_asked_for_between_0_and_100():
    for percent in (-1, 101, math.nan):
        with pytest.raises(SimError, match="percent_out_of_range"):
            Distribution.of([1.0]).percentile(percent)


@given(setups())
def test_a_summary_is_made_of_what_each_request_went_through(setup):
    run = simulate(setup)
    summary, done = summarize(run), metrics.served(run)
    for name, of_one in (
        ("queue_time", metrics.queue_time),
        ("ttft", metrics.ttft),
        ("e2e", metrics.e2e),
        ("tpot", metrics.tpot),
    ):
        each = [of_one(one) for one in done]
        assert getattr(summary, name).values.tolist() == sorted(v for v in each if v == v)
    gaps = [gap for one in done for gap in metrics.itl(one)]
    assert summary.itl.values.tolist() == sorted(gaps)


# -- prefix hits -------------------------------------------------------------------------------


def test_the_hit_rate_counts_tokens_of_prompts():
    """The second prompt finds both full blocks of the shared text; the third asks for another."""
    asked = (
        request(0, 10, 1, shared=8),
        request(1, 20, 1, arrival=5.0, shared=8),
        request(2, 10, 1, arrival=9.0, shared=8, text="other"),
    )
    setup = Setup(asked, Chunked(), PLENTY, SECOND)
    assert summarize(simulate(setup)).prefix_hit_rate == 8 / 40
    assert (reused_tokens(simulate(setup)), computed_tokens(simulate(setup))) == (8, 32)
    off = replace(setup, memory=replace(PLENTY, prefix_caching=False))
    assert summarize(simulate(off)).prefix_hit_rate == 0
    assert (reused_tokens(simulate(off)), computed_tokens(simulate(off))) == (0, 40)


def test_what_a_resumed_request_finds_of_its_own_is_no_hit():
    setup = Setup((request(0, 8, 9), request(1, 8, 9)), Chunked(), Paged(8, 4), SECOND)
    run, seen = simulate(setup), list(steps(setup))
    assert run.num_preemptions > 0
    again = [e for step in seen for e in step.events if isinstance(e, Admitted) and e.resumed]
    assert max(event.hit_tokens for event in again) > 0
    assert summarize(run).prefix_hit_rate == 0


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


def test_a_gap_beside_a_prefill_is_told_from_the_others():
    requests = (request(0, 4, 6), request(1, 8, 2, arrival=2.5))
    run = simulate(Setup(requests, Chunked(2), PLENTY, SECOND))
    assert metrics.beside_prefill(run, run.records[0]).tolist() == [
        False,
        False,
        True,
        False,
        False,
    ]
    assert metrics.beside_prefill(run, run.records[1]).tolist() == [False]


def test_a_prompt_of_one_token_is_a_prefill_to_sit_beside():
    requests = (request(0, 4, 3), request(1, 1, 1, arrival=0.5))
    run = simulate(Setup(requests, Chunked(2), PLENTY, SECOND))
    assert metrics.beside_prefill(run, run.records[0]).tolist() == [True, False]


@pytest.mark.parametrize("utilization", [0.6, 0.8])
def test_one_at_a_time_waits_as_pollaczek_and_khinchine_say(utilization):
    """M/D/1: random arrivals, equal service times S, one server; W = rho / (2 (1 - rho)) * S."""
    asked = Workload(20_000, PoissonArrivals(utilization), FixedLength(4), FixedLength(1), seed=3)
    served = simulate(Setup(asked.requests(), Continuous(1), PLENTY, SECOND))
    expected = utilization / (2 * (1 - utilization))
    assert summarize(served).queue_time.mean == pytest.approx(expected, rel=0.05)
