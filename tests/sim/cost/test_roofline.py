"""The roofline against data sheets, closed forms and two published roofline tools."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.cost import Eager, Roofline, SimpleClock
from sim.errors import SimError
from sim.scheduler import Load
from sim.specs import (
    GPUS,
    IDEAL,
    KV_FORMATS,
    MODELS,
    TENSOR_PARALLEL,
    WEIGHT_FORMATS,
    Efficiency,
    WeightFormat,
)

LLAMA2 = MODELS["Llama-2-7B"]
LLAMA3 = MODELS["Llama-3.1-8B"]
LLAMA3_70B = MODELS["Llama-3.1-70B"]
MIXTRAL = MODELS["Mixtral-8x7B"]


def ideal(model, gpu: str) -> Roofline:
    return Roofline(model, GPUS[gpu], IDEAL)


def prefill(tokens: int, batch: int = 1) -> Load:
    return Load.of_rows([tokens] * batch, [tokens] * batch, batch)


def decode(context: int, batch: int = 1) -> Load:
    return Load.of_rows([1] * batch, [context] * batch, batch)


# -- closed forms ----------------------------------------------------------------------------


def test_a_decode_step_takes_no_less_than_reading_the_weights():
    clock = ideal(LLAMA3, "H100 SXM")
    read_bytes = (LLAMA3.parameters - LLAMA3.vocab * LLAMA3.hidden) * 2  # no input embedding
    floor = read_bytes / 3.35e12
    assert clock.step_time(decode(1)).seconds == pytest.approx(floor, rel=1e-4)
    assert clock.step_time(decode(1)).seconds > floor


def test_every_token_of_context_costs_its_kv_bytes():
    clock = ideal(LLAMA3, "H100 SXM")
    longer = clock.bytes_moved(decode(1001)) - clock.bytes_moved(decode(1000))
    assert longer == LLAMA3.kv_bytes_per_token


def test_a_chunk_attends_to_what_is_before_it_and_half_of_itself():
    clock = ideal(LLAMA3, "H100 SXM")
    linear = 2 * LLAMA3.linear_parameters * 10
    flops = clock.flops(Load.of_rows([10], [110], 0))
    assert flops == linear + 4 * 32 * 32 * 128 * 10 * (110 - 5)


def test_chunks_do_the_arithmetic_of_the_whole_prompt():
    clock = ideal(LLAMA3, "H100 SXM")
    whole = clock.flops(Load.of_rows([100], [100], 1))
    chunks = clock.flops(Load.of_rows([64], [64], 0)) + clock.flops(Load.of_rows([36], [100], 1))
    assert chunks == whole


def test_chunks_read_the_weights_once_each():
    clock = ideal(LLAMA3, "H100 SXM")
    whole = clock.bytes_moved(Load.of_rows([100], [100], 1))
    chunks = clock.bytes_moved(Load.of_rows([64], [64], 0)) + clock.bytes_moved(
        Load.of_rows([36], [100], 1)
    )
    assert chunks - whole == clock.weight_bytes(1) + 64 * LLAMA3.kv_bytes_per_token


def test_only_rows_that_sample_pay_for_the_head():
    clock = ideal(LLAMA3, "H100 SXM")
    without, with_head = (clock.flops(Load.of_rows([8], [8], sampled)) for sampled in (0, 1))
    assert with_head - without == 2 * 4096 * 128_256


def test_each_kernel_takes_the_longer_of_its_two_and_the_fixed_rest_comes_on_top():
    clock = Roofline(LLAMA3, GPUS["H100 SXM"], Efficiency(0.5, 0.25, 3e-3))
    for rows in (decode(500), prefill(4000), decode(128, 512)):
        time, kernels = clock.step_time(rows), clock.kernels(rows)
        assert time.memory_seconds == pytest.approx(clock.bytes_moved(rows) / (3.35e12 * 0.5))
        assert time.compute_seconds == pytest.approx(clock.flops(rows) / (989e12 * 0.25))
        each = [max(part.memory_seconds, part.compute_seconds) for part in kernels]
        assert time.seconds == pytest.approx(sum(each) + 3e-3, rel=1e-12)
        assert time.seconds >= max(time.memory_seconds, time.compute_seconds) + 3e-3
    assert clock.step_time(decode(500)).memory_bound
    assert not clock.step_time(prefill(4000)).memory_bound


@pytest.mark.parametrize(
    ("rows", "milliseconds"),
    [
        (decode(128, 512), 17.2),
        (decode(4_096, 64).beside(prefill(2_048)), 64),
    ],
)
def test_attention_waits_for_memory_while_the_rest_computes(rows, milliseconds):
    """On an H100 at 80 and 60 %: the longer of the sums would be 14.0 and 52.9 ms."""
    clock = Roofline(LLAMA3, GPUS["H100 SXM"])
    time = clock.step_time(rows)
    assert time.seconds * 1e3 == pytest.approx(milliseconds, rel=0.01)
    assert max(time.memory_seconds, time.compute_seconds) < 0.85 * time.seconds
    linear, _, attention, _ = clock.kernels(rows)
    assert attention.memory_bound
    assert not linear.memory_bound


@pytest.mark.parametrize("gpu", ["A100 80G SXM", "H100 SXM", "L4"])
def test_linear_layers_turn_compute_bound_at_the_ridge(gpu):
    """At 16 bit a layer over T tokens has T FLOP per byte; attention and head taken away."""
    clock = ideal(LLAMA3, gpu)
    ridge = GPUS[gpu].ridge
    for tokens, expected in ((int(ridge) - 1, True), (int(ridge) + 2, False)):
        memory = LLAMA3.linear_parameters * 2 / clock.bytes_per_second
        compute = 2 * LLAMA3.linear_parameters * tokens / clock.flops_per_second
        assert (memory >= compute) == expected


def test_a_gpu_brings_its_own_efficiency_unless_told_otherwise():
    own, given_ = Roofline(LLAMA3, GPUS["RTX 4090"]), ideal(LLAMA3, "RTX 4090")
    assert own.used_efficiency.calibrated
    assert own.bytes_per_second == pytest.approx(0.84 * 1008e9)
    assert given_.bytes_per_second == 1008e9


# -- a step in two ---------------------------------------------------------------------------


def test_a_decode_step_in_two_by_hand():
    """Two requests with 10 and 30 tokens of context: Llama-3.1-8B has 7.50e9 weights that are read,
    of which 0.525e9 are the head's."""
    clock = ideal(LLAMA3, "H100 SXM")
    weights, attention = clock.breakdown(Load.of_rows([1, 1], [10, 30], 2))
    read = LLAMA3.linear_parameters + 4096 * 128_256
    assert weights[:2] == (2 * 2 * read, 2 * read)
    assert attention[:2] == (4 * 32 * 32 * 128 * (9.5 + 29.5), 131_072 * 40)
    assert weights.compute_seconds == 4 * read / 989e12
    assert weights.memory_seconds == 2 * read / 3.35e12
    assert weights.intensity == 2
    assert weights.memory_bound
    assert attention.intensity == pytest.approx(4, rel=0.03)  # 32 query heads over 8 KV heads


