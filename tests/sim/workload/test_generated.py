"""Generated workloads do as they are told."""

import math

import numpy as np
import pytest

from sim.errors import SimError
from sim.request import Segment
from sim.workload import (
    BurstArrivals,
    Chats,
    ConstantArrivals,
    FixedLength,
    GammaArrivals,
    LognormalLength,
    OneInMany,
    PoissonArrivals,
    SharedPrefix,
    UniformLength,
    Workload,
    evenly,
    of_lengths,
    on_ticks,
    scaled,
    with_giant,
)

RNG_SEED = 5


def arrivals_of(requests) -> np.ndarray:
    return np.array([request.arrival_seconds for request in requests])


# -- arrivals --------------------------------------------------------------------------------


def test_constant_arrivals_come_one_by_one():
    requests = Workload(4, ConstantArrivals(2.0), FixedLength(5), FixedLength(6)).requests()
    assert arrivals_of(requests).tolist() == [0.0, 0.5, 1.0, 1.5]


def test_a_burst_comes_at_once():
    work = Workload(5, BurstArrivals(2, every_seconds=3.0), FixedLength(5), FixedLength(6))
    assert arrivals_of(work.requests()).tolist() == [0, 0, 3, 3, 6]


def test_without_a_pause_all_bursts_come_at_once():
    assert BurstArrivals(2).draw(5, np.random.default_rng(0)).tolist() == [0] * 5


def test_bursts_of_eight_at_four_requests_a_second_come_every_two_seconds():
    bursts = BurstArrivals.at_rate(4.0, size=8)
    assert bursts == BurstArrivals(8, every_seconds=2.0)
    assert BurstArrivals.at_rate(0.5, size=2).every_seconds == 4.0
    assert bursts.draw(17, np.random.default_rng(0))[[0, 7, 8, 16]].tolist() == [0, 0, 2, 4]


def test_poisson_gaps_have_the_mean_and_the_spread_of_the_exponential():
    times = PoissonArrivals(4.0).draw(40_000, np.random.default_rng(RNG_SEED))
    gaps = np.diff(times, prepend=0.0)
    assert np.mean(gaps) == pytest.approx(0.25, rel=0.02)
    assert np.std(gaps) / np.mean(gaps) == pytest.approx(1.0, rel=0.03)
    assert np.mean(gaps > 0.25) == pytest.approx(math.exp(-1), abs=0.01)


@pytest.mark.parametrize("cv", [0.2, 1.0, 2.5, 5.0])
def test_gamma_gaps_have_the_rate_and_the_coefficient_of_variation_asked_for(cv):
    times = GammaArrivals(4.0, cv).draw(400_000, np.random.default_rng(RNG_SEED))
    gaps = np.diff(times, prepend=0.0)
    assert np.mean(gaps) == pytest.approx(0.25, rel=0.02)
    assert np.std(gaps) / np.mean(gaps) == pytest.approx(cv, rel=0.03)


def test_gamma_gaps_with_a_cv_of_one_are_poisson():
    """The share of gaps above x is exp(-4 x) at every x, not only in the mean."""
    times = GammaArrivals(4.0, 1.0).draw(40_000, np.random.default_rng(RNG_SEED))
    gaps = np.diff(times, prepend=0.0)
    for seconds in (0.01, 0.1, 0.25, 0.5, 1.0):
        assert np.mean(gaps > seconds) == pytest.approx(math.exp(-4 * seconds), abs=0.01)


def test_a_burstiness_of_a_quarter_is_a_cv_of_two():
    """`--burstiness` of vLLM's benchmark is the shape: gaps of theta = 1 / (rate x burstiness)."""
    burstiness, rate = 0.25, 4.0
    theirs = np.random.default_rng(RNG_SEED).gamma(burstiness, 1 / (rate * burstiness), 50)
    ours = GammaArrivals(rate, cv=2.0).draw(50, np.random.default_rng(RNG_SEED))
    assert ours == pytest.approx(np.cumsum(theirs))


@pytest.mark.parametrize("cv", [0.01, 100.0])
def test_gamma_arrivals_ascend_from_zero_at_either_end_of_the_range(cv):
    times = GammaArrivals(4.0, cv).draw(5000, np.random.default_rng(RNG_SEED))
    assert np.all(np.isfinite(times))
    assert times[0] >= 0
    assert np.all(np.diff(times) >= 0)


