"""Chapter 1 says nothing that its own runs do not show.

What the text, the self-check and the links claim is held here against the real tiny model and the
engine, on texts of every kind; never against a measured time.
"""

import json
import re
from itertools import pairwise

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from sim import engine, scheduler, workload
from sim.model import proofs, sampling
from sim.model.sampling import GREEDY, Sampling
from tests.chapters import ROOT
from tests.pages.rehearsal import open_page
from ui import charts, tiny_model
from ui.player.painters import pipeline as painter
from ui.player.painters.crowd import Crowd
from ui.player.painters.pipeline import Pipeline
from ui.practice import predict
from ui.subjects.pipeline import model_pictures, pictures, text_so_far
from ui.words import language
from ui.words.numbers import memory, seconds

CHAPTER = open_page("01_pipeline")
PAGE = CHAPTER.constants
TEXTS = (
    tiny_model.SAMPLE,
    "",
    "a",
    "连续批处理每一步都重新决定批里有谁。",
    "🙂" * 40,
    "مرحبا بالعالم",
    "<b onclick='x'>&amp;</b><script>alert(1)</script>",
    "龘" * 30 + " \u202e\u200b",
)
every_text = pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
QUIZ = {
    item["id"]: item
    for item in json.loads((ROOT / "assets" / "quiz" / "01.json").read_text("utf-8"))["items"]
}


@pytest.fixture(autouse=True)
def in_english(monkeypatch):
    monkeypatch.setattr(language, "current", lambda: "en")


def film(text=tiny_model.SAMPLE, tokens=8):
    (frames,) = CHAPTER.play("hook", text=text, tokens=tokens).frames
    assert isinstance(frames, Pipeline)
    return frames


def values(played):
    return [card.value for card in played.cards]


# -- a sentence travels ---------------------------------------------------------------------------


@pytest.mark.parametrize("tokens", PAGE["OUTPUTS"])
def test_as_many_passes_as_tokens_one_of_them_the_prefill(tokens):
    played = CHAPTER.play("hook", tokens=tokens)
    truth = played.guesses["passes"]
    said = played.said["hook_outcome"]
    assert isinstance(truth, predict.Value)
    assert truth.truth == int(said["passes"]) == int(said["decodes"]) + 1 <= tokens
    stations = [moment.station for moment in film(tokens=tokens).moments]
    assert stations.count(painter.DECODE) == int(said["decodes"])
    assert stations.count(painter.SAMPLE) == int(said["passes"])


@every_text
def test_the_first_token_is_sampled_before_any_decode(text):
    stations = [moment.station for moment in film(text).moments]
    assert stations.index(painter.SAMPLE) < stations.index(painter.DECODE)


@every_text
def test_the_first_token_is_that_of_the_last_position_of_the_prefill(text):
    prompt = tiny_model.prompt(text)
    assert proofs.first_token(tiny_model.target(), prompt, GREEDY).holds
    assert proofs.first_token(tiny_model.target(), prompt, Sampling(1.0)).holds


@every_text
def test_a_layer_of_the_prefill_fills_for_all_tokens_at_once_and_decode_adds_one_column(text):
    frames = film(text)
    moments = [m for m in frames.moments if m.station == painter.PREFILL]
    size, layers = frames.prompt_tokens, PAGE["MODEL"].layers
    assert [sum(m.kv) for m in moments] == [size * layer for layer in range(1, layers + 1)]
    decodes = [m.kv for m in frames.moments if m.station == painter.DECODE]
    assert decodes == [(size + number,) * layers for number in range(1, len(decodes) + 1)]


@every_text
def test_the_newest_token_has_no_kv_until_it_is_decoded(text):
    for moment in film(text).moments:
        if moment.station in (painter.SAMPLE, painter.DETOKENIZE):
            assert max(moment.kv) == moment.num_tokens - 1


@every_text
def test_what_is_on_the_screen_is_the_answer_and_never_half_a_character(text):
    frames = film(text)
    way = pictures.passage(text, 8)
    assert frames.moments[-1].screen == way.text
    for moment in frames.moments:
        assert way.text.startswith(moment.screen)


def test_the_text_to_begin_with_shows_bytes_that_wait():
    assert any(moment.waiting for moment in film().moments)


