"""What this reader answered, for the session.

A sheet is a place where questions stand: the self-check of a chapter, a round of practice, an exam.
The answer given on a sheet leads and the widgets follow, so that none is lost with a widget.

A mark is what stays of an item wherever it was answered last; marks are the reader's progress, and
their own browser keeps them (`progress`).  Whether an answer is right is never kept: it is
judged anew.
"""

import random
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from ui.practice import bank
from ui.practice.bank import Answer, Item
from ui.practice.judge import judge, shuffled

GRACE_SECONDS = 3  # for an answer that was on its way when a sheet closed


@dataclass(frozen=True)
class Sheet:
    """A place where questions stand."""

    name: str
    judges: bool = True  # each answer as soon as it is given
    closes: float = float("inf")  # seconds since 1970; after that no answer is taken
    seed: int | None = None  # of the order of options; by default the reader's own

    @property
    def is_open(self) -> bool:
        return time.time() < self.closes + GRACE_SECONDS

    def order(self, item: Item) -> list[int]:
        """The order in which the options stand."""
        return shuffled(item, seed() if self.seed is None else self.seed)

    def of(self, item: Item) -> str:
        """What an item on this sheet is called: 05-why_continuous in the self-check of 05."""
        return "-".join(dict.fromkeys((self.name, item.chapter, item.id)))


@dataclass(frozen=True)
class Given:
    """Where an item on a sheet stands."""

    answer: Answer = None
    draft: tuple[int, ...] = ()  # options ticked or ordered so far
    sure: bool = False


@dataclass(frozen=True)
class Mark:
    """How an item was answered last, how sure the reader was, and how often it was answered."""

    answer: Answer
    sure: bool
    tries: int


def given(sheet: Sheet, item: Item) -> Given:
    """A self-check that this session has not touched shows what was answered in an earlier one."""
    kept = _given().get((sheet.name, item.key))
    mark = marks().get(item.key) if sheet.name == item.chapter else None
    if kept is not None or mark is None:
        return kept or Given()
    draft = tuple(mark.answer) if isinstance(mark.answer, list) else ()
    return Given(mark.answer, draft, mark.sure)


def give(sheet: Sheet, item: Item, answer: Answer, draft: Sequence[int] = ()) -> None:
    """Take an answer; None for one that is not complete."""
    if not sheet.is_open:
        return
    now = replace(given(sheet, item), answer=answer, draft=tuple(draft))
    _given()[sheet.name, item.key] = now
    if sheet.judges and answer is not None:
        _mark(item, now)


def say_sure(sheet: Sheet, item: Item, sure: bool) -> None:
    _given()[sheet.name, item.key] = replace(given(sheet, item), sure=sure)


def forget(sheet: Sheet, item: Item) -> None:
    """Clear an item on its sheet, to be tried again; its mark stays until then."""
    _given()[sheet.name, item.key] = Given()


def is_blank(sheet: Sheet) -> bool:
    return not on(sheet)


def on(sheet: Sheet) -> dict[str, Given]:
    """Item key -> what was given on this sheet."""
    return {key: given for (name, key), given in _given().items() if name == sheet.name}


def lay_out(sheet: Sheet, given: Mapping[str, Given]) -> None:
    """Put on a sheet what was given there in an earlier session."""
    clear(sheet)
    _given().update({(sheet.name, key): one for key, one in given.items()})


def clear(sheet: Sheet) -> None:
    for key in on(sheet):
        del _given()[sheet.name, key]


def hand_in(sheet: Sheet, items: Sequence[Item]) -> None:
    """Mark all at once what was answered on a sheet that did not judge."""
    for item in items:
        now = given(sheet, item)
        if now.answer is not None:
            _mark(item, now)


def seed() -> int:
    """Drawn once per reader, for the order of options."""
    return int(st.session_state.setdefault("_quiz_seed", random.randrange(1_000_000)))


def settle_seed(drawn: int) -> None:
    """Go on with the one that was drawn for this reader before."""
    st.session_state["_quiz_seed"] = drawn


# Marks


def marks() -> dict[str, Mark]:
    """Item key -> its mark, the latest last; as a whole the progress of this reader."""
    known: dict[str, Mark] = st.session_state.setdefault("_marks", {})
    return known


def news() -> dict[str, Mark]:
    """Those of them that this session made, which the browser may not know yet."""
    fresh: dict[str, Mark] = st.session_state.setdefault("_marks_news", {})
    return fresh


def take_over(older: Mapping[str, Mark]) -> None:
    """Marks from earlier: what this session made wins."""
    st.session_state["_marks"] = {**older, **news()}


def put(imported: Mapping[str, Mark]) -> None:
    """Marks from a file: they win, and the self-checks show them; an exam at hand goes on."""
    for known in (marks(), news()):
        known.update(imported)
    for key in imported:
        _given().pop((bank.all_items()[key].chapter, key), None)


def wipe() -> None:
    """Forget everything."""
    for name in ("_marks", "_marks_news", "_given"):
        st.session_state[name] = {}


def judged(item: Item, answer: Answer) -> bool:
    """Whether an answer is right."""
    return judge(item, answer).right


def is_right(key: str) -> bool:
    """Whether an item that has a mark was answered rightly."""
    return judged(bank.all_items()[key], marks()[key].answer)


def right_of(name: str) -> tuple[int, int, int]:
    """Of a chapter: items answered rightly so far, items answered, items."""
    keys = [item.key for item in bank.load(name)]
    answered = [key for key in keys if key in marks()]
    return sum(map(is_right, answered)), len(answered), len(keys)


def _mark(item: Item, now: Given) -> None:
    if item.key not in bank.all_items():
        return  # made up on the spot: it will not come again
    before = marks().pop(item.key, None)
    tries = before.tries + 1 if before else 1
    marks()[item.key] = news()[item.key] = Mark(now.answer, now.sure, tries)


def _given() -> dict[tuple[str, str], Given]:
    kept: dict[tuple[str, str], Any] = st.session_state.setdefault("_given", {})
    return kept
