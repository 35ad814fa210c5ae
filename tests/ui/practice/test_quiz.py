"""Self-check: every item is well written, every answer is answered, and nothing gets lost."""

import csv
import json
import re

import pytest
from streamlit.testing.v1 import AppTest

from tests.chapters import CHAPTERS, ROOT
from ui.practice import bank, quiz
from ui.practice.judge import judge, shuffled, solution

HAN = r"[\u3400-\u4dbf\u4e00-\u9fff]"
NAMES = bank.names()
ITEMS = [(name, item) for name in NAMES for item in bank.load(name)]
with (ROOT / "assets" / "misconceptions.csv").open(encoding="utf-8", newline="") as file:
    MISCONCEPTIONS = {int(row["number"]) for row in csv.DictReader(file)}

every_item = pytest.mark.parametrize(
    ("name", "item"), ITEMS, ids=[f"{name}-{item.id}" for name, item in ITEMS]
)


def all_words(item):
    yield item.question
    yield from (words for option in item.options for words in (option.text, option.feedback))
    yield from (value.feedback for value in (item.answer, *item.lures) if value)
    if item.otherwise:
        yield item.otherwise


# How the items are written


@pytest.mark.parametrize("name", NAMES)
def test_a_chapter_has_nine_items_or_more(name):
    assert len(bank.load(name)) >= 9


def test_at_most_a_quarter_of_the_bank_is_recall():
    recall = [item for _, item in ITEMS if item.level == "recall"]
    assert len(recall) <= len(ITEMS) / 4


@every_item
def test_a_single_choice_has_four_options_and_each_its_own_words(name, item):
    if item.kind == "single":
        assert len(item.options) == 4
    for language in ("zh", "en"):
        for part in ("text", "feedback"):
            said = [getattr(getattr(option, part), language) for option in item.options]
            assert len(set(said)) == len(said)


def test_every_lure_known_from_the_field_is_met_in_some_item():
    lures = {option.misconception for _, item in ITEMS for option in item.options}
    assert {13, 18, 26, 27, 28, 30, 55, 57, 70, 71} <= lures


def test_feedback_on_several_is_no_reply_since_it_also_stands_where_one_was_missed():
    for _, item in ITEMS:
        for option in item.options if item.kind == "several" else ():
            assert not re.match(r"Yes|No\b|Possible", option.feedback.en), item.key
            assert not re.match(r"对|不对|可能", option.feedback.zh), item.key