@every_text
def test_the_bars_hold_the_chosen_token_and_it_is_the_longest(text):
    for bars in film(text).distributions:
        (chosen,) = [bar for bar in bars if bar.chosen]
        assert chosen.probability == max(bar.probability for bar in bars)
        assert sum(bar.probability for bar in bars) <= 1 + 1e-6


def test_of_one_thing_no_plural_is_said():
    notes = " ".join(film("").notes)
    (frames,) = CHAPTER.play("many", text="", requests=1).frames
    notes += " ".join(frames.notes)
    assert not re.search(r"\b1 (tokens|positions|rows)\b|decode of A, one row each", notes)


def test_the_frames_of_a_text_weigh_little():
    for text in TEXTS:
        frames = film(text, 12)
        assert len(frames.moments) < 60


def test_the_real_model_has_the_size_the_text_says():
    model = PAGE["MODEL"]
    assert model.layers == 4
    assert round(model.parameters / 1e6, 2) == 1.25


@pytest.mark.parametrize(
    ("text", "tokens"), [(TEXTS[0], 1), (TEXTS[0], 12), *((text, 8) for text in TEXTS)]
)
def test_at_real_scale_prefill_and_decode_each_read_all_weights_and_cost_about_the_same(
    text, tokens
):
    played = CHAPTER.play("hook", text=text, tokens=tokens)
    said, setup = played.said["hook_real"], played.setups[-1]
    prompt = len(tiny_model.prompt(text)) - 1 + 10
    assert said["prompt"] == str(prompt) == str(setup.requests[0].prompt_tokens)
    assert said["kv"] == memory((prompt + tokens - 1) * 128 * 1024)
    assert said["per_token"] == "128 KiB"
    first, *rest = engine.steps(setup)
    assert all(step.time.memory_bound for step in (first, *rest))
    for step in (first, *rest):
        assert step.seconds == pytest.approx(6.6e-3, rel=0.02)
    assert said["end"] == seconds(sum(step.seconds for step in (first, *rest)))


# -- inside the prefill ---------------------------------------------------------------------------


@every_text
def test_attention_sees_nothing_that_comes_later_and_adds_up_to_all(text):
    way = pictures.passage(text, PAGE["FEW"])
    for layer, head in ((1, 1), (PAGE["LAYERS"][-1], PAGE["HEADS"][-1])):
        figure = model_pictures.attention(way, layer, head)
        rows = [row for trace in figure.data for row in np.asarray(trace.z, dtype=float)]
        for number, row in enumerate(rows):
            assert np.flatnonzero(~np.isnan(row)).tolist() == list(range(number + 1))
            assert np.nansum(row) == pytest.approx(1, abs=5e-3)  # as drawn


def test_a_token_that_comes_again_has_a_row_of_its_own_under_the_same_name():
    names = model_pictures.attention(
        pictures.passage("a a a a", 1), 1, 1
    ).layout.yaxis.categoryarray
    assert len(set(names)) == len(names)
    assert len({name.rstrip(charts.ZERO_WIDTH) for name in names}) < len(names)


def test_prefill_has_a_row_for_each_token_of_the_prompt_and_a_decode_has_one():
    rows, decode, per_token, whole = values(CHAPTER.play("prefill"))
    assert (rows, decode) == (str(len(tiny_model.prompt(tiny_model.SAMPLE))), "1")
    model = PAGE["MODEL"]
    assert per_token == "2.00 KiB"
    assert 2 * model.layers * model.kv_heads * model.head_dim * 4 == 2048
    assert whole == f"{2 * int(rows):.1f} KiB"


@every_text
def test_the_cache_changes_nothing_and_blocks_not_a_bit(text):
    prompt = tiny_model.prompt(text)
    assert proofs.cached_equals_recomputed(tiny_model.target(), prompt, 4).holds
    same, _ = proofs.paged_equals_contiguous(tiny_model.target(), prompt, 4, block_size=4)
    assert same.max_difference == 0


def test_some_heads_give_most_of_their_attention_to_the_first_token():
    turn = pictures.passage(tiny_model.SAMPLE, 1).turns[0]
    assert (turn.attention[:, :, -1, 0] > 0.5).any()


