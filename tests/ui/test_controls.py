"""Controls: in the address without a language, clamped, and never losing their value."""

import ast

import pytest
from streamlit.testing.v1 import AppTest


def page():
    import streamlit as st

    from ui import controls, language, state
    from ui.language import tr

    state.open_page("page")
    language.choose(st.session_state.get("speak"))
    few = st.session_state.get("few", False)
    values = [
        controls.slide("whole", tr("整数", "Whole"), 1, 16, 4),
        controls.slide("part", tr("小数", "Part"), 0.5, 8.0, 2.0, step=0.5),
        controls.pick("size", tr("大小", "Size"), (1, 4, 16, 64), 16),
        controls.number("seed", tr("种子", "Seed"), 0, 9999, 0),
        controls.toggle("on", tr("打开", "On"), True),
        controls.choose(
            "kind",
            tr("种类", "Kind"),
            {"one": tr("一", "First")} | ({} if few else {"two": tr("二", "Second")}),
            start="one",
        ),
        controls.choose(
            "many",
            tr("很多", "Many"),
            {letter: tr(f"选项 {letter}", f"Option {letter}") for letter in "abcdef"},
            start="a",
        ),
    ]
    st.text(repr(values))
    state.write()


START = [4, 2.0, 16, 0, True, "one", "a"]
MOVED = {"whole": 9, "part": 3.5, "size": 64, "seed": 77, "on": 0, "kind": "two", "many": "c"}
MOVED_VALUES = [9, 3.5, 64, 77, False, "two", "c"]


def opened(**query):
    app = AppTest.from_function(page)
    app.query_params = {key: str(value) for key, value in query.items()}
    return app.run()


def values(app):
    assert not app.exception, app.exception
    return ast.literal_eval(app.text[0].value)


def address(app):
    given = dict(app.query_params)
    return {key: value if isinstance(value, str) else value[-1] for key, value in given.items()}


def test_everything_starts_at_its_default_with_an_empty_address():
    app = opened()
    assert values(app) == START
    assert address(app) == {}


def test_an_address_sets_every_kind_of_control_and_stays_as_it_is():
    app = opened(**MOVED)
    assert values(app) == MOVED_VALUES
    assert address(app) == {key: str(value) for key, value in MOVED.items()}


def test_whole_numbers_stay_whole_and_others_do_not_become_so():
    whole, part, *_ = values(opened(whole="5.0", part="3"))
    assert (type(whole), type(part)) == (int, float)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"whole": 99}, [16, 2.0, 16, 0]),
        ({"part": -1}, [4, 0.5, 16, 0]),
        ({"size": 1000}, [4, 2.0, 64, 0]),
        ({"size": 5}, [4, 2.0, 4, 0]),
        ({"size": "nan"}, START[:4]),
        ({"seed": -7}, START[:4]),
        ({"seed": "1e999"}, [4, 2.0, 16, 9999]),
        ({"seed": "x"}, START[:4]),
    ],
)
def test_a_number_out_of_range_is_clamped_and_nonsense_dropped(given, expected):
    assert values(opened(**given))[:4] == expected


@pytest.mark.parametrize(
    "given", [{"on": "yes"}, {"on": "2"}, {"kind": "二"}, {"kind": "ONE"}, {"many": "z"}]
)
def test_a_choice_that_does_not_exist_is_dropped(given):
    app = opened(**given)
    assert values(app) == START
    assert address(app) == {}


def test_a_change_of_language_keeps_every_value_and_the_address():
    app = opened(**MOVED)
    before = address(app)
    app.session_state["speak"] = "en"
    app.run()
    assert values(app) == MOVED_VALUES
    assert app.slider[0].label == "Whole"
    assert address(app) == {**before, "lang": "en"}


def test_a_choice_falls_back_when_its_option_goes_away():
    app = opened(kind="two")
    app.session_state["few"] = True
    app.run()
    assert values(app)[5] == "one"
    assert address(app) == {}


def test_few_short_options_stand_side_by_side_and_many_in_a_list():
    app = opened()
    assert [group.label for group in app.button_group] == ["种类"]
    assert [box.label for box in app.selectbox] == ["很多"]