# -- lengths ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("mean", "p99"), [(211.1, 601), (1154.7, 4142), (64, 64), (100, 1400)])
def test_lognormal_lengths_hit_mean_and_p99(mean, p99):
    drawn = LognormalLength(mean, p99).draw(200_000, np.random.default_rng(RNG_SEED))
    assert np.mean(drawn) == pytest.approx(mean, rel=0.06)
    assert np.percentile(drawn, 99) == pytest.approx(p99, rel=0.05)


def test_lengths_are_whole_positive_and_not_longer_than_the_longest():
    drawn = LognormalLength(3, 40, longest=20).draw(5000, np.random.default_rng(RNG_SEED))
    assert drawn.dtype.kind == "i"
    assert (drawn.min(), drawn.max()) == (1, 20)


def test_a_spread_of_one_makes_all_lengths_equal():
    drawn = LognormalLength.with_spread(30, 1.0).draw(50, np.random.default_rng(RNG_SEED))
    assert set(drawn.tolist()) == {30}


def test_uniform_lengths_reach_both_ends_equally_often():
    drawn = UniformLength(3, 6).draw(40_000, np.random.default_rng(RNG_SEED))
    lengths, times = np.unique(drawn, return_counts=True)
    assert lengths.tolist() == [3, 4, 5, 6]
    assert times / 40_000 == pytest.approx([0.25] * 4, abs=0.01)


def test_a_uniform_range_of_one_length_makes_all_equal():
    assert UniformLength(7, 7).draw(5, np.random.default_rng(RNG_SEED)).tolist() == [7] * 5


def test_a_spread_is_the_99th_percentile_over_the_mean():
    assert LognormalLength.with_spread(200, 3.5) == LognormalLength(200, 700)


def test_one_in_many_is_long_and_all_others_are_usual():
    drawn = OneInMany(300, 8192, every=4).draw(9, np.random.default_rng(RNG_SEED))
    assert drawn.tolist() == [300, 300, 300, 8192, 300, 300, 300, 8192, 300]
    with pytest.raises(SimError) as error:
        OneInMany(300, 8192, every=0)
    assert error.value.code == "every_below_one"


@pytest.mark.parametrize("p99", [99.0, 1498.0, math.nan])
def test_a_p99_that_no_lognormal_has_is_an_error_that_names_the_largest(p99):
    with pytest.raises(SimError) as error:
        LognormalLength(100, p99)
    assert error.value.code == "p99_out_of_range"
    assert error.value.values["largest"] == pytest.approx(1497, abs=1)


# -- together --------------------------------------------------------------------------------

WORK = Workload(50, PoissonArrivals(2.0), LognormalLength(40, 200), LognormalLength(20, 90))


def test_the_same_workload_gives_the_same_requests_and_another_seed_others():
    other = Workload(50, WORK.arrivals, WORK.prompt, WORK.output, seed=1)
    assert WORK.requests() == WORK.requests()
    assert WORK.requests() != other.requests()


def test_turning_one_knob_leaves_the_other_draws():
    faster = Workload(50, PoissonArrivals(4.0), WORK.prompt, WORK.output)
    shorter = Workload(50, WORK.arrivals, FixedLength(3), WORK.output)
    before, after, cut = WORK.requests(), faster.requests(), shorter.requests()
    assert arrivals_of(after) == pytest.approx(arrivals_of(before) / 2)
    assert [r.prompt_tokens for r in after] == [r.prompt_tokens for r in before]
    assert [r.output_tokens for r in cut] == [r.output_tokens for r in before]


def test_long_prompts_do_not_go_with_long_answers_or_long_gaps():
    same = LognormalLength(100, 400)
    requests = Workload(4000, PoissonArrivals(1.0), same, same).requests()
    prompts, answers = (
        [getattr(r, n) for r in requests] for n in ("prompt_tokens", "output_tokens")
    )
    gaps = np.diff(arrivals_of(requests), prepend=0.0)
    for one, other in ((prompts, answers), (prompts, gaps), (answers, gaps)):
        assert abs(np.corrcoef(one, other)[0, 1]) < 0.06


