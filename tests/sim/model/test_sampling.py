"""From logits to a token, in the order that is stated."""

from typing import cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.errors import SimError
from sim.model.sampling import GREEDY, Sampling, draw, probabilities

HALVES = np.log([0.5, 0.25, 0.125, 0.125])
LOGITS = st.lists(st.floats(-20, 20), min_size=1, max_size=9).map(np.array)
SETTINGS = st.builds(Sampling, st.floats(0, 3), st.integers(0, 9), st.floats(1e-3, 1))


def kept(logits, **settings) -> list[float]:
    return probabilities(np.array(logits), Sampling(**settings)).round(6).tolist()


@given(LOGITS, SETTINGS)
def test_probabilities_are_probabilities(logits, sampling):
    p = probabilities(logits, sampling)
    assert p.sum() == pytest.approx(1)
    assert (p >= 0).all()
    assert p[logits.argmax()] > 0  # the most probable one always stays


@given(LOGITS)
def test_without_settings_it_is_the_softmax(logits):
    powers = np.exp(logits - logits.max())
    assert probabilities(logits, Sampling()) == pytest.approx(powers / powers.sum())


def test_temperature_is_a_power():
    """At 1/2 the odds 4 : 2 : 1 : 1 become 16 : 4 : 1 : 1."""
    assert kept(HALVES, temperature=0.5) == pytest.approx(np.array([16, 4, 1, 1]) / 22, abs=1e-6)


def test_temperature_0_takes_the_largest_and_of_equals_the_first():
    assert kept([1, 3, 3, 2], temperature=0) == [0, 1, 0, 0]


def test_a_tiny_temperature_is_nearly_greedy():
    with np.errstate(all="raise", under="ignore"):
        assert kept([1, 3, -20], temperature=1e-309) == [0, 1, 0]


def test_top_k_keeps_k_even_of_equals():
    assert kept([0, 0, 0, 0], top_k=2) == [0.5, 0.5, 0, 0]
    assert kept(HALVES, top_k=9) == [0.5, 0.25, 0.125, 0.125]


@pytest.mark.parametrize(
    ("top_p", "num_kept"), [(1e-9, 1), (0.5, 1), (0.51, 2), (0.75, 2), (0.8, 3), (0.9, 4), (1, 4)]
)
def test_top_p_keeps_the_fewest_that_reach_it(top_p, num_kept):
    p = probabilities(HALVES, Sampling(top_p=top_p))
    assert np.flatnonzero(p).tolist() == list(range(num_kept))
    assert p.sum() == pytest.approx(1)


def test_of_equals_top_p_keeps_the_first():
    assert kept([0, 0, 0, 0], top_p=0.4) == [0.5, 0.5, 0, 0]


def test_of_many_equals_the_first_are_kept():
    halves = np.tile([0, 1], 150)  # all of the ones, and three of the zeros
    assert np.flatnonzero(kept(halves, top_k=153))[:6].tolist() == [0, 1, 2, 3, 4, 5]
    assert np.count_nonzero(kept(halves, top_k=153)) == 153
    assert np.flatnonzero(kept(np.zeros(300), top_p=0.012)).tolist() == [0, 1, 2, 3]


def test_top_p_1_keeps_the_least_probable():
    """Rounding must not lose it: the others already add up to 1."""
    assert probabilities(np.array([0.0, -60.0]), Sampling(top_p=1))[1] > 0


def test_temperature_goes_before_top_p():
    """Heated, the first token no longer reaches a half alone."""
    assert kept(HALVES, top_p=0.5) == [1, 0, 0, 0]
    assert np.count_nonzero(kept(HALVES, temperature=2, top_p=0.5)) == 2


def test_top_k_goes_before_top_p():
    """Of the two that top-k keeps, the first holds two thirds, which is enough for top-p."""
    assert kept(HALVES, top_k=2, top_p=0.6) == [1, 0, 0, 0]
    assert np.count_nonzero(kept(HALVES, top_p=0.6)) == 2


@pytest.mark.parametrize("sampling", [GREEDY, Sampling(), Sampling(0.7, 3, 0.5)])
def test_a_mask_of_one_token_leaves_that_token(sampling):
    only = np.array([False, False, False, True])
    assert probabilities(HALVES, sampling, only).tolist() == [0, 0, 0, 1]


def test_the_mask_goes_first():
    """Else the mask would leave nothing of what top-k kept."""
    without_best = np.array([False, True, True, True])
    assert probabilities(HALVES, Sampling(top_k=1), without_best).tolist() == [0, 1, 0, 0]


def test_a_mask_of_nothing_is_refused():
    with pytest.raises(SimError, match="no_token_allowed"):
        probabilities(HALVES, Sampling(), np.zeros(4, bool))


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ({"temperature": -1}, "temperature_negative"),
        ({"temperature": float("inf")}, "temperature_negative"),
        ({"temperature": float("nan")}, "temperature_negative"),
        ({"top_k": -1}, "top_k_negative"),
        ({"top_p": 0}, "top_p_out_of_range"),
        ({"top_p": 1.1}, "top_p_out_of_range"),
    ],
)
def test_impossible_settings_are_refused(settings, code):
    with pytest.raises(SimError) as error:
        Sampling(**settings)
    assert error.value.code == code


def test_rows_are_sampled_each_for_itself():
    rows = np.stack([HALVES, HALVES[::-1]])
    sampling = Sampling(0.8, 3, 0.9)
    together = probabilities(rows, sampling)
    assert np.array_equal(together, [probabilities(row, sampling) for row in rows])


class Fixed:
    """A generator whose uniform number is known."""

    def __init__(self, number):
        self.number = number

    def random(self):
        return self.number


@pytest.mark.parametrize(
    ("uniform", "token"), [(0, 1), (0.24, 1), (0.25, 3), (0.99, 3), (1 - 2**-53, 3)]
)
def test_a_token_is_drawn_where_the_uniform_number_falls(uniform, token):
    assert draw(np.array([0, 0.25, 0, 0.75, 0]), cast(np.random.Generator, Fixed(uniform))) == token


def test_draws_are_as_frequent_as_probable():
    rng = np.random.default_rng(0)
    p = np.array([0.1, 0.6, 0.3])
    counts = np.bincount([draw(p, rng) for _ in range(20_000)], minlength=3)
    assert counts / 20_000 == pytest.approx(p, abs=0.015)  # 4 standard deviations
