"""Blocks of a model whose layers remember differently, against logs of memory and blocks.

A log of vLLM 0.11 on a MI300X (Gemma-3-27B): 109.86 GiB are 89,994 blocks, "GPU KV cache size:
205,696 tokens", "Maximum concurrency for 4,096 tokens per request: 50.05x".  One on two H200
(Qwen3-Next-80B-A3B): 47,878,721,024 bytes, 973,760 tokens, 14.77x for 262,144 tokens.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.kv.groups import Groups
from sim.kv.hits import longest_hit, window_blocks
from sim.specs import MODELS


def test_gemma_has_seven_groups_of_ten_layers_and_the_blocks_that_were_logged():
    groups = Groups(MODELS["Gemma-3-27B"])
    assert (groups.layers_per_group, groups.num_groups) == (10, 7)
    assert groups.block_bytes == 10 * 16 * 2 * 16 * 128 * 2
    assert int(109.86 * 2**30 // groups.block_bytes) == pytest.approx(89_994, abs=5)
    assert 89_994 // groups.num_groups * groups.block_size == 205_696
    assert 89_994 / groups.blocks_for(4_096, chunk=8_192) == pytest.approx(50.05, abs=0.005)


def test_a_state_makes_the_blocks_of_qwen3_next_as_long_as_they_were_logged():
    groups = Groups(MODELS["Qwen3-Next-80B-A3B"].shard(2))
    assert (groups.layers_per_group, groups.num_groups, groups.block_size) == (12, 4, 544)
    blocks = int(47_878_721_024 // groups.block_bytes)
    assert blocks // groups.num_groups * groups.block_size == 973_760
    assert blocks / groups.blocks_for(262_144, chunk=8_192) == pytest.approx(14.77, abs=0.005)


def test_gpt_oss_has_two_groups_of_equally_many_layers():
    for name, layers in (("gpt-oss-20b", 12), ("gpt-oss-120b", 18)):
        groups = Groups(MODELS[name])
        assert (groups.layers_per_group, groups.num_groups) == (layers, 2)


def test_one_kind_of_layer_is_one_group_and_plain_blocks():
    for model in MODELS.values():
        if not model.is_hybrid:
            groups = Groups(model)
            assert (groups.num_groups, groups.block_size) == (1, 16)
            assert groups.block_bytes == 16 * model.kv_bytes_per_token
            assert groups.blocks_for(1_000, chunk=8_192) == 63


@given(st.sampled_from(sorted(MODELS)), st.integers(1, 60_000), st.integers(1, 8_192))
def test_blocks_hold_at_least_the_bytes_that_a_request_keeps(name, tokens, chunk):
    groups = Groups(MODELS[name])
    assert groups.blocks_for(tokens, chunk) * groups.block_bytes >= MODELS[name].kv_bytes(tokens)


def test_longer_chunks_make_windows_hold_more():
    groups = Groups(MODELS["Gemma-3-27B"])
    held = [groups.blocks_for(32_768, chunk) for chunk in (1, 512, 8_192)]
    assert held == sorted(set(held))
    assert held[0] == 2_048 + 6 * (64 + 1)


# -- prefix hits ------------------------------------------------------------------------------


def test_a_window_needs_only_the_blocks_just_before_the_end_of_a_hit():
    full, gone = [True] * 8, [False] * 8
    assert window_blocks(128, 16) == 8
    assert longest_hit(full, [False] * 4 + [True] * 4, window=64, block_size=16) == 8
    assert longest_hit(full, [False] * 5 + [True] * 3, window=64, block_size=16) == 0
    assert longest_hit(full, gone, window=64, block_size=16) == 0
    assert longest_hit(gone, full, window=64, block_size=16) == 0


def test_full_layers_end_the_hit_where_their_first_block_is_missing():
    full = [True] * 5 + [False] + [True] * 2
    windowed = [False, True, True, True, True, False, True, True]
    assert longest_hit(full, windowed, window=64, block_size=16) == 5


def test_a_short_prompt_has_to_be_there_from_its_beginning():
    assert longest_hit([True, True], [True, True], window=1_024, block_size=16) == 2
    assert longest_hit([True, True], [False, True], window=1_024, block_size=16) == 0
