"""Chapter 12 says nothing that its own formulas, runs and rounded weights do not show."""

import json

import numpy as np
import pytest

from sim import specs
from sim.cost import phases
from sim.cost.formats import StoredModel
from sim.kv import Paged
from tests.chapters import ROOT
from tests.pages.rehearsal import open_page, set_alike
from ui.player.painters.rounding import Rounding
from ui.practice import predict
from ui.results import runs
from ui.subjects.quantization import formats as pictures
from ui.subjects.quantization import rounded, rounding
from ui.words.numbers import count, memory, percent, seconds, significant

PAGE = open_page("12_quantization")
FIXED = PAGE.constants
MODEL, GPU = specs.MODELS[FIXED["MODEL"]], specs.GPUS[FIXED["GPU"]]
QUIZ = {
    item["id"]: item
    for item in json.loads((ROOT / "assets" / "quiz" / "12.json").read_text("utf-8"))["items"]
}
EVERY_GPU = pytest.mark.parametrize("gpu", FIXED["GPUS"])
EVERY_CONTEXT = pytest.mark.parametrize("context", FIXED["CONTEXTS"])
EVERY_OUTLIER = pytest.mark.parametrize("outlier", rounded.OUTLIERS)
SHARING = tuple(rounded.GRANULARITIES)
TURNS = ("speed_turns", "speed_turns_beyond", "speed_never")


@pytest.fixture(autouse=True)
def _undrawn(monkeypatch):
    """Pictures have tests of their own; here they would only take time."""
    for name in ("divided", "decode_gains", "prefills", "throughputs", "crowds"):
        monkeypatch.setattr(pictures, name, lambda *given, **more: None)
    for name in ("histogram", "losses", "two_texts"):
        monkeypatch.setattr(rounding, name, lambda *given, **more: None)


def stored(weights="bf16", kv="bf16", gpu=GPU, model=MODEL):
    return StoredModel(model, gpu, weights, kv)


def values(played):
    return {card.label: card.value for card in played.cards}


def shown(item):
    """The state into which an item's "show me" leads."""
    return PAGE.at(QUIZ[item]["link"]["query"])


@pytest.mark.parametrize("act", ["speed", "round", "text", "load"])
def test_a_link_shows_what_it_says_whichever_was_clicked_before(act):
    assert set_alike(PAGE.play(act).presets)


# -- one GPU -------------------------------------------------------------------------------------


def test_the_guess_one_down_two_up_and_kv_as_it_was():
    guess = PAGE.play("hook").guesses["int4"]
    assert isinstance(guess, predict.Trends)
    assert guess.truth == {"alone": "down", "crowd": "up", "prefill": "up", "kv": "same"}


def test_the_outcome_names_gains_on_either_side_of_one():
    said = PAGE.play("hook").said["hook_outcome"]
    one, batch = stored("int4"), FIXED["ASKED_BATCH"]
    assert said["alone"] == significant(one.decode_gain(1, 128))
    assert one.decode_gain(1, 128) > 1
    assert said["crowd"] == percent(one.decode_gain(batch, 128))
    assert said["prefill"] == percent(one.prefill_gain(2_048))
    assert max(one.decode_gain(batch, 128), one.prefill_gain(2_048)) < 1
    assert batch <= stored().num_requests(128)  # a batch that bf16 can have


def test_the_starting_state_gives_nothing_away():
    controls = PAGE.play("hook").controls
    assert controls["weights"][0] == controls["kv"][0] == "bf16"
    assert values(PAGE.play("hook"))["Weights"] == memory(MODEL.memory_bytes)


def test_smaller_weights_leave_room_and_kv_as_it_was():
    for kv in FIXED["KV"]:
        found = [values(PAGE.play("hook", weights=name, kv=kv)) for name in ("bf16", "fp8", "int4")]
        assert len({one["KV per token"] for one in found}) == 1
        pools = [int(one["Pool holds"].replace(",", "")) for one in found]
        assert pools == sorted(pools)


def test_kv_in_fp8_is_half_as_large_whatever_the_weights_are():
    for name in FIXED["WEIGHTS"]:
        found = [values(PAGE.play("hook", weights=name, kv=kv)) for kv in ("bf16", "fp8")]
        assert [one["KV per token"] for one in found] == ["128 KiB", "64.0 KiB"]
        assert found[0]["Weights"] == found[1]["Weights"]


def test_weights_take_more_than_a_half_and_more_than_a_quarter():
    whole = MODEL.memory_bytes
    assert whole / 2 < stored("fp8").model.memory_bytes < 0.6 * whole
    assert whole / 4 < stored("int4").model.memory_bytes < 0.4 * whole


