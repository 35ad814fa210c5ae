"""What KV takes: the formulas by hand, and the published numbers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim import specs
from sim.errors import SimError
from sim.kv import num_kv_blocks, sizes
from sim.specs import GIB

OLD, NEW = specs.MODELS["Llama-2-7B"], specs.MODELS["Llama-3.1-8B"]
GPU_4090, H100 = specs.GPUS["RTX 4090"], specs.GPUS["H100 SXM"]


def test_the_formulas_by_hand():
    per_token = 2 * 32 * 8 * 128 * 2  # Llama-3.1-8B: 131,072 bytes
    assert sizes.request_bytes(NEW, 1_000) == per_token * 1_000
    assert sizes.equal_bytes(NEW, 4, 1_000) == per_token * 1_000 * 4
    assert sizes.batch_bytes(NEW, (100, 700, 1_200)) == per_token * 2_000


def test_opt_13b_takes_800_kib_for_a_token_and_1_6_gb_for_2048_of_them():
    opt = specs.MODELS["OPT-13B"]
    assert sizes.request_bytes(opt, 1) == 800 * 1024
    assert sizes.request_bytes(opt, 2_048) / 1e9 == pytest.approx(1.6, abs=0.1)


def test_a_conversation_of_4096_tokens_is_2_gib_of_llama_2_and_a_quarter_of_that_of_llama_3_1():
    assert sizes.request_bytes(OLD, 4_096) == 2 * GIB
    assert sizes.request_bytes(NEW, 4_096) == GIB / 2


@given(st.lists(st.integers(0, 10_000), min_size=1, max_size=20))
def test_only_the_sum_of_the_lengths_counts(lengths):
    assert sizes.batch_bytes(NEW, lengths) == sizes.request_bytes(NEW, sum(lengths))
    assert sizes.equal_bytes(NEW, len(lengths), 7) == sizes.batch_bytes(NEW, [7] * len(lengths))


def test_lengths_are_spread_evenly_up_to_the_longest():
    assert sizes.staggered(4, 2_048) == (512, 1_024, 1_536, 2_048)
    assert sizes.staggered(1, 100) == (100,)


def test_the_parts_of_a_gpu_add_up_but_for_less_than_a_block():
    division = sizes.Division(NEW, GPU_4090)
    parts = division.occupied_bytes + division.left_alone_bytes
    assert 0 <= GPU_4090.memory_bytes - parts < sizes.request_bytes(NEW, sizes.BLOCK_SIZE)


def test_the_pool_is_the_one_an_engine_would_get_and_the_measured_one():
    division = sizes.Division(NEW, GPU_4090)
    assert division.num_blocks == num_kv_blocks(NEW, GPU_4090)
    assert division.num_blocks == pytest.approx(2_588, rel=0.03)
    assert division.pool_tokens == 16 * division.num_blocks


def test_a_model_that_leaves_no_room_is_an_error():
    with pytest.raises(SimError, match="model_does_not_fit"):
        _ = sizes.Division(specs.MODELS["OPT-13B"], GPU_4090).pool_bytes


def test_a_server_occupies_its_share_before_anybody_comes():
    for share in (0.75, 0.8, 0.85, 0.9, 0.95):
        assert sizes.Division(NEW, GPU_4090, share).occupied_share == pytest.approx(share, abs=1e-3)


def test_a_smaller_share_takes_all_it_takes_from_the_pool():
    less, more = (sizes.Division(NEW, GPU_4090, share) for share in (0.8, 0.9))
    assert less.model.memory_bytes == more.model.memory_bytes
    lost = 0.1 * GPU_4090.memory_bytes
    block = sizes.request_bytes(NEW, sizes.BLOCK_SIZE)
    assert more.pool_bytes - less.pool_bytes == pytest.approx(lost, abs=block)


@pytest.mark.parametrize("name", specs.MODELS)
def test_at_the_break_even_kv_weighs_as_much_as_the_weights_and_a_token_before_less(name):
    model = specs.MODELS[name]
    at = sizes.Division(model, H100).break_even_tokens
    assert sizes.request_bytes(model, at - 1) < model.memory_bytes <= sizes.request_bytes(model, at)


def test_on_a_small_gpu_the_pool_is_full_before_kv_passes_the_weights():
    assert sizes.Division(OLD, GPU_4090).pool_fills_first
    assert not sizes.Division(OLD, H100).pool_fills_first


def test_so_many_fit_and_not_one_more():
    division = sizes.Division(OLD, GPU_4090)
    fit = division.num_requests(4_096)
    assert fit * 4_096 <= division.pool_tokens < (fit + 1) * 4_096
    with pytest.raises(SimError, match="length_below_one"):
        division.num_requests(0)


def test_a_mix_by_hand():
    division = sizes.Division(OLD, H100)
    mix = sizes.Mix(division, (sizes.RequestGroup(4, 512), sizes.RequestGroup(4, 2_048)))
    assert mix.active_tokens == 10_240
    assert mix.kv_bytes == 5 * GIB
    assert mix.share_of_pool == 10_240 / division.pool_tokens
    assert mix.num_fitting == division.pool_tokens // 1_280


def test_who_finds_no_room_waits():
    assert sizes.admitted(2, 3) == (2, 0)
    assert sizes.admitted(12, 3) == (3, 9)
