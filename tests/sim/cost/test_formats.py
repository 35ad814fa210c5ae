"""The same model in fewer bytes: bounds and special cases that can be worked out by hand."""

import pytest

from sim.cost import Roofline, phases
from sim.cost.formats import StoredModel
from sim.errors import SimError
from sim.kv.sizes import Division
from sim.specs import GPUS, IDEAL, MODELS

MODEL, GPU = MODELS["Llama-3.1-8B"], GPUS["RTX 4090"]


def stored(weights="bf16", kv="bf16", model=MODEL, gpu=GPU):
    return StoredModel(model, gpu, weights, kv)


def test_as_published_nothing_is_gained():
    assert stored().decode_gain(7, 300) == stored().prefill_gain(100) == 1
    assert stored().decode_share(7, 300) == 1
    assert stored().first_batch_that_loses(300, 64) is None


def test_it_is_the_clock_and_the_memory_of_the_model_in_that_format():
    one = stored("int4", "fp8")
    clock = Roofline(MODEL.in_format("int4", "fp8"), GPU)
    assert one.decode_seconds(8, 100) == clock.step_time(phases.decode(8, 100)).seconds
    assert one.prefill_seconds(100) == clock.step_time(phases.prefill(100)).seconds
    assert one.pool_tokens == Division(MODEL.in_format("int4", "fp8"), GPU).pool_tokens
    assert one.pool().num_blocks == one.division.num_blocks


def test_its_name_mentions_kv_only_where_it_differs():
    assert (stored("int4").name, stored("int4", "fp8").name) == ("int4", "int4 + fp8 KV")


def test_kv_of_half_the_bytes_is_twice_the_tokens():
    for weights in ("bf16", "int4"):
        ratio = stored(weights, "fp8").pool_tokens / stored(weights).pool_tokens
        assert ratio == pytest.approx(2, rel=1e-3)


def test_a_model_that_does_not_fit_has_no_pool():
    large = MODELS["Qwen3-14B"]
    assert stored(model=large).pool_tokens == stored(model=large).num_requests(10) == 0
    assert stored("fp8", model=large).pool_tokens > 0
    with pytest.raises(SimError, match="model_does_not_fit"):
        stored(model=large).pool()


def test_an_unknown_format_is_an_error_and_not_an_empty_pool():
    with pytest.raises(SimError, match="format_unknown"):
        _ = stored("int3").pool_tokens


@pytest.mark.parametrize(
    ("weights", "gpu", "expected"),
    [
        ("int4", "H100 SXM", True),
        ("fp8", "H100 SXM", False),
        ("fp8", "A100 80G SXM", True),
        ("int8", "A100 80G SXM", False),
        ("bf16", "A100 80G SXM", False),
    ],
)
def test_weights_are_dequantized_by_nature_or_where_the_gpu_cannot_else(weights, gpu, expected):
    assert stored(weights, gpu=GPUS[gpu]).runs_weight_only is expected


def test_on_an_ideal_gpu_the_gain_of_one_request_is_that_in_bytes():
    one = stored("int4", gpu=GPU.with_efficiency(IDEAL))
    assert one.decode_gain(1, 100) == pytest.approx(1 / one.decode_share(1, 100))


def test_without_loss_in_dequantizing_int4_never_loses():
    one = stored("int4", gpu=GPU.with_efficiency(IDEAL))
    assert one.first_batch_that_loses(16, 600) is None
    assert one.prefill_gain(2_048) == pytest.approx(1)


def test_the_first_batch_that_loses_loses_and_the_one_before_does_not():
    one = stored("int4")
    turn = one.first_batch_that_loses(128, 512)
    assert turn is not None
    assert one.decode_gain(turn, 128) < 1 <= one.decode_gain(turn - 1, 128)


def test_a_batch_that_loses_is_looked_for_up_to_the_last_one_allowed():
    turn = stored("int4").first_batch_that_loses(128, 512)
    assert stored("int4").first_batch_that_loses(128, turn) == turn
    assert stored("int4").first_batch_that_loses(128, turn - 1) is None


def test_so_many_requests_fit_and_not_one_more():
    one = stored("int4")
    fit = one.num_requests(1_000)
    assert fit * 1_000 <= one.pool_tokens < (fit + 1) * 1_000
