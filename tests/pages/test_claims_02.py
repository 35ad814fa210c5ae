"""Chapter 2 says nothing that its own formulas, runs and measurements do not show.

Every checkable sentence of the text, of the self-check and of the links is held here against what
the page itself computes, over the whole range of a control where the sentence is.
"""

import json

import pytest

from sim import specs
from sim.cost import Roofline, phases
from sim.kv.sizes import Division
from sim.model.measured import NUM_PIECES, Pace, Product, Results
from tests.chapters import ROOT
from tests.pages.rehearsal import open_page
from ui.player.painters.passes import Passes
from ui.practice import predict
from ui.results import runs
from ui.subjects.phases import pictures, roofline_pictures
from ui.words.numbers import count, memory, seconds, significant

PAGE = open_page("02_prefill_decode")
FIXED = PAGE.constants
MODEL, GPU = specs.MODELS[FIXED["MODEL"]], specs.GPUS[FIXED["GPU"]]
CLOCK = Roofline(MODEL, GPU)
QUIZ = {
    item["id"]: item
    for item in json.loads((ROOT / "assets" / "quiz" / "02.json").read_text("utf-8"))["items"]
}
MEMORY, COMPUTE = "memory-bound", "compute-bound"
EVERY_MODEL = pytest.mark.parametrize("model", FIXED["MODELS"])
EVERY_GPU = pytest.mark.parametrize("gpu", FIXED["GPUS"])


@pytest.fixture(autouse=True)
def _undrawn(monkeypatch):
    """Pictures have tests of their own; here they would only take time."""
    for name in ("matrices", "kernel_bar", "along_the_batch"):
        monkeypatch.setattr(pictures, name, lambda *given, **more: None)
    monkeypatch.setattr(roofline_pictures, "roofline", lambda *given, **more: None)


def cards(played):
    """Label -> (value, note)."""
    return {card.label: (card.value, card.note) for card in played.cards}


def notes(played):
    return [note for _, note in cards(played).values()]


def shown(item):
    """The state into which an item's "show me" leads."""
    return PAGE.at(QUIZ[item]["link"]["query"])


@EVERY_GPU
@EVERY_MODEL
def test_the_usual_saying_holds_for_long_prompts_and_small_batches_and_64_rows_turn_it(gpu, model):
    clock = Roofline(specs.MODELS[model], specs.GPUS[gpu])
    assert not clock.breakdown(phases.prefill(FIXED["PROMPTS"][-1])).whole.memory_bound
    assert clock.breakdown(phases.prefill(64)).whole.memory_bound
    for context in FIXED["CONTEXTS"]:
        assert clock.breakdown(phases.decode(1, context)).whole.memory_bound
        turn = phases.step_crossover(clock, context)
        assert turn is None or turn > phases.weights_crossover(clock)  # later than the weights


def test_the_measured_point_is_told_beside_what_the_assumed_efficiencies_make_of_it():
    said = PAGE.play("roofline").said["roofline_formula"]
    assert float(said["measured_rate"]) == 104.9
    assert said["measured"] == "9.53 ms"
    clock = Roofline(specs.MODELS["Llama-2-7B"], specs.GPUS["A100 80G SXM"])
    assert not clock.calibrated
    ours = clock.step_time(phases.decode(1, 105)).seconds
    assert said["ours"] == seconds(ours)
    assert ours == pytest.approx(1 / 104.9, rel=0.05)
    reached = float(said["reached"].rstrip("%")) / 100
    assert reached == pytest.approx(1397 / 2039, abs=0.01)  # GB/s in the README and the data sheet


def share_of_arithmetic(part):
    return part.compute_seconds / max(part.compute_seconds, part.memory_seconds)


# -- two shapes ----------------------------------------------------------------------------------


def test_the_crossover_is_the_ridge_of_the_gpu_in_the_question():
    played = PAGE.play("hook")
    guess = played.guesses["crossover"]
    assert isinstance(guess, predict.Value)
    assert guess.truth == phases.weights_crossover(CLOCK) == 222
    assert played.said["hook_outcome"] == {"truth": 222, "ridge": "221", "gpu": "H100 SXM"}
    assert guess.low <= guess.truth <= guess.high


@EVERY_MODEL
@EVERY_GPU
def test_the_question_stays_the_same_whatever_model_and_gpu_are_chosen(model, gpu):
    played = PAGE.play("hook", model=model, gpu=gpu)
    assert played.said["hook_question"] == {"model": MODEL.name, "gpu": GPU.name}
    assert played.guesses["crossover"].truth == 222


