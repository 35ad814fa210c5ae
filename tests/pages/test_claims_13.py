"""Chapter 13 says nothing that its own runs, masks and formulas do not show."""

import inspect
import json
import re
from dataclasses import replace
from itertools import pairwise, product

import pytest

from sim import specs
from sim.cost import Roofline
from sim.cost.parallel import Parted, Spread
from sim.model.constrained import automaton, json_schema, pattern
from sim.studies.ablation import RUNGS
from tests.chapters import LANGUAGES, ROOT
from tests.pages.rehearsal import open_page, set_alike
from ui import tiny_model
from ui.player.painters.grammar import Grammar
from ui.results import runs
from ui.subjects.constrained import grammar, grammar_notes
from ui.subjects.systems import ladder, mechanisms, projects, several_gpus
from ui.words.numbers import significant

PAGES = {code: open_page("13_systems", code) for code in LANGUAGES}
PAGE = PAGES["en"]
CONSTANTS = PAGE.constants
QUIZ = {
    item["id"]: item
    for item in json.loads((ROOT / "assets" / "quiz" / "13.json").read_text("utf-8"))["items"]
}
BUSY = CONSTANTS["BUSY"]


def cards(played):
    return {card.label: card.value for card in played.cards}


def frames(**values):
    (one,) = PAGE.play("format", **values).frames
    assert isinstance(one, Grammar)
    return one


def text_of(**values):
    used = {"text": CONSTANTS["SCHEMA"], "mask": True, "jump": False} | values
    return grammar.written(used["text"], used["mask"], used["jump"], 0.7, 0)


def shown(item):
    assert QUIZ[item]["link"]["page"] == "13_systems"
    query = QUIZ[item]["link"]["query"]
    if "text" in query:  # typed, so it stands nowhere on a scale
        return PAGE.play(query["part"], text=query["text"])
    return PAGE.at(query)


@pytest.mark.parametrize("act", ["hook", "pressure", "format", "price", "gpus"])
def test_a_link_shows_what_it_says_whichever_was_clicked_before(act):
    assert set_alike(PAGE.play(act).presets)


# -- one by one -----------------------------------------------------------------------------


def test_every_rung_makes_more_tokens_and_starts_sooner_when_many_come():
    rungs = ladder.ladder(BUSY)
    speeds = [rungs[rung].tokens_per_second for rung in RUNGS]
    waits = [rungs[rung].summary.ttft.p99 for rung in RUNGS]
    assert speeds == sorted(speeds)
    assert waits == sorted(waits, reverse=True)
    assert all(rung.summary.num_rejected == 0 for rung in rungs.values())


def test_continuous_batching_multiplies_most_and_the_factors_follow_in_order():
    gains = ladder.gains(ladder.ladder(BUSY))
    assert PAGE.play("hook").guesses["gain"].truth == "batching"
    assert list(gains) == sorted(gains, key=gains.__getitem__, reverse=True)


def test_the_page_says_what_its_first_and_last_rung_do():
    said = PAGE.play("hook").said["hook_result"]
    rungs = ladder.ladder(BUSY)
    naive, best = rungs["naive"].tokens_per_second, rungs["chunks"].tokens_per_second
    assert (said["naive"], said["best"]) == (significant(naive), significant(best))
    assert said["factor"] == significant(best / naive)


def test_paging_empties_the_column_of_waste_and_chunks_hardly_change_tokens():
    rungs = ladder.ladder(BUSY)
    assert rungs["batching"].waste > 0.5 > 0.02 > rungs["paging"].waste
    assert 1 <= ladder.gains(rungs)["chunks"] < 1.05
    assert rungs["chunks"].summary.itl.p99 < 0.75 * rungs["cache"].summary.itl.p99


def test_where_nobody_waits_all_rows_but_the_first_make_about_the_same():
    rate = PAGE.play("hook").presets["hook_quiet"]["rate"]
    speeds = [ladder.ladder(rate)[rung].tokens_per_second for rung in RUNGS[1:]]
    assert max(speeds) - min(speeds) < 3


def test_continuous_batching_alone_doubles_tokens_and_leaves_waste_high():
    rungs = ladder.ladder(BUSY)
    assert ladder.gains(rungs)["batching"] == pytest.approx(2, abs=0.15)
    assert rungs["batching"].waste > 0.6


def test_a_rung_that_is_off_has_no_bar():
    for num_on in range(len(RUNGS)):
        figure = ladder.ladder_figure(ladder.ladder(BUSY), num_on)
        for bars in figure.data:
            assert [value > 0 for value in bars.x] == [row <= num_on for row in range(len(RUNGS))]


