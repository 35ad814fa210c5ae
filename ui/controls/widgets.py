"""The controls a page may use: each in the URL, language-free, clamped, never losing its value.

Every function draws one widget where it is called and returns its value.  With `live` the page
follows the slider while it is dragged (`live`); the URL follows when it is let go.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence

import streamlit as st

from ui.controls import live as hand
from ui.course import state

SEGMENTS = 5  # more options than this are a list to choose from
SEGMENT_LETTERS = 34  # and so are labels that would not fit side by side
UNWRITABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")  # in a line of text


def slide(
    key: str,
    label: str,
    low: float,
    high: float,
    start: float,
    step: float | None = None,
    help: str | None = None,
    unit: str = "",
    live: bool = False,
) -> float:
    """A number on a scale from `low` to `high`.  Whole numbers stay whole."""
    kind = _kind(low, high, start, step)
    is_whole = kind is int
    low, high, start = kind(low), kind(high), kind(start)
    widget = state.bind(key, start, on_scale(low, high, start, step))
    if state.kept(f"{key}-scale", (low, high)) != (low, high):  # which makes it a new widget
        st.session_state[widget] = kind(_clamped(st.session_state[widget], low, high))
    state.keep(f"{key}-scale", (low, high))
    value = st.slider(
        label,
        low,
        high,
        key=widget,
        step=kind(step) if step else None,
        format=f"%{'d' if is_whole else 'g'}{' ' if unit else ''}{unit}" if unit else None,
        help=help,
        on_change=hand.let_go if live else state.moved,
    )
    state.settle(key, value, start)
    if live:
        hand.follow(key, widget, lambda place: kind(_clamped(place, low, high)))
    return value


def pick(
    key: str,
    label: str,
    values: Sequence[float],
    start: float,
    help: str | None = None,
    unit: str = "",
    live: bool = False,
) -> float:
    """A number out of a few on a scale, for ranges that a straight slider would serve badly."""
    widget = state.bind(key, start, nearest(values), worded=True)
    value = st.select_slider(
        label,
        values,
        key=widget,
        format_func=lambda number: f"{number:,g} {unit}".strip(),
        help=help,
        on_change=hand.let_go if live else state.moved,
    )
    state.settle(key, value, start)
    if live:
        hand.follow(key, widget, lambda place: values[int(_clamped(place, 0, len(values) - 1))])
    return value


def number(
    key: str,
    label: str,
    low: int,
    high: int,
    start: int,
    help: str | None = None,
    clears: Sequence[str] = (),
) -> int:
    """A whole number to type, for values that a scale would serve badly (a seed).

    `clears`: controls that go back to where they start when this one is moved, such as answers to
    what it draws.
    """
    widget = state.bind(key, start, on_scale(low, high, start))
    value = st.number_input(
        label, low, high, key=widget, step=1, help=help, on_change=state.put_back, args=(clears,)
    )
    state.settle(key, value, start)
    return int(value)


def toggle(key: str, label: str, start: bool = False, help: str | None = None) -> bool:
    widget = state.bind(key, start, switch)
    value = st.toggle(label, key=widget, help=help, on_change=state.moved)
    state.settle(key, value, start)
    return value


def choose(
    key: str,
    label: str,
    options: Mapping[str, str],
    start: str,
    help: str | None = None,
    clears: Sequence[str] = (),
) -> str:
    """One of a few; `options` maps the code in the URL to the words on the page, `clears` as in
    `number`."""
    widget = state.bind(key, start, known(options), worded=True)
    if st.session_state.get(widget, start) not in options:  # the options changed under it
        st.session_state[widget] = start
    codes, words = list(options), options.__getitem__
    if len(codes) <= SEGMENTS and sum(map(len, options.values())) <= SEGMENT_LETTERS:
        value = st.segmented_control(
            label,
            codes,
            key=widget,
            format_func=words,
            help=help,
            on_change=state.put_back,
            args=(clears,),
            required=True,
        )
    else:
        value = st.selectbox(
            label,
            codes,
            key=widget,
            format_func=words,
            help=help,
            on_change=state.put_back,
            args=(clears,),
        )
    state.settle(key, value, start)
    return str(value)


def line(
    key: str, label: str, start: str, help: str | None = None, most: int = state.MAX_TYPED
) -> tuple[str, int]:
    """A line of the reader's own words, and how many letters they gave.

    Of a longer one the first `most` letters stay; what no line can hold becomes a space.  More than
    `state.MAX_TYPED` are kept in the session, not in the URL.
    """
    writable = up_to(most)
    widget = state.bind(key, start, writable)
    given = f"{key}-letters"

    def tidy() -> None:
        state.moved()
        text = st.session_state[widget] or ""
        st.session_state[widget] = writable(text)
        state.keep(given, (st.session_state[widget], len(text)))

    value = writable(st.text_input(label, key=widget, help=help, on_change=tidy) or "")
    state.settle(key, value, start)
    kept, letters = state.kept(given, ("", 0))
    return value, letters if kept == value else len(value)


def passage(key: str, label: str) -> str:
    """Lines of the reader's own, kept for the session, also while they look elsewhere."""
    box = f"{key}-box"
    widget = state.own_widget(key)
    if widget not in st.session_state:
        st.session_state[widget] = state.kept(box, "")
    text = st.text_area(label, height=80, key=widget, on_change=state.moved) or ""
    state.keep(box, text)
    return text


# How each of them reads the text of an address: its value, or ValueError for what means nothing.


def on_scale(low: float, high: float, start: float, step: float | None = None) -> state.Parse:
    kind = _kind(low, high, start, step)
    return lambda text: kind(_clamped(text, low, high))


def nearest(values: Sequence[float]) -> state.Parse:
    def read(text: str) -> float:
        number = _clamped(text, values[0], values[-1])
        return min(values, key=lambda value: abs(value - number))

    return read


def known(options: Mapping[str, str]) -> state.Parse:
    def read(text: str) -> str:
        if text not in options:
            raise ValueError(text)
        return text

    return read


def switch(text: str) -> bool:
    if text not in ("0", "1"):
        raise ValueError(text)
    return text == "1"


def up_to(most: int) -> Callable[[str], str]:
    """Reads a text of at most so many letters."""
    return lambda text: UNWRITABLE.sub(" ", text[:most])


def _kind(*numbers: float | None) -> type[int] | type[float]:
    """Whole numbers stay whole."""
    return int if all(isinstance(number, int | None) for number in numbers) else float


def _clamped(given: str | float, low: float, high: float) -> float:
    number = float(given)
    if math.isnan(number):
        raise ValueError(given)
    return min(max(number, low), high)
