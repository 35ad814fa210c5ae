"""Gradients against differences, and the training's forward pass against the one that ships."""

import numpy as np
import pytest

from sim.model.kv_store import ContiguousStore
from sim.model.transformer import Chunk, forward, softmax
from tests.sim.model.tiny import random_weights
from tools import gradients

STEP = 1e-5
TOKENS = np.random.default_rng(0).integers(0, 23, (3, 8))  # [num_windows, length + 1]
PARAMETERS = vars(random_weights(dtype=np.float64))


@pytest.mark.parametrize("name", PARAMETERS)
def test_a_gradient_is_the_slope_of_the_loss(name):
    """Along three random directions."""
    loss, gradient = gradients.loss_and_gradients(PARAMETERS, TOKENS)
    assert loss == pytest.approx(gradients.loss(PARAMETERS, TOKENS))
    rng = np.random.default_rng(0)
    for _ in range(3):
        direction = rng.normal(size=PARAMETERS[name].shape)
        up, down = (
            gradients.loss({**PARAMETERS, name: PARAMETERS[name] + sign * direction}, TOKENS)
            for sign in (STEP, -STEP)
        )
        assert (gradient[name] * direction).sum() == pytest.approx(
            (up - down) / (2 * STEP), rel=1e-5
        )


def test_the_loss_of_knowing_nothing_is_the_logarithm_of_the_vocabulary():
    blank = {name: np.zeros_like(array) for name, array in PARAMETERS.items()}
    assert gradients.loss(blank, TOKENS) == pytest.approx(np.log(23))


def test_training_and_serving_compute_the_same_logits():
    weights = random_weights()
    trained = gradients.logits(vars(weights), TOKENS)
    for row, logits in zip(TOKENS, trained, strict=True):
        store = ContiguousStore(weights.model, len(row))
        (served,) = forward(weights, [Chunk(row.tolist(), store)])
        assert np.abs(served - logits).max() < 1e-4


def test_a_draft_learns_the_probabilities_of_its_teacher():
    """The slope of the cross-entropy between the two, along a random direction of all weights."""
    teacher = vars(random_weights(seed=1, dtype=np.float64))
    wanted = softmax(gradients.logits(teacher, TOKENS[:, :-1]))
    rng = np.random.default_rng(0)
    direction = {name: rng.normal(size=array.shape) for name, array in PARAMETERS.items()}

    def distance(step):
        moved = {name: array + step * direction[name] for name, array in PARAMETERS.items()}
        return -(wanted * np.log(softmax(gradients.logits(moved, TOKENS[:, :-1])))).sum(-1).mean()

    _, gradient = gradients.loss_and_gradients(PARAMETERS, TOKENS, teacher)
    slope = sum((gradient[name] * direction[name]).sum() for name in PARAMETERS)
    assert slope == pytest.approx((distance(STEP) - distance(-STEP)) / (2 * STEP), rel=1e-5)
    _, none = gradients.loss_and_gradients(teacher, TOKENS, teacher)
    assert all(np.abs(array).max() < 1e-12 for array in none.values())