def test_the_guessed_rung_is_marked_in_its_own_row():
    figure = ladder.ladder_figure(ladder.ladder(BUSY), 0, "paging")
    (marked,) = [note.text for note in figure.layout.annotations if "◇" in note.text]
    assert ladder.names()["paging"] in marked


def test_on_average_prompts_have_as_many_tokens_of_their_own_as_in_common():
    requests = ladder.ladder(BUSY)["naive"].setup.requests
    own = [request.prompt_tokens - ladder.SYSTEM_TOKENS for request in requests]
    assert sum(own) / len(own) == pytest.approx(512, rel=0.15)
    assert sum(r.output_tokens for r in requests) / len(requests) == pytest.approx(192, rel=0.15)
    clock = ladder.SERVER.clock
    assert isinstance(clock, Roofline)
    assert clock.calibrated


# -- problem and mechanism ------------------------------------------------------------------


def test_every_row_is_better_with_its_mechanism_at_a_busy_server():
    rungs = ladder.ladder(BUSY)
    waste, speed, computed, gap, room = mechanisms.answers(
        rungs,
        Spread(
            CONSTANTS["LARGE_MODEL"],
            specs.GPUS["H100 SXM"],
            CONSTANTS["MANY_GPUS"],
            "tensor",
        ),
    )
    assert waste.with_it < waste.without
    assert speed.with_it > speed.without
    assert computed.with_it < computed.without
    assert gap.with_it < gap.without
    assert room.without == 0 < room.with_it


def test_the_rows_are_neighbours_on_the_ladder():
    said = PAGE.play("why").said["why_result"]
    rungs = ladder.ladder(BUSY)
    assert said["speed_with"] == significant(rungs["batching"].tokens_per_second)
    assert said["computed_with"] == f"{rungs['cache'].computed_tokens:,}"
    assert rungs["paging"].summary.num_preemptions > 0  # "computed again, and counted again"
    prompts = sum(request.prompt_tokens for request in rungs["paging"].setup.requests)
    assert rungs["paging"].computed_tokens > prompts


# -- structured generation ------------------------------------------------------------------


def test_with_the_mask_the_json_is_complete_and_without_it_the_first_token_is_the_first_mistake():
    assert "format_complete" in PAGE.play("format").said
    assert set(json.loads(text_of().words)) == {"engine", "paged"}
    played = PAGE.play("format", **PAGE.play("format").presets["format_off"])
    assert "format_broken" in played.said
    (drawn,) = played.frames
    assert isinstance(drawn, Grammar)
    assert drawn.moments[0].fate == "breaks"


def test_the_page_tells_the_size_of_the_index_that_it_draws():
    said, drawn = PAGE.play("format").said["format_numbers"], frames()
    assert (said["states"], said["ways"]) == (str(len(drawn.allowed)), str(sum(drawn.allowed)))
    form = grammar.read(CONSTANTS["SCHEMA"])
    assert said["library"] == ("outlines-core" if form.built.by_library else "our own code")


def test_jumping_writes_the_same_format_in_few_passes():
    said = PAGE.play("format", jump=True).said["format_numbers"]
    assert int(said["passes"]) * 5 < int(said["tokens"])
    assert "format_complete" in PAGE.play("format", jump=True).said


def test_no_month_13_comes_out_and_the_31st_of_february_could():
    pattern = PAGE.play("format").presets["format_date"]["text"]
    machine = automaton.compiled(pattern)
    assert not machine.accepts("2024-13-01")
    assert machine.accepts("2024-02-31")
    assert re.fullmatch(pattern, text_of(text=pattern).words)


def test_an_integer_is_cut_off_by_the_limit():
    preset = PAGE.play("format").presets["format_cut"]
    played = PAGE.play("format", **preset)
    assert "format_cut_off" in played.said
    assert played.said["format_numbers"]["tokens"] == str(grammar.NUM_TOKENS)


def test_the_malicious_pattern_is_a_small_automaton():
    preset = PAGE.play("format").presets["format_evil"]
    assert grammar.read(preset["text"]).index.num_states < 10


@pytest.mark.parametrize("text", ["a(b", "{", "[", "(a|b)*a(a|b){20}", '{"$ref":"#"}', "\\"])
@pytest.mark.parametrize("code", LANGUAGES)
def test_what_cannot_be_read_is_said_and_the_first_format_stays(text, code):
    played = PAGES[code].play("format", text=text)
    assert played.said["format_kept"]["message"]
    (drawn,) = played.frames
    assert isinstance(drawn, Grammar)
    assert len(drawn.moments) == len(text_of().pieces)