def test_the_starting_state_gives_nothing_away():
    assert cards(PAGE.play("hook"))["Rows in"] == ("2,048", "")
    assert PAGE.play("hook").controls["phase"][0] == "prefill"


@pytest.mark.parametrize("batch", FIXED["BATCHES"])
def test_a_row_for_each_token_of_the_prompt_or_for_each_request(batch):
    for prompt in FIXED["PROMPTS"]:
        one, other = (
            cards(PAGE.play("hook", phase=phase, prompt=prompt, batch=batch))
            for phase in ("prefill", "decode")
        )
        assert one["Rows in"][0] == count(prompt)
        assert other["Rows in"][0] == count(batch)
        assert one["KV written"][0] == memory(MODEL.kv_bytes_per_token * prompt)
        assert other["KV read"][0] == memory(MODEL.kv_bytes_per_token * batch * (prompt + 1))


def test_a_batch_whose_kv_does_not_fit_says_so():
    pool = Division(MODEL, GPU).pool_tokens
    for batch in FIXED["BATCHES"]:
        note = cards(PAGE.play("hook", phase="decode", batch=batch, prompt=2_048))["KV read"][1]
        assert note == ("" if batch * 2_049 <= pool else "does not fit")
    assert pool < 1_024 * 2_049  # the last one does not


@EVERY_MODEL
def test_both_phases_read_the_same_weights(model):
    one, other = (
        cards(PAGE.play("hook", phase=phase, model=model))["Moved"][1]
        for phase in ("prefill", "decode")
    )
    assert one == other
    assert PAGE.play("hook", model=model).said["hook_result"]["weights"] in one


@EVERY_GPU
def test_a_long_prompt_is_compute_bound_and_a_lone_request_that_decodes_memory_bound(gpu):
    said = PAGE.play("hook", gpu=gpu).said["hook_result"]
    assert (said["prefill_limit"], said["decode_limit"]) == (COMPUTE, MEMORY)


@EVERY_GPU
def test_a_prompt_of_64_is_memory_bound(gpu):
    assert PAGE.play("hook", prompt=64, gpu=gpu).said["hook_result"]["prefill_limit"] == MEMORY


@EVERY_GPU
def test_a_large_batch_after_short_prompts_is_compute_bound(gpu):
    played = PAGE.play("hook", phase="decode", batch=1_024, prompt=64, gpu=gpu)
    assert played.said["hook_result"]["decode_limit"] == COMPUTE


def test_the_times_are_those_of_the_clock():
    said = PAGE.play("hook", prompt=512, batch=8).said["hook_result"]
    assert said["prefill_time"] == seconds(CLOCK.step_time(phases.prefill(512)).seconds)
    assert said["decode_time"] == seconds(CLOCK.step_time(phases.decode(8, 513)).seconds)


@EVERY_GPU
def test_each_kernel_s_longer_time_and_the_fixed_rest_that_is_named_are_the_step(gpu):
    clock = Roofline(MODEL, specs.GPUS[gpu])
    for load in (phases.prefill(2_048), phases.decode(8, 513)):
        kernels = clock.kernels(load)
        longer = sum(max(part.memory_seconds, part.compute_seconds) for part in kernels)
        rest = clock.step_time(load).seconds - longer
        assert PAGE.play("hook", gpu=gpu).said["hook"]["fixed"] == seconds(rest)
        assert PAGE.play("roofline", gpu=gpu).said["roofline_formula"]["fixed"] == seconds(rest)


def test_one_row_takes_hardly_any_time_at_all():
    step = CLOCK.breakdown(phases.decode(1, 1)).weights
    assert step.compute_seconds < step.memory_seconds / 200


# -- one roofline --------------------------------------------------------------------------------


@EVERY_GPU
def test_the_weights_turn_at_the_ridge_the_same_for_all_models(gpu):
    said = [
        PAGE.play("roofline", model=model, gpu=gpu).said["roofline_result"]
        for model in FIXED["MODELS"]
    ]
    assert len({(one["turn"], one["ridge"]) for one in said}) == 1
    assert 0 <= said[0]["turn"] - float(said[0]["ridge"]) <= 1


