"""Chapter 11 says nothing that its own runs do not show.

Every checkable sentence of the text, of the self-check and of the links is held here against the
model that the page itself uses, over the whole range of a control where the sentence is.
"""

import json
from dataclasses import replace

import pytest

from sim import specs
from sim.cost import KERNELS_PER_LAYER, LAUNCH_MICROSECONDS, Eager, Roofline, launches, phases
from sim.cost.launches import AHEAD, ONE_BY_ONE, REPLAY, LaunchWork
from tests.chapters import ROOT
from tests.pages.rehearsal import open_page, set_alike
from ui.player.painters.timeline import Timeline
from ui.practice import predict
from ui.words.numbers import count, memory, percent, seconds

GRAPHS = open_page("11_cuda_graph")
PAGE = GRAPHS.constants
CONTEXT = PAGE["CONTEXT"]
MODELS, GPUS = list(PAGE["MODELS"]), list(PAGE["GPUS"])
QUIZ = {
    item["id"]: item
    for item in json.loads((ROOT / "assets" / "quiz" / "11.json").read_text("utf-8"))["items"]
}


def clock(model=PAGE["MODEL"], gpu=PAGE["GPU"], kernels=12, launch=20):
    roofline = Roofline(specs.MODELS[model], specs.GPUS[gpu])
    return Eager.of_microseconds(roofline, kernels, launch)


def step(batch=1, context=CONTEXT, **machine):
    return LaunchWork.of(clock(**machine), phases.decode(batch, context))


def gain(work):
    """How many times as fast a replay is."""
    return launches.speedup(work, ONE_BY_ONE, REPLAY)


def notes(act, **values):
    return "\n".join(GRAPHS.play(act, **values).frames[0].notes)


def shown(item):
    """The state into which an item's "show me" leads."""
    assert QUIZ[item]["link"]["page"] == "11_cuda_graph"
    return GRAPHS.at(QUIZ[item]["link"]["query"])


def cards(played):
    return {card.label: card for card in played.cards}


@pytest.mark.parametrize("act", ["when", "sizes", "ahead"])
def test_a_link_shows_what_it_says_whichever_was_clicked_before(act):
    assert set_alike(GRAPHS.play(act).presets)


# -- one by one, and replayed ---------------------------------------------------------------------


def test_in_the_hook_the_gpu_mostly_waits_and_the_guess_is_about_that_share():
    played = GRAPHS.play("hook")
    work = step()
    guess = played.guesses["busy"]
    assert isinstance(guess, predict.Value)
    truth = guess.truth or 0
    assert truth == pytest.approx(100 * launches.busy_share(work, ONE_BY_ONE))
    assert truth < 25
    assert played.said["hook_outcome"]["busy"] == percent(truth / 100)
    assert work.launch_seconds > 4 * work.kernel_seconds
    found = launches.spans(work, ONE_BY_ONE)
    busy = sum(s.end_seconds - s.start_seconds for s in found if s.place == launches.GPU)
    assert busy / found[-1].end_seconds == pytest.approx(truth / 100, rel=1e-3)


def test_the_question_stays_about_the_starting_state_wherever_the_controls_stand():
    start = GRAPHS.play("hook")
    moved = GRAPHS.play("hook", batch=1024, launch=2, kernels=40, model="Qwen3-14B")
    assert moved.guesses["busy"] == start.guesses["busy"]
    assert moved.said["hook_outcome"] == start.said["hook_outcome"]


@pytest.mark.parametrize("model", MODELS)
def test_the_cards_and_the_prose_say_the_same_numbers(model):
    played = GRAPHS.play("hook", model=model)
    work = step(model=model)
    assert work.num_kernels == specs.MODELS[model].layers * KERNELS_PER_LAYER
    told = cards(played)
    said = played.said["hook_result"]
    for label, key, way in (
        ("ITL, one by one", "eager", ONE_BY_ONE),
        ("ITL, replayed", "graph", REPLAY),
    ):
        assert told[label].value == said[key] == seconds(launches.step_seconds(work, way))
        assert said[f"busy_{key}"] in told[label].note
    assert said["kernels"] == count(work.num_kernels)


