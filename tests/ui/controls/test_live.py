"""The server's half of a live slider: what it makes of a hand's place, and what it answers."""

import ast
import json

import pytest
from streamlit.testing.v1 import AppTest


def page():
    import streamlit as st

    from ui.controls import live, widgets
    from ui.course import state

    state.open_page("page")
    live.begin()
    values = {
        "whole": widgets.slide("whole", "Whole", 1, 16, 4, live=True),
        "part": widgets.slide("part", "Part", 0.5, 8.0, 2.0, step=0.5, live=True),
        "size": widgets.pick("size", "Size", (1, 4, 16, 64), 16, live=True),
        "other": widgets.slide("other", "Other", 1, 16, 4),
    }
    st.text(repr(values | live.held()))
    state.write()
    live.mount()


def opened(**query):
    app = AppTest.from_function(page)
    app.query_params = {key: str(value) for key, value in query.items()}
    return app.run()


def say(app, number, widget, place, held=True, **moved):
    """What the browser sends: where the hand is, along with where all sliders stand."""
    states = app._tree.get_widget_states()
    (component,) = [part.proto for part in app.get("bidi_component")]
    followed = app.session_state["_live"].sliders
    names = [name for name, (key, _) in followed.items() if key == widget]
    hand = {"number": number, "widget": (names or [widget])[0], "place": place, "held": held}
    states.widgets.add(id=component.id, json_value=json.dumps({"hand": hand}))
    for slider in app.slider:
        for state in states.widgets:
            key = slider.key.rpartition(":")[2]
            if state.id == slider.id and key in moved:
                state.double_array_value.data[:] = [moved[key]]
    app._run(states)
    assert not app.exception, app.exception
    return app


def values(app):
    return ast.literal_eval(app.text[0].value)


def answer(app):
    return json.loads(app.text[1].value)


def address(app):
    given = dict(app.query_params)
    return {key: value if isinstance(value, str) else value[-1] for key, value in given.items()}


START = {"whole": 4, "part": 2.0, "size": 16, "other": 4}


def test_without_a_hand_nothing_moves_and_the_sliders_to_follow_are_named():
    app = opened()
    assert values(app) == START
    sliders = ["page:whole", "page:part", "page:size.zh"]
    assert answer(app) == {"answered": 0, "moving": False, "sliders": sliders}


@pytest.mark.parametrize(
    ("widget", "place", "value"),
    [
        ("whole", 9, 9),
        ("part", 3.5, 3.5),
        ("size", 3, 64),  # of a list of values the browser sends the index
        ("whole", 99, 16),
        ("part", -3, 0.5),
        ("size", 99, 64),
        ("size", -1, 1),
    ],
)
def test_a_place_of_the_hand_is_a_value_within_the_scale_and_its_number_is_answered(
    widget, place, value
):
    app = say(opened(), 7, widget, place)
    assert values(app) == START | {widget: value}
    assert type(values(app)[widget]) is type(START[widget])
    assert (answer(app)["answered"], answer(app)["moving"]) == (7, True)


def test_a_hand_leaves_the_address_alone_and_its_release_writes_it():
    app = say(opened(), 1, "whole", 9)
    assert address(app) == {}
    say(app, 1, "whole", 9, whole=9)  # Streamlit tells the value
    assert values(app) == START | {"whole": 9}
    assert answer(app)["moving"] is False
    assert address(app) == {"whole": "9"}


def test_what_was_said_before_the_release_does_not_move_a_slider_again():
    app = say(opened(), 2, "whole", 12, whole=9)
    assert values(app) == START | {"whole": 9}
    assert values(say(app, 3, "whole", 10, whole=9)) == START | {"whole": 10}


def test_a_hand_that_lets_go_where_it_began_leaves_everything_as_it_was():
    app = say(opened(whole=6), 1, "whole", 9)
    assert values(app) == START | {"whole": 9}
    say(app, 2, "whole", 6, held=False)
    assert values(app) == START | {"whole": 6}
    assert answer(app)["moving"] is False
    assert address(app) == {"whole": "6"}


@pytest.mark.parametrize("widget", ["other", "gone"])
def test_a_hand_on_what_is_not_followed_moves_nothing(widget):
    app = say(opened(), 1, widget, 9)
    assert values(app) == START
    assert answer(app)["moving"] is False