@EVERY_MODEL
def test_attention_has_the_same_flops_for_each_byte_in_any_batch(model):
    chosen = specs.MODELS[model]
    for context in (512, 16_384):
        found = {
            cards(PAGE.play("roofline", model=model, batch=batch, context=context))[
                "Decode: attention"
            ]
            for batch in FIXED["BATCHES"]
        }
        ((intensity, limit),) = found
        assert limit == MEMORY
        number = float(intensity.removesuffix(" FLOP/B"))
        assert number == pytest.approx(chosen.q_heads / chosen.kv_heads, rel=2e-3)


def test_with_short_contexts_attention_is_only_about_the_heads_that_share():
    said = PAGE.play("roofline", context=64)
    assert said.said["roofline_result"]["attention"] == "3.97"
    assert "about as many FLOP per byte as query heads" in said.text["roofline_result"]


def test_the_heads_that_are_named_are_those_of_the_model():
    said = PAGE.play("roofline").said["roofline_result"]
    assert (said["queries"], said["heads"], said["attention"]) == (32, 8, "4.00")


def test_t_rows_make_t_flop_of_every_byte():
    for batch in FIXED["BATCHES"]:
        value, _ = cards(PAGE.play("roofline", batch=batch))["Decode: weights"]
        assert value == f"{significant(batch)} FLOP/B"


def test_the_batch_walks_the_weights_toward_the_ridge_and_past_it():
    limits = [
        cards(PAGE.play("roofline", batch=batch))["Decode: weights"][1]
        for batch in FIXED["BATCHES"]
    ]
    assert limits == [MEMORY if batch < 222 else COMPUTE for batch in FIXED["BATCHES"]]


@EVERY_GPU
def test_prefill_is_compute_bound_from_the_prompt_named_on(gpu):
    turn = PAGE.play("roofline", gpu=gpu).said["roofline_result"]["prompt"]
    for prompt in FIXED["PROMPTS"]:
        _, limit = cards(PAGE.play("roofline", gpu=gpu, prompt=prompt))["Prefill"]
        assert limit == (COMPUTE if prompt >= turn else MEMORY)


def test_short_prompts_in_one_step_add_up():
    four = phases.prefill(64)
    for _ in range(3):
        four = four.beside(phases.prefill(64))
    assert CLOCK.step_time(phases.prefill(64)).memory_bound
    assert not CLOCK.step_time(four).memory_bound


@EVERY_MODEL
@EVERY_GPU
def test_of_the_whole_step_the_page_says_what_is_so(model, gpu):
    clock = Roofline(specs.MODELS[model], specs.GPUS[gpu])
    for context in FIXED["CONTEXTS"]:
        said = PAGE.play("roofline", model=model, gpu=gpu, context=context).said
        turn = phases.step_crossover(clock, context)
        fitting = Division(clock.model, clock.gpu).num_requests(context)
        expected = (
            "step_never" if turn is None else "step_turns" if turn <= fitting else "step_too_large"
        )
        (spoken,) = {"step_never", "step_turns", "step_too_large"} & set(said)
        assert spoken == expected
        if spoken == "step_turns":
            assert turn is not None
            assert turn >= phases.weights_crossover(clock)  # later than the weights alone


def test_every_further_request_of_a_long_context_makes_the_step_more_memory_bound():
    said = PAGE.play("roofline", context=2_048).said["step_never"]
    one = CLOCK.breakdown(phases.decode(1, 2_048))
    assert one.attention.memory_seconds > one.whole.compute_seconds
    assert said["kv"] == seconds(one.attention.memory_seconds)
    assert said["compute"] == seconds(one.whole.compute_seconds)


def test_longer_contexts_send_the_crossing_away():
    near, middle, far = [phases.step_crossover(CLOCK, context) for context in (64, 128, 256)]
    assert near is not None
    assert middle is not None
    assert far is not None
    assert near < middle < far


def test_attention_waits_for_memory_even_where_the_whole_step_does_not():
    found = cards(PAGE.play("roofline", batch=1_024, context=64))
    assert found["Decode: whole step"][1] == COMPUTE
    assert found["Decode: attention"][1] == MEMORY


def test_the_formula_is_worked_out_with_the_values_that_stand_there():
    said = PAGE.play("roofline", batch=64, context=256).said["roofline_formula"]
    assert said["weights"] == memory(2 * (MODEL.linear_parameters + MODEL.head_parameters))
    assert said["kv"] == memory(MODEL.kv_bytes_per_token * 64 * 256)
    step = CLOCK.step_time(phases.decode(64, 256))
    assert said["moving"] == seconds(step.memory_seconds)
    assert said["computing"] == seconds(step.compute_seconds)


