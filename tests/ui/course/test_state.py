"""The state of a page: a new URL wins, else what was chosen on this page, else the default."""

import ast

import pytest
from streamlit.testing.v1 import AppTest

from ui.course import state


def page():
    """A page with two controls; which of two pages it is stands in the session."""
    import streamlit as st

    from ui.controls import widgets
    from ui.course import state
    from ui.words import language
    from ui.words.language import tr

    def to_english():
        state.moved()
        language.choose("en")

    name = st.session_state.get("name", "one")
    state.open_page(name)
    with st.sidebar:
        st.caption(str(state.query_of(name)))
        st.button("reset", on_click=state.reset)
        st.button("english", on_click=to_english)
        st.button("third act", on_click=state.set_value, args=("part", "third", "first"))
    slots = widgets.slide("slots", tr("槽位数", "Slots"), 1, 12, 4)
    rate = widgets.slide("rate", tr("速率", "Rate"), 0.5, 8.0, 2.0, step=0.5)
    st.text(f"{slots} {rate:g} {tr('中文', 'English')} {state.came_by_link()}")
    st.text(str(state.query_of("one")))
    state.settle("part", state.wanted("part") or "first", "first")
    state.write()


def opened(**query):
    app = AppTest.from_function(page)
    app.query_params = {key: str(value) for key, value in query.items()}
    return app.run()


def go(app, name=None, **query):
    """What Back, a link or an address typed by hand does; a name leads to that page."""
    if name:
        app.session_state["name"] = name
    app.query_params = {key: str(value) for key, value in query.items()}
    return app.run()


def move(app, at, value):
    return app.slider[at].set_value(value).run()


def press(app, label):
    return next(button for button in app.button if button.label == label).click().run()


def shown(app):
    assert not app.exception, app.exception
    return app.text[0].value.rsplit(" ", 2)[0]


def language(app):
    return app.text[0].value.split()[-2]


def address(app):
    """Parameters as the browser has them; AppTest gives a value as text or in a list."""
    given = dict(app.query_params)
    return {key: value if isinstance(value, str) else value[-1] for key, value in given.items()}


def link(app):
    return ast.literal_eval(app.text[1].value)


def test_without_an_address_everything_stands_at_its_default():
    app = opened()
    assert shown(app) == "4 2"
    assert address(app) == {}


def test_a_move_goes_into_the_address_and_the_default_out_of_it():
    app = move(opened(), 0, 7)
    assert address(app) == {"slots": "7"}
    assert address(move(app, 1, 2.5)) == {"slots": "7", "rate": "2.5"}
    assert address(move(app, 0, 4)) == {"rate": "2.5"}


def test_a_new_address_wins_over_what_was_chosen():
    app = move(opened(), 0, 7)
    assert shown(go(app, slots=9, rate=3)) == "9 3"


def test_back_takes_a_move_back_and_forward_makes_it_again():
    app = move(move(opened(), 0, 7), 1, 5.0)
    assert shown(go(app, slots=7)) == "7 2"
    assert shown(go(app)) == "4 2"
    assert shown(go(app, slots=7)) == "7 2"
    assert address(app) == {"slots": "7"}


def test_each_page_keeps_its_own_values():
    app = move(opened(), 0, 7)
    go(app, name="two")
    assert shown(app) == "4 2"
    move(app, 0, 2)
    assert shown(go(app, name="one")) == "7 2"
    assert address(app) == {"slots": "7"}
    assert shown(go(app, name="two")) == "2 2"


def test_back_to_another_page_brings_the_values_its_address_names():
    app = go(move(opened(), 0, 7), name="two")
    assert shown(go(app, name="one", slots=7)) == "7 2"
    assert shown(go(app)) == "4 2"


def test_a_hand_on_one_control_is_not_undone_by_an_address_still_on_its_way():
    app = move(opened(), 0, 7)
    app.query_params = {}  # the browser has not heard of slots=7 yet
    move(app, 1, 5.0)
    assert shown(app) == "7 5"
    assert address(app) == {"slots": "7", "rate": "5"}


@pytest.mark.parametrize("how", ["back", "reset"])
def test_what_code_moved_is_not_moved_back_by_a_browser_that_has_not_heard_of_it(how):
    app = move(opened(), 0, 7)
    late = app._tree.get_widget_states()  # sent along when something else was touched meanwhile
    assert shown(press(app, "reset") if how == "reset" else go(app)) == "4 2"
    app._run(late)
    assert shown(app) == "4 2"
    assert shown(move(app, 0, 5)) == "5 2"


