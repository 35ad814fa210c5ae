"""The state of a page lives in its URL: a link is a state, and Back loses nothing.

For each control the reader's own move wins; else a parameter of the URL, if it is new; else what
this reader last chose on this page; else the default.  After the page is drawn, `write` puts the
values that differ from their defaults back into the URL, language-free.  Each write adds a history
entry, so Back undoes control by control.

Long because reading, keeping and writing the address are one cycle over one state of a page.

Why not Streamlit's own `bind="query-params"`: Back would reset values, and choices would be written
with their translated labels.
"""

import re
from collections.abc import Callable, Iterable
from typing import Any

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.state.common import user_key_from_element_id

from ui.words import language

RESERVED = {"lang", "part", "view", "step", "embed", "embed_options"}
AMBIENT = {"lang", "view", "step"}  # belong to the reader or to a moment, not to a page's state
NAME = re.compile(r"[a-z][a-z0-9_]{0,23}")
MAX_LENGTH = 64  # of a value
KEPT_RUN = "a"  # the parameter that holds all settings of another run (`ui.results.compare`)
TYPED = "text"  # the parameter that holds a text of the reader's own
MAX_TYPED = 160  # its letters
MAX_LENGTHS = {KEPT_RUN: 500, TYPED: MAX_TYPED}  # of the values of those two
MAX_PARAMETERS = 60

Parse = Callable[[str], Any]


class PageState:
    """What this session knows of one page."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}  # control -> what the reader last chose
        self.defaults: dict[str, Any] = {}  # control -> where it starts
        self.written: dict[str, str] = {}  # what the URL should hold, defaults left out
        self.private: dict[str, Any] = {}  # kept for the session, never in the URL
        self.seen: dict[str, str] | None = None  # the URL as last read or written
        self.renewals: dict[str, int] = {}  # control -> how often its widget was made anew
        self.worded: set[str] = set()  # controls whose options are words (`language.worded`)
        self.restates = False  # see `restate`
        self.is_resumed = (
            False  # goes on from another session, and no run since has come to its end
        )
        self.is_unsettled = True  # code moved widgets, and no run since has come to its end


def open_page(name: str) -> None:
    """Begin a run of a page: take language and values from the URL if they are new."""
    session = st.session_state
    came_here = session.get("_page") != name
    session["_page"] = name
    page = _page()
    url = {key: value for key, value in st.query_params.items() if is_sound(key, value)}
    moved = session.pop("_moved", False) and not came_here
    if not moved:
        _read(page, url, came_here)
    if url.get("lang") != session.get("_lang_seen"):
        if not moved:
            language.choose(url.get("lang"))
        session["_lang_seen"] = url.get("lang")
    _take_moves(page)


def switch_language(code: str) -> None:
    """In a callback: the reader has pressed the other language, maybe right after a control."""
    moved()
    _take_moves(_page())
    language.choose(code)
    for key in _page().worded:  # what the browser may still say of when it was spoken last
        st.session_state.pop(_widget(key), None)


def _take_moves(page: PageState) -> None:
    """What the reader has just moved, before its control is drawn: links above it carry it, too."""
    for key, default in page.defaults.items():
        if _widget(key) in st.session_state:
            settle(key, st.session_state[_widget(key)], default)


def _read(page: PageState, url: dict[str, str], came_here: bool) -> None:
    """A URL that neither the reader's move nor `write` made: a link, or Back."""
    before = page.seen or {}
    news = {key: value for key, value in url.items() if before.get(key) != value}
    gone = set() if came_here else {key for key in before if key not in url}
    page.seen = dict(url)
    if {key for key in news if key not in RESERVED}:
        page.private["_came_by_link"] = page.private.get("_came_by_link", came_here)
    for key in gone - RESERVED:
        page.values.pop(key, None)
        page.written.pop(key, None)
        _renew(key)
    for key, value in news.items():
        if key in AMBIENT:
            continue
        page.written[key] = value
        page.values.pop(key, None)
        _renew(key)
    if "part" in gone:
        page.written.pop("part", None)
    page.written = dict(list(page.written.items())[-MAX_PARAMETERS:])


def bind(key: str, default: Any, parse: Parse, worded: bool = False) -> str:
    """Make sure the widget of this control stands where it should; returns the widget's key.

    `parse` turns the text of the URL into a value, or raises ValueError for what means nothing.
    `worded`: its options are words of the reader's language.
    """
    page = _page()
    if worded:
        page.worded.add(key)
    widget = _widget(key)
    if page.is_resumed and _is_told(widget):
        return widget  # moved while no server heard it
    if widget not in st.session_state:
        kept = page.values.get(key, parsed(page.written.get(key), parse, default))
        st.session_state[widget] = kept
    elif page.restates or page.is_unsettled:  # an interrupted run may never have told the browser
        st.session_state[widget] = st.session_state[widget]
    return widget


def restate(on: bool) -> None:
    """Say the value of each widget bound from now on in every run, not only when it is new.

    The browser builds the inside of a closed popover when it is opened; until then it forgets what
    it was told, and a slider would show its minimum.
    """
    _page().restates = on


def settle(key: str, value: Any, default: Any) -> None:
    """Remember where a control stands; what no address holds is remembered in the session alone."""
    page = _page()
    page.values[key], page.defaults[key] = value, default
    text = _text(value)
    if value == default or len(text) > MAX_LENGTHS.get(key, MAX_LENGTH):
        page.written.pop(key, None)
    else:
        page.written[key] = text


def moved() -> None:
    """For `on_change` of everything that reruns the page: the reader's hand wins over the URL.

    What the browser sends along may be older than our last `write`, while that is on its way.
    """
    st.session_state["_moved"] = True


