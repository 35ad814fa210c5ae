"""The proofs hold on Chinese, English and anything else, and each of them can fail."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from sim.errors import SimError
from sim.model import proofs
from sim.model.proofs import SameLogits, SameTokens
from sim.model.sampling import GREEDY, Sampling
from tests.sim.model.tiny import TEXTS, draft, encoder, target

PROMPTS = [encoder().prompt(text) for text in TEXTS]
on_every_text = pytest.mark.parametrize("prompt", PROMPTS, ids=["zh", "en", "mixed"])
NUM_DRAWS = 10_000


def two_ways(prompt) -> dict[str, SameLogits]:
    """Each proof that compares logits, by name."""
    weights = target()
    return {
        "cached": proofs.cached_equals_recomputed(weights, prompt, 6),
        "paged": proofs.paged_equals_contiguous(weights, prompt, 12, block_size=4)[0],
        "chunked": proofs.chunked_equals_whole(weights, prompt, 5),
        "reused": proofs.reused_equals_fresh(weights, prompt[:9], prompt[9:], block_size=4)[0],
        "batched": proofs.batched_equals_alone(weights, [prompt, prompt[:3]], 4)[0],
    }


@on_every_text
def test_two_ways_lead_to_the_same_logits(prompt):
    for name, same in two_ways(prompt).items():
        assert same.holds, name
        assert np.abs(same.one).max() > 1, name  # there is something to compare
        assert same.tolerance == (0 if name == "paged" else proofs.TOLERANCE), name


def test_a_store_that_mixes_up_two_tokens_is_caught(monkeypatch):
    read = proofs.PagedStore.read

    def swapped(self, layer, num_tokens):
        keys, values = read(self, layer, num_tokens)
        return keys, values[::-1] if num_tokens > 20 else values

    monkeypatch.setattr(proofs.PagedStore, "read", swapped)
    told = two_ways(PROMPTS[1])
    assert not told["paged"].holds
    assert told["chunked"].holds  # it uses the other store


def test_a_difference_above_rounding_is_no_proof():
    zeros = np.zeros((1, 3))
    assert SameLogits(zeros, zeros + 9e-5).holds
    assert not SameLogits(zeros, zeros + 2e-4).holds
    assert not SameLogits(zeros, zeros + 1e-9, tolerance=0).holds


def test_the_blocks_of_the_paged_store_do_not_lie_side_by_side():
    same, table = proofs.paged_equals_contiguous(target(), PROMPTS[0], 8, block_size=4)
    assert same.one.shape == (8, encoder().vocab_size)
    assert len(table) == -(-(len(PROMPTS[0]) + 8) // 4)
    assert all(abs(after - before) > 1 for before, after in pairwise(table))


@on_every_text
def test_a_prefix_is_reused_in_whole_blocks(prompt):
    same, num_cached = proofs.reused_equals_fresh(target(), prompt[:9], prompt[9:], block_size=4)
    assert num_cached == 8
    assert len(same.one) == len(prompt) - 8


def test_a_prompt_that_is_cached_entirely_still_computes_its_last_block():
    same, num_cached = proofs.reused_equals_fresh(target(), PROMPTS[1][:8], [], block_size=4)
    assert num_cached == 4
    assert same.holds


def test_every_position_of_a_chunked_prefill_is_compared():
    for chunk_tokens in (1, 7, 1000):
        same = proofs.chunked_equals_whole(target(), PROMPTS[1], chunk_tokens)
        assert len(same.one) == len(PROMPTS[1])
        assert same.holds


def test_everybody_in_a_changing_batch_is_as_if_alone():
    """Of lengths 1 to all; the last joins when the first has left."""
    prompts = [PROMPTS[0], PROMPTS[1][:1], PROMPTS[2], PROMPTS[1]]
    told = proofs.batched_equals_alone(target(), prompts, num_tokens=3)
    assert [len(same.one) for same in told] == [3] * 4
    assert all(same.holds for same in told)


@on_every_text
@pytest.mark.parametrize("sampling", [GREEDY, Sampling(0.9, 50, 0.95)], ids=["greedy", "sampled"])
def test_the_first_token_comes_out_of_the_prefill(prompt, sampling):
    for seed in range(3):
        assert proofs.first_token(target(), prompt, sampling, seed).holds


@on_every_text
@pytest.mark.parametrize("num_proposed", [1, 4])
def test_greedy_speculation_writes_what_the_target_writes(prompt, num_proposed):
    told = proofs.greedy_speculation_equals_greedy(target(), draft(), prompt, 24, num_proposed)
    assert len(told.one) == len(told.other) == 24
    assert told.holds


def test_tokens_may_part_at_a_tie_and_not_before():
    assert SameTokens((1, 2, 3), (1, 2, 9), tie=2).holds
    assert not SameTokens((1, 2, 3), (1, 9, 3), tie=2).holds
    assert not SameTokens((1, 2, 3), (1, 2, 9)).holds


def test_a_tie_is_seen():
    """Two tokens with one embedding have one logit."""
    weights = target()
    twins = weights.embedding.copy()
    best = proofs.first_token(weights, PROMPTS[0], GREEDY).one[0]
    twins[best - 1] = twins[best]
    told = proofs.first_token(replace(weights, embedding=twins), PROMPTS[0], GREEDY)
    assert told.tie == 0


# Speculation against the target's distribution


@on_every_text
def test_sampled_speculation_is_the_target_and_the_tempting_rule_is_not(prompt):
    _, p, q = proofs.hardest_place(target(), draft(), prompt, Sampling())
    right = proofs.sampled_speculation(p, q, NUM_DRAWS)
    wrong = proofs.sampled_speculation(p, q, NUM_DRAWS, correction=proofs.from_the_target)
    assert right.holds
    assert not wrong.holds
    assert wrong.p_value < 1e-9
    assert right.observed.sum() == pytest.approx(right.expected.sum())


def test_a_true_claim_passes_with_nearly_every_seed():
    """Of 60 p-values about a half lie below a half, so the test is neither blind nor touchy."""
    p, q = np.array([0.5, 0.3, 0.15, 0.05]), np.array([0.2, 0.2, 0.3, 0.3])
    told = [proofs.sampled_speculation(p, q, 400, seed) for seed in range(60)]
    assert all(same.holds for same in told)
    assert 15 <= sum(same.p_value < 0.5 for same in told) <= 45


def test_rare_tokens_share_the_last_bin():
    told = proofs.in_bins(np.array([2, 60, 1, 37]), np.array([3.0, 50, 4, 43]))
    assert told.tokens == (1, 3)
    assert told.observed.tolist() == [60, 40]
    assert told.expected.tolist() == [50, 50]
    assert told.statistic == 4
    assert told.p_value == pytest.approx(0.0455, abs=1e-4)  # two standard deviations


@pytest.mark.parametrize(
    ("statistic", "degrees", "tail"),
    [
        (3.841, 1, 0.05),
        (5.991, 2, 0.05),
        (7.815, 3, 0.05),
        (124.342, 100, 0.05),
        (29.588, 10, 0.001),
    ],
)
def test_the_tail_agrees_with_the_printed_tables(statistic, degrees, tail):
    assert proofs.chi_square_tail(statistic, degrees) == pytest.approx(tail, rel=2e-3)


def test_where_nothing_differs_or_nothing_can_the_tail_is_all_there_is():
    assert proofs.chi_square_tail(0, 5) == proofs.chi_square_tail(3.8, 0) == 1


def test_one_bin_proves_nothing():
    assert proofs.chi_square_tail(0, 0) == 1
    assert proofs.sampled_speculation(np.array([1.0, 0]), np.array([0, 1.0]), 50).p_value == 1


def test_an_empty_text_is_refused():
    for two_ways_at_once in (proofs.chunked_equals_whole, proofs.cached_equals_recomputed):
        with pytest.raises(SimError, match="empty"):
            two_ways_at_once(target(), [], 4)