@every_item
def test_the_loader_keeps_what_the_file_says(name, item):
    raw = json.loads((bank.FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    one = next(entry for entry in raw["items"] if entry["id"] == item.id)
    assert item.question.zh == one["question"]["zh"]
    assert [option.right for option in item.options] == [
        entry["right"] for entry in one.get("options", [])
    ]


@every_item
def test_every_wrong_option_is_a_known_misconception(name, item):
    lures = [option for option in item.options if not option.right]
    assert {option.misconception for option in lures} <= MISCONCEPTIONS


@every_item
def test_no_option_gives_itself_away_by_its_length(name, item):
    if item.kind != "single":
        return
    for language in ("zh", "en"):
        lengths = [len(getattr(option.text, language)) for option in item.options]
        assert max(lengths) <= 4 * min(lengths) + 30


@every_item
def test_chinese_stands_apart_from_latin_and_has_full_width_punctuation(name, item):
    for words in all_words(item):
        text = bank.plain(words.zh)
        assert re.findall(f".{{0,4}}(?:{HAN}[A-Za-z0-9]|[A-Za-z0-9%]{HAN}).{{0,4}}", text) == []
        assert re.findall(f"{HAN}[,;:!?]", text) == []


@every_item
def test_nothing_turns_into_strikethrough_or_a_formula(name, item):
    for words in all_words(item):
        for text in (words.zh, words.en):
            assert not re.search(r"\d~\d|\$|\*\*", text)


LINKS = {(at.page, *sorted(at.query.items())): at for at in (item.link for _, item in ITEMS) if at}


@pytest.mark.parametrize("at", LINKS.values(), ids=lambda at: f"{at.page}-{'-'.join(at.query)}")
def test_show_me_opens_the_very_state_it_names(at):
    link = dict(at.query)
    chapter = next(chapter for chapter in CHAPTERS if chapter.script.stem == at.page)
    assert link["part"] in chapter.acts
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60).run()
    app.switch_page(f"pages/{at.page}.py")
    app.query_params = link
    app.run()
    assert not app.exception
    shown = {
        key: value if isinstance(value, str) else value[0]
        for key, value in app.query_params.items()
    }
    assert shown.items() <= link.items()  # defaults are left out, nothing is clamped
    controls = set(app.session_state["_pages"][app.session_state["_page"]].defaults)
    assert set(link) - {"part", "step"} <= controls
    assert "step" not in link or "chapter.play(" in chapter.source


# What the loader refuses

GOOD = {
    "id": "one",
    "kind": "single",
    "question": {"zh": "问", "en": "ask"},
    "options": [
        {
            "text": {"zh": "甲", "en": "A"},
            "right": right,
            "feedback": {"zh": "因为", "en": "because"},
        }
        for right in (True, False, False, False)
    ],
    "source": ["https://example.org"],
    "level": "apply",
}


def without(path):
    item = json.loads(json.dumps(GOOD))
    *parents, last = path
    at = item
    for step in parents:
        at = at[step]
    del at[last]
    return item


@pytest.mark.parametrize(
    ("item", "message"),
    [
        (without(["question", "en"]), "99.json, item one, field question.en: expected a text"),
        (
            without(["options", 1, "feedback", "zh"]),
            "99.json, item one, field options[1].feedback.zh: expected a text",
        ),
        (
            without(["options", 0, "right"]),
            "99.json, item one, field options[0].right: expected true or false",
        ),
        (without(["source"]), "99.json, item one, field source: expected a list of texts"),
        (without(["options", 0]), "99.json, item one, field options: expected 4 or more"),
        ({**GOOD, "kind": "essay"}, "99.json, item one, field kind: expected one of"),
        (without(["level"]), "99.json, item one, field level: expected a text"),
        (
            {**GOOD, "kind": "numeric", "options": []},
            "99.json, item one, field answer: expected an object",
        ),
        (without(["id"]), "99.json, item number 1, field id: expected a text"),
    ],
)
def test_a_faulty_item_is_refused_by_file_item_and_field(tmp_path, item, message):
    (tmp_path / "99.json").write_text(json.dumps({"items": [item]}), encoding="utf-8")
    with pytest.raises(bank.QuizError) as refusal:
        bank.load("99", tmp_path)
    assert message in str(refusal.value)


def test_a_file_that_is_not_json_is_refused_by_line_and_column(tmp_path):
    (tmp_path / "99.json").write_text('{"items": [\n  oops]}', encoding="utf-8")
    with pytest.raises(bank.QuizError, match=r"99\.json.*line 2, column 3"):
        bank.load("99", tmp_path)


# How answers are judged


def item(name, item_id):
    return next(item for item in bank.load(name) if item.id == item_id)


def test_the_example_of_a_static_batch_is_55_6_per_cent():
    utilization = item("05", "seed_utilization")
    assert utilization.answer.value == pytest.approx(100 * (20 + 60 + 120) / (3 * 120), abs=0.05)
    assert judge(utilization, 55.6).right
    assert judge(utilization, 56).right
    wasted = judge(utilization, 44.4)
    assert not wasted.right
    assert "160" in wasted.remarks[0].zh
    assert judge(utilization, 12).remarks == (utilization.otherwise,)


def test_a_stall_shows_in_the_largest_gap_and_not_in_the_mean():
    stalled, smooth = [20.0] * 99 + [1200.0], [31.8] * 100
    assert sum(stalled) == pytest.approx(sum(smooth))
    assert judge(item("04", "smooth_or_stalled"), 0).right


def test_several_must_be_complete_and_free_of_lures():
    wastes = item("05", "what_static_wastes")
    assert judge(wastes, [0, 1]).right
    incomplete = judge(wastes, [0])
    assert not incomplete.right
    assert incomplete.missed == (wastes.options[1],)
    assert judge(wastes, [0, 1, 3]).remarks == (wastes.options[3].feedback,)


def test_an_order_is_answered_by_its_first_wrong_place():
    options = [bank.Option(bank.Words(t, t), True, bank.Words(t, t), None) for t in "abc"]
    steps = bank.Item(
        "o", "order", bank.Words("?", "?"), tuple(options), None, (), None, "", (), "", None
    )
    assert judge(steps, [0, 1, 2]).right
    assert judge(steps, [0, 2, 1]).remarks == (options[2].feedback,)


def test_what_is_told_as_the_answer_is_judged_right():
    for name, one in ITEMS:
        assert judge(one, solution(one)).right, (name, one.id)


def test_options_are_shuffled_the_same_way_each_time_and_differently_per_reader():
    one = item("04", "what_limits_running")
    assert shuffled(one, 1) == shuffled(one, 1)
    assert len({tuple(shuffled(one, seed)) for seed in range(20)}) > 5


# On the page


def page():
    import streamlit as st

    from ui.practice import quiz
    from ui.words import language

    language.choose(st.query_params.get("lang"))
    quiz.show("05")


@pytest.fixture
def app(monkeypatch, tmp_path):
    monkeypatch.setattr(quiz, "ROOT", tmp_path)  # an app of one page has no page to link to
    return AppTest.from_function(page, default_timeout=30).run()


def feedback(app):
    return "\n".join(markdown.value for markdown in app.markdown)


WHY = "quiz-answer-05-why_continuous.zh"


def test_nothing_is_judged_before_it_is_answered(app):
    assert not app.exception
    assert item("05", "why_continuous").options[0].feedback.zh not in feedback(app)
    assert all(radio.value is None for radio in app.radio)


@pytest.mark.parametrize("index", range(4))
def test_every_option_is_answered_by_its_own_feedback(app, index):
    app.radio(key=WHY).set_value(index).run()
    assert item("05", "why_continuous").options[index].feedback.zh in feedback(app)


def test_an_answer_and_the_order_of_options_survive_a_change_of_language(app):
    app.radio(key=WHY).set_value(2).run()
    before = app.radio(key=WHY).options
    app.query_params = {"lang": "en"}
    app.run()
    one = item("05", "why_continuous")
    in_english = app.radio(key=WHY.replace(".zh", ".en"))
    assert in_english.value == 2
    assert one.options[2].feedback.en in feedback(app)
    in_chinese = [option.text.zh for option in one.options]
    assert in_english.options == [one.options[in_chinese.index(text)].text.en for text in before]


def test_a_number_is_judged_as_soon_as_it_is_there(app):
    app.number_input(key="quiz-answer-05-seed_utilization.zh").set_value(55.6).run()
    assert "200 ÷ 360" in feedback(app)


def test_several_are_judged_when_the_reader_asks(app):
    wastes = item("05", "what_static_wastes")
    for index in (0, 1):
        app.checkbox(key=f"quiz-answer-05-what_static_wastes-{index}").check().run()
    assert wastes.options[0].feedback.zh not in feedback(app)
    app.button(key="quiz-answer-05-what_static_wastes-check").click().run()
    assert wastes.options[0].feedback.zh in feedback(app)


def test_what_was_missed_of_several_is_named_and_explained(app):
    wastes = item("05", "what_static_wastes")
    app.checkbox(key="quiz-answer-05-what_static_wastes-0").check().run()
    app.button(key="quiz-answer-05-what_static_wastes-check").click().run()
    assert f"“{wastes.options[1].text.zh}”" in feedback(app)
    assert wastes.options[1].feedback.zh in feedback(app)


def test_a_question_can_be_tried_again(app):
    app.radio(key=WHY).set_value(1).run()
    app.button(key="quiz-retry-05-why_continuous").click().run()
    assert app.radio(key=WHY).value is None


def test_who_was_sure_and_wrong_is_told_so(app):
    app.checkbox(key="quiz-sure-05-why_continuous").check().run()
    app.radio(key=WHY).set_value(1).run()
    assert "你原本很有把握" in feedback(app)
