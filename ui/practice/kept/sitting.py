"""A reader at work on a paper of the mock exam, and how that survives a reload.

The reader's browser keeps the sitting at hand as a text (`progress` carries it there and back):
the paper, the moment it began, the answers so far.  The clock runs on meanwhile.  What comes back
is hostile until `read` has read it.
"""

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import streamlit as st

from ui.practice import answers
from ui.practice.answers import Given, Sheet
from ui.practice.bank import Item

NAME = "exam"  # of the sheet
VERSION = 1
MAX_LETTERS = 20_000  # of the text; 30 answers take 4,000
KEY, STORED = "_exam", "_exam_stored"  # in the session


@dataclass(frozen=True)
class Paper:
    """What settles an exam."""

    seed: int
    num_items: int
    minutes: int


@dataclass(frozen=True)
class Sitting:
    """Times in seconds since 1970."""

    paper: Paper
    started: float
    ended: float | None = None

    @property
    def closes(self) -> float:
        return self.started + 60 * self.paper.minutes

    @property
    def seconds_left(self) -> float:
        return max(0.0, self.closes - time.time())

    @property
    def sheet(self) -> Sheet:
        is_over = self.ended is not None
        closes = 0.0 if is_over else self.closes
        return Sheet(NAME, judges=is_over, closes=closes, seed=self.paper.seed)


# The session


def at_hand() -> Sitting | None:
    """The sitting that was begun last."""
    sitting: Sitting | None = st.session_state.get(KEY)
    return sitting


def take(sitting: Sitting) -> None:
    st.session_state[KEY] = sitting


def forget() -> None:
    """Have none, neither here nor in the browser."""
    st.session_state[KEY] = None


# The browser


def kept() -> str | None:
    """What the browser should keep; None where it should leave what it has."""
    if KEY not in st.session_state:
        return None
    sitting = at_hand()
    return "" if sitting is None else written(sitting, answers.on(sitting.sheet))


def came_back(text: str) -> None:
    """The browser has handed over what it had kept."""
    st.session_state[STORED] = text


def resume(paper: Paper, items: Sequence[Item]) -> Sitting | None:
    """Go on with what the browser had kept, if it is this paper and none was begun since."""
    found = None if KEY in st.session_state else read(st.session_state.get(STORED, ""), items)
    if found is None or found[0].paper != paper:
        return None
    sitting, given = found
    take(sitting)
    answers.lay_out(sitting.sheet, given)
    return sitting


# The text


def written(sitting: Sitting, given: Mapping[str, Given]) -> str:
    """The text that `read` reads."""
    on_sheet = {key: asdict(one) for key, one in given.items()}
    return json.dumps({"version": VERSION, **asdict(sitting), "given": on_sheet})


def read(text: str, items: Sequence[Item]) -> tuple[Sitting, dict[str, Given]] | None:
    """The sitting and its answers to these items; None where `written` has not written that."""
    if len(text) > MAX_LETTERS:
        return None
    try:
        whole = json.loads(text)
        if whole["version"] != VERSION:
            return None
        paper = Paper(*(int(whole["paper"][name]) for name in ("seed", "num_items", "minutes")))
        ended = whole["ended"] if whole["ended"] is None else float(whole["ended"])
        sitting = Sitting(paper, float(whole["started"]), ended)
        raw = whole["given"]
        given = {item.key: given_to(item, raw[item.key]) for item in items if item.key in raw}
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
        return None
    is_possible = 0 <= sitting.started <= time.time() and (
        ended is None or sitting.started <= ended <= sitting.closes
    )
    return (sitting, given) if is_possible else None


def given_to(item: Item, raw: Mapping[str, Any]) -> Given:
    """Raises ValueError or TypeError where this cannot have been given to the item."""
    answer, draft, sure = raw["answer"], raw["draft"], raw["sure"]
    is_part = all(type(place) is int and 0 <= place < len(item.options) for place in draft)
    if not (answer is None or item.takes(answer)) or not is_part or not isinstance(sure, bool):
        raise ValueError(item.key)
    return Given(answer, tuple(dict.fromkeys(draft)), sure)