# -- the sampler ----------------------------------------------------------------------------------


def chosen(**knobs):
    how = {"temperature": 1.0, "top_k": 0, "top_p": 1.0} | knobs
    return model_pictures.choice(pictures.passage(tiny_model.SAMPLE, 1), Sampling(**how))


def left(**knobs):
    return chosen(**knobs).num_left


def test_colder_makes_the_strong_stronger_hotter_makes_all_more_equal():
    shares = [chosen(temperature=value).most_probable for value in (0.5, 1.0, 1.5, 2.0)]
    assert all(colder > hotter for colder, hotter in pairwise(shares))


@pytest.mark.parametrize("text", TEXTS)
def test_hot_the_largest_stands_out_far_less_and_rare_tokens_come_often(text):
    preset = PAGE["SAMPLERS"]["sampler_hot"]
    passage = pictures.passage(text, 1)
    usual = model_pictures.choice(passage, Sampling(1.0, 0, 1.0))
    hot = model_pictures.choice(passage, Sampling(preset["temperature"], 0, 1.0))
    assert hot.most_probable < usual.most_probable / 3
    rare = np.argsort(-usual.own)[10:]  # all but the ten largest
    assert hot.drawn[rare].sum() > 0.4
    few = model_pictures.choice(passage, Sampling(2.0, 2, 1.0))
    larger, smaller = np.sort(few.drawn)[::-1][:2]
    first, second = np.sort(usual.own)[::-1][:2]
    assert smaller / larger >= second / first


def test_at_temperature_0_only_the_largest_is_left():
    cards = CHAPTER.play("sampler", **PAGE["SAMPLERS"]["sampler_greedy"])
    assert values(cards)[:2] == ["1", "100%"]


def test_top_k_leaves_k_and_0_all():
    assert [left(top_k=k) for k in PAGE["TOP_K"]] == [2048, 1, 2, 5, 20, 100]


def test_top_p_leaves_just_as_many_as_it_takes():
    one = chosen(top_p=0.5)
    kept = np.sort(one.own[one.drawn > 0])[::-1]
    assert kept.sum() >= 0.5 > kept[:-1].sum()


@pytest.mark.parametrize("text", TEXTS[:4])
def test_at_the_same_top_p_hotter_leaves_more(text):
    logits = pictures.passage(text, 1).turns[0].logits

    def number(temperature):
        how = Sampling(temperature, top_p=0.7)
        return int((sampling.probabilities(logits, how) > 0).sum())

    numbers = [number(value) for value in (0.5, 1.0, 1.5, 2.0)]
    assert numbers == sorted(numbers)
    assert numbers[0] < numbers[-1]


def test_hot_with_two_left_makes_them_more_alike_than_cold():
    def ratio(temperature):
        two = np.sort(chosen(temperature=temperature, top_k=2).drawn)[-2:]
        return two[0] / two[1]

    assert ratio(2.0) > ratio(1.0) > ratio(0.5)


def test_sampling_never_changes_the_number_of_passes():
    for how in (GREEDY, Sampling(2.0), Sampling(1.0, top_k=2)):
        way = pictures.passage(tiny_model.SAMPLE, 6, how)
        assert len(way.turns) == len(way.answer)


# -- half a character -----------------------------------------------------------------------------


def drawn(**values):
    return CHAPTER.play("sampler", text="The queue", **values).said


def test_drawn_a_hundred_times_each_token_comes_about_as_often_as_its_probability_says():
    for seed in (1, 2, 3):
        said = drawn(draws="100", seed=seed)["sampler_drawn"]
        share = float(said["share"].rstrip("%")) / 100
        deviation = (share * (1 - share) / 100) ** 0.5
        assert abs(int(said["how_often"]) / 100 - share) < 4 * deviation + 0.02
        assert 1 < int(said["kinds"]) <= 100


def test_at_temperature_0_every_draw_is_the_same_and_without_a_draw_nothing_is_said():
    said = drawn(draws="100", temperature=0)["sampler_drawn"]
    assert (said["kinds"], said["how_often"], said["share"]) == ("1", "100", "100%")
    assert "sampler_drawn" not in drawn()


