"""Each line of the formula by hand or by loops, and the whole against the code that trained it."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.errors import SimError
from sim.model.kv_store import ContiguousStore
from sim.model.transformer import (
    Chunk,
    attend,
    feed_forward,
    forward,
    load,
    rms_norm,
    rotate,
    silu,
    softmax,
)
from tests.chapters import ROOT
from tests.sim.model.tiny import FOLDER, draft, encoder, random_weights, target

RNG = np.random.default_rng(0)
GOLDEN = json.loads((ROOT / "tests" / "golden" / "tiny_model.json").read_text(encoding="utf-8"))
MODELS = {"target": target, "draft": draft}


def whole(weights, tokens):
    store = ContiguousStore(weights.model, len(tokens))
    return forward(weights, [Chunk(tokens, store)])[0]


# Line by line


def test_rms_norm_by_hand():
    """The root of the mean square of (3, 4) is sqrt(12.5)."""
    normed = rms_norm(np.array([3.0, 4.0]), np.array([1.0, 10.0]))
    assert normed == pytest.approx([3 / 12.5**0.5, 40 / 12.5**0.5], rel=1e-5)


def test_a_rotation_turns_by_its_position():
    turned = rotate(np.array([[[1.0, 0.0]], [[1.0, 0.0]]]), np.array([0, 2]))
    assert turned[:, 0] == pytest.approx(np.array([[1, 0], [np.cos(2), np.sin(2)]]))


def test_the_second_of_two_pairs_turns_a_hundred_times_slower():
    """base^(-2 / 4) = 1 / 100; a pair is (x[i], x[i + 2])."""
    turned = rotate(np.array([[[0.0, 1.0, 0.0, 0.0]]]), np.array([100]))
    assert turned[0, 0] == pytest.approx([0, np.cos(1), 0, np.sin(1)])


@given(st.integers(0, 500), st.integers(0, 500), st.integers(0, 500))
def test_a_query_and_a_key_see_only_their_distance(i, j, shift):
    query, key = np.random.default_rng(0).normal(size=(2, 1, 1, 8))

    def product(i, j):
        return (rotate(query, np.array([i])) * rotate(key, np.array([j]))).sum()

    assert product(i, j) == pytest.approx(product(i + shift, j + shift), abs=1e-9)


def test_attention_is_what_plain_loops_give():
    """The last three of five tokens; query heads 0 and 1 share KV head 0, heads 2 and 3 head 1."""
    queries = RNG.normal(size=(3, 4, 6))
    keys, values = RNG.normal(size=(2, 5, 2, 6))
    expected = np.zeros_like(queries)
    for token in range(3):
        for head in range(4):
            seen = range(2 + token + 1)
            scores = [queries[token, head] @ keys[t, head // 2] / 6**0.5 for t in seen]
            powers = np.exp(scores)
            for t in seen:
                expected[token, head] += powers[t] / powers.sum() * values[t, head // 2]
    assert attend(queries, keys, values) == pytest.approx(expected, abs=1e-6)


def test_swiglu_by_hand():
    one = np.array([[1.0]])
    hidden = 2 / (1 + np.exp(-2)) * 3  # silu(2) * 3
    assert feed_forward(one, 2 * one, 3 * one, 5 * one) == pytest.approx(5 * hidden)


def test_extremes_do_not_overflow():
    with np.errstate(over="raise", invalid="raise"):
        assert silu(np.array([-1e4, 0, 1e4])).tolist() == [0, 0, 1e4]
        assert softmax(np.array([0, 1e4])).tolist() == [0, 1]


# The whole


def test_what_comes_later_changes_nothing_before():
    weights = random_weights()
    one, other = whole(weights, [3, 1, 4, 1, 5]), whole(weights, [3, 1, 4, 9, 2])
    assert np.array_equal(one[:3], other[:3])
    assert np.abs(one[3] - other[3]).max() > 0.1


def test_the_order_of_tokens_matters():
    weights = random_weights()
    assert np.abs(whole(weights, [3, 1, 4])[-1] - whole(weights, [1, 3, 4])[-1]).max() > 0.01


def test_a_pass_leaves_its_keys_and_values_in_the_store():
    weights = random_weights()
    store = ContiguousStore(weights.model, 5)
    forward(weights, [Chunk([3, 1, 4], store)])
    assert store.num_tokens == 3
    assert store.slots[:, :, :3].any(axis=(-1, -2)).all()
    assert not store.slots[:, :, 3:].any()


def test_a_chunk_without_tokens_is_refused():
    weights = random_weights()
    with pytest.raises(SimError, match="chunk_empty"):
        forward(weights, [Chunk([], ContiguousStore(weights.model, 5))])


def test_the_shapes_say_what_the_model_is():
    weights = random_weights()
    model = weights.model
    assert (model.layers, model.hidden, model.q_heads, model.kv_heads) == (2, 12, 4, 2)
    assert (model.head_dim, model.ffn, model.vocab) == (6, 10, 23)
    norms = weights.attention_norm.size + weights.ffn_norm.size + weights.final_norm.size
    stored = sum(array.size for array in vars(weights).values())
    assert stored - norms == model.parameters  # `specs` counts matrices


# The one that ships


@pytest.mark.parametrize("name", MODELS)
def test_the_model_gives_the_logits_of_the_code_that_trained_it(name):
    """Weights and code cannot drift apart: tools/train_tiny_model.py wrote these down."""
    for row in GOLDEN[name]:
        last = whole(MODELS[name](), row["tokens"])[-1]
        assert last[row["top"]] == pytest.approx(row["logits"], abs=1e-3)
        assert last.argmax() == row["top"][0]


def test_the_two_share_their_tokens_and_are_small_together():
    assert target().model.vocab == draft().model.vocab == encoder().vocab_size
    assert 1e6 <= target().model.parameters <= 2e6
    assert draft().model.parameters < target().model.parameters / 2
    assert sum(file.stat().st_size for file in FOLDER.glob("*.npz")) <= 6e6


def test_weights_are_saved_in_16_bits_and_come_back(tmp_path):
    draft().save(tmp_path / "again.npz")
    with (tmp_path / "again.npz").open("rb") as file:
        again = load(file)
    assert again.embedding.dtype == np.float32
    for name, array in vars(draft()).items():
        assert np.array_equal(getattr(again, name), array)