@pytest.mark.parametrize("formats", [("bf16", "bf16"), ("fp8", "fp8"), ("int4", "bf16")])
@pytest.mark.parametrize("load", [prefill(300), decode(5000, 40), Load.of_rows([7], [90], 0)])
def test_the_two_parts_make_the_step(load, formats):
    clock = Roofline(MIXTRAL.in_format(*formats), GPUS["RTX 4090"])
    whole = clock.breakdown(load).whole
    assert whole.flops == clock.flops(load)
    assert whole.bytes_moved == pytest.approx(clock.bytes_moved(load))
    time = clock.step_time(load)
    assert whole.compute_seconds == pytest.approx(time.compute_seconds)
    assert whole.memory_seconds == pytest.approx(time.memory_seconds)
    assert whole.memory_bound == time.memory_bound


# -- a mixture of experts --------------------------------------------------------------------


def test_one_token_reads_two_of_eight_experts_and_many_tokens_read_all():
    clock = ideal(MIXTRAL, "H100 SXM")
    shared = MIXTRAL.attention_parameters + MIXTRAL.router_parameters + MIXTRAL.head_parameters
    for tokens, experts in ((1, 2.0), (2, 8 * (1 - 0.75**2)), (400, 8.0)):
        expected = 2 * (shared + experts * MIXTRAL.expert_parameters)
        assert clock.weight_bytes(tokens) == pytest.approx(expected)


def test_a_dense_model_reads_its_weights_once_however_many_tokens():
    clock = ideal(LLAMA2, "H100 SXM")
    assert clock.weight_bytes(1) == clock.weight_bytes(5000)