def test_fp8_and_int8_share_a_bar():
    assert stored("fp8").model.memory_bytes == stored("int8").model.memory_bytes


def test_the_larger_model_fits_in_8_bits_only():
    said = PAGE.play("hook", model=FIXED["LARGER"]).said["hook_result"]
    assert said["pool_bf16"] == "0"
    assert int(said["pool_fp8"].replace(",", "")) > 10_000


# -- along the batch -----------------------------------------------------------------------------


@EVERY_GPU
@EVERY_CONTEXT
def test_of_the_turn_the_page_says_what_is_so(gpu, context):
    int4 = stored("int4", gpu=specs.GPUS[gpu])
    said = PAGE.play("speed", gpu=gpu, context=context).said
    (spoken,) = set(TURNS) & set(said)
    turn = int4.first_batch_that_loses(context, 512)
    fits = stored(gpu=specs.GPUS[gpu]).num_requests(context)
    assert spoken == (
        "speed_never" if turn is None else TURNS[0] if turn <= fits else "speed_turns_beyond"
    )
    if turn is not None:  # and from there on
        assert all(int4.decode_gain(batch, context) < 1 for batch in range(turn, 513, 7))
        assert said[spoken] == {"turn": turn, "fits": count(fits)}


@EVERY_GPU
def test_alone_int4_is_fastest_and_almost_all_of_its_time_is_reading(gpu):
    for context in FIXED["CONTEXTS"]:
        gains = {name: stored(name, gpu=specs.GPUS[gpu]) for name in FIXED["SMALLER"]}
        alone = {name: one.decode_gain(1, context) for name, one in gains.items()}
        assert max(alone, key=lambda name: alone[name]) == "int4"
        step = gains["int4"].clock.step_time(phases.decode(1, context))
        assert step.memory_seconds > 10 * step.compute_seconds


@EVERY_GPU
def test_a_long_prompt_is_read_more_slowly_in_int4_and_faster_in_int8(gpu):
    assert stored("int4", gpu=specs.GPUS[gpu]).prefill_gain(2_048) < 0.85
    assert stored("int8", gpu=specs.GPUS[gpu]).prefill_gain(2_048) > 1.8


@EVERY_GPU
@EVERY_CONTEXT
def test_w8a8_does_not_turn_where_the_gpu_can_do_it(gpu, context):
    for name in ("fp8", "int8"):
        one = stored(name, gpu=specs.GPUS[gpu])
        if not one.runs_weight_only:
            assert one.first_batch_that_loses(context, 512) is None
    said = PAGE.play("speed", gpu=gpu).said
    has_fp8 = gpu != "A100 80G SXM"
    assert ("speed_fp8" in said, "speed_fp8_weight_only" in said) == (has_fp8, not has_fp8)


def test_every_gpu_here_computes_8_bit_at_least_twice_as_fast():
    for name in FIXED["GPUS"]:
        assert (specs.GPUS[name].int8_speedup or 0) >= 2


def test_the_longer_the_contexts_the_less_the_format_matters():
    for name in FIXED["SMALLER"]:
        gains = [stored(name).decode_gain(64, context) for context in (256, 512, 1_024, 4_096)]
        assert gains[-1] == min(gains)
        assert 1 <= gains[-1] < 1.3


def test_the_cards_are_the_steps_of_the_four_formats():
    found = values(PAGE.play("speed", batch=32, context=256))
    for name in FIXED["WEIGHTS"]:
        assert found[name] == seconds(stored(name).decode_seconds(32, 256))


def test_the_links_of_the_second_act_show_what_they_say():
    links = PAGE.play("speed").presets

    def gains(name):
        values = {"batch": 1, "context": 128, "gpu": FIXED["GPU"], **links[name]}
        where = specs.GPUS[values["gpu"]]
        return {
            each: stored(each, gpu=where).decode_gain(values["batch"], values["context"])
            for each in FIXED["SMALLER"]
        }

    alone, crowd, long, a100 = (gains(name) for name in links)
    assert alone["int4"] > alone["fp8"] > 1
    assert crowd["int4"] < 1 < 1.9 < crowd["int8"]
    step = stored().clock.breakdown(phases.decode(64, 1_024))
    assert step.attention.bytes_moved > step.weights.bytes_moved / 2  # a large part
    for name in FIXED["SMALLER"]:  # against the same batch of short contexts, and a single request
        assert long[name] < stored(name).decode_gain(64, 128)
        melting = [stored(name).decode_gain(batch, 1_024) for batch in (1, 8, 32, 64)]
        assert melting == sorted(melting, reverse=True)
    assert a100["fp8"] == pytest.approx(a100["int4"], rel=0.01)


