"""Controls: in the address without a language, clamped, and never losing their value."""

import ast

import pytest
from streamlit.testing.v1 import AppTest


def page():
    import streamlit as st

    from ui.controls import widgets
    from ui.course import state
    from ui.words import language
    from ui.words.language import tr

    state.open_page("page")
    language.choose(st.session_state.get("speak"))
    st.button("English", on_click=state.switch_language, args=("en",))
    st.button("中文", on_click=state.switch_language, args=("zh",))
    few = st.session_state.get("few", False)
    values = [
        widgets.slide("whole", tr("整数", "Whole"), 1, 16, 4),
        widgets.slide("part", tr("小数", "Part"), 0.5, 8.0, 2.0, step=0.5),
        widgets.pick("size", tr("大小", "Size"), (1, 4, 16, 64), 16, unit=tr("个", "tokens")),
        widgets.number("seed", tr("种子", "Seed"), 0, 9999, 0),
        widgets.toggle("on", tr("打开", "On"), True),
        widgets.choose(
            "kind",
            tr("种类", "Kind"),
            {"one": tr("一", "First")} | ({} if few else {"two": tr("二", "Second")}),
            start="one",
        ),
        widgets.choose(
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


def test_what_the_browser_still_says_in_the_old_words_moves_nothing():
    app = opened(**MOVED)
    in_old_words = app._tree.get_widget_states()
    app.button[0].click().run()
    app._run(in_old_words)
    assert app.slider[0].label == "Whole"
    assert values(app) == MOVED_VALUES


def test_a_choice_made_with_the_same_breath_as_the_other_language_is_kept():
    app = opened()
    app.select_slider[0].set_value(64)
    app.selectbox[0].set_value("c")
    app.button[0].click().run()
    assert app.slider[0].label == "Whole"
    assert (values(app)[2], values(app)[6]) == (64, "c")


def test_there_and_back_again_a_choice_stands_where_it_was_moved_last():
    app = opened()
    first = app._tree.get_widget_states()
    app.button[0].click().run()
    app.select_slider[0].set_value(64)
    app.button[1].click()
    states = app._tree.get_widget_states()
    states.widgets.extend(state for state in first.widgets if state.string_array_value.data)
    app._run(states)
    assert app.slider[0].label == "整数"
    assert values(app)[2] == 64


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


def own_words():
    import streamlit as st

    from ui.controls import widgets
    from ui.course import state

    state.open_page("page")
    text, letters = widgets.line("text", "Text", "start")
    most = widgets.slide("most", "Most", 0, max(1, len(text)), 1)
    st.text(repr([text, letters, most]))
    state.write()


def typed(app, text):
    app.text_input[0].set_value(text).run()
    return values(app)


def with_own_words(**query):
    app = AppTest.from_function(own_words)
    app.query_params = query
    return app.run()


def test_a_line_of_one_s_own_is_in_the_address_and_comes_back():
    app = with_own_words()
    assert values(app)[0] == "start"
    assert typed(app, "猫 & <b>")[:2] == ["猫 & <b>", 7]
    assert address(app) == {"text": "猫 & <b>"}
    assert values(with_own_words(text="猫 & <b>"))[0] == "猫 & <b>"


def long_words():
    """A page with one long line."""
    import streamlit as st

    from ui.controls import widgets
    from ui.course import state

    state.open_page("page")
    text, letters = widgets.line("text", "Text", "start", most=4_000)
    st.text(repr([text, letters]))
    state.write()


def test_what_no_address_holds_is_kept_for_the_session():
    app = AppTest.from_function(long_words).run()
    for length in (160, 161, 4_000):
        text = "{" + "x" * (length - 1)
        assert typed(app, text) == [text, length]
        assert address(app) == ({"text": text} if length == 160 else {})
        assert values(app.run()) == [text, length]
    assert typed(app, "y" * 5_000) == ["y" * 4_000, 5_000]


def passages():
    """A page with a box, which is drawn in one of its two acts."""
    import streamlit as st

    from ui.controls import widgets
    from ui.course import state

    state.open_page("page")
    if not st.toggle("elsewhere"):
        st.text(repr(widgets.passage("box", "Box")))


def test_a_box_keeps_its_text_while_the_reader_looks_elsewhere():
    app = AppTest.from_function(passages).run()
    app.text_area[0].set_value("one\ntwo " * 30_000).run()
    assert values(app) == "one\ntwo " * 30_000
    app.toggle[0].set_value(True).run()
    assert len(app.text_area) == 0
    app.toggle[0].set_value(False).run()
    assert app.text_area[0].value == "one\ntwo " * 30_000


def test_an_empty_line_stays_empty():
    app = with_own_words()
    assert typed(app, "")[:2] == ["", 0]
    assert typed(app, "start")[0] == "start"
    assert address(app) == {}


def test_of_a_long_line_the_beginning_stays_and_its_length_is_told_once():
    app = with_own_words()
    assert typed(app, "x" * 5_000)[:2] == ["x" * 160, 5_000]
    assert address(app) == {"text": "x" * 160}
    assert typed(app, "y")[:2] == ["y", 1]


def test_what_no_line_can_hold_becomes_a_space():
    from ui.controls import widgets

    assert widgets.up_to(20)("a\x00b\nc\u2028d\ud800e") == "a b c d e"
    assert typed(with_own_words(), "a\x00b\tc")[0] == "a b c"


def test_a_slider_whose_scale_changes_under_it_stays_or_goes_to_its_end():
    app = with_own_words()
    typed(app, "a long line")
    app.slider[0].set_value(7).run()
    assert typed(app, "an even longer line")[2] == 7
    assert typed(app, "abc")[2] == 3
    assert typed(app, "")[2] == 1


def a_case_and_its_answer():
    """A number that draws a case, the answer to it, and a control of its own."""
    import streamlit as st

    from ui.controls import widgets
    from ui.course import state

    state.open_page("one")
    widgets.number("case", "Case", 0, 9, 0, clears=("answer",))
    widgets.choose("answer", "Answer", {"open": "open", "ttft": "TTFT"}, "open")
    widgets.slide("limit", "Limit", 1, 9, 5)
    state.write()
    st.text(str(dict(st.query_params)))


def test_a_number_that_is_moved_puts_back_what_was_said_to_the_one_before():
    app = AppTest.from_function(a_case_and_its_answer)
    app.query_params = {"case": "3", "answer": "ttft", "limit": "7"}
    app.run()
    assert app.text[0].value == "{'case': '3', 'answer': 'ttft', 'limit': '7'}"
    app.number_input[0].set_value(4).run()
    assert app.text[0].value == "{'case': '4', 'limit': '7'}"