def test_a_mixture_computes_with_its_active_parameters():
    flops = ideal(MIXTRAL, "H100 SXM").flops(Load.of_rows([1], [1], 1))
    assert flops / 2 == pytest.approx(12.9e9 - MIXTRAL.head_parameters, rel=0.01)


# -- data types ------------------------------------------------------------------------------


def test_int4_weights_decode_up_to_3_7_times_as_fast_and_slow_prefill_down():
    """Head and scales keep it below 4; dequantization costs what is compute-bound a fifth."""
    for model, times in ((LLAMA2, 3.64), (LLAMA3, 3.21), (LLAMA3_70B, 3.69)):
        bf16, int4 = (ideal(each, "H100 SXM") for each in (model, model.in_format("int4")))
        gain = bf16.step_time(decode(1)).seconds / int4.step_time(decode(1)).seconds
        assert gain == pytest.approx(times, abs=0.01)
    own = GPUS["H100 SXM"].efficiency
    bf16, int4 = (Roofline(each, GPUS["H100 SXM"]) for each in (LLAMA2, LLAMA2.in_format("int4")))
    slower = (int4.step_time(prefill(2048)).seconds - own.fixed_seconds) / (
        bf16.step_time(prefill(2048)).seconds - own.fixed_seconds
    )
    assert slower == pytest.approx(1.25, abs=0.02)
    assert slower < 1 / own.dequantization  # attention and head are not dequantized


def test_int4_linear_layers_turn_compute_bound_at_a_quarter_of_the_ridge():
    exact = replace(LLAMA3, weights=WeightFormat("4 bit", 0.5, "bf16", "by hand"))
    clock, tokens = ideal(exact, "H100 SXM"), GPUS["H100 SXM"].ridge / 4
    memory = LLAMA3.linear_parameters * 0.5 / clock.bytes_per_second
    compute = 2 * LLAMA3.linear_parameters * tokens / clock.flops_per_second
    assert clock.linear_speedup == 1
    assert memory == pytest.approx(compute)


@pytest.mark.parametrize(
    ("gpu", "weights", "speedup"),
    [
        ("A100 80G SXM", "int8", 2),
        ("A100 80G SXM", "fp8", 0.8),  # no FP8 arithmetic: weight-only
        ("H100 SXM", "int8", 2),
        ("H100 SXM", "fp8", 2),
        ("RTX 4090", "fp8", 2),
        ("RTX 4090", "int8", 4),
        ("H100 SXM", "int4", 0.8),
        ("H100 SXM", "bf16", 1),
    ],
)
def test_linear_layers_compute_as_fast_as_the_gpu_has_arithmetic_for_the_format(
    gpu, weights, speedup
):
    clock, bf16 = Roofline(LLAMA3.in_format(weights), GPUS[gpu]), Roofline(LLAMA3, GPUS[gpu])
    assert clock.linear_speedup == speedup
    load = prefill(3000)
    assert clock.flops(load) == bf16.flops(load)  # as many, only faster or slower
    linear = 2 * LLAMA3.linear_parameters * 3000
    seconds = (linear / speedup + bf16.flops(load) - linear) / bf16.flops_per_second
    assert clock.step_time(load).compute_seconds == pytest.approx(seconds)


def test_8_bit_kv_halves_what_context_costs_and_leaves_weights_and_arithmetic_alone():
    bf16 = ideal(LLAMA3, "H100 SXM")
    for kv in ("fp8", "int8"):
        clock = ideal(LLAMA3.in_format(kv=kv), "H100 SXM")
        assert clock.weight_bytes(1) == bf16.weight_bytes(1)
        load = decode(4000, 16)
        saved = bf16.bytes_moved(load) - clock.bytes_moved(load)
        assert saved == 16 * 4000 * LLAMA3.kv_bytes_per_token / 2
        assert clock.step_time(load).compute_seconds == bf16.step_time(load).compute_seconds


def test_only_what_was_fitted_is_called_calibrated():
    gpu = GPUS["RTX 4090"]
    assert Roofline(LLAMA3, gpu).calibrated
    assert not Roofline(LLAMA3, GPUS["H100 SXM"]).calibrated
    assert not Roofline(LLAMA3, gpu, gpu.efficiency).calibrated
    assert not Roofline(LLAMA3, gpu, tensor_parallel=2).calibrated
    assert not Roofline(LLAMA3.in_format("int4"), gpu).calibrated
    assert not Roofline(LLAMA3.in_format(kv="fp8"), gpu).calibrated


# -- tensor parallelism ----------------------------------------------------------------------