def test_more_requests_begin_with_the_same_ones():
    more = Workload(80, WORK.arrivals, WORK.prompt, WORK.output)
    assert more.requests()[:50] == WORK.requests()


def test_a_shared_prefix_comes_on_top_and_groups_take_turns():
    prefix = SharedPrefix(100, num_groups=2)
    work = Workload(3, ConstantArrivals(1), FixedLength(7), FixedLength(2), prefix)
    requests = work.requests()
    assert [request.prompt_tokens for request in requests] == [107] * 3
    assert requests[0].prefix == requests[2].prefix == (Segment("prefix-0", 100),)
    assert requests[1].prefix == (Segment("prefix-1", 100),)


def test_a_handful_by_hand():
    requests = of_lengths((10, 100, 30))
    assert arrivals_of(requests).tolist() == [0, 0, 0]
    assert [(r.id, r.prompt_tokens, r.output_tokens) for r in requests] == [
        *[(0, 16, 10), (1, 16, 100), (2, 16, 30)]
    ]


def test_ticks_are_never_before_the_arrival_and_less_than_one_tick_after():
    requests = WORK.requests()
    ticked = on_ticks(requests, 1 / 64)
    delay = arrivals_of(ticked) - arrivals_of(requests)
    assert np.all((delay >= 0) & (delay < 1 / 64))
    assert np.all(arrivals_of(ticked) * 64 % 1 == 0)
    assert on_ticks(ticked, 1 / 64) == ticked


def test_twice_the_speed_halves_the_times_and_keeps_the_work():
    fast = scaled(WORK.requests(), 2.0)
    assert arrivals_of(fast) == pytest.approx(arrivals_of(WORK.requests()) / 2)
    assert [r.prompt_tokens for r in fast] == [r.prompt_tokens for r in WORK.requests()]


@pytest.mark.parametrize(
    ("make", "code", "values"),
    [
        (lambda: ConstantArrivals(0), "rate_not_positive", {"value": 0}),
        (lambda: PoissonArrivals(0), "rate_not_positive", {"value": 0}),
        (lambda: BurstArrivals.at_rate(0, 8), "rate_not_positive", {"value": 0}),
        (lambda: GammaArrivals(0, 1), "rate_not_positive", {"value": 0}),
        *[
            (
                lambda cv=cv: GammaArrivals(1, cv),
                "cv_out_of_range",
                {"value": cv, "lowest": 0.01, "highest": 100.0},
            )
            for cv in (0, -1, 0.001, 101, math.inf)
        ],
        (lambda: UniformLength(0, 3), "length_below_one", {"value": 0}),
        (lambda: UniformLength(4, 3), "length_range_empty", {"low": 4, "high": 3}),
        (lambda: BurstArrivals(0), "burst_below_one", {"value": 0}),
        (lambda: BurstArrivals(1, -2.0), "burst_gap_negative", {"value": -2.0}),
        (lambda: FixedLength(0), "length_below_one", {"value": 0}),
        (lambda: OneInMany(0, 9, 3), "length_below_one", {"value": 0}),
        (lambda: OneInMany(9, 0, 3), "length_below_one", {"value": 0}),
        (lambda: OneInMany(9, 9, 0), "every_below_one", {"value": 0}),
        (lambda: LognormalLength(0.5, 3), "length_below_one", {"value": 0.5}),
        (lambda: SharedPrefix(0), "length_below_one", {"value": 0}),
        (lambda: SharedPrefix(1, 0), "groups_below_one", {"value": 0}),
        (
            lambda: Workload(0, ConstantArrivals(1), FixedLength(1), FixedLength(1)),
            "num_requests_below_one",
            {"value": 0},
        ),
        (
            lambda: Workload(1, ConstantArrivals(1), FixedLength(1), FixedLength(1), seed=-1),
            "seed_negative",
            {"value": -1},
        ),
        (lambda: scaled((), 0), "rate_not_positive", {"value": 0}),
        (lambda: on_ticks((), 0), "tick_not_positive", {"value": 0}),
    ],
)
def test_impossible_settings_are_codes_with_values(make, code, values):
    with pytest.raises(SimError) as error:
        make()
    assert (error.value.code, error.value.values) == (code, values)