def test_another_try_draws_anew_and_the_same_try_the_same():
    tries = [
        drawn(draws="1", seed=seed, temperature=2)["sampler_drawn_once"] for seed in range(1, 9)
    ]
    assert len({said["token"] for said in tries}) > 1
    assert tries[0] == drawn(draws="1", seed=1, temperature=2)["sampler_drawn_once"]


def test_a_first_try_is_rewarded_even_where_the_model_has_nothing_to_say():
    played = CHAPTER.play("hook", text="我今天想吃火锅，你呢？")
    assert "hook_held" in played.said
    assert int(played.said["hook_result"]["passes"]) >= 4
    for preset in played.presets.values():
        tried = CHAPTER.play("hook", **preset)
        assert tried.said["hook_result"]["passes"] == "12"
        assert "hook_held" not in tried.said


@every_text
def test_characters_appear_when_their_last_byte_has_come(text):
    came = text_so_far.arrivals(text)
    said = ""
    data = b""
    for one in came:
        said += one.text
        data += one.data
        assert said.encode() + one.waiting == data or "\ufffd" in said


def test_an_emoji_waits_three_tokens_and_comes_with_the_fourth():
    came = text_so_far.arrivals("🙂")
    assert [len(one.waiting) for one in came] == [1, 2, 3, 0]
    assert [one.text for one in came] == ["", "", "", "🙂"]


def test_the_starting_state_shows_a_byte_that_waits():
    assert values(CHAPTER.play("bytes"))[-1] == "1"


def preset(name):
    values = PAGE["SCRIPTS"][name]
    came = text_so_far.arrivals(values["text"])
    return came, text_so_far.so_far(came, values["came"])


def test_common_english_never_waits():
    came, _ = preset("bytes_plain")
    assert not any(one.waiting for one in came)


def test_a_rare_character_is_several_tokens_and_the_screen_is_empty_before_the_last():
    came, here = preset("bytes_rare")
    assert here.num_tokens == PAGE["SCRIPTS"]["bytes_rare"]["came"]
    assert here.num_characters == 0 < here.num_waiting
    assert came[here.num_tokens].text == "龘"


def test_tokens_of_a_script_from_right_to_left_come_in_the_order_of_reading():
    came, _ = preset("bytes_arabic")
    assert "".join(one.text for one in came) == "مرحبا"