def test_only_the_4090_is_fitted_and_the_others_assume_80_and_60_percent():
    for name in FIXED["GPUS"]:
        efficiency = specs.GPUS[name].efficiency
        assert efficiency.calibrated == (name == "RTX 4090")
        if not efficiency.calibrated:
            assert (efficiency.bandwidth, efficiency.flops) == (0.8, 0.6)


def test_the_links_show_what_they_say():
    presets = PAGE.play("roofline").presets
    found = {name: cards(PAGE.play("roofline", **values)) for name, values in presets.items()}
    assert found["short_prompt"]["Prefill"][1] == MEMORY
    assert found["large_batch"]["Decode: whole step"][1] == COMPUTE
    assert found["long_context"]["Decode: weights"][1] == COMPUTE
    assert found["long_context"]["Decode: whole step"][1] == MEMORY
    small = presets["small_card"]
    division = Division(MODEL, specs.GPUS[small["gpu"]])
    assert division.num_requests(512) < small["batch"]
    assert division.gpu.ridge < GPU.ridge
    assert Roofline(MODEL, division.gpu).ridge < CLOCK.ridge


@EVERY_GPU
def test_the_models_that_can_be_chosen_leave_room_for_a_request_of_any_context(gpu):
    for model in FIXED["MODELS"]:
        assert PAGE.play("roofline", model=model, gpu=gpu, context=16_384).cards


# -- step by step --------------------------------------------------------------------------------


@pytest.mark.parametrize("together", range(1, 5))
@pytest.mark.parametrize("short", [4, 12, 16])
def test_one_reading_serves_the_whole_prompt_and_each_further_one_a_row_for_each(short, together):
    played = PAGE.play("steps", short=short, together=together)
    steps, said = runs.steps(played.setup), played.said["steps_result"]
    first, *rest = steps
    assert said["rows"] == count(short * together) == count(first.num_tokens)
    assert said["readings"] == count(len(rest)) == "9"
    assert all(step.num_tokens == together for step in rest)
    assert said["written"] == count(9 * together)
    assert all(work.is_prefill for work in first.work)
    assert not any(work.is_prefill for step in rest for work in step.work)


def test_with_so_few_rows_both_kinds_of_step_wait_for_memory():
    for together in range(1, 5):
        steps = runs.steps(PAGE.play("steps", short=16, together=together).setup)
        assert all(step.time.memory_bound for step in steps)


def test_the_player_shows_the_rows_and_the_kv_of_that_run():
    played = PAGE.play("steps", together=3)
    (frames,) = played.frames
    assert isinstance(frames, Passes)
    assert frames.rows.sum(axis=0).tolist() == [36] + [3] * 9
    assert frames.context[:, -1].tolist() == [21] * 3  # the token written last has no KV yet
    assert frames.weights == played.said["steps_result"]["weights"]


# -- measured here -------------------------------------------------------------------------------

RESULTS = Results(
    products=(Product(1, 2_048, 0.001), Product(256, 2_048, 0.02)),
    prefill=Pace(128, 0.01),
    alone=Pace(8, 0.01),
    together=Pace(64, 0.02),
)


def test_nothing_is_said_of_a_measurement_before_it_is_made():
    said = PAGE.play("measured").said
    assert "measured_before" in said
    assert "measured_result" not in said


def test_what_was_measured_is_what_is_said():
    said = PAGE.play("measured", measure=RESULTS).said["measured_result"]
    assert said == {
        "one": "8.39 GFLOP/s",
        "bandwidth": "16.8 GB/s",
        "rows": 256,
        "many": "107 GFLOP/s",
        "times": "12.8",
        "prefill": "12,800",
        "alone": "800",
        "together": "3,200",
    }


def test_pressing_measures_this_machine_and_the_numbers_stay(open_page):
    app = open_page("pages/02_prefill_decode.py", lang="en", part="measured")
    (button,) = [one for one in app.main.button if one.label == "Measure"]
    button.click().run()
    assert not app.exception
    found = {metric.label: metric.value for metric in app.metric}
    assert all(value.endswith("FLOP/s") for value in found.values())
    assert NUM_PIECES == 8
    app.query_params = {"lang": "zh", "part": "measured"}
    app.run()
    assert [metric.value for metric in app.metric] == list(found.values())


# -- self-check ----------------------------------------------------------------------------------


