"""The tables say what data sheets and config files say."""

from dataclasses import replace

import pytest

from sim import specs
from sim.errors import SimError
from sim.kv import Paged, num_kv_blocks
from sim.specs import GPUS, MODELS, Model

# name -> KV bytes per token at 16 bit, parameters in units of 10^9
KNOWN_MODELS = {
    "Llama-2-7B": (524_288, 6.74),
    "Llama-2-13B": (819_200, 13.02),
    "Llama-2-70B": (327_680, 68.98),
    "Llama-3.1-8B": (131_072, 8.03),
    "Llama-3.1-70B": (327_680, 70.55),
    "Llama-3.2-1B": (32_768, 1.24),
    "Mistral-7B": (131_072, 7.24),
    "Qwen2.5-7B": (57_344, 7.62),
    "Qwen3-8B": (147_456, 8.19),
    "Qwen3-14B": (163_840, 14.77),
    "Qwen3-32B": (262_144, 32.76),
    "Mixtral-8x7B": (131_072, 46.70),
    "OPT-13B": (819_200, 12.84),
}
# name -> FLOP per byte at the ridge, memory in bytes
KNOWN_GPUS = {
    "A100 80G SXM": (153, 80 * 2**30),
    "H100 SXM": (295, 80 * 2**30),
    "H200 SXM": (206, 141e9),
    "B200 SXM": (292, 180e9),
    "L4": (403, 24e9),
    "L40S": (419, 45 * 2**30),
    "RTX 4090": (164, 23.5 * 2**30),
    "RTX PRO 6000": (261, 95.6 * 2**30),
}


@pytest.mark.parametrize("name", KNOWN_MODELS)
def test_a_model_has_the_published_size(name):
    kv_bytes, billions = KNOWN_MODELS[name]
    model = MODELS[name]
    assert model.kv_bytes_per_token == kv_bytes
    assert model.parameters / 1e9 == pytest.approx(billions, abs=0.006)


def test_every_model_is_known_here():
    assert set(MODELS) == set(KNOWN_MODELS)


@pytest.mark.parametrize("name", KNOWN_GPUS)
def test_a_gpu_has_the_ridge_and_the_memory_of_its_data_sheet(name):
    ridge, memory_bytes = KNOWN_GPUS[name]
    assert round(GPUS[name].ridge) == ridge
    assert GPUS[name].memory_bytes == pytest.approx(memory_bytes, rel=0.002)


def test_every_row_names_its_source():
    assert all(model.source for model in MODELS.values())
    assert all(gpu.source for gpu in GPUS.values())
    assert all(gpu.efficiency.source for gpu in GPUS.values())


def test_rows_are_found_under_their_own_name():
    assert list(MODELS) == [model.name for model in MODELS.values()]
    assert list(GPUS) == [gpu.name for gpu in GPUS.values()]


def test_only_the_two_gpus_with_a_measured_run_say_calibrated():
    calibrated = {name for name, gpu in GPUS.items() if gpu.efficiency.calibrated}
    assert calibrated == {"RTX 4090", "RTX PRO 6000"}


def test_efficiencies_moved_by_the_reader_do_not_stay_calibrated():
    moved = GPUS["RTX 4090"].with_efficiency(specs.Efficiency(0.5, 0.5))
    assert not moved.efficiency.calibrated
    assert GPUS["RTX 4090"].efficiency.calibrated


def test_the_pro_6000_moves_bytes_at_the_share_of_the_measured_bandwidth():
    gpu = GPUS["RTX PRO 6000"]
    assert gpu.bandwidth * gpu.efficiency.bandwidth == pytest.approx(0.80 * 1597e9)


def test_opt_13b_keeps_800_kb_per_token_and_so_1_6_gb_for_2048():
    assert MODELS["OPT-13B"].kv_bytes_per_token == 800 * 1024
    assert MODELS["OPT-13B"].kv_bytes_per_token * 2048 / 1e9 == pytest.approx(1.6, rel=0.05)


def test_mixtral_computes_with_12_9_of_its_46_7_billion_parameters():
    mixtral = MODELS["Mixtral-8x7B"]
    embedding_and_head = 2 * mixtral.head_parameters
    assert (mixtral.active_parameters + embedding_and_head) / 1e9 == pytest.approx(12.9, abs=0.05)