def test_replayed_the_kernels_are_the_same_and_only_the_gaps_are_gone():
    (frames,) = GRAPHS.play("hook").frames
    assert isinstance(frames, Timeline)
    lengths = [
        [
            span.end - span.start
            for span in frames.spans
            if (span.kind, span.lane) == ("kernel", row)
        ]
        for row in (1, 3)
    ]
    assert lengths[0] == pytest.approx(lengths[1])
    work = step()
    saved = launches.step_seconds(work, ONE_BY_ONE) - launches.step_seconds(work, REPLAY)
    gaps = (work.num_kernels - 1) * (work.launch_seconds - work.kernel_seconds)
    assert saved == pytest.approx(gaps)


def test_with_cheap_launches_or_a_large_batch_kernels_queue():
    assert "queues on the GPU" not in notes("hook")
    assert "queues on the GPU" in notes("hook", launch=2)
    assert "queues on the GPU" in notes("hook", batch=1024)
    assert "waits for" not in notes("hook", batch=1024)


def test_the_launch_starts_where_the_prose_says_and_39_ms_are_25_tokens_a_second():
    assert LAUNCH_MICROSECONDS == 20
    assert round(1000 / 25.5) == 39
    for language in ("zh", "en"):
        assert "20 µs" in open_page("11_cuda_graph", language).play("hook").text["launch_cost"]


# -- when it matters ------------------------------------------------------------------------------


def test_a_step_has_as_many_kernels_whatever_is_in_it():
    here = clock()
    loads = (phases.decode(1, 64), phases.decode(500, 512), phases.prefill(4096))
    assert len({LaunchWork.of(here, load).num_kernels for load in loads}) == 1