def test_every_fault_of_a_format_has_words_in_both_languages():
    source = "".join(map(inspect.getsource, (pattern, automaton, json_schema)))
    codes = set(re.findall(r'"((?:pattern|automaton|schema)_\w+)"', source))
    told = inspect.getsource(grammar_notes)
    assert len(codes) > 15
    assert [code for code in codes if f'"{code}"' not in told] == []


def test_markup_in_a_format_stays_text():
    text = r"<b>\*x\*</b>`"
    assert text_of(text=text).outcome == "complete"
    assert grammar.shown_pattern(grammar.read(text)).startswith("`` ")


def test_the_frames_show_the_machine_and_the_model():
    one, text = frames(), text_of()
    for moment, piece in zip(one.moments, text.pieces, strict=True):
        assert moment.state == piece.state
        assert one.allowed[moment.state] == piece.allowed.sum()
        assert moment.ways[0].taken
        assert moment.ways[0].target in (piece.after, -1)
        assert sum(bar.free for bar in moment.bars) == pytest.approx(1)
        assert sum(bar.used for bar in moment.bars) == pytest.approx(1)
        drawn = [bar for bar in moment.bars if bar.token == moment.token]
        assert drawn
        assert all(bar.used == 0 for bar in moment.bars if not bar.allowed)


def test_the_drawn_token_has_a_bar_however_unlikely_it_is():
    for seed in range(8):
        for moment in frames(text="[a-z]{12}", temperature="1", seed=seed).moments:
            named = [bar for bar in moment.bars if bar.token]
            assert moment.token in [bar.token for bar in named]
    assert frames(text="[a-z]{12}").allowed[0] > 100


# -- the price ------------------------------------------------------------------------------


def test_fast_masks_are_hidden_and_slow_ones_set_the_pace():
    presets = PAGE.play("price").presets
    fast, slow = (list(cards(PAGE.play("price", **presets[name])).values())
                  for name in ("price_fast", "price_slow"))  # fmt: skip
    assert fast[0] == fast[1] != fast[2]
    assert slow[1].startswith(significant(64 / (64 * 2_000e-6)))


def test_a_large_vocabulary_takes_some_hundred_times_as_many_looks():
    assert 50 < 128_000 / tiny_model.encoder().vocab_size < 150


# -- several GPUs ---------------------------------------------------------------------------


def test_two_gpus_are_faster_but_not_twice_and_the_quiz_knows_by_how_much():
    said = PAGE.play("gpus").said["gpus_result"]
    assert 1 < float(said["faster"]) < 2
    answer = QUIZ["tensor_two"]["answer"]
    assert float(said["faster"]) == pytest.approx(answer["value"], abs=0.05)


@pytest.mark.parametrize("gpus", ["2", "4", "8"])
@pytest.mark.parametrize("gpu", list(CONSTANTS["GPUS"]))
def test_a_pipeline_never_speeds_up_a_single_request(gpu, gpus):
    said = PAGE.play("gpus", gpu=gpu, gpus=gpus).said["gpus_result"]
    assert float(said["pipelined"].split()[0]) > float(said["single"].split()[0])


def test_the_large_model_fits_only_where_it_is_split():
    notes = [
        card.note for card in PAGE.play("gpus", **PAGE.play("gpus").presets["gpus_large"]).cards
    ]
    assert ["does not fit" in note for note in notes] == [False, False, True]


def test_over_pcie_the_all_reduces_are_a_visible_share():
    presets = PAGE.play("gpus").presets
    share = PAGE.play("gpus", **presets["gpus_pcie"]).said["gpus_result"]["reduce"]
    assert float(share.rstrip("%")) > 10


@pytest.mark.parametrize("gpu", list(CONSTANTS["GPUS"]))
def test_parted_the_page_says_what_equal_batches_and_equal_gaps_serve(gpu):
    for prompt in CONSTANTS["PROMPTS"]:
        said = PAGE.play("gpus", gpu=gpu, prompt=prompt).said["gpus_parted"]
        parted = Parted(
            Roofline(specs.MODELS["Llama-3.1-8B"], specs.GPUS[gpu]),
            prompt,
            CONSTANTS["ANSWER_TOKENS"],
            CONSTANTS["DECODING"],
        )
        wide = several_gpus.with_gaps_as_long(parted)
        assert parted.apart_per_second < parted.together_per_second * (1 + 1e-9)
        assert parted.quiet_itl_seconds <= wide.quiet_itl_seconds <= parted.mixed_itl_seconds
        assert wide.apart_per_second >= parted.apart_per_second
        assert said["goodput"] == significant(wide.apart_per_second)
        assert said["wide"] == wide.batch


