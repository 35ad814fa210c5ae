"""The table of models says what config files and model cards say."""

from dataclasses import replace

import pytest

from sim import specs
from sim.errors import SimError
from sim.specs import FULL, MODELS, Latent, Model, Window

# name -> KV bytes of a token at 16 bit while no window is full; parameters in units of 10^9, as the
# model card or report says
KNOWN_MODELS = {
    "Llama-2-7B": (524_288, 6.74),
    "Llama-2-13B": (819_200, 13.02),
    "Llama-2-70B": (327_680, 68.98),
    "Llama-3.1-8B": (131_072, 8.03),
    "Llama-3.1-70B": (327_680, 70.55),
    "Llama-3.1-405B": (516_096, 405.9),
    "Llama-3.2-1B": (32_768, 1.24),
    "Mistral-7B": (131_072, 7.24),
    "Mistral-Small-24B": (163_840, 23.57),
    "Qwen2.5-7B": (57_344, 7.62),
    "Qwen2.5-14B": (196_608, 14.77),
    "Qwen3-0.6B": (114_688, 0.596),
    "Qwen3-1.7B": (114_688, 1.72),
    "Qwen3-4B": (147_456, 4.02),
    "Qwen3-8B": (147_456, 8.19),
    "Qwen3-14B": (163_840, 14.77),
    "Qwen3-32B": (262_144, 32.76),
    "Qwen3-30B-A3B": (98_304, 30.53),
    "Qwen3-235B-A22B": (192_512, 235.1),
    "Qwen3-Next-80B-A3B": (24_576, 79.7),
    "Mixtral-8x7B": (131_072, 46.70),
    "DeepSeek-V3": (70_272, 671.0),
    "gpt-oss-20b": (49_152, 20.91),
    "gpt-oss-120b": (73_728, 116.8),
    "Gemma-3-27B": (507_904, 27.43),
    "OPT-13B": (819_200, 12.84),
}
# name -> the parameters that a token is multiplied with, embedding and head counted as published
ACTIVE = {
    "Qwen3-30B-A3B": (3.3, 2),
    "Qwen3-235B-A22B": (22, 2),
    "DeepSeek-V3": (37, 1),
    "gpt-oss-20b": (3.6, 1),
    "gpt-oss-120b": (5.1, 1),
    "Mixtral-8x7B": (12.9, 2),
}


@pytest.mark.parametrize("name", KNOWN_MODELS)
def test_a_model_has_the_published_size(name):
    kv_bytes, billions = KNOWN_MODELS[name]
    model = MODELS[name]
    assert model.kv_bytes_per_token == kv_bytes
    assert model.parameters / 1e9 == pytest.approx(billions, rel=0.01)


def test_every_model_is_known_here():
    assert set(MODELS) == set(KNOWN_MODELS)


def test_every_row_names_its_source_and_is_found_under_its_own_name():
    assert all(model.source for model in MODELS.values())
    assert list(MODELS) == [model.name for model in MODELS.values()]


def test_opt_13b_keeps_800_kb_per_token_and_so_1_6_gb_for_2048():
    assert MODELS["OPT-13B"].kv_bytes_per_token == 800 * 1024
    assert MODELS["OPT-13B"].kv_bytes_per_token * 2048 / 1e9 == pytest.approx(1.6, rel=0.05)


@pytest.mark.parametrize("name", ACTIVE)
def test_a_mixture_computes_with_the_published_part_of_its_parameters(name):
    published, embeddings = ACTIVE[name]
    model = MODELS[name]
    active = (model.active_parameters + embeddings * model.head_parameters) / 1e9
    assert active == pytest.approx(published, rel=0.025)


def test_a_dense_model_computes_with_all_of_its_linear_layers():
    for model in MODELS.values():
        assert (model.active_parameters == model.linear_parameters) == (model.experts == 1)


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