def arrived() -> None:
    """What `moved` has said is over: a part of the page that is drawn by itself reads no address,
    and the next one, a link's, is to be read."""
    st.session_state.pop("_moved", None)


def set_value(key: str, value: Any, default: Any) -> None:
    """Move a control from code, in a callback."""
    moved()
    st.query_params.pop("step", None)
    _renew(key)
    settle(key, value, default)


def say_again() -> None:
    """In a callback that follows close upon a run: say in the next one where every widget stands.

    The browser may never have shown what it was told; a slider would then show its minimum.
    """
    _page().is_unsettled = True


def here() -> str:
    """The page that is being drawn."""
    return str(st.session_state.get("_page", ""))


def reset() -> None:
    """Put every control of this page back to its default (in a callback); the act stays."""
    page = _page()
    put_back(key for key in {**page.values, **page.written} if key not in RESERVED)


def put_back(keys: Iterable[str]) -> None:
    """Put some controls of this page back to their defaults (in a callback)."""
    moved()
    page = _page()
    for key in keys:
        _renew(key)
        page.values.pop(key, None)
        page.written.pop(key, None)


def wanted(key: str) -> str | None:
    """A value that has no widget (the act): what the URL or the reader last asked for."""
    return _page().written.get(key)


def parsed(text: str | None, parse: Parse, default: Any) -> Any:
    """What the text of an address means to a control; the default where it means nothing."""
    if text is None:
        return default
    try:
        return parse(text)
    except (ValueError, OverflowError):
        return default


def settings(keys: Iterable[str]) -> dict[str, str]:
    """Those of these controls that stand elsewhere than where they start, as in the URL."""
    written = _page().written
    return {key: written[key] for key in keys if key in written}


def handed_on() -> dict[str, str]:
    """What the address says, for another page to take over; this one forgets it."""
    page = _page()
    page.written, page.seen = {}, None
    return dict(st.query_params)


def parameter(key: str) -> str | None:
    """A parameter as the URL has it now (`view`, `step`)."""
    value = st.query_params.get(key)
    return value if value is not None and is_sound(key, value) else None


def write() -> None:
    """Bring the URL up to date; a `step` stays only as long as nothing else changes.

    Always written: a link within the page tells the server its query but leaves the browser's
    address as it was, and the browser ignores a query it already has.
    """
    page = _page()
    want = page.written | ambient()
    have = dict(st.query_params)
    is_same = want == {key: value for key, value in have.items() if key != "step"}
    if not (is_same and "step" in have):
        st.query_params.from_dict(want)
    page.seen = dict(st.query_params)
    page.is_unsettled = page.is_resumed = False
    st.session_state["_lang_seen"] = st.query_params.get("lang")


def query_of(name: str, **changes: str | None) -> dict[str, str]:
    """The parameters with which a link reopens a page as this reader left it."""
    query = _page(name).written | ambient()
    query |= {key: value for key, value in changes.items() if value is not None}
    return {key: value for key, value in query.items() if changes.get(key, value) is not None}


def ambient() -> dict[str, str]:
    """What goes along to every page: the chosen language, and the lecture view."""
    chosen = st.session_state.get(language.KEY)
    along = {"lang": chosen} if chosen else {}
    return along | ({"view": "lecture"} if st.query_params.get("view") == "lecture" else {})


def own_widget(key: str) -> str:
    """The widget of a control whose value is kept (`keep`), but not in the URL."""
    return _widget(key)


def came_by_link() -> bool:
    """True when the reader opened this page by a link that carries the state of a control."""
    return bool(_page().private.get("_came_by_link", False))


def kept(key: str, default: Any) -> Any:
    """Something this reader did on this page (an answer, a guess): kept, but not in the URL."""
    return _page().private.get(key, default)


def keep(key: str, value: Any) -> None:
    _page().private[key] = value


def pages() -> dict[str, PageState]:
    """Every page of this session, by its name."""
    known: dict[str, PageState] = st.session_state.setdefault("_pages", {})
    return known


def is_sound(key: str, value: str) -> bool:
    """Whether an address can say this."""
    return bool(NAME.fullmatch(key)) and len(value) <= MAX_LENGTHS.get(key, MAX_LENGTH)


def go_on_from(earlier: dict[str, PageState], name: str, spoken: str | None) -> None:
    """Be the session that knew these pages, drew this one last, and read this `lang` there."""
    pages().clear()
    pages().update(earlier)
    for page in earlier.values():
        page.is_resumed = True
    moved_here = {"_page": name, "_lang_seen": spoken}
    st.session_state.update(moved_here)


# -- inside -----------------------------------------------------------------------------------


def _page(name: str | None = None) -> PageState:
    return pages().setdefault(name or st.session_state.get("_page", ""), PageState())


def _widget(key: str) -> str:
    page = _page()
    renewals = page.renewals.get(key, 0)
    name = f"{st.session_state.get('_page', '')}{f'.{renewals}' if renewals else ''}:{key}"
    return language.worded(name) if key in page.worded else name


def _is_told(widget: str) -> bool:
    """Whether the browser says where a widget stands that this session has never drawn."""
    run = get_script_run_ctx()
    told = (
        run.session_state._state._new_widget_state if run and widget not in st.session_state else ()
    )
    return any(user_key_from_element_id(name) == widget for name in told)


def _renew(key: str) -> None:
    """Give a control that code moves a new widget.

    The browser sends where all widgets stand with every click; one that it has not heard of the
    move of yet would move it back.
    """
    st.session_state.pop(_widget(key), None)
    page = _page()
    page.renewals[key] = page.renewals.get(key, 0) + 1
    page.is_unsettled = True


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "1" if value else "0"
    return f"{value:g}" if isinstance(value, float) else str(value)
