"""Sliders that are followed: while one is dragged, the numbers and the first figure go along.

The slider is Streamlit's own, which looks and is moved like all others and tells the server where
it stands when it is let go.  Until then `assets/live_slider.js` says where the hand is, with a
sequence number; `mount` sends the number back at the end of the run, and only then the next place
is sent.  So runs never pile up, however slow one is, and whatever it makes of the place.

A place of the hand is not a value of the control: it is neither kept nor written into the URL.
What follows is a fragment (`ui.lesson`), in which the component is mounted: only that runs again.
"""

import json
from collections.abc import Callable
from functools import cache
from typing import Any

import streamlit as st

from ui.course import state
from ui.files import ASSETS

KEY = "live-slider"
SCRIPT = ASSETS / "live_slider.js"
NOBODY = {"number": 0, "widget": "", "place": 0.0, "held": False}

At = Callable[[float], Any]  # from where the browser has the thumb, a value or an index, to a value


class _Session:
    """What this reader's session knows of the hand."""

    def __init__(self) -> None:
        self.sliders: dict[str, tuple[str, At]] = {}  # widget -> its control; of the page
        self.num_done = 0  # the newest message when a slider was let go


def begin() -> None:
    """Before the controls of a page are drawn."""
    _session().sliders = {}


def follow(key: str, widget: str, at: At) -> None:
    """A slider of this page is to be followed."""
    _session().sliders[widget] = (key, at)


def has_sliders() -> bool:
    """True when a slider that is to be followed has been drawn in this run."""
    return bool(_session().sliders)


def let_go() -> None:
    """For `on_change` of a slider that is followed: Streamlit has told its value."""
    state.moved()
    _session().num_done = _hand()["number"]


def held() -> dict[str, Any]:
    """The control under the hand and the value there; empty when there is no hand on any."""
    hand, session = _hand(), _session()
    if not hand["held"] or hand["number"] <= session.num_done:
        return {}
    if hand["widget"] not in session.sliders:
        return {}
    key, at = session.sliders[hand["widget"]]
    return {key: at(hand["place"])}


def mount() -> None:
    """Answer the browser.  The last thing a run does: the answer asks for the next place."""
    answer = {
        "answered": _hand()["number"],
        "moving": bool(held()),
        "sliders": list(_session().sliders),
    }
    component = st.components.v2.component("live_slider", html="<span hidden></span>", js=_script())
    with st.container(key="live-answer"):
        st.text(json.dumps(answer))
        component(key=KEY, height="content")


@cache
def _script() -> str:
    return SCRIPT.read_text(encoding="utf-8")


def _session() -> _Session:
    session: _Session = st.session_state.setdefault("_live", _Session())
    return session


def _hand() -> dict[str, Any]:
    """What the browser said last."""
    said = st.session_state.get(KEY)
    return (said and said.get("hand")) or NOBODY
