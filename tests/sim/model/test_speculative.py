"""Speculation keeps the target's distribution; how often it accepts has a closed form."""

from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.errors import SimError
from sim.model.generation import Decoder
from sim.model.proofs import chi_square_tail
from sim.model.sampling import GREEDY, Sampling, draw
from sim.model.speculative import acceptance, residual, rounds, speculate, verify
from tests.sim.model.tiny import random_weights

P = np.array([0.1, 0.2, 0.7])
Q = np.array([0.5, 0.3, 0.2])
DISTRIBUTIONS = (
    st.lists(st.floats(0.01, 1), min_size=4, max_size=4)
    .map(np.array)
    .map(lambda weights: weights / weights.sum())
)


def test_the_residual_by_hand():
    """max(0, p - q) is (0, 0, 0.5): only the third token was offered too rarely."""
    assert residual(P, Q).tolist() == [0, 0, 1]
    assert residual(Q, P) == pytest.approx([0.8, 0.2, 0])


def test_without_a_difference_there_is_nothing_to_correct():
    assert residual(P, P) is P


def test_acceptance_by_hand():
    assert acceptance(P, Q) == pytest.approx(0.1 + 0.2 + 0.2)
    assert acceptance(P, P) == pytest.approx(1)


@given(DISTRIBUTIONS, DISTRIBUTIONS)
def test_accepted_and_corrected_together_are_the_target(p, q):
    """The proof of appendix A.1: min(p, q) + (1 - a) residual = p."""
    rejected = 1 - acceptance(p, q)
    assert np.minimum(p, q) + rejected * residual(p, q) == pytest.approx(p)


def test_proposals_are_accepted_as_often_as_the_closed_form_says():
    rng = np.random.default_rng(0)
    pair = np.stack([P, P])
    accepted = sum(verify([draw(Q, rng)], Q[None], pair, rng)[0] for _ in range(20_000))
    assert accepted / 20_000 == pytest.approx(acceptance(P, Q), abs=0.015)


def test_a_token_the_target_never_writes_is_never_accepted():
    never = np.array([0.0, 1.0])
    for seed in range(50):
        rng = np.random.default_rng(seed)
        assert verify([0], np.array([[1.0, 0.0]]), np.stack([never, never]), rng) == (0, 1)


def test_when_all_are_accepted_one_more_comes_from_the_target():
    """Draft and target agree on 0 and 1; the bonus token is the target's 2."""
    rows = np.eye(3)
    assert verify([0, 1], rows[:2], rows, np.random.default_rng(0)) == (2, 2)


def test_after_a_rejection_nothing_more_is_looked_at():
    """The second proposal is wrong, the third would have been right."""
    q, p = np.eye(4)[[0, 1, 2]], np.eye(4)[[0, 3, 2, 1]]
    assert verify([0, 1, 2], q, p, np.random.default_rng(0)) == (1, 3)


def test_pairs_of_tokens_come_as_often_as_the_target_writes_them():
    """Two tokens that depend on each other, three proposals a round: the seams do not show."""
    rng = np.random.default_rng(0)
    p_after, q_after = rng.dirichlet(np.ones(3), size=(2, 4))  # [previous token, 3]; 3 is the start
    counts: Counter[tuple[int, ...]] = Counter()
    num_draws = 8_000
    for _ in range(num_draws):
        text = [3]
        while len(text) < 3:
            proposed, previous = [], text[-1]
            for _ in range(3):
                proposed.append(draw(q_after[previous], rng))
                previous = proposed[-1]
            seen = [text[-1], *proposed]
            accepted, token = verify(proposed, q_after[seen[:3]], p_after[seen], rng)
            text += [*proposed[:accepted], token]
        counts[tuple(text[1:3])] += 1
    pairs = list(product(range(3), repeat=2))
    expected = np.array([p_after[3, a] * p_after[a, b] for a, b in pairs]) * num_draws
    observed = np.array([counts[pair] for pair in pairs])
    statistic = ((observed - expected) ** 2 / expected).sum()
    assert chi_square_tail(statistic, len(pairs) - 1) > 1e-3


def test_a_round_leaves_what_was_accepted_in_both_stores():
    target, draft = (Decoder.with_room(random_weights(seed), 60) for seed in (1, 2))
    rng = np.random.default_rng(0)
    tokens, lengths = [3, 1, 4], set()
    for _ in range(12):
        told = speculate(target, draft, tokens, 3, Sampling(temperature=3), rng)
        lengths.add(told.num_accepted)
        assert told.tokens[:-1] == told.proposed[: told.num_accepted]
        tokens += told.tokens
        assert target.store.num_tokens == len(tokens) - 1
        assert draft.store.num_tokens == min(len(tokens) - 1, len(tokens) - told.num_accepted + 1)
    assert {0, 1} <= lengths


def test_a_draft_that_is_the_target_is_always_right():
    target, draft = (Decoder.with_room(random_weights(), 60) for _ in range(2))
    told = speculate(target, draft, [3, 1, 4], 4, GREEDY, np.random.default_rng(0))
    assert told.num_accepted == 4
    assert told.q.shape == (4, 23)
    assert told.p.shape == (5, 23)


def test_rounds_end_as_soon_as_all_tokens_are_there():
    """A draft that is always right: eight tokens are two rounds of three and the bonus."""
    target = random_weights()
    told = list(rounds(target, target, [3, 1, 4], 8, 3, GREEDY))
    assert [len(one.tokens) for one in told] == [4, 4]


@pytest.mark.parametrize(
    ("tokens", "num_proposed", "code"), [([3], 0, "proposals_below_one"), ([], 2, "prompt_empty")]
)
def test_a_round_needs_a_text_and_a_proposal(tokens, num_proposed, code):
    target, draft = (Decoder.with_room(random_weights(), 9) for _ in range(2))
    with pytest.raises(SimError, match=code):
        speculate(target, draft, tokens, num_proposed, GREEDY, np.random.default_rng(0))
