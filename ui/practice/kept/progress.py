"""A reader's progress: kept in their own browser, carried off as a file, handed in as a table.

There is no login, and nothing is written on the server.  `mount` adds a small component that keeps
the marks (`answers`) in localStorage and hands them over once per session; that arrives one
rerun late, so it is mounted only where progress is seen or made.  An exam at hand (`sitting`) and
the acts that were opened (`visited`) travel along, and so do the guesses; of those it is also kept
that a question was asked, so that a reload of an address that has changed meanwhile asks it again.

What comes from a file or from the browser is hostile until `read` has read it.
"""

import csv
import io
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any

import streamlit as st

from ui.course import state, visited
from ui.files import ASSETS
from ui.practice import answers, bank
from ui.practice.answers import Mark
from ui.practice.bank import Item
from ui.practice.kept import sitting
from ui.words.language import tr

KEY = "progress"
SCRIPT = ASSETS / "progress.js"
VERSION = 1
MAX_BYTES = 200_000
MAX_MARKS = 2_000
MAX_TRIES = 9_999
MAX_GUESSES = 200
GUESS_STATES = ("open", "answered", "skipped")
COLUMNS = ("chapter", "item", "kind", "result", "sure", "tries")


class ProgressError(ValueError):
    """A file or a store that cannot be read; the message says where, in the reader's language."""


@dataclass(frozen=True)
class Stored:
    """What was read: marks, and how many were of questions this version does not have."""

    marks: dict[str, Mark]
    num_unknown: int = 0


# Reading and writing


def written(marks: Mapping[str, Mark]) -> bytes:
    """The file a reader carries off."""
    content = {"version": VERSION, "marks": {key: asdict(mark) for key, mark in marks.items()}}
    return json.dumps(content, indent=1).encode()


def read(content: bytes) -> Stored:
    """Raises ProgressError where the content is not what `written` writes."""
    if len(content) > MAX_BYTES:
        raise ProgressError(
            tr(
                f"文件有 {len(content):,} 字节，进度文件最多 {MAX_BYTES:,} 字节。",
                f"The file has {len(content):,} bytes; a progress file has {MAX_BYTES:,} at most.",
            )
        )
    whole = _parsed(content)
    if not isinstance(whole, dict) or whole.get("version") != VERSION:
        raise _error("version", str(VERSION))
    entries = whole.get("marks")
    if not isinstance(entries, dict) or len(entries) > MAX_MARKS:
        raise _error("marks", tr(f"最多 {MAX_MARKS:,} 条", f"{MAX_MARKS:,} entries at most"))
    items = bank.all_items()
    known = {key: _mark(items[key], entry) for key, entry in entries.items() if key in items}
    return Stored(known, len(entries) - len(known))


def _parsed(content: bytes) -> Any:
    try:
        return json.loads(content.decode("utf-8"))
    except json.JSONDecodeError as error:
        raise ProgressError(
            tr(
                f"第 {error.lineno} 行第 {error.colno} 列不是 JSON。",
                f"Line {error.lineno}, column {error.colno} is not JSON.",
            )
        ) from error
    except (ValueError, RecursionError) as error:  # not UTF-8; a number too long; nested too deep
        raise ProgressError(tr("这不是 JSON 文件。", "This is not a JSON file.")) from error


def _mark(item: Item, entry: object) -> Mark:
    where = f"marks.{item.key}"
    if not isinstance(entry, dict):
        raise _error(where, "{answer, sure, tries}")
    answer, sure, tries = (entry.get(name) for name in ("answer", "sure", "tries"))
    if not item.takes(answer):
        raise _error(f"{where}.answer", tr("这道题的一个答案", "an answer to this question"))
    if not isinstance(sure, bool):
        raise _error(f"{where}.sure", "true / false")
    if type(tries) is not int or not 1 <= tries <= MAX_TRIES:
        raise _error(f"{where}.tries", f"1–{MAX_TRIES}")
    return Mark(answer, sure, tries)


def _error(where: str, expected: str) -> ProgressError:
    return ProgressError(
        tr(f"{where} 有误，应为：{expected}。", f"{where} is not as it should be: {expected}.")
    )


def table(rows: Iterable[tuple[Item, Mark | None]]) -> bytes:
    """One row per question, the same in every language; a spreadsheet takes no cell for code."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for item, mark in rows:
        row: list[object] = [item.chapter, item.id, item.kind]
        if mark is None:
            writer.writerow([*row, "", "", ""])
        else:
            is_right = answers.judged(item, mark.answer)
            writer.writerow([*row, "right" if is_right else "wrong", int(mark.sure), mark.tries])
    return text.getvalue().encode()


# The browser


def mount() -> None:
    """Exchange marks with the reader's browser.  Once per page, where progress is seen or made."""
    state.arrived()
    _take_stored()
    data = {
        "known": is_known(),
        "reset": was_reset(),
        "marks": {key: asdict(mark) for key, mark in answers.news().items()},
        "exam": sitting.kept(),
        "guesses": {name: _bare(guess) for name, guess in guesses().items()},
    }
    component = st.components.v2.component(
        "progress", html="<span hidden data-progress></span>", js=_script()
    )
    with st.container(key="progress-store"):
        component(key=KEY, data=data, on_stored_change=_arrived, height="content")