def test_a_dense_model_computes_with_all_of_its_linear_layers():
    for name, model in MODELS.items():
        if name != "Mixtral-8x7B":
            assert model.active_parameters == model.linear_parameters


def test_a_model_by_hand():
    toy = Model("toy", 1, 4, 2, 1, 2, 8, 10, "by hand")
    # Q and O: 4x4 each; K and V: 4x2 each; gate, up, down: 4x8 each; embedding and head: 10x4 each
    assert toy.linear_parameters == 2 * 16 + 2 * 8 + 3 * 32
    assert toy.parameters == toy.linear_parameters + 2 * 40
    assert toy.memory_bytes == 2 * toy.parameters
    assert toy.in_format("int8").memory_bytes == toy.linear_parameters + 2 * 80
    assert toy.kv_bytes_per_token == 2 * 1 * 1 * 2 * 2  # K and V, 1 layer, 1 head, 2 numbers, 2 B


# -- data types ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "weights", "gigabytes"),
    [
        ("Llama-3.1-8B", "int4", 5.73),
        ("Llama-3.1-70B", "int4", 39.8),
        ("Llama-3.1-8B", "fp8", 9.08),
        ("Llama-3.1-70B", "fp8", 72.7),
    ],
)
def test_a_quantized_model_weighs_what_published_checkpoints_weigh(name, weights, gigabytes):
    """AWQ with groups of 128, FP8 per channel; embedding and head stay in bf16."""
    model = MODELS[name].in_format(weights)
    assert model.memory_bytes / 1e9 == pytest.approx(gigabytes, rel=0.002)


def test_weights_and_kv_are_stored_independently():
    model = MODELS["Llama-3.1-8B"]
    assert model.in_format() == model
    assert model.in_format("int4").kv_bytes_per_token == model.kv_bytes_per_token
    assert model.in_format(kv="fp8").memory_bytes == model.memory_bytes
    assert model.in_format("int4", kv="fp8").kv_bytes_per_token == model.kv_bytes_per_token / 2


def test_formats_are_found_under_their_own_name_and_name_their_source():
    assert list(specs.WEIGHT_FORMATS) == [each.name for each in specs.WEIGHT_FORMATS.values()]
    assert all(weights.source for weights in specs.WEIGHT_FORMATS.values())
    assert [name for name, each in specs.WEIGHT_FORMATS.items() if each.weight_only] == ["int4"]


def test_fp8_arithmetic_begins_with_ada_and_hopper_and_int8_is_everywhere():
    assert {name for name, gpu in GPUS.items() if not gpu.speedup("fp8")} == {
        "A100 80G SXM",
        "RTX A6000",
    }
    assert all(gpu.speedup("int8") for gpu in GPUS.values())


@pytest.mark.parametrize("formats", [("int3", "bf16"), ("bf16", "int4")])
def test_a_format_nobody_knows_is_an_error_with_those_that_are_known(formats):
    with pytest.raises(SimError, match="format_unknown") as error:
        MODELS["Llama-3.1-8B"].in_format(*formats)
    assert error.value.values["value"] in formats
    assert "fp8" in str(error.value.values["known"])


# -- tensor parallelism ----------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(set(KNOWN_MODELS) - {"Qwen2.5-7B"}))
@pytest.mark.parametrize("degree", specs.TENSOR_PARALLEL)
def test_gpus_share_a_model_in_equal_parts(name, degree):
    model = MODELS[name]
    shard = model.shard(degree)
    assert degree * shard.parameters == model.parameters
    assert degree * shard.active_parameters == model.active_parameters
    assert degree * shard.kv_bytes_per_token == model.kv_bytes_per_token


def test_more_gpus_than_kv_heads_hold_copies():
    qwen = MODELS["Qwen2.5-7B"]
    assert [qwen.kv_heads_per_gpu(degree) for degree in (1, 2, 4, 8)] == [4, 2, 1, 1]
    four, eight = (replace(qwen, q_heads=32).shard(degree) for degree in (4, 8))
    assert four.kv_bytes_per_token == eight.kv_bytes_per_token == 2 * 28 * 1 * 128 * 2
    assert 8 * eight.parameters > replace(qwen, q_heads=32).parameters  # K and V projections