def test_llama_3_1_70b_on_four_h100_by_hand():
    clock = Roofline(LLAMA3_70B, GPUS["H100 SXM"], IDEAL, tensor_parallel=4)
    # Per layer Q and O: 8192 x 2048 each, K and V: 8192 x 256 each, three of 8192 x 7168
    linear = 80 * (2 * 8192 * 2048 + 2 * 8192 * 256 + 3 * 8192 * 7168)
    head = 8192 * 32_064
    assert clock.weight_bytes(1) == 2 * (linear + head)
    assert clock.weight_bytes(1) == pytest.approx(34.75e9, rel=1e-3)  # of 139 GB
    assert clock.decode_floor_seconds == pytest.approx(34.75e9 / 3.35e12, rel=1e-3)  # 10.4 ms
    kv = clock.bytes_moved(decode(1001)) - clock.bytes_moved(decode(1000))
    assert kv == 2 * 80 * 2 * 128 * 2  # K and V, 80 layers, 2 of 8 heads
    assert clock.flops(decode(1000)) == 2 * (linear + head) + 4 * 80 * 16 * 128 * 999.5
    # 160 all-reduces of 16 KiB: 10 us each, and 1.5 times those bytes at the 383 GB/s of nccl-tests
    assert clock.all_reduce_seconds(1) == pytest.approx(160 * (10e-6 + 1.5 * 16_384 / 383e9))
    assert clock.all_reduce_seconds(1) == pytest.approx(1.61e-3, rel=1e-3)
    time = clock.step_time(decode(1000))
    assert time.seconds == pytest.approx(time.memory_seconds + clock.all_reduce_seconds(1))


def test_one_gpu_adds_nothing_up():
    clock = Roofline(LLAMA3, GPUS["RTX 4090"], tensor_parallel=1)
    assert clock.all_reduce_seconds(5000) == 0
    assert clock.shard is LLAMA3


@pytest.mark.parametrize(
    ("gpu", "gains_more_than_twice"), [("RTX 4090", False), ("H100 SXM", True)]
)
def test_four_times_the_cards_prefill_twice_as_fast_over_nvlink_but_not_over_pcie(
    gpu, gains_more_than_twice
):
    two, eight = (
        Roofline(LLAMA3, GPUS[gpu], tensor_parallel=degree).step_time(prefill(2048))
        for degree in (2, 8)
    )
    assert eight.compute_seconds == pytest.approx(two.compute_seconds / 4)
    assert (eight.seconds < two.seconds / 2) == gains_more_than_twice


def test_every_gpu_of_a_mixture_reads_its_slice_of_the_experts_that_are_read():
    one, two = (Roofline(MIXTRAL, GPUS["H100 SXM"], tensor_parallel=degree) for degree in (1, 2))
    router = 2 * MIXTRAL.router_parameters  # every GPU has all of it
    for tokens in (1, 2, 400):
        half = (one.weight_bytes(tokens) - router) / 2
        assert two.weight_bytes(tokens) - router == pytest.approx(half)


def test_a_model_that_cannot_be_split_is_an_error():
    with pytest.raises(SimError, match="tensor_parallel_unknown"):
        Roofline(LLAMA3, GPUS["H100 SXM"], tensor_parallel=3)
    with pytest.raises(SimError, match="heads_not_divisible"):
        Roofline(MODELS["Qwen2.5-7B"], GPUS["H100 SXM"], tensor_parallel=8)


# -- published tools (they differ by 5 to 15 % among themselves) -------------------------------


def test_llama_2_7b_on_an_a6000_moves_and_computes_what_a_published_tool_says():
    clock = ideal(LLAMA2, "RTX A6000")
    assert clock.flops(prefill(2048)) == pytest.approx(2.875e13, rel=0.15)
    assert clock.flops(decode(2048)) == pytest.approx(1.417e10, rel=0.05)
    assert clock.bytes_moved(decode(2048)) == pytest.approx(1.43e10, rel=0.05)
    intensity = clock.flops(decode(2048)) / clock.bytes_moved(decode(2048))
    assert intensity == pytest.approx(0.99, rel=0.05)


@pytest.mark.parametrize(("batch", "milliseconds"), [(1, 18.6), (64, 109), (256, 386)])
def test_llama_2_7b_on_an_a6000_decodes_as_fast_as_a_published_tool_says(batch, milliseconds):
    seconds = ideal(LLAMA2, "RTX A6000").step_time(decode(2048, batch)).seconds
    assert seconds * 1e3 == pytest.approx(milliseconds, rel=0.05)