def test_on_the_4090_int8_computes_four_times_as_fast_and_fp8_twice():
    assert (GPU.int8_speedup, GPU.fp8_speedup) == (4, 2)
    assert GPU.efficiency.dequantization == 0.8


# -- rounding ------------------------------------------------------------------------------------


def errors(grid, outlier):
    return [rounded.error(grid, sharing, outlier) for sharing in SHARING]


@EVERY_OUTLIER
@pytest.mark.parametrize("grid", rounded.FORMATS)
def test_the_fewer_share_a_scale_the_smaller_the_error(grid, outlier):
    tensor, channel, group = errors(grid, outlier)
    assert tensor > channel > group
    said = PAGE.play("round", format=grid, outlier=outlier).said["round_result"]
    assert [said[sharing] for sharing in SHARING] == [percent(one) for one in errors(grid, outlier)]


def test_an_outlier_spoils_integers_and_fp8_hardly_minds():
    for sharing in ("tensor", "channel"):
        for grid in ("int8", "int4"):
            assert rounded.error(grid, sharing, 16) > 3 * rounded.error(grid, sharing, 1)
        assert rounded.error("fp8", sharing, 16) < 1.05 * rounded.error("fp8", sharing, 1)


def test_fp8_loses_more_than_int8_where_weights_are_alike_and_less_with_an_outlier():
    assert errors("fp8", 1) > errors("int8", 1)
    assert rounded.error("fp8", "tensor", 16) < rounded.error("int8", "tensor", 16)


def test_groups_of_16_cost_one_bit_for_each_weight():
    for grid in rounded.FORMATS:
        done = rounded.matrix(grid, "group", 1)
        assert done.bits_per_weight == done.grid.bits + 1


def test_one_outlier_sends_most_of_its_channel_to_zero():
    link = PAGE.play("round").presets["row_outlier"]
    (frames,) = PAGE.play("round", **link).frames
    assert isinstance(frames, Rounding)
    assert (frames.after == 0).mean() > 0.9
    assert (frames.before != 0).all()
    assert len(frames.spans) == 1


def test_in_groups_one_suffers_and_the_others_do_not_notice():
    link = PAGE.play("round").presets["row_grouped"]
    (ill,) = PAGE.play("round", **link).frames
    (well,) = PAGE.play("round", **{**link, "outlier": 1}).frames
    assert isinstance(ill, Rounding)
    assert isinstance(well, Rounding)
    touched = rounded.OUTLIER_PLACE // rounded.GROUP_SIZE
    for number, span in enumerate(ill.spans):
        same = ill.after[span.first : span.end] == well.after[span.first : span.end]
        assert same.all() == (number != touched)


def test_with_fp8_levels_are_everywhere():
    link = PAGE.play("round").presets["row_fp8"]
    (frames,) = PAGE.play("round", **link).frames
    assert isinstance(frames, Rounding)
    assert (frames.after != 0).all()


def test_every_scale_is_stepped_through_and_every_weight_goes_to_the_nearest_level():
    for sharing, spans in (("tensor", 1), ("channel", 1), ("group", 4)):
        (frames,) = PAGE.play("round", sharing=sharing).frames
        assert isinstance(frames, Rounding)
        assert [moment.phase for moment in frames.moments] == [
            "before",
            *["scale", "round"] * spans,
        ]
        for span in frames.spans:
            levels = np.array(span.levels)
            for weight in range(span.first, span.end):
                off = np.abs(levels - frames.before[weight])
                assert abs(frames.after[weight] - levels[off.argmin()]) < 1e-6


# -- the text ------------------------------------------------------------------------------------


@EVERY_OUTLIER
def test_the_fewer_share_a_scale_the_less_the_model_is_changed(outlier):
    for grid in ("int8", "int4"):
        divergence = [rounded.judged(grid, name, outlier).divergence for name in SHARING]
        assert divergence == sorted(divergence, reverse=True)


def test_the_loss_of_int8_per_channel_does_not_move_and_the_outlier_does_not_change_that():
    for outlier in rounded.OUTLIERS:
        found = rounded.judged("int8", "channel", outlier)
        assert abs(found.change) < 0.05
        assert found.agreement > 0.9