def test_within_the_same_gaps_two_gpus_apart_may_serve_more_than_two_that_do_both():
    said = PAGE.play("gpus").said["gpus_parted"]
    assert float(said["goodput"]) > 1.5 * float(said["together"]) > 1.5 * float(said["apart"])


def test_another_series_of_requests_says_the_same_of_the_ladder():
    for seed in (2, 3):
        workload = replace(ladder.workload(BUSY), seed=seed)
        speeds = [
            runs.summary(
                ladder.SERVER.setup(rung, runs.requests(workload))
            ).output_tokens_per_second
            for rung in RUNGS
        ]
        gains = [after / before for before, after in pairwise(speeds)]
        assert gains == sorted(gains, reverse=True)
        assert gains[0] == pytest.approx(2.2, abs=0.3)
        assert 1 < gains[-1] < 1.1


def test_with_long_prompts_parting_costs_little_and_with_short_ones_the_prefill_gpu_idles():
    clock = Roofline(specs.MODELS["Llama-3.1-8B"], specs.GPUS["H100 SXM"])
    prompt = PAGE.play("gpus").presets["gpus_long"]["prompt"]
    answer, batch = CONSTANTS["ANSWER_TOKENS"], CONSTANTS["DECODING"]
    long, short = (Parted(clock, tokens, answer, batch) for tokens in (prompt, 256))
    assert long.apart_per_second > 0.95 * long.together_per_second
    assert short.prefill_seconds < 0.5 * short.decode_seconds


# -- layers and self-check ------------------------------------------------------------------


@pytest.mark.parametrize("project", list(CONSTANTS["PROJECTS"]))
def test_each_project_is_told_and_stands_on_its_layers(project):
    assert f"layer_{project}" in PAGE.play("layers", project=project).said
    first, last = projects.PROJECTS[project][1]
    assert 1 <= first <= last <= 2


@pytest.mark.parametrize("item", QUIZ)
def test_show_me_leads_into_a_state_of_this_page(item):
    assert shown(item).said


def test_the_links_of_the_self_check_show_what_they_are_for():
    assert "format_cut_off" in shown("masked_then_cut").said
    free, hidden, waits = (
        float(card.value.split()[0].replace(",", "")) for card in shown("free_masks").cards
    )
    assert waits < hidden < free / 2
    said = shown("apart").said["gpus_parted"]
    assert float(said["apart"]) < float(said["together"])


# -- room for the requests on several GPUs -----------------------------------------------------


def test_an_itl_without_room_for_its_requests_is_called_a_comparison():
    assert "gpus_no_room" not in PAGE.play("gpus").said
    crowd = PAGE.play("gpus", gpu="RTX 4090", batch=64).said["gpus_no_room"]
    assert (crowd["fits"], crowd["fits_split"]) == (39, 64)
    large = PAGE.play("gpus", model="Llama-3.1-70B", gpus="4").said["gpus_no_room"]
    assert (large["fits"], large["fits_split"]) == (0, 32)


def test_tensor_parallelism_brings_itl_down_the_most_but_in_large_batches_over_slow_links():
    places = PAGE.play("gpus").controls
    for model, gpu in product(places["model"], places["gpu"]):
        for number, batch in product(places["gpus"], places["batch"]):
            found = several_gpus.spreads(specs.MODELS[model], specs.GPUS[gpu], int(number))
            times = {
                way: one.itl_seconds(batch, several_gpus.CONTEXT) for way, one in found.items()
            }
            best = min(times, key=times.__getitem__)
            assert best == "tensor" or (batch == 256 and gpu != "H100 SXM")
            if gpu == "RTX 4090" and model == "Llama-3.1-8B" and batch == 256:
                assert best == "replicas"


def test_promises_beyond_the_pool_slow_a_server_whose_requests_all_fit():
    room = PAGE.play("pressure", **PAGE.play("pressure").presets["pressure_room"])
    assert len({card.value for card in room.cards}) == 1
    promised = PAGE.play("pressure", pool=16_384, max_tokens="1024")
    assert len({card.value for card in promised.cards}) == 3