def test_int4_weights_decode_as_fast_as_a_published_tool_says():
    """That tool takes 4 bits for everything: no scales, and the head quantized too."""
    seconds = ideal(LLAMA2.in_format("int4"), "RTX A6000").step_time(decode(2048)).seconds
    assert seconds * 1e3 == pytest.approx(5.7, rel=0.08)
    assert seconds * 1e3 > 5.7


@pytest.mark.parametrize(
    ("model", "gpu", "rows", "milliseconds"),
    [
        ("Llama-2-7B", "RTX A6000", prefill(2048), 227),
        ("Llama-2-7B", "A100 80G SXM", prefill(2048), 106),
        ("Llama-3.1-8B", "H100 SXM", prefill(2048, 32), 1350),
        ("Llama-3.1-8B", "H100 SXM", decode(2048, 32), 8.0),
    ],
)
def test_the_ideal_machine_bounds_a_published_estimate_from_below(model, gpu, rows, milliseconds):
    seconds = ideal(MODELS[model], gpu).step_time(rows).seconds
    assert 0.65 * milliseconds <= seconds * 1e3 <= milliseconds


def test_llama_2_7b_on_an_a100_decodes_in_6_5_to_7_milliseconds():
    seconds = ideal(LLAMA2, "A100 80G SXM").step_time(decode(2048)).seconds
    assert 6.5 <= seconds * 1e3 <= 7.05


# -- properties ------------------------------------------------------------------------------

LOADS = st.lists(st.tuples(st.integers(1, 600), st.integers(0, 4000)), min_size=1, max_size=20).map(
    lambda drawn: Load.of_rows([q for q, _ in drawn], [q + c for q, c in drawn], len(drawn))
)


CLOCKS = st.builds(
    lambda model, weights, kv, gpu, degree: Roofline(
        MODELS[model].in_format(weights, kv), GPUS[gpu], tensor_parallel=degree
    ),
    st.sampled_from(sorted(set(MODELS) - {"Qwen2.5-7B"})),
    st.sampled_from(sorted(WEIGHT_FORMATS)),
    st.sampled_from(sorted(KV_FORMATS)),
    st.sampled_from(sorted(GPUS)),
    st.sampled_from(TENSOR_PARALLEL),
)


@given(LOADS, LOADS, CLOCKS)
def test_more_rows_never_make_a_step_shorter_nor_two_steps_cheaper(rows, more, clock):
    together = clock.step_time(rows.beside(more)).seconds
    one, other = clock.step_time(rows).seconds, clock.step_time(more).seconds
    assert together >= max(one, other) * (1 - 1e-12)
    assert together <= (one + other) * (1 + 1e-12)  # batching is never a loss


@given(LOADS, CLOCKS)
def test_more_gpus_never_make_reading_or_computing_longer_and_add_up_longer(rows, clock):
    each = [replace(clock, tensor_parallel=degree) for degree in TENSOR_PARALLEL]
    times = [one.step_time(rows) for one in each]
    for fewer, more in pairwise(times):
        assert more.memory_seconds <= fewer.memory_seconds
        assert more.compute_seconds <= fewer.compute_seconds
    added_up = [one.all_reduce_seconds(rows.num_tokens) for one in each]
    assert added_up[0] == 0
    assert added_up == sorted(set(added_up))
    for one, seconds in zip(each[1:], added_up[1:], strict=True):
        assert one.all_reduce_seconds(rows.num_tokens + 1) > seconds


@given(st.integers(1, 300), st.integers(0, 5000), CLOCKS)
def test_a_stretch_of_steps_takes_what_its_steps_take_to_the_last_bit(num_rows, context, clock):
    contexts = num_rows * (context + np.arange(1, 30))
    stretch = clock.step_time(Load.decode(num_rows, contexts))
    for index, kv_tokens in enumerate(contexts.tolist()):
        time = clock.step_time(Load.decode(num_rows, kv_tokens))
        assert stretch.seconds[index] == time.seconds
        assert stretch.memory_seconds[index] == time.memory_seconds
        assert stretch.compute_seconds[index] == time.compute_seconds


# -- the simpler clock -----------------------------------------------------------------------


