"""What a session knows and no address holds, in the keeping of the reader's own tab.

A server may die, or be replaced by a new one; the reader then finds another server, which has never
heard of them.  So every run leaves a note in the page, hidden: the controls of the pages left,
where the players stand, guesses, answers, the order of options.  The browser's half,
`assets/tab.js`, hands the newest note to a server that the tab has lost from sight, and to the one
that answers after a reload; a session that did not write it goes on from it.

A file that was brought is no part of the note: the browser brings it once more.

What comes back is hostile until it is read: what does not fit is left out.
"""

import json
import re
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, astuple
from functools import cache
from typing import Any

import streamlit as st

from ui import player
from ui.controls import turns
from ui.course import state
from ui.course.state import PageState
from ui.files import ASSETS
from ui.practice import answers, bank, drills
from ui.practice.kept import progress, sitting
from ui.words.language import tr

KEY = "tab-component"
SCRIPT = ASSETS / "tab.js"
VERSION = 1
MAX_LETTERS = 200_000
MAX_ENTRIES = 300  # of each kind
MAX_NUMBER = 100_000
LIFE, TAKEN, COUNT = "_tab_life", "_tab_taken", "_tab_count"  # in the session
ROUND_KEY, ROUND_KEPT = "_practice_round", "_practice_round_kept"  # there, too (`rounds`)


def begin() -> None:
    """Listen to the tab.  The first thing that a page draws: what it hands over may change all."""
    component = st.components.v2.component("tab", html="<span hidden></span>", js=_script())
    data = {
        "life": _life(),
        "taken": st.session_state.get(TAKEN, 0),
        "away": tr(
            "与服务器的连接断了，正在重新连接。你做过的都还在。",
            "The connection to the server is lost; reconnecting. What you did is kept.",
        ),
        "silent": tr(
            "服务器还没有回答。你做过的都还在。",
            "The server does not answer yet. What you did is kept.",
        ),
        "back": tr("又连上了，一切照旧。", "Connected again, and all is as you left it."),
    }
    with st.container(key="tab"):
        component(key=KEY, data=data, on_note_change=_arrived, height="content")
    if _take():  # this session had not heard of the component when the note came
        st.rerun()


def note(where: str) -> None:
    """Leave in the page what this session knows now.  The last thing that a run, or the run of a
    fragment, does; `where` says which of them."""
    st.session_state[COUNT] = st.session_state.get(COUNT, 0) + 1
    with st.container(key=f"tab-note-{where}"):
        st.text(json.dumps(_written(), separators=(",", ":")))


def _arrived() -> None:
    state.moved()
    _take()


def _take() -> bool:
    """Go on from a note that was not written here.  Whether there was one."""
    said = (st.session_state.get(KEY) or {}).get("note")
    if not said or said["number"] == st.session_state.get(TAKEN, 0):
        return False
    st.session_state[TAKEN] = said["number"]
    return _read(str(said.get("text") or ""), bool(said.get("lives")))


def _life() -> str:
    """Names this session."""
    return str(st.session_state.setdefault(LIFE, secrets.token_hex(8)))


@cache
def _script() -> str:
    return SCRIPT.read_text(encoding="utf-8")


# The note


def _written() -> dict[str, Any]:
    given = st.session_state.get("_given", {})
    now = st.session_state.get(ROUND_KEY)
    return {
        "version": VERSION,
        "life": _life(),
        "count": st.session_state[COUNT],
        "here": state.here(),
        "spoken": st.query_params.get("lang"),
        "pages": {
            name: _page_written(page)
            for name, page in state.pages().items()
            if page.seen is not None  # else no more than a link to it was drawn
        },
        "players": player.visits(),
        "guesses": progress.guesses(),
        "given": [
            [sheet, key, asdict(one)]
            for (sheet, key), one in given.items()
            if sheet != sitting.NAME
        ],
        "exam": sitting.kept() or "",
        "turns": turns.all_standing(),
        "seed": answers.seed(),
        "round": st.session_state.get(ROUND_KEPT) if now is None else astuple(now),
    }