@every_text
def test_the_picture_of_bytes_stands_at_every_place_of_its_slider(text):
    came = text_so_far.arrivals(text)
    for number in {0, 1, len(came) // 2, len(came)}:
        figure = text_so_far.bytes_and_characters(came, number)
        low, high = figure.layout.xaxis.range
        assert high > low


# -- many -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("slots", [1, 2, 4, 8])
def test_many_share_passes_and_one_at_a_time_takes_a_pass_per_token(slots):
    played = CHAPTER.play("many", requests=8, slots=slots)
    passes, tokens = (int(value) for value in values(played)[:2])
    assert tokens == sum(PAGE["ANSWERS"][:8])
    assert passes == tokens if slots == 1 else passes < tokens


@pytest.mark.parametrize(("requests", "slots"), [(1, 4), (8, 1), (2, 2), (8, 4), (12, 8)])
def test_only_where_passes_are_shared_does_the_text_say_so(requests, slots):
    played = CHAPTER.play("many", requests=requests, slots=slots)
    passes, tokens = (int(value) for value in values(played)[:2])
    shares = passes < tokens
    assert shares == (requests > 1 and slots > 1)
    assert ("many_result" in played.said) == shares
    assert ("many_alone" in played.said) == (not shares)


def test_everybody_is_somewhere_and_nobody_twice():
    (frames,) = CHAPTER.play("many", requests=12).frames
    assert isinstance(frames, Crowd)
    for scene in frames.scenes:
        letters = [letter for place in scene.places for letter, _ in place]
        assert sorted(letters) == list("ABCDEFGHIJKL")


@pytest.mark.parametrize("slots", [1, 2, 4, 8])
def test_whoever_joins_while_others_write_is_prefilled_beside_their_decodes(slots):
    (frames,) = CHAPTER.play("many", requests=12, slots=slots).frames
    assert isinstance(frames, Crowd)
    _, first, *later = frames.scenes
    assert first.places[1]
    writing = {letter for letter, _ in first.places[1]}
    for scene in later:
        _, prefill, decode, done = ({letter for letter, _ in place} for place in scene.places)
        writing -= done
        assert decode == writing
        writing |= prefill


def test_every_step_of_many_takes_equally_long():
    setup = CHAPTER.play("many", text="龘" * 60, requests=12, slots=8).setup
    assert len({step.end_seconds - step.start_seconds for step in engine.steps(setup)}) == 1


def test_nobody_is_preempted_and_the_pool_is_never_full():
    for slots in (1, 4, 8):
        played = CHAPTER.play("many", requests=12, slots=slots)
        assert played.summary.num_preemptions == 0
        (frames,) = played.frames
        assert isinstance(frames, Crowd)
        assert all(scene.used_blocks < frames.num_blocks for scene in frames.scenes)


def test_the_first_request_is_the_reader_s_text():
    played = CHAPTER.play("many", text="猫🙂")
    assert played.setup.requests[0].prompt_tokens == len(tiny_model.prompt("猫🙂"))


# -- the self-check -------------------------------------------------------------------------------


def test_ten_tokens_take_ten_passes_whatever_the_prompt():
    assert QUIZ["passes_for_an_answer"]["answer"]["value"] == 10
    assert len(pictures.passage("x " * 20, 10).turns) == 10


def test_four_requests_of_ten_tokens_take_ten_passes_together():
    requests = workload.of_lengths((10,) * 4, 10)
    setup = engine.Setup(requests, scheduler.Chunked(4), PAGE["POOL"], PAGE["SAME_STEPS"])
    assert len(list(engine.steps(setup))) == QUIZ["passes_for_four"]["answer"]["value"] == 10


def test_a_prompt_twice_as_long_has_more_rows_and_the_same_passes():
    link = QUIZ["a_longer_prompt"]["link"]["query"]
    short, long = (pictures.passage(text, 8) for text in (tiny_model.SAMPLE, link["text"]))
    assert len(long.prompt) > 1.8 * len(short.prompt)
    assert len(long.turns) == len(short.turns)
    assert {turn.num_new for turn in long.turns[1:]} == {1}


# -- whatever is typed ----------------------------------------------------------------------------


@pytest.mark.parametrize("act", ["hook", "prefill", "sampler", "bytes", "many"])
def test_hostile_text_is_only_ever_text(open_page, act):
    app = open_page("pages/01_pipeline.py", lang="en", part=act)
    for text in (
        "",
        "<img src=x onerror=alert(1)>**x**",
        "x" * 5_000,
        "\x00\u202eé",
        "🙂" * 300,
    ):
        app.text_input[0].set_value(text).run()
        assert not app.exception, text
        for part in app.main.markdown:
            assert "<img" not in part.value
        for chart in app.get("plotly_chart"):
            assert "<img" not in chart.proto.spec


def test_no_token_is_markup_in_a_chart():
    text = "<b>&amp;</b> <br>"
    way = pictures.passage(text, 1)
    came = text_so_far.arrivals(text)
    figures = (
        model_pictures.attention(way, 1, 1),
        model_pictures.candidates(model_pictures.choice(way, Sampling())),
        text_so_far.bytes_and_characters(came, len(came)),
    )
    for figure in figures:
        axes = figure.select_yaxes()
        words = [word for axis in axes for word in axis.ticktext or axis.categoryarray]
        words += [word for trace in figure.data for word in getattr(trace, "text", None) or ()]
        assert not [word for word in words if "<" in word]
    assert "&lt;" in figures[0].layout.yaxis.categoryarray
    assert any("&lt;" in trace.text for trace in figures[2].data)


def test_what_is_too_long_is_cut_with_a_message(open_page):
    app: AppTest = open_page("pages/01_pipeline.py", lang="en", part="hook")
    app.text_input[0].set_value("x" * 5_000).run()
    assert "only the first 160 are used" in app.warning[0].value
    assert app.text_input[0].value == "x" * 160


def test_a_text_is_in_the_address_and_comes_back(open_page):
    text = "the first token waits in the queue until there is room & <b> for the 猫"
    app: AppTest = open_page("pages/01_pipeline.py", lang="en", part="sampler", text=text)
    assert app.text_input[0].value == text
    assert not app.warning