def test_the_least_lengths_are_lengths():
    rng = np.random.default_rng(0)
    for least in (FixedLength(1), UniformLength(1, 1), LognormalLength(1, 1), OneInMany(1, 1, 1)):
        assert least.draw(3, rng).tolist() == [1, 1, 1]
    assert SharedPrefix(1).of(5) == (Segment("prefix-0", 1),)


def test_rates_that_are_not_numbers_are_errors():
    for make in (ConstantArrivals, PoissonArrivals):
        with pytest.raises(SimError, match="rate_not_positive"):
            make(math.nan)
    with pytest.raises(SimError, match="cv_out_of_range"):
        GammaArrivals(1.0, math.nan)


def test_one_giant_prompt_stands_among_requests_that_stay_as_they_are():
    usual = of_lengths([5] * 9, 100)
    crowd = with_giant(usual, 50_000)
    assert [request.prompt_tokens for request in crowd] == [100] * 4 + [50_000] + [100] * 4
    assert [who for who, other in zip(crowd, usual, strict=True) if who != other] == [crowd[4]]


def test_the_giant_begins_with_nothing_that_the_others_share():
    work = Workload(3, ConstantArrivals(1), FixedLength(7), FixedLength(2), SharedPrefix(100))
    crowd = with_giant(work.requests(), 50_000)
    assert [request.named_tokens for request in crowd] == [100, 0, 100]


def test_at_their_own_speed_requests_are_the_same_objects():
    usual = of_lengths([5] * 9)
    assert scaled(usual, 1) is usual


def test_requests_at_even_distances_keep_off_both_ends():
    three = evenly(3, within_seconds=2.0, prompt_tokens=50, first_id=1)
    assert [request.arrival_seconds for request in three] == [0.5, 1.0, 1.5]
    assert [request.id for request in three] == [1, 2, 3]
    assert {(request.prompt_tokens, request.output_tokens) for request in three} == {(50, 1)}
    assert [request.id for request in evenly(2, 1.0, 50)] == [0, 1]
    assert evenly(0, within_seconds=2.0, prompt_tokens=50) == ()


# -- chats ------------------------------------------------------------------------------------


def said(request):
    return [segment.id for segment in request.prefix]


def test_each_turn_of_a_chat_repeats_what_was_said_and_adds_a_question():
    last: dict[str, list[str]] = {}
    for request in Chats(200, 4, 5, 100, 10, 30, seed=1).requests():
        talk = said(request)[1].rpartition("-")[0]
        turn = len(request.prefix) - 2
        assert request.prompt_tokens == 100 + turn * 40 + 10
        assert request.named_tokens == request.total_tokens
        assert said(request)[: len(last.get(talk, []))] == last.get(talk, [])
        assert talk not in last or len(said(request)) == len(last[talk]) + 1
        last[talk] = said(request)
        assert turn < 5


def test_a_chat_that_makes_way_for_another_leaves_it_the_first_turn():
    requests = Chats(300, 6, 3, 10, 5, 5).requests()
    later = [request for request in requests if int(said(request)[1].split("-")[1]) >= 6]
    first = {said(request)[1]: request for request in reversed(later)}
    assert len(first) > 20
    assert {request.prompt_tokens for request in first.values()} == {10 + 5}


def test_as_many_chats_go_on_as_were_asked_for():
    requests = Chats(300, 6, 3, 10, 5, 5).requests()
    talks = [said(request)[1].rpartition("-")[0] for request in requests]
    places = [[at for at, talk in enumerate(talks) if talk == one] for one in dict.fromkeys(talks)]
    most = max(sum(own[0] <= at <= own[-1] for own in places) for at in range(len(talks)))
    assert most <= 6
    assert len(places) > 6


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ((0, 1, 1, 1, 1, 1), "num_requests_below_one"),
        ((1, 0, 1, 1, 1, 1), "at_a_time_below_one"),
        ((1, 1, 0, 1, 1, 1), "num_turns_below_one"),
    ],
)
def test_chats_that_nobody_has_are_refused(arguments, code):
    with pytest.raises(SimError, match=code):
        Chats(*arguments)