def test_where_a_control_stands_is_said_again_after_a_run_that_was_cut_short():
    app = opened(slots=9)
    assert app.slider[0].proto.set_value
    app.run()
    assert not app.slider[0].proto.set_value  # the browser knows
    app.session_state["_pages"]["one"].is_unsettled = True  # a run that never came to `write`
    app.run()
    assert app.slider[0].proto.set_value
    assert list(app.slider[0].proto.value) == [9.0]
    assert shown(move(app, 0, 5)) == "5 2"


def test_the_language_of_the_address_wins_and_stays_when_it_goes():
    app = opened(lang="en")
    assert language(app) == "English"
    assert language(go(app)) == "English"
    assert language(go(app, lang="zh")) == "中文"


def test_a_chosen_language_stays_over_back_and_over_pages():
    app = press(move(opened(), 0, 7), "english")
    assert address(app) == {"slots": "7", "lang": "en"}
    assert shown(app) == "7 2"
    go(app, slots=7)
    assert language(app) == "English"
    go(app, name="two")
    assert language(app) == "English"
    assert address(app) == {"lang": "en"}


@pytest.mark.parametrize("lang", ["fr", "ZH", "zh-CN", "", "<b>"])
def test_an_unknown_language_changes_nothing_and_is_dropped(lang):
    app = opened(lang=lang)
    assert language(app) == language(opened())
    assert "lang" not in address(app)
    assert "lang" not in link(app)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("99", "12 2"),
        ("-3", "1 2"),
        ("inf", "12 2"),
        ("1e999", "12 2"),
        ("-inf", "1 2"),
        ("nan", "4 2"),
        ("", "4 2"),
        ("four", "4 2"),
        ("5.9", "5 2"),
        ("<script>alert(1)</script>", "4 2"),
        ("__import__('os')", "4 2"),
        ("9" * 65, "4 2"),
        ("\x00", "4 2"),
        ("²", "4 2"),
    ],
)
def test_a_value_out_of_range_is_clamped_and_nonsense_dropped(given, expected):
    app = opened(slots=given)
    assert shown(app) == expected
    wanted = expected.split()[0]
    assert address(app) == ({} if wanted == "4" else {"slots": wanted})


def test_names_that_no_control_can_have_are_dropped():
    app = opened(**{"Slots": 3, "_page": "x", "a b": 1, "x" * 25: 1, "one:slots": 9, "": 2})
    assert shown(app) == "4 2"
    assert address(app) == {}


def test_a_flood_of_parameters_is_cut():
    app = opened(**{f"p{number}": number for number in range(500)})
    assert len(address(app)) <= state.MAX_PARAMETERS


def test_of_a_parameter_given_twice_the_last_counts():
    app = AppTest.from_function(page)
    app.query_params = {"slots": ["3", "8"]}
    assert shown(app.run()) == "8 2"


def test_reset_puts_every_control_back_and_stays_in_its_act_and_language():
    app = opened(lang="en", part="third", slots=9, rate=5)
    press(app, "reset")
    assert shown(app) == "4 2"
    assert address(app) == {"part": "third", "lang": "en"}
    assert shown(move(app, 0, 6)) == "6 2"


def test_an_act_reached_by_a_button_is_in_the_address_and_back_leaves_it():
    app = press(opened(slots=9), "third act")
    assert address(app) == {"slots": "9", "part": "third"}
    assert address(go(app, slots=9)) == {"slots": "9"}


def test_a_step_stays_in_the_address_until_something_changes():
    app = opened(step=7, slots=9)
    assert address(app) == {"slots": "9", "step": "7"}
    assert address(app.run()) == {"slots": "9", "step": "7"}
    assert address(move(app, 0, 8)) == {"slots": "8"}


def test_links_carry_values_and_the_lecture_view_only_while_it_lasts():
    app = opened(view="lecture", slots=9, step=3, lang="en")
    assert link(app) == {"slots": "9", "lang": "en", "view": "lecture"}
    go(app, slots=9, lang="en")
    assert link(app) == {"slots": "9", "lang": "en"}


def test_only_a_link_from_outside_that_carries_values_counts_as_one():
    assert opened(slots=9).text[0].value.endswith("True")
    assert opened(lang="en", part="third", view="lecture").text[0].value.endswith("False")
    app = move(opened(), 0, 7)
    assert go(app, slots=9).text[0].value.endswith("False")


def test_a_link_above_the_controls_carries_the_newest_move():
    app = move(opened(), 0, 7)
    assert app.caption[0].value == "{'slots': '7'}"
    app = move(app, 1, 3.5)
    assert app.caption[0].value == "{'slots': '7', 'rate': '3.5'}"
    app = move(app, 0, 4)  # back where it started
    assert app.caption[0].value == "{'rate': '3.5'}"