def test_the_ridge_by_hand():
    item = QUIZ["ridge_by_hand"]
    ridge, flops_per_weight, bytes_per_weight = 600e12 / 3e12, 2, 2
    assert item["answer"]["value"] == ridge * bytes_per_weight / flops_per_weight
    assert [lure["value"] for lure in item["lures"]] == [
        ridge / flops_per_weight,
        ridge * bytes_per_weight,
        1,
    ]


def test_twice_the_batch_hardly_changes_a_step_at_short_contexts():
    one, two = (CLOCK.step_time(phases.decode(batch, 128)).seconds for batch in (16, 32))
    assert two / one < 1.02
    assert notes(shown("twice_the_batch"))[2] == MEMORY


def test_twice_the_arithmetic_halves_a_long_prefill_and_leaves_the_decode_steps():
    half = phases.prefill(2_048), phases.decode(1, 2_049)
    prefill, decode = (CLOCK.breakdown(load).whole for load in half)
    assert prefill.compute_seconds / 2 > prefill.memory_seconds
    assert decode.memory_seconds > decode.compute_seconds / 2
    assert CLOCK.breakdown(half[0]).weights.intensity > 1_000  # each weight is used so often
    assert shown("twice_the_arithmetic").said["hook_result"]["prefill_limit"] == COMPUTE


def test_show_me_leads_to_attention_that_stayed_and_weights_that_walked():
    weights, attention, *_ = notes(shown("attention_stays"))
    assert (weights, attention) == (COMPUTE, MEMORY)


def test_32_rows_are_far_left_of_the_ridge_in_either_phase():
    assert cards(shown("always_compute_bound"))["Prefill"][1] == MEMORY
    one = CLOCK.breakdown(phases.prefill(32)).whole.intensity
    other = CLOCK.breakdown(phases.decode(32, 32)).whole.intensity
    assert one == pytest.approx(32, rel=0.1)
    assert other == pytest.approx(32, rel=0.1)
    assert max(one, other) < CLOCK.ridge / 5


def test_sixteen_times_the_kv_takes_longer_to_read_than_the_weights():
    short, long = (CLOCK.breakdown(phases.decode(32, context)) for context in (512, 8_192))
    assert long.attention.bytes_moved == 16 * short.attention.bytes_moved
    assert long.attention.memory_seconds > long.weights.memory_seconds
    assert short.attention.memory_seconds < short.weights.memory_seconds
    assert long.attention.memory_bound
    assert shown("long_context_decode").cards
    large = Roofline(specs.MODELS["Llama-3.1-70B"], GPU).breakdown(phases.decode(32, 8_192))
    assert large.attention.memory_seconds < large.weights.memory_seconds  # so the model is named
    for question in QUIZ["long_context_decode"]["question"].values():
        assert MODEL.name in question


def test_what_raises_the_flops_of_a_byte_and_what_does_not():
    here = Roofline(specs.MODELS["Llama-2-7B"], GPU).breakdown(phases.decode(64, 4_096)).whole
    fewer_heads = CLOCK.breakdown(phases.decode(64, 4_096)).whole
    more = CLOCK.breakdown(phases.decode(128, 4_096)).whole
    faster = Roofline(MODEL, specs.GPUS["H200 SXM"]).breakdown(phases.decode(64, 4_096)).whole
    longer = CLOCK.breakdown(phases.decode(64, 8_192)).whole
    assert fewer_heads.intensity > here.intensity
    assert more.intensity > fewer_heads.intensity
    assert faster.intensity == fewer_heads.intensity
    assert faster.memory_seconds < fewer_heads.memory_seconds
    assert longer.intensity < fewer_heads.intensity
    assert notes(shown("what_raises_it"))[2] == MEMORY


def test_a_lone_request_gains_flops_per_byte_with_its_context_so_the_question_names_the_batch():
    short, long = (CLOCK.breakdown(phases.decode(1, each)).whole for each in (512, 8_192))
    assert long.intensity > short.intensity
    for question in QUIZ["what_raises_it"]["question"].values():
        assert "64" in question


def test_one_user_uses_less_than_a_hundredth_of_the_arithmetic():
    assert share_of_arithmetic(CLOCK.breakdown(phases.decode(1, 2_049)).whole) < 0.01
    few, dozens = (CLOCK.step_time(phases.decode(batch, 512)).seconds for batch in (1, 36))
    assert dozens / few < 1.2
    assert cards(shown("busy_all_the_time"))["FLOP per byte"][1] == MEMORY
