"""What speculation is worth: formula, lot and real rounds agree; load takes the gain away."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim import specs
from sim.cost import Roofline
from sim.engine import Tally
from sim.errors import SimError
from sim.model.sampling import GREEDY, Sampling
from sim.model.speculative import acceptance, rounds
from sim.scheduler import Load
from sim.studies.acceptance import (
    PUBLISHED,
    UnderLoad,
    along,
    best_num_proposed,
    expected_tokens,
    simulated_tokens,
    speedup,
    tally_of,
)
from tests.sim.model import tiny

SHARES = st.floats(0, 0.999)
NUMBERS = st.integers(1, 16)
H100 = Roofline(specs.MODELS["Llama-3.1-8B"], specs.GPUS["H100 SXM"])


@given(SHARES, NUMBERS)
def test_the_sum_is_the_closed_form_of_the_paper(a, k):
    assert expected_tokens(a, k) == pytest.approx((1 - a ** (k + 1)) / (1 - a))


def test_expected_tokens_by_hand():
    assert expected_tokens(0.5, 2) == 1.75
    assert expected_tokens(0, 5) == 1
    assert expected_tokens(1, 5) == 6


@pytest.mark.parametrize("a", [-0.1, 1.1, float("nan")])
def test_a_probability_lies_between_0_and_1(a):
    with pytest.raises(SimError, match="acceptance_out_of_range"):
        expected_tokens(a, 4)


@pytest.mark.parametrize("a", [0.1, 0.5, 0.8, 0.95])
@pytest.mark.parametrize("k", [1, 4, 8])
def test_rounds_drawn_by_lot_yield_what_the_formula_says(a, k):
    assert simulated_tokens(a, k, 40_000) == pytest.approx(expected_tokens(a, k), rel=0.02)


@given(SHARES, st.integers(1, 15))
def test_more_proposals_never_yield_less_and_each_adds_less_than_the_one_before(a, k):
    gains = np.diff([expected_tokens(a, each) for each in (k - 1, k, k + 1)])
    assert 0 <= gains[1] <= gains[0] + 1e-12


@given(SHARES, NUMBERS, st.floats(0, 1))
def test_a_draft_that_costs_more_gains_less(a, k, cost):
    assert speedup(a, k, cost + 0.1) < speedup(a, k, cost) <= expected_tokens(a, k)


@given(SHARES, st.floats(0, 1))
def test_the_best_number_of_proposals_is_at_least_as_good_as_any_other(a, cost):
    best = best_num_proposed(a, cost, 12)
    assert all(speedup(a, best, cost) >= speedup(a, k, cost) for k in range(13))


def test_a_draft_that_is_seldom_right_or_too_dear_is_not_used():
    assert best_num_proposed(0.1, 0.2, 16) == 0
    assert best_num_proposed(0.9, 0.95, 16) == 0


def test_the_table_of_the_paper_is_complete():
    """Table 2: expected tokens as another reader of it has computed them."""
    expected = [3.6, 4.161, 4.42, 2.574, 2.816, 2.572, 2.642, 3.143, 2.693, 2.081, 2.019, 2.049]
    assert [row.bound for row in PUBLISHED] == pytest.approx(expected, abs=6e-4)


def test_some_measured_speedups_are_above_what_a_free_draft_would_allow():
    above = [row for row in PUBLISHED if row.speedup > row.bound]
    assert [(row.task, row.draft, row.temperature) for row in above] == [
        ("EnDe", "T5-small", 1),
        ("CNNDM", "T5-small", 0),
        ("CNNDM", "T5-small", 1),
        ("CNNDM", "T5-base", 1),
    ]


# -- real rounds ----------------------------------------------------------------------------


def real_rounds(seed=0, sampling=GREEDY):
    prompt = tiny.encoder().prompt(tiny.CHINESE)
    return list(rounds(tiny.target(), tiny.draft(), prompt, 20, 4, sampling, seed))


def test_rounds_yield_at_least_as_many_tokens_as_are_asked_for():
    told = real_rounds()
    tally = tally_of(told)
    assert 20 <= tally.num_tokens < 25
    assert tally.num_tokens == sum(len(one.tokens) for one in told)
    assert tally.num_proposed == 4 * tally.num_rounds


def test_a_tally_by_hand():
    tally = Tally(num_rounds=2, num_proposed=8, num_accepted=5)
    assert (tally.num_tokens, tally.tokens_per_round, tally.accepted_share) == (7, 3.5, 0.625)
    assert tally.speedup(draft_cost=0.25) == 7 / 4


def test_along_a_text_acceptance_is_that_of_each_place():
    text = tiny.encoder().prompt(tiny.CHINESE)
    one = real_rounds(sampling=Sampling(1.0))[0]
    mean = along(tiny.target(), tiny.draft(), text, Sampling(1.0))
    assert mean.shape == (len(text),)
    assert mean[-1] == pytest.approx(acceptance(one.p[0], one.q[0]), abs=1e-5)


def test_greedy_acceptance_is_whether_both_choose_the_same_token():
    text = tiny.encoder().prompt(tiny.CHINESE)
    assert set(along(tiny.target(), tiny.draft(), text, GREEDY)) <= {0, 1}


# -- under load -----------------------------------------------------------------------------


def test_for_a_single_request_checking_costs_as_much_as_a_plain_step():
    load = UnderLoad(H100, context=512, num_proposed=4, draft_cost=0.1)
    assert load.verify_seconds(1) == pytest.approx(load.plain_seconds(1), rel=1e-4)
    assert load.speedup(0.7, 1) == pytest.approx(speedup(0.7, 4, 0.1), rel=1e-4)


@given(st.integers(1, 500), st.sampled_from([256, 1024]), st.integers(1, 8))
def test_the_larger_the_batch_the_smaller_the_gain(batch, context, k):
    load = UnderLoad(H100, context, k, 0.1)
    assert load.speedup(0.7, batch + 1) <= load.speedup(0.7, batch) + 1e-9


def test_the_first_batch_that_loses_is_the_first():
    load = UnderLoad(H100, context=256, num_proposed=4, draft_cost=0.1)
    turn = load.first_batch_that_loses(0.7, 512)
    assert turn is not None
    assert load.speedup(0.7, turn) < 1 <= load.speedup(0.7, turn - 1)
    assert load.first_batch_that_loses(0.7, turn - 1) is None


def test_a_verification_is_costed_as_the_rows_that_the_engine_would_schedule():
    load = UnderLoad(H100, context=300, num_proposed=4, draft_cost=0)
    for batch in (7, 300):  # memory-bound, and compute-bound
        rows = Load.of_rows([5] * batch, [304] * batch, num_sampled=5 * batch)
        assert load.verify_seconds(batch) == pytest.approx(H100.step_time(rows).seconds)