def test_an_outlier_and_one_scale_make_int4_fall_apart_and_groups_bring_most_of_it_back():
    apart, back = (rounded.judged("int4", name, 16) for name in ("tensor", "group"))
    assert apart.change > 3
    assert apart.agreement < 0.1
    assert back.change < apart.change / 4
    assert back.agreement > 0.4


@EVERY_OUTLIER
def test_the_page_says_chance_only_within_two_standard_errors(outlier):
    for grid in rounded.FORMATS:
        said = PAGE.play("text", format=grid, outlier=outlier).said
        found = rounded.judged(grid, "tensor", outlier)
        assert ("text_noticed" in said, "text_noise" in said) == (
            found.is_noticeable,
            not found.is_noticeable,
        )


def test_the_text_is_that_of_the_models_and_nobody_was_trained_on_what_they_are_judged_by():
    held_out = {
        row["text"] for row in json.loads((ROOT / "assets/model/held_out.json").read_text("utf-8"))
    }
    decode = rounding.tiny_model.encoder().decode
    assert all(decode(tokens[1:]) in held_out for tokens in rounded.texts())
    assert len(rounded.texts()) == 4
    assert rounded.num_places() == sum(len(tokens) - 1 for tokens in rounded.texts())


def test_the_tiny_model_has_about_nine_tenths_of_a_million_layer_weights():
    assert rounding.tiny_model.target().model.linear_parameters == pytest.approx(0.9e6, rel=0.1)


# -- under load ----------------------------------------------------------------------------------


def rates(**chosen):
    return [one.output_tokens_per_second for one in PAGE.play("load", **chosen).summaries]


def test_both_the_faster_step_and_the_room_are_worth_something():
    before, same, after = rates()
    assert before * 1.15 < same < after / 1.15
    assert after > 1.3 * before
    one, _, other = PAGE.play("load").summaries
    assert other.mean_running > 1.5 * one.mean_running
    assert other.ttft.p50 < one.ttft.p50 / 5
    assert other.tpot.p50 > one.tpot.p50  # each of their steps takes longer


def test_with_a_light_load_only_the_faster_step_is_left():
    link = PAGE.play("load").presets["load_light"]
    for weights in FIXED["SMALLER"]:
        found = [
            runs.summary(one) for one in PAGE.play("load", **{**link, "weights": weights}).setups
        ]
        first, second, *third = found
        assert second.tpot.p50 < 0.7 * first.tpot.p50
        for other in third:  # the same setup but for its pool
            assert other.output_tokens_per_second == second.output_tokens_per_second


def test_nearly_all_of_the_gain_of_fp8_kv_is_room():
    before, same, after = rates(**PAGE.play("load").presets["load_kv"])
    assert (after - same) > 4 * (same - before) > 0


def test_w8a8_does_far_more_in_the_same_pool():
    before, same, *_ = rates(**PAGE.play("load").presets["load_int8"])
    assert same > 1.5 * before


def test_what_differs_between_the_three_is_what_the_page_says():
    first, second, third = PAGE.play("load").setups
    assert first.requests == second.requests == third.requests
    assert (first.memory, second.clock) == (second.memory, third.clock)
    assert isinstance(first.memory, Paged)
    assert isinstance(third.memory, Paged)
    assert third.memory.num_blocks > first.memory.num_blocks


# -- the self-check ------------------------------------------------------------------------------


def test_every_item_leads_to_a_state_that_shows_it():
    speeds = values(shown("int4_in_a_crowd"))
    assert float(speeds["int4"].split()[0]) > float(speeds["bf16"].split()[0])
    assert values(shown("kv_stays"))["KV per token"] == values(PAGE.play("hook"))["KV per token"]
    a100 = values(shown("w8a8_differs"))
    assert float(a100["int8"].split()[0]) < float(a100["bf16"].split()[0])
    assert float(a100["fp8"].split()[0]) > float(a100["bf16"].split()[0])
    assert rates()[2] > 1.3 * rates()[0]
    quiet = shown("fp8_kv_speed").summaries
    assert quiet[-1].output_tokens_per_second < 1.02 * quiet[0].output_tokens_per_second
    found = rounded.judged("int8", "tensor", 16)
    assert not found.is_noticeable
    assert found.agreement < 0.9
    assert shown("quality").said["text_noise"]["format"] == "int8"
    (frames,) = PAGE.play("round", outlier=16, sharing="channel").frames
    assert isinstance(frames, Rounding)
    assert (frames.after == 0).mean() > 0.9


def test_the_sum_of_the_numeric_item():
    scale = 1.4 / 7
    assert round(0.09 / scale) * scale == QUIZ["outlier_scale"]["answer"]["value"]
