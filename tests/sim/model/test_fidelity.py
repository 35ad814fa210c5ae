"""What a model with rounded weights has left of the original."""

import numpy as np
import pytest

from sim.errors import SimError
from sim.model import fidelity
from sim.model.quantization import GRIDS, Granularity
from tests.sim.model import tiny

CHANNEL = Granularity("channel")
TEXTS = [tuple(tiny.encoder().prompt(text)) for text in (tiny.CHINESE, tiny.ENGLISH)]


def judged(weights, texts=TEXTS, original=None):
    before = fidelity.log_probabilities(original or tiny.target(), texts)
    return fidelity.compare(before, fidelity.log_probabilities(weights, texts), texts)


@pytest.mark.parametrize("name", fidelity.MATRICES)
def test_a_channel_holds_the_weights_of_one_output(name):
    weights = tiny.random_weights()
    own = getattr(weights, name)[1]
    rows = fidelity.channels(weights, name, 1)
    x = np.asarray(np.random.default_rng(0).normal(size=rows.shape[1]))
    inputs = own.shape[:2] if name == "output" else own.shape[:1]
    expected = np.tensordot(x.reshape(inputs), own, axes=len(inputs)).ravel()
    assert rows @ x == pytest.approx(expected)


def test_only_linear_layers_are_rounded_and_keep_their_shapes():
    before = tiny.random_weights()
    after = fidelity.quantized(before, GRIDS["int4"], CHANNEL)
    for name, own in vars(before).items():
        assert getattr(after, name).shape == own.shape
        assert (getattr(after, name) != own).any() == (name in fidelity.MATRICES)


def test_rounded_channels_are_those_of_the_rounded_model():
    before = tiny.random_weights()
    after = fidelity.quantized(before, GRIDS["int4"], CHANNEL)
    for name in fidelity.MATRICES:
        own = fidelity.channels(before, name, 0)
        expected = fidelity.rounded(own, GRIDS["int4"], CHANNEL).after
        assert (fidelity.channels(after, name, 0) == expected).all()


@pytest.mark.parametrize("times", [2, 16, 0.5])
def test_an_outlier_changes_the_weights_and_nothing_that_the_model_says(times):
    weights = fidelity.with_outlier(tiny.target(), times, 21)
    assert (weights.gate[:, 21] == tiny.target().gate[:, 21] * times).all()
    found = judged(weights)
    assert found.divergence == pytest.approx(0, abs=1e-6)
    assert found.agreement == 1


def test_an_outlier_has_a_size():
    with pytest.raises(SimError, match="outlier_not_positive"):
        fidelity.with_outlier(tiny.target(), 0, 21)


def test_probabilities_add_up_to_one_at_every_place_but_the_last():
    found = fidelity.log_probabilities(tiny.target(), TEXTS)
    assert len(found) == sum(len(text) - 1 for text in TEXTS)
    assert np.exp(found).sum(axis=1) == pytest.approx(1, abs=1e-4)


def test_the_original_is_faithful_to_itself():
    found = judged(tiny.target())
    assert (found.change, found.change_error, found.agreement, found.divergence) == (0, 0, 1, 0)
    assert not found.is_noticeable


def test_loss_and_divergence_are_what_their_names_say():
    # two places, three tokens; the texts go on with tokens 1 and 2
    before, after = (
        np.log(np.array(each)) for each in ([[0.5, 0.25, 0.25]] * 2, [[0.2, 0.4, 0.4]] * 2)
    )
    found = fidelity.compare(before, after, [(0, 1, 2)])
    assert found.loss == pytest.approx(-np.log(0.4))
    assert found.change == pytest.approx(np.log(0.25 / 0.4))
    assert found.agreement == 0
    expected = 0.5 * np.log(0.5 / 0.2) + 0.5 * np.log(0.25 / 0.4)
    assert found.divergence == pytest.approx(expected)


def test_the_error_is_that_of_a_mean_over_places():
    before = np.log(np.full((4, 2), 0.5))
    after = np.log(np.array([[0.25, 0.75], [0.75, 0.25]] * 2))
    found = fidelity.compare(before, after, [(0, 0, 0, 0, 0)])
    changes = -after[:, 0] + before[:, 0]
    assert found.change_error == pytest.approx(changes.std() / 2)
    assert found.is_noticeable == (abs(changes.mean()) > changes.std())


@pytest.mark.parametrize(("change", "seen"), [(2.5, True), (-2.5, True), (2, False), (-1, False)])
def test_a_change_is_seen_beyond_two_standard_errors(change, seen):
    one = fidelity.Fidelity(3.0, change, change_error=1, agreement=1, divergence=0)
    assert one.is_noticeable is seen


def test_fewer_bits_say_more_that_is_new():
    divergence = {
        name: judged(fidelity.quantized(tiny.target(), grid, CHANNEL)).divergence
        for name, grid in GRIDS.items()
    }
    assert 0 < divergence["int8"] < divergence["fp8"] < divergence["int4"]
