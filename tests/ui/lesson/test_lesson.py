"""The lesson frame: acts and their addresses, the introduction first, what an address may hold."""

import pytest

from tests.ui.visits import (
    BATCHING,
    WORKBENCH,
    address,
    data_of,
    drag,
    go,
    links,
    opened,
    press,
    text_of,
)
from ui.results import run_pictures

MAIN_LINE = ["hook", "compare", "shapes", "sandbox", "check"]
DEEPER = ["dynamic"]


def test_the_first_act_needs_no_address():
    app = opened(BATCHING)
    assert "part" not in address(app)
    assert address(go(app, part="hook")) == {}


@pytest.mark.parametrize("part", ["nowhere", "", "HOOK", "<b>", "9"])
def test_an_unknown_act_is_the_first_one(part):
    app = opened(BATCHING, part=part, longest=20)
    assert app.slider[0].value == 20
    assert address(app) == {"longest": "20"}


def test_every_act_has_a_link_and_the_ways_onward_lead_to_its_neighbours():
    app = opened(BATCHING, part="compare", lang="en")
    queries = [query for _, _, query in links(app.main) if "part=" in query]
    assert [query.split("part=")[1].split("&")[0] for query in queries] == [
        *MAIN_LINE,
        *DEEPER,
        "hook",
        "shapes",
    ]


def test_from_a_deeper_act_the_ways_lead_back_to_the_main_line():
    app = opened(BATCHING, part="dynamic", lang="en")
    queries = [query for _, _, query in links(app.main) if "part=" in query]
    assert [query.split("part=")[1].split("&")[0] for query in queries[-2:]] == ["sandbox", "check"]


def test_what_is_deeper_stands_behind_one_entry_that_says_where_the_reader_is():
    labels = [
        box.proto.popover.label
        for part in ("hook", "dynamic")
        for box in opened(BATCHING, part=part, lang="en").get("popover")
    ]
    assert labels == ["Deeper", "Deeper · Dynamic"]


def test_links_between_acts_keep_values_and_language():
    app = opened(BATCHING, part="compare", width=5, lang="en")
    onward = links(app.main)[-1][2]
    assert {"width=5", "part=shapes", "lang=en"} == set(onward.split("&"))


@pytest.mark.parametrize("step", ["²", "-1", "3.5", "abc", "", "9" * 60, "٣", "<b>"])
def test_a_nonsense_step_breaks_nothing(step):
    app = opened(BATCHING, step=step)
    assert data_of(app, "step_player")["start"]["step"] >= 0


def test_a_step_in_the_address_is_where_the_player_starts():
    app = opened(BATCHING, part="compare", step=9)
    assert data_of(app, "step_player")["start"]["step"] == 9
    assert address(app) == {"part": "compare", "step": "9"}


def test_numbers_in_the_prose_follow_a_control():
    app = opened(BATCHING, lang="en", longest=100)
    assert "46.7%" in text_of(app)
    app.slider[0].set_value(10).run()
    assert "46.7%" not in text_of(app)
    assert address(app)["longest"] == "10"


def test_the_same_address_gives_the_same_numbers_in_either_language():
    states = {"part": "sandbox", "slots": 6, "requests": 40, "spread": 8, "arrival": "trickle"}
    pictures = [
        data_of(opened(BATCHING, lang=lang, **states), "step_player") for lang in ("zh", "en")
    ]
    assert pictures[0]["id"] == pictures[1]["id"]
    assert pictures[0]["notes"] != pictures[1]["notes"]


def test_the_first_figure_follows_a_slider_while_it_is_dragged_and_nothing_else_is_sent():
    app = drag(opened(BATCHING, part="sandbox", lang="en"), "slots", 9)
    there = opened(BATCHING, part="sandbox", lang="en", slots=9)
    assert data_of(app, "step_player")["id"] == data_of(there, "step_player")["id"]
    assert text_of(app) == ""
    assert list(app.get("plotly_chart")) == list(app.slider) == []
    assert address(app) == {"part": "sandbox", "lang": "en"}


def test_cards_follow_a_slider_too_and_what_stands_still_is_not_even_computed(monkeypatch):
    app = opened(WORKBENCH, lang="en")
    cards = [card.value for card in app.metric]
    monkeypatch.setattr(run_pictures, "load", None)  # the second figure
    drag(app, "rate", 10)
    assert [card.value for card in app.metric] != cards
    monkeypatch.undo()
    there = opened(WORKBENCH, lang="en", rate=20)
    assert [card.value for card in app.metric] == [card.value for card in there.metric]


def test_a_result_stands_folded_while_its_question_is_open():
    app = opened(BATCHING, lang="en")
    assert app.expander[0].label == "Just show me the result"
    press(app, "predict-utilization-skip")
    assert "Just show me the result" not in [box.label for box in app.expander]


def test_a_guess_is_not_undone_nor_a_control_by_an_address_still_on_its_way():
    app = opened(BATCHING, lang="en")
    app.slider[0].set_value(60).run()
    app.query_params = {"lang": "en"}  # the browser has not heard of longest=60 yet
    app.number_input[0].set_value(30.0).run()
    assert app.slider[0].value == 60
    app.query_params = {"lang": "en"}
    press(app, "predict-utilization-done")
    assert app.slider[0].value == 60
    assert address(app)["longest"] == "60"


def test_the_lecture_view_holds_figure_controls_and_bar_alone():
    app = opened(BATCHING, part="compare", view="lecture", lang="en")
    assert not app.sidebar
    assert not app.title
    assert len(app.slider) == 1
    assert "Six more requests" not in text_of(app)


def test_the_lecture_walks_the_acts_and_stops_at_either_end():
    app = opened(BATCHING, view="lecture", lang="en")
    assert app.button(key="lecture-PageUp").disabled
    walked = []
    while not app.button(key="lecture-PageDown").disabled:
        press(app, "lecture-PageDown")
        walked.append(address(app)["part"])
    assert walked == MAIN_LINE[1:]
    assert address(press(app, "lecture-PageUp")) == {
        "part": "sandbox",
        "view": "lecture",
        "lang": "en",
    }


def test_reset_in_the_lecture_puts_controls_and_player_back_to_the_start():
    app = opened(BATCHING, part="compare", view="lecture", width=5, step=9)
    before = data_of(app, "step_player")["start"]
    press(app, "lecture-reset")
    after = data_of(app, "step_player")["start"]
    assert app.slider[0].value == 3
    assert after["step"] == 0
    assert after["serial"] > before["serial"]
    assert address(app) == {"part": "compare", "view": "lecture"}


def test_leaving_the_lecture_view_stays_in_the_act_with_its_values():
    app = opened(BATCHING, part="compare", view="lecture", width=5)
    press(app, "lecture-exit")
    assert address(app) == {"part": "compare", "width": "5"}
    lecture_links = [label for _, label, query in links(app) if "view=lecture" in query]
    assert lecture_links == ["讲课视图"]