def test_models_published_in_few_bits_stay_so_unless_another_format_is_asked_for():
    for name, gigabytes in (("DeepSeek-V3", 675), ("gpt-oss-20b", 13.8), ("gpt-oss-120b", 65.2)):
        model = MODELS[name]
        assert model.in_format() == model
        assert model.memory_bytes / 1e9 == pytest.approx(gigabytes, rel=0.01)  # its checkpoint
    assert MODELS["gpt-oss-20b"].in_format("fp8").memory_bytes > MODELS["gpt-oss-20b"].memory_bytes


@pytest.mark.parametrize("formats", [("int3", "bf16"), ("bf16", "int4")])
def test_a_format_nobody_knows_is_an_error_with_those_that_are_known(formats):
    with pytest.raises(SimError, match="format_unknown") as error:
        MODELS["Llama-3.1-8B"].in_format(*formats)
    assert error.value.values["value"] in formats
    assert "fp8" in str(error.value.values["known"])


# -- tensor parallelism ----------------------------------------------------------------------


PARTED = [  # with 8 KV heads or more, and nothing that every GPU needs whole
    name
    for name, model in MODELS.items()
    if model.kv_heads >= 8 and model.experts == 1 and not model.other_parameters
]


@pytest.mark.parametrize("name", PARTED)
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


# -- what a layer remembers -------------------------------------------------------------------


def test_a_latent_vector_is_57_times_smaller_than_the_k_and_v_of_128_heads():
    deepseek = MODELS["DeepSeek-V3"]
    assert deepseek.kv_bytes(1) == 61 * (512 + 64) * 2 == 70_272
    as_heads = replace(deepseek, pattern=(FULL,))
    assert as_heads.kv_bytes(1) / deepseek.kv_bytes(1) == pytest.approx(57, abs=0.2)


def test_every_gpu_keeps_the_whole_latent_vector():
    deepseek = MODELS["DeepSeek-V3"]
    for degree in specs.TENSOR_PARALLEL:
        assert deepseek.shard(degree).kv_bytes(100) == deepseek.kv_bytes(100)


def test_layers_with_a_window_stop_growing():
    gemma = MODELS["Gemma-3-27B"]
    assert gemma.layers_of == {Window(size=1024): 52, FULL: 10}  # every sixth layer is full
    layer = 2 * 16 * 128 * 2
    for tokens in (1, 1_000, 1_024):
        assert gemma.kv_bytes(tokens) == 62 * layer * tokens
    assert gemma.kv_bytes(131_072) == layer * (10 * 131_072 + 52 * 1_024)
    assert gemma.kv_bytes_per_late_token == 10 * layer


def test_gpt_oss_alternates_windows_of_128_tokens_with_full_layers():
    for name, layers in (("gpt-oss-20b", 24), ("gpt-oss-120b", 36)):
        model = MODELS[name]
        assert model.layers_of == {Window(size=128): layers // 2, FULL: layers // 2}
        assert model.kv_bytes(1_024) == layers // 2 * 2 * 8 * 64 * 2 * (1_024 + 128)


def test_a_state_weighs_the_same_at_any_length():
    qwen = MODELS["Qwen3-Next-80B-A3B"]
    full = 12 * 2 * 2 * 256 * 2
    states = qwen.kv_bytes(0)
    assert states == 36 * (32 * 128 * 128 + 3 * 8_192) * 2
    assert [qwen.kv_bytes(tokens) - states for tokens in (1, 1_000)] == [full, 1_000 * full]
    assert qwen.shard(2).kv_bytes(0) == states / 2


def test_the_weights_of_latent_attention_by_hand():
    heads = MODELS["DeepSeek-V3"].heads
    down = 7_168 * (1_536 + 512 + 64)
    up = 1_536 * 128 * (128 + 64) + 512 * 128 * (128 + 128)
    assert Latent().parameters(heads) == down + up + 128 * 128 * 7_168


def test_uniform_models_grow_in_a_straight_line():
    for model in MODELS.values():
        if not model.is_hybrid:
            assert model.kv_bytes(5_000) == 5_000 * model.kv_bytes_per_token
