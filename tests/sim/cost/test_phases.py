"""Where prefill and decode change sides, by closed forms and by looking at every batch."""

import pytest

from sim.cost import Roofline, phases
from sim.specs import GPUS, IDEAL, MODELS

DENSE = [model for model in MODELS.values() if model.experts == 1]
EVERY = pytest.mark.parametrize("gpu", GPUS.values(), ids=lambda gpu: gpu.name)
LLAMA3 = MODELS["Llama-3.1-8B"]
H100 = Roofline(LLAMA3, GPUS["H100 SXM"])


def test_the_loads_are_those_of_a_prompt_and_of_so_many_rows():
    assert phases.prefill(100) == (100, 100, 100 * 50, 1, 100)
    assert phases.decode(3, 50) == (3, 150, 3 * 49.5, 3, 0)


@EVERY
@pytest.mark.parametrize("model", DENSE, ids=lambda model: model.name)
def test_weights_turn_compute_bound_just_beyond_the_ridge_whatever_the_model(model, gpu):
    clock = Roofline(model, gpu)
    turn = phases.weights_crossover(clock)
    assert turn - 1 <= clock.ridge <= turn
    assert clock.breakdown(phases.decode(turn - 1, 1)).weights.memory_bound
    assert not clock.breakdown(phases.decode(turn, 1)).weights.memory_bound


@EVERY
def test_with_the_data_sheet_at_its_word_the_turn_is_its_ridge(gpu):
    assert phases.weights_crossover(Roofline(LLAMA3, gpu, IDEAL)) == int(gpu.ridge) + 1


@pytest.mark.parametrize("context", [64, 128, 256, 512, 1_024, 8_192])
@EVERY
def test_the_whole_step_turns_exactly_at_its_closed_form_or_never(gpu, context):
    clock = Roofline(LLAMA3, gpu)
    turn = phases.step_crossover(clock, context)
    if turn is None:
        assert clock.step_time(phases.decode(1_000_000, context)).memory_bound
    else:
        assert clock.step_time(phases.decode(turn - 1, context)).memory_bound
        assert not clock.step_time(phases.decode(turn, context)).memory_bound


def test_longer_contexts_turn_later_and_in_the_end_never():
    turns = [phases.step_crossover(H100, context) for context in (1, 128, 256, 512, 1_024)]
    assert turns[0] == phases.weights_crossover(H100)
    assert turns[-1] is None
    known = [turn for turn in turns if turn is not None]
    assert known == sorted(known)
    assert len(set(known)) == 4


@pytest.mark.parametrize("model", DENSE, ids=lambda model: model.name)
def test_the_intensity_of_decode_attention_is_query_heads_over_kv_heads_in_any_batch(model):
    clock = Roofline(model, GPUS["H100 SXM"])
    found = {
        clock.breakdown(phases.decode(batch, 1_000)).attention.intensity
        for batch in (1, 2, 64, 1_024)
    }
    for intensity in found:
        assert intensity == pytest.approx(model.q_heads / model.kv_heads, rel=1e-3)
    assert max(found) == pytest.approx(min(found))


@EVERY
def test_the_shortest_prompt_that_is_compute_bound_is_found(gpu):
    clock = Roofline(LLAMA3, gpu)
    turn = phases.prompt_crossover(clock)
    bound = [clock.step_time(phases.prefill(tokens)).memory_bound for tokens in range(1, 600)]
    assert bound == [tokens < turn for tokens in range(1, 600)]