def is_known() -> bool:
    """Whether the browser has handed over what it had kept."""
    return bool(st.session_state.get("_progress_known", False))


def problem() -> str:
    """What the reader should know of their browser's store; empty when all is well."""
    return str(st.session_state.get("_progress_problem", ""))


def was_reset() -> bool:
    """Whether this session has forgotten everything: then the browser does, too."""
    return bool(st.session_state.get("_progress_reset", False))


def reset() -> None:
    """Forget everything, here and in the browser."""
    answers.wipe()
    sitting.forget()
    visited.forget()
    guesses().clear()
    st.session_state["_progress_reset"] = st.session_state["_progress_known"] = True
    st.session_state["_progress_problem"] = ""


def _arrived() -> None:
    """The rerun that the store brings is no link: its address may be older than our last."""
    state.moved()
    _take_stored()


def _take_stored() -> None:
    """The browser has handed its store over: once per session."""
    said = (st.session_state.get(KEY) or {}).get("stored")
    if said is None or is_known():
        return
    st.session_state["_progress_known"] = True
    state.say_again()
    sitting.came_back(str(said.get("exam") or ""))
    visited.came_back(str(said.get("visited") or ""))
    _take_guesses(str(said.get("guesses") or ""))
    if not said.get("works"):
        st.session_state["_progress_problem"] = tr(
            "浏览器不允许这个页面保存数据：关掉页面，进度就没了。可以先导出成文件。",
            "Your browser keeps nothing for this page: progress is gone when you close it. "
            "Export it as a file.",
        )
    text = str(said.get("text") or "")
    if not text:
        return
    try:
        answers.take_over(read(text.encode("utf-8", "replace")).marks)
    except ProgressError as error:
        st.session_state["_progress_problem"] = tr(
            f"浏览器里保存的进度读不出来，从头开始记。{error}",
            f"What your browser had kept cannot be read, so progress starts anew. {error}",
        )


# Guesses


def guesses() -> dict[str, dict[str, Any]]:
    """Page and question -> what `predict` keeps of it."""
    known: dict[str, dict[str, Any]] = st.session_state.setdefault("_guesses", {})
    return known


def read_guesses(text: str) -> dict[str, dict[str, Any]]:
    """What `mount` has sent before; nothing where it is anything else."""
    try:
        entries = json.loads(text)["guesses"]
        return {
            str(name): {"state": entry["state"], "answers": _plain(entry["answers"])}
            for name, entry in list(entries.items())[:MAX_GUESSES]
            if entry["state"] in GUESS_STATES
        }
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return {}


def guess_from(raw: Mapping[str, Any]) -> dict[str, Any]:
    """One of them, from an earlier session; raises ValueError, KeyError or TypeError for none."""
    if raw["state"] not in GUESS_STATES:
        raise ValueError(raw["state"])
    parts = {name: _plain(raw.get(name) or {}) for name in ("answers", "drafts")}
    said = {name: bool(raw.get(name)) for name in ("asked", "coming")}
    return {"state": raw["state"]} | parts | said


def _plain(given: Mapping[str, Any]) -> dict[str, float | str]:
    """Raises TypeError for what is no answer; whether it fits its question `predict` knows."""
    if not all(type(answer) in (int, float, str) for answer in given.values()):
        raise TypeError("an answer is a number or a code")
    return {str(part): answer for part, answer in given.items()}


def _bare(guess: Mapping[str, Any]) -> dict[str, Any]:
    return {"state": guess.get("state", "open"), "answers": guess.get("answers", {})}


def _take_guesses(text: str) -> None:
    """What this session has done already wins."""
    here = f"{state.here()}."
    for name, guess in read_guesses(text).items():
        own = guesses().get(name, {})
        if own.get("state", "open") == "open" and not own.get("drafts"):
            asked = guess["state"] == "open" and name.startswith(here)
            guesses()[name] = guess | {"asked": asked}


# Before a chapter


def beforehand(item: Item) -> tuple[str, int | None]:
    """Where the question before a chapter stands ("open", "answered", "skipped"), and its answer;
    an answer that it cannot have leaves it open."""
    kept = guesses().get(item.key, {})
    answer = kept.get("answers", {}).get("option")
    if kept.get("state") == "answered" and item.takes(answer):
        return "answered", answer
    return ("skipped" if kept.get("state") == "skipped" else "open"), None


def keep_beforehand(item: Item, option: int | None) -> None:
    """Kept as a guess is: never graded, and the browser remembers it; None: skipped."""
    given = {} if option is None else {"option": option}
    guesses()[item.key] = {"state": "answered" if given else "skipped", "answers": given}


@cache
def _script() -> str:
    return SCRIPT.read_text(encoding="utf-8")