def test_the_simple_clock_decodes_at_its_pace_and_prefills_at_its_rate():
    clock = SimpleClock(prefill_tokens_per_second=1000, decode_seconds_per_step=0.02)
    assert clock.step_time(decode(50, batch=64)).seconds == 0.02
    assert clock.step_time(prefill(10)).seconds == 0.02
    assert clock.step_time(prefill(500)).seconds == 0.5
    mixed = Load.of_rows([1, 1, 300], [40, 50, 300], 3)
    assert clock.step_time(mixed).seconds == pytest.approx(0.3)
    assert clock.step_time(decode(50)).memory_bound
    assert not clock.step_time(prefill(500)).memory_bound


def test_a_prompt_of_one_token_is_a_prefill():
    clock = SimpleClock(prefill_tokens_per_second=1, decode_seconds_per_step=0.5)
    assert clock.step_time(Load.of_rows([1], [1], 1)).seconds == 1.0


@pytest.mark.parametrize("speeds", [(0, 1), (1, 0), (-1, 1), (float("nan"), 1)])
def test_a_clock_that_stands_still_is_an_error(speeds):
    with pytest.raises(SimError, match="speed_not_positive"):
        SimpleClock(*speeds)


@pytest.mark.parametrize("speeds", [(float("inf"), 1), (1, float("inf"))])
def test_a_clock_of_infinite_speed_is_an_error(speeds):
    with pytest.raises(SimError, match="speed_infinite"):
        SimpleClock(*speeds)


# -- without CUDA graphs --------------------------------------------------------------------------

SMALL = Roofline(MODELS["Llama-3.2-1B"], GPUS["H100 SXM"])


def test_launches_bound_a_step_and_the_fixed_rest_comes_on_top():
    fixed = SMALL.used_efficiency.fixed_seconds
    loads = (Load.decode(1, 512), Load.decode(300, 300 * 900), Load.of_rows([900], [900], 1))
    for launch_seconds in (0.0, 2e-6, 5e-6, 20e-6, 100e-6):
        eager = Eager(SMALL, kernels_per_layer=10, launch_seconds=launch_seconds)
        for load in loads:
            time, working = SMALL.step_time(load), SMALL.kernel_seconds(load)
            expected = max(working, 16 * 10 * launch_seconds) + fixed
            assert eager.step_time(load).seconds == pytest.approx(expected, rel=1e-12)
            assert eager.step_time(load)[1:] == time[1:]


def test_a_step_that_is_long_enough_takes_to_the_bit_what_it_takes_with_graphs():
    load = Load.of_rows([4_000], [4_000], 1)
    assert Eager(SMALL).step_time(load) == SMALL.step_time(load)


def test_a_stretch_of_eager_steps_is_timed_as_its_steps_are():
    contexts = np.arange(6_400, 400_000, 997)  # launches bound the first, memory the last
    eager = Eager(SMALL, launch_seconds=8e-6)
    together = eager.step_time(Load.decode(64, contexts)).seconds
    alone = [eager.step_time(Load.decode(64, int(tokens))).seconds for tokens in contexts]
    assert together.tolist() == alone
    assert alone[0] == alone[1] < alone[-1]


def test_eager_and_graph_come_near_what_was_reported_for_llama_8b_on_an_h100():
    graph = Roofline(MODELS["Llama-3.1-8B"], GPUS["H100 SXM"])
    load = Load.decode(1, 512)
    assert round(Eager(graph).step_time(load).seconds * 1e3, 1) == 8.7  # reported: 8.4 ms
    assert round(graph.step_time(load).seconds * 1e3, 1) == 6.6  # reported: 5.1 ms


def test_no_kernels_and_negative_launches_are_refused():
    with pytest.raises(SimError, match="kernels_below_one"):
        Eager(SMALL, kernels_per_layer=0)
    with pytest.raises(SimError, match="launch_time_negative"):
        Eager(SMALL, launch_seconds=-1e-6)


def test_one_kernel_a_layer_is_the_least():
    assert Eager(SMALL, kernels_per_layer=1).num_kernels == 16


def test_speeds_in_the_units_of_a_slider_are_those_in_seconds():
    assert Eager.of_microseconds(SMALL, 12, 20) == Eager(SMALL, 12, 20e-6)
    assert SimpleClock.of_milliseconds(8_000, 25) == SimpleClock(8_000, 0.025)


def test_the_floor_of_a_mixture_is_that_of_one_token_and_its_two_experts():
    clock = ideal(MIXTRAL, "H100 SXM")
    assert clock.decode_floor_seconds * 3.35e12 == pytest.approx(2 * 12.9e9, rel=0.02)
