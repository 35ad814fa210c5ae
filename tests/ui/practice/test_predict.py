"""Predict first: asked once, skipped with one click, never graded, the guess beside the result."""

import pytest
from streamlit.testing.v1 import AppTest

from ui.practice import predict
from ui.practice.predict import Choice, Trends, Value


def page(lecture=False, from_link=False):
    import streamlit as st

    from ui.practice import predict
    from ui.words import language

    language.choose(st.query_params.get("lang"))
    value = predict.ask(
        "share",
        "How much?",
        predict.Value(0, 100, "%", truth=46.7),
        outcome="Because B is long.",
        lecture=lecture,
        from_link=from_link,
    )
    st.text(f"share: {value.state} {value.value} {value.hides_result}")
    metrics = {"ttft": "TTFT", "itl": "ITL"}
    truth = {"ttft": "down", "itl": "up"}
    kind = predict.Trends(metrics, truth)
    trends = predict.ask("batch", "Which way?", kind, lecture=lecture, from_link=from_link)
    st.text(f"batch: {trends.state} {dict(trends.answers)}")


def opened(**given):
    return AppTest.from_function(page, kwargs=given).run()


def press(app, name):
    return app.button(key=f"predict-{name}").click().run()


def texts(app):
    return [text.value for text in app.text]


def everything(app):
    return "\n".join(markdown.value for markdown in app.markdown)


def test_it_is_open_at_first_and_shows_no_result():
    app = opened()
    assert texts(app) == ["share: open None False", "batch: open {}"]
    assert "Because B is long." not in everything(app)


def test_an_answer_needs_to_be_complete():
    app = opened()
    assert app.button(key="predict-share-done").disabled
    app.number_input(key="predict-share-value.zh").set_value(60.0).run()
    assert not app.button(key="predict-share-done").disabled


def test_an_answered_number_stands_beside_the_computed_one_with_the_reason():
    app = opened()
    app.number_input(key="predict-share-value.zh").set_value(60.0).run()
    press(app, "share-done")
    assert not app.exception
    assert texts(app)[0] == "share: answered 60.0 False"
    assert "Because B is long." in everything(app)
    assert len(app.get("plotly_chart")) == 1


def test_trends_are_compared_metric_by_metric():
    app = opened()
    for metric, code in (("ttft", "up"), ("itl", "up")):
        app.radio(key=f"predict-batch-{metric}.zh").set_value(code).run()
    press(app, "batch-done")
    assert texts(app)[1] == "batch: answered {'ttft': 'up', 'itl': 'up'}"
    assert "| TTFT | ↑ 上升 | ↓ 下降 |" in everything(app)


def test_one_click_skips_and_the_outcome_is_told():
    app = press(opened(), "share-skip")
    assert texts(app)[0] == "share: skipped None False"
    assert "Because B is long." in everything(app)


def test_it_can_be_taken_up_again():
    app = press(press(opened(), "share-skip"), "share-again")
    assert texts(app)[0] == "share: open None False"


def test_a_draft_survives_a_change_of_language():
    app = opened()
    app.radio(key="predict-batch-ttft.zh").set_value("down").run()
    app.query_params = {"lang": "en"}
    app.run()
    assert app.radio(key="predict-batch-ttft.en").value == "down"
    assert app.radio(key="predict-batch-ttft.en").options[0] == "↑ up"


def test_a_draft_is_not_lost_to_what_the_browser_still_says_in_the_old_words():
    app = opened()
    app.radio(key="predict-batch-ttft.zh").set_value("down").run()
    in_old_words = app._tree.get_widget_states()
    app.query_params = {"lang": "en"}
    app.run()
    app._run(in_old_words)
    assert app.radio(key="predict-batch-ttft.en").value == "down"


def test_a_link_that_carries_state_does_not_ask():
    app = opened(from_link=True)
    assert texts(app) == ["share: not_asked None False", "batch: not_asked {}"]
    assert not app.button


def test_in_the_lecture_the_result_is_away_until_it_is_revealed():
    app = opened(lecture=True)
    assert texts(app)[0] == "share: open None True"
    assert not app.number_input
    press(app, "share-ask")
    assert texts(app)[0] == "share: open None True"
    press(app, "share-done")
    assert texts(app)[0] == "share: skipped None False"


def test_the_lecture_hall_may_answer_before_the_result_is_revealed():
    app = press(opened(lecture=True), "share-ask")
    app.number_input(key="predict-share-value.zh").set_value(80.0).run()
    press(app, "share-done")
    assert texts(app)[0] == "share: answered 80.0 False"


def test_a_number_typed_and_revealed_in_one_breath_counts():
    app = press(opened(lecture=True), "share-ask")
    app.number_input(key="predict-share-value.zh").set_value(80.0)
    press(app, "share-done")
    assert texts(app)[0] == "share: answered 80.0 False"


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [(10, 12, "up"), (10, 8, "down"), (10, 10.3, "same"), (0, 0, "same"), (0, 1, "up")],
)
def test_a_small_change_counts_as_the_same(before, after, expected):
    assert predict.trend(before, after) == expected


def test_numbers_keep_their_unit_and_the_result_three_digits():
    assert "46.7%" in predict.comparison(Value(0, 100, "%", truth=46.6667), {"value": 60.0})
    assert "1.23 s" in predict.comparison(Value(0, 10, "s", 1, truth=1.2345), {"value": 2.0})


def test_a_result_that_counts_something_is_a_whole_number():
    told = predict.comparison(Value(0, 40, "requests", truth=3), {"value": 12.0})
    assert "3 requests" in told
    assert "3.00" not in told


def test_a_choice_is_compared_in_words():
    kind = Choice({"a": "falls", "b": "rises"}, truth="b")
    text = predict.comparison(kind, {"value": "a"})
    assert "falls" in text
    assert "rises" in text


def test_nothing_is_said_about_right_or_wrong():
    for kind in (Value(0, 1, truth=1), Choice({"a": "A"}, "a"), Trends({"m": "M"}, {"m": "up"})):
        text = predict.comparison(kind, {"value": 0.0, "m": "down"})
        assert not any(word in text for word in ("对", "错", "right", "wrong"))


def test_a_stored_answer_that_does_not_fit_the_question_leaves_it_open():
    app = AppTest.from_function(page)
    app.session_state["_guesses"] = {
        ".share": {"state": "answered", "answers": {"value": 4_000}},
        ".batch": {"state": "answered", "answers": {"ttft": "up", "itl": "sideways"}},
    }
    app.run()
    assert texts(app) == ["share: open None False", "batch: open {}"]