def test_28_query_heads_cannot_be_dealt_to_8_gpus():
    with pytest.raises(SimError, match="heads_not_divisible") as error:
        MODELS["Qwen2.5-7B"].shard(8)
    expected = {"model": "Qwen2.5-7B", "value": 8, "q_heads": 28, "kv_heads": 4}
    assert error.value.values == expected


def test_kv_heads_are_dealt_out_or_copied_evenly_or_not_at_all():
    odd = replace(MODELS["Llama-3.1-8B"], kv_heads=6)
    assert odd.shard(2).kv_heads == 3
    for degree in (4, 8):
        with pytest.raises(SimError, match="heads_not_divisible"):
            odd.shard(degree)


@pytest.mark.parametrize("degree", [0, 3, -1, 16, float("nan")])
def test_a_degree_that_is_not_offered_is_an_error(degree):
    with pytest.raises(SimError, match="tensor_parallel_unknown"):
        MODELS["Llama-3.1-8B"].shard(degree)


# -- room for KV -----------------------------------------------------------------------------


def test_the_pool_of_the_measured_4090_is_2588_blocks_within_3_percent():
    blocks = num_kv_blocks(MODELS["Llama-3.1-8B"], GPUS["RTX 4090"])
    assert blocks == pytest.approx(2588, rel=0.03)


def test_larger_blocks_mean_fewer_of_them():
    model, gpu = MODELS["Llama-3.1-8B"], GPUS["H100 SXM"]
    small, large = (num_kv_blocks(model, gpu, block_size=size) for size in (16, 32))
    assert large == small // 2


def test_a_model_too_large_for_the_gpu_is_an_error_with_its_name():
    with pytest.raises(SimError) as error:
        num_kv_blocks(MODELS["Llama-3.1-70B"], GPUS["RTX 4090"])
    assert error.value.code == "model_does_not_fit"
    assert error.value.values == {"model": "Llama-3.1-70B", "gpu": "RTX 4090"}


def test_llama_3_1_70b_fits_four_h100_and_its_blocks_by_hand():
    model, gpu = MODELS["Llama-3.1-70B"], GPUS["H100 SXM"]
    free = 80 * 2**30 * 0.9 - model.parameters * 2 / 4 - 1.24e9
    blocks = num_kv_blocks(model, gpu, tensor_parallel=4)
    assert blocks == free // (16 * 327_680 / 4) == 31_122
    assert Paged.beside(model, gpu, tensor_parallel=4).num_blocks == blocks
    with pytest.raises(SimError, match="model_does_not_fit"):
        num_kv_blocks(model, gpu)


def test_copied_kv_heads_leave_no_more_room_than_half_the_gpus_but_for_the_weights():
    model, gpu = replace(MODELS["Qwen2.5-7B"], q_heads=32), GPUS["L4"]
    four, eight = (num_kv_blocks(model, gpu, tensor_parallel=degree) for degree in (4, 8))
    gained = (model.shard(4).memory_bytes - model.shard(8).memory_bytes) / (16 * 14_336)
    assert eight - four == pytest.approx(gained, abs=1)


def test_8_bit_kv_doubles_the_tokens_that_fit():
    model, gpu = MODELS["Llama-3.1-8B"], GPUS["RTX 4090"]
    assert num_kv_blocks(model.in_format(kv="fp8"), gpu) in (
        2 * num_kv_blocks(model, gpu),
        2 * num_kv_blocks(model, gpu) + 1,
    )


def test_lighter_weights_leave_the_room_they_gave_up():
    model, gpu = MODELS["Llama-3.1-8B"], GPUS["RTX 4090"]
    int4 = model.in_format("int4")
    gained = (model.memory_bytes - int4.memory_bytes) / (16 * model.kv_bytes_per_token)
    assert num_kv_blocks(int4, gpu) - num_kv_blocks(model, gpu) == pytest.approx(gained, abs=1)


def test_more_of_the_memory_means_more_blocks():
    model, gpu = MODELS["Llama-3.1-8B"], GPUS["RTX 4090"]
    usual, more = Paged.beside(model, gpu), Paged.beside(model, gpu, memory_utilization=0.95)
    gained = 0.05 * gpu.memory_bytes / (16 * model.kv_bytes_per_token)
    assert more.num_blocks - usual.num_blocks == pytest.approx(gained, abs=1)
