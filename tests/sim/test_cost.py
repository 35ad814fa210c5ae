"""The roofline against data sheets, closed forms and two published roofline tools."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.cost import Roofline, SimpleClock
from sim.errors import SimError
from sim.scheduler.batch import Load
from sim.specs import GPUS, IDEAL, MODELS, Efficiency

LLAMA2 = MODELS["Llama-2-7B"]
LLAMA3 = MODELS["Llama-3.1-8B"]
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


def test_the_slower_of_the_two_sets_the_pace_and_the_fixed_rest_comes_on_top():
    clock = Roofline(LLAMA3, GPUS["H100 SXM"], Efficiency(0.5, 0.25, 3e-3))
    for rows in (decode(500), prefill(4000)):
        time = clock.step_time(rows)
        assert time.memory_seconds == clock.bytes_moved(rows) / (3.35e12 * 0.5)
        assert time.compute_seconds == clock.flops(rows) / (989e12 * 0.25)
        assert time.seconds == max(time.memory_seconds, time.compute_seconds) + 3e-3
    assert clock.step_time(decode(500)).memory_bound
    assert not clock.step_time(prefill(4000)).memory_bound


@pytest.mark.parametrize("gpu", ["A100 80G SXM", "H100 SXM", "L4"])
def test_linear_layers_turn_compute_bound_at_the_ridge(gpu):
    """At 16 bit a layer over T tokens has T FLOP per byte; attention and head taken away."""
    clock = ideal(LLAMA3, gpu)
    ridge = GPUS[gpu].ridge
    for tokens, expected in ((int(ridge) - 1, True), (int(ridge) + 2, False)):
        memory = LLAMA3.linear_parameters * 2 / clock.bytes_per_second
        compute = 2 * LLAMA3.linear_parameters * tokens / clock.flops_per_second
        assert (memory >= compute) == expected
    int4 = replace(LLAMA3, weight_bytes=0.5)
    assert ideal(int4, gpu).weight_bytes(1) == clock.weight_bytes(1) / 4


def test_a_gpu_brings_its_own_efficiency_unless_told_otherwise():
    own, given_ = Roofline(LLAMA3, GPUS["RTX 4090"]), ideal(LLAMA3, "RTX 4090")
    assert own.used_efficiency.calibrated
    assert own.bytes_per_second == pytest.approx(0.86 * 1008e9)
    assert given_.bytes_per_second == 1008e9


# -- a mixture of experts --------------------------------------------------------------------


def test_one_token_reads_two_of_eight_experts_and_many_tokens_read_all():
    clock = ideal(MIXTRAL, "H100 SXM")
    shared = MIXTRAL.attention_parameters + MIXTRAL.head_parameters
    for tokens, experts in ((1, 2.0), (2, 8 * (1 - 0.75**2)), (400, 8.0)):
        expected = 2 * (shared + experts * MIXTRAL.expert_parameters)
        assert clock.weight_bytes(tokens) == pytest.approx(expected)


def test_a_dense_model_reads_its_weights_once_however_many_tokens():
    clock = ideal(LLAMA2, "H100 SXM")
    assert clock.weight_bytes(1) == clock.weight_bytes(5000)


def test_a_mixture_computes_with_its_active_parameters():
    flops = ideal(MIXTRAL, "H100 SXM").flops(Load.of_rows([1], [1], 1))
    assert flops / 2 == pytest.approx(12.9e9 - MIXTRAL.head_parameters, rel=0.01)


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
    int4 = replace(LLAMA2, weight_bytes=0.5)
    seconds = ideal(int4, "RTX A6000").step_time(decode(2048)).seconds
    assert seconds * 1e3 == pytest.approx(5.7, rel=0.05)


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


@given(LOADS, LOADS, st.sampled_from(sorted(MODELS)), st.sampled_from(sorted(GPUS)))
def test_more_rows_never_make_a_step_shorter_nor_two_steps_cheaper(rows, more, model, gpu):
    clock = Roofline(MODELS[model], GPUS[gpu])
    together = clock.step_time(rows.beside(more)).seconds
    one, other = clock.step_time(rows).seconds, clock.step_time(more).seconds
    assert together >= max(one, other) * (1 - 1e-12)
    assert together <= (one + other) * (1 + 1e-12)  # batching is never a loss


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