def test_one_by_one_is_flat_until_the_curves_meet():
    turn = launches.decode_crossover(clock(), CONTEXT)
    assert GRAPHS.play("when").said["when_turns"]["turn"] == count(turn)
    flat = [launches.step_seconds(step(batch), ONE_BY_ONE) for batch in range(1, turn, 20)]
    assert max(flat) < 1.005 * min(flat)
    rising = [launches.step_seconds(step(batch), REPLAY) for batch in range(1, turn, 20)]
    assert rising == sorted(rising)
    assert rising[-1] > 2 * rising[0]


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("gpu", GPUS)
def test_beyond_the_crossover_a_graph_changes_hardly_anything(model, gpu):
    turn = launches.decode_crossover(clock(model, gpu), CONTEXT)
    for batch in (turn, turn + 1, 2 * turn, 10 * turn):
        assert gain(step(batch, model=model, gpu=gpu)) < 1.02
    if turn > 50:
        assert gain(step(turn // 4, model=model, gpu=gpu)) > 1.1


@pytest.mark.parametrize(
    ("values", "section"),
    [
        ({}, "when_turns"),
        ({"model": "Qwen3-14B"}, "when_never"),
        ({"model": "Llama-3.1-8B", "kernels": 40, "launch": 50}, "when_always"),
    ],
)
def test_each_place_of_the_crossover_has_its_words(values, section):
    said = GRAPHS.play("when", **values).said
    assert [name for name in said if name in ("when_turns", "when_never", "when_always")] == [
        section
    ]


def test_small_models_small_batches_and_fast_gpus_gain_most():
    by_model = [gain(step(model=name)) for name in MODELS]
    assert by_model == sorted(by_model, reverse=True)
    by_batch = [gain(step(batch)) for batch in PAGE["BATCHES"]]
    assert by_batch == sorted(by_batch, reverse=True)
    fast_last = sorted(GPUS, key=lambda name: specs.GPUS[name].bandwidth)
    by_gpu = [gain(step(gpu=name)) for name in fast_last]
    assert by_gpu == sorted(by_gpu)


def test_a_long_prefill_takes_as_long_either_way():
    for model in MODELS:
        prefill = LaunchWork.of(clock(model), phases.prefill(PAGE["PROMPT"]))
        assert gain(prefill) < 1.01
    said = GRAPHS.play("when").said["when_prefill"]
    assert said["prefill_eager"] == said["prefill_graph"]
    tokens = launches.prefill_crossover(clock())
    assert said["tokens"] == count(tokens)
    assert launches.launch_bound(clock(), phases.prefill(tokens - 1))


def test_the_links_show_what_they_say():
    presets = GRAPHS.play("when").presets
    start = launches.decode_crossover(clock(), CONTEXT)
    slow = {name: presets["slow_card"][name] for name in ("model", "gpu")}
    assert launches.decode_crossover(clock(**slow), CONTEXT) < start
    assert gain(step(**presets["large_batch"])) < 1.02
    large = step(**presets["large_model"])
    assert large.num_kernels > 2 * step().num_kernels
    assert large.kernel_seconds > 4 * step().kernel_seconds
    assert gain(large) < 1.01
    assert gain(step(**presets["fast_card"])) > 1.5


def test_what_was_measured_elsewhere_is_near_what_comes_out_here():
    work = step(model="Llama-3.1-8B")
    assert launches.step_seconds(work, ONE_BY_ONE) == pytest.approx(8.4e-3, rel=0.05)
    assert launches.step_seconds(work, REPLAY) == pytest.approx(5.1e-3, rel=0.35)


def test_the_formula_adds_up_as_it_is_written():
    work = step(8)
    launching, working = work.launching_seconds(ONE_BY_ONE), work.gpu_seconds
    one = max(launching, working) + work.host_seconds
    assert launches.step_seconds(work, ONE_BY_ONE) == pytest.approx(one + work.kernel_seconds)
    graph = work.replay_seconds + working + work.host_seconds
    assert launches.step_seconds(work, REPLAY) == pytest.approx(graph)


# -- the workbench --------------------------------------------------------------------------------


def test_the_workbench_without_graphs_uses_the_same_formula_and_says_so_to_vllm():
    bench = open_page("17_workbench")
    server = {"model": "Llama-3.2-1B", "gpu": "H100 SXM", "requests": 40}
    on = bench.play("explore", **server)
    off = bench.play("explore", graphs=False, **server)
    assert off.setup.clock == clock() == replace(clock(), roofline=on.setup.clock)
    assert off.summary.itl.p50 > 2 * on.summary.itl.p50
    assert off.taken is not None
    assert on.taken is not None
    assert "--enforce-eager" in off.taken.text
    assert "--enforce-eager" not in on.taken.text
    assert off.said["leaves_out"]["step_times"] == off.text["eager"]


def test_on_the_workbench_graphs_change_nothing_for_a_large_model_on_a_slow_card():
    bench = open_page("17_workbench")
    server = {"model": "Qwen3-14B", "gpu": "L40S", "requests": 20, "rate": 1}
    on = bench.play("explore", **server)
    off = bench.play("explore", graphs=False, **server)
    assert off.summary.itl.mean == on.summary.itl.mean


# -- captured sizes -------------------------------------------------------------------------------


@pytest.mark.parametrize("model", MODELS)
def test_padding_costs_next_to_nothing(model):
    here, sizes = clock(model), launches.captured_sizes(64)
    for batch in range(1, 65):
        exact = launches.step_seconds(LaunchWork.of(here, phases.decode(batch, CONTEXT)), REPLAY)
        padded = launches.captured_seconds(here, batch, CONTEXT, sizes)
        assert exact <= padded < 1.001 * exact


def test_one_request_too_many_and_the_step_jumps():
    said = GRAPHS.play("sizes").said["sizes_result"]
    sizes = launches.captured_sizes(64)
    inside, outside = (
        launches.captured_seconds(clock(), batch, CONTEXT, sizes) for batch in (64, 65)
    )
    assert (said["inside"], said["outside"]) == (seconds(inside), seconds(outside))
    assert outside > 2 * inside
    before = launches.captured_seconds(clock(), 63, CONTEXT, sizes)
    assert inside < 1.01 * before  # up to there it rises slowly


def test_more_sizes_take_more_memory_from_kv():
    taken = [
        GRAPHS.play("sizes", largest=largest).said["sizes_memory"]["memory"]
        for largest in PAGE["LARGEST"]
    ]
    known = [len(launches.captured_sizes(largest)) for largest in PAGE["LARGEST"]]
    assert known == sorted(known)
    assert taken == [memory(number * 6 * 2**20) for number in known]
    logged = 0.21 * 1024 / 35  # MiB for a size
    assert logged == pytest.approx(6, abs=0.2)
    lost = cards(GRAPHS.play("sizes"))["Memory of graphs"].note
    assert lost.endswith(count(66 * 2**20 / specs.MODELS[PAGE["MODEL"]].kv_bytes_per_token))


@pytest.mark.parametrize(
    ("preset", "used", "note"),
    [
        ("fits_exactly", "64", "padding rows: 0"),
        ("one_too_many", "none", "one by one"),
        ("large_enough", "72", "padding rows: 7"),
    ],
)
def test_the_links_into_captured_sizes_show_what_they_say(preset, used, note):
    presets = GRAPHS.play("sizes").presets
    card = cards(GRAPHS.play("sizes", **presets[preset]))["Graph used"]
    assert (card.value, card.note) == (used, note)


# -- a step ahead ---------------------------------------------------------------------------------


def test_ahead_preparing_and_working_overlap():
    said = GRAPHS.play("ahead").said["ahead_result"]
    work = step()
    before, early = (launches.step_seconds(work, way) for way in (REPLAY, AHEAD))
    assert (said["before"], said["early"]) == (seconds(before), seconds(early))
    assert before == pytest.approx(work.host_seconds + work.replay_seconds + work.gpu_seconds)
    assert early == pytest.approx(max(work.host_seconds + work.replay_seconds, work.gpu_seconds))


def test_graph_or_not_the_gpu_is_idle_while_the_cpu_prepares_unless_it_is_done_ahead():
    said = notes("ahead", model="Llama-3.1-8B")
    for way in ("One by one", "Replayed"):
        assert f"{way}: the CPU has prepared step 2; the GPU was idle meanwhile" in said
    assert "Ahead: the CPU has prepared step 2; meanwhile the GPU worked for" in said


def test_the_slower_of_the_two_sets_the_pace():
    assert "ahead_cpu" in GRAPHS.play("ahead").said
    large = GRAPHS.play("ahead", model="Llama-3.1-8B")
    assert "ahead_gpu" in large.said
    work = step(model="Llama-3.1-8B")
    assert launches.step_seconds(work, AHEAD) == work.gpu_seconds
    assert launches.busy_share(work, AHEAD) == 1
    faster = replace(step(), kernel_seconds=step().kernel_seconds / 2)
    assert launches.step_seconds(faster, AHEAD) == launches.step_seconds(step(), AHEAD)


def test_a_cpu_that_sets_the_pace_needs_more_than_the_gpu_launch_included():
    said = GRAPHS.play("ahead", batch=64, context=128, launch=30).said["ahead_cpu"]
    assert (said["host"], said["working"]) == ("1.03 ms", "1.02 ms")


def test_the_links_into_a_step_ahead_show_what_they_say():
    presets = GRAPHS.play("ahead").presets
    assert "ahead_gpu" in GRAPHS.play("ahead", **presets["ahead_large_model"]).said
    slow = cards(GRAPHS.play("ahead", **presets["ahead_slow_host"]))["ITL · Ahead"]
    work = replace(step(), host_seconds=4e-3)
    assert slow.note.endswith(percent(launches.busy_share(work, AHEAD)))
    assert launches.busy_share(work, AHEAD) < 0.25
    fast = replace(step(), host_seconds=0.25e-3)
    assert launches.speedup(fast, REPLAY, AHEAD) < launches.speedup(step(), REPLAY, AHEAD)


def test_gpus_whose_fixed_rest_was_fitted_are_not_offered():
    assert not any(specs.GPUS[name].efficiency.calibrated for name in GPUS)


# -- self-check -----------------------------------------------------------------------------------


def test_the_numbers_of_the_self_check_come_out():
    assert QUIZ["launching"]["answer"]["value"] == pytest.approx(
        1000 * step(32, model="Llama-3.1-8B").launching_seconds(ONE_BY_ONE)
    )
    assert cards(shown("launching"))["Launching a step"].value == "7.68 ms"
    assert QUIZ["padding"]["answer"]["value"] == 48
    assert cards(shown("padding"))["Graph used"].value == "48"


def test_where_it_helps_most_is_where_the_self_check_says():
    right = gain(step(gpu="B200 SXM"))
    prefill = LaunchWork.of(clock(), phases.prefill(2048))
    large = step(256, model="Qwen3-14B", gpu="L40S")
    assert right > 3
    assert gain(prefill) < 1.01
    assert gain(large) < 1.01


def test_show_me_leads_to_the_jump_and_to_the_slow_host():
    for item in ("one_too_many", "the_jump"):
        card = cards(shown(item))
        assert card["Graph used"].value == "none"
        assert card["ITL"].value == "4.85 ms"
    assert cards(shown("ahead"))["ITL · Ahead"].value == "4.02 ms"
    many = cards(shown("memory"))["Graphs captured"].value
    assert int(many) == len(launches.captured_sizes(512))


def test_the_three_misconceptions_of_the_chapter_are_all_met():
    lures = [
        option.get("misconception")
        for item in QUIZ.values()
        for option in [*item.get("options", []), *item.get("lures", [])]
    ]
    assert {75, 76, 77} <= set(lures)