def _page_written(page: PageState) -> dict[str, Any]:
    return {
        "written": page.written,
        "seen": page.seen,
        "renewals": page.renewals,
        "typed": {key: text for key, text in page.values.items() if _is_long(key, text)},
        "kept": {name: value for name, value in page.private.items() if _is_plain(name, value)},
    }


def _is_long(key: str, value: object) -> bool:
    """Whether this is a text that no address holds."""
    return isinstance(value, str) and not state.is_sound(key, value)


PLAIN: Mapping[str, Callable[[Any], bool]] = {  # what a page keeps, by its name
    "_came_by_link": lambda value: isinstance(value, bool),
    "newest": lambda value: value in ("upload", "paste"),
    r".*-box|player-.*": lambda value: isinstance(value, str),
    r".*-letters": lambda value: [type(one) for one in value] == [str, int],
    r"figure-.*": lambda value: [type(one) for one in value] == [int, int] and value[1] > 0,
}


def _is_plain(name: str, value: object) -> bool:
    fits = [check for pattern, check in PLAIN.items() if re.fullmatch(pattern, name)]
    return bool(fits) and fits[0](value)


def _read(text: str, lives: bool = True) -> bool:
    """Whether this is a note of another session; then this one goes on from it.  `lives`: the
    players of the page have gone on meanwhile; else they are to go where they stood."""
    if len(text) > MAX_LETTERS:
        return False
    try:
        whole = json.loads(text)
        if whole["version"] != VERSION or whole["life"] == _life():
            return False
        pages = {str(name): _page(raw) for name, raw in _some(whole["pages"])}
        visits = {str(key): player.visit_from(raw) for key, raw in _some(whole["players"])}
        guesses = {str(name): progress.guess_from(raw) for name, raw in _some(whole["guesses"])}
        stands = {str(name): _number(at) for name, at in _some(whole["turns"])}
        seed, here, spoken = _number(whole["seed"]), str(whole["here"]), whole["spoken"]
        now = _round(whole["round"])
        sums = drills.one_of_each(now[1]) if now else []
        items = bank.all_items() | {item.key: item for item in sums}
        given = {
            (str(sheet), str(key)): sitting.given_to(items[key], raw)
            for sheet, key, raw in whole["given"][:MAX_ENTRIES]
            if key in items
        }
        exam = str(whole["exam"])
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError):
        return False
    state.go_on_from(pages, here, spoken if isinstance(spoken, str) else None)
    for key, visit in visits.items():
        player.take_up(key, visit, lives and key.startswith(f"{here}-"))
    progress.guesses().update(guesses)
    st.session_state["_given"] = given
    answers.settle_seed(seed)
    sitting.came_back(exam)
    for name, at in stands.items():
        turns.go(name, at)
    st.session_state[ROUND_KEPT] = now
    return True


def _page(raw: Mapping[str, Any]) -> PageState:
    page = PageState()
    page.written = dict(_texts(raw["written"]))
    page.seen = None if raw["seen"] is None else dict(_texts(raw["seen"]))
    page.renewals = {str(key): _number(times) for key, times in _some(raw["renewals"])}
    page.values = {key: text for key, text in _some(raw["typed"]) if _is_long(key, text)}
    kept = {name: tuple(one) if isinstance(one, list) else one for name, one in _some(raw["kept"])}
    page.private = {name: one for name, one in kept.items() if _is_plain(name, one)}
    return page


def _round(raw: Sequence[Any] | None) -> tuple[str, int, bool, tuple[str, ...]] | None:
    if raw is None:
        return None
    scope, number, is_informed, keys = raw
    return str(scope), _number(number), bool(is_informed), tuple(map(str, keys[:MAX_ENTRIES]))


def _some(raw: Mapping[str, Any]) -> list[tuple[str, Any]]:
    return list(raw.items())[:MAX_ENTRIES]


def _texts(raw: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [(key, str(value)) for key, value in _some(raw) if state.is_sound(key, str(value))]


def _number(raw: object) -> int:
    """Raises ValueError for what is no count."""
    if type(raw) is not int or not 0 <= raw <= 10 * MAX_NUMBER:
        raise ValueError(raw)
    return raw
