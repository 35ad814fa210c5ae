"""Practice: a round of questions, the ones most worth asking first.

First what the reader was sure of and wrong about, then what else went wrong, then what is new, then
what was a guess; within each as the chapter has it, or mixed.  The order of a round stays while it
lasts: an answer changes the next round.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from ui.controls import turns
from ui.course import chapters
from ui.practice import answers, bank, drills, quiz
from ui.practice.answers import Sheet
from ui.practice.bank import Item
from ui.practice.kept import progress, tab
from ui.practice.kept.tab import ROUND_KEY
from ui.words.language import current, tr

SHEET = Sheet("practice")
MIXED, NUMBERS = "mixed", "numbers"
ROUND = 10  # questions of a mixed round


@dataclass(frozen=True)
class QuestionRound:
    """Questions in the order in which they are asked."""

    scope: str
    number: int  # how many rounds came before
    is_informed: bool  # the browser's marks had arrived
    keys: tuple[str, ...]

    @property
    def items(self) -> list[Item]:
        known = {item.key: item for item in drills.one_of_each(self.number)} | bank.all_items()
        return [known[key] for key in self.keys if key in known]


def scopes() -> dict[str, str]:
    """What can be practised: code in the URL -> words."""
    mixed = tr("各章混合", "All chapters, mixed")
    numbers = tr("算一算：每轮换新的数", "Sums with new numbers each round")
    return {MIXED: mixed, NUMBERS: numbers} | chapter_names()


def chapter_names() -> dict[str, str]:
    """The chapters that have questions and a page: 05 -> "05  Batching"."""
    known = {f"{chapter.number:02}": chapter for chapter in chapters.in_order()}
    return {name: known[name].name(current()) for name in bank.names() if name in known}


@st.fragment
def show(scope: str) -> None:
    """Draw the round of this scope.  An answer reruns the round alone."""
    progress.mount()
    now = _round(scope)
    items = now.items
    item = items[turns.standing(SHEET.name, len(items))]
    if answers.given(SHEET, item).answer is None:
        _say_why(item)
    quiz.draw_one(SHEET, items, beside=lambda: _offer_another(now))
    tab.note("round")


def _offer_another(now: QuestionRound) -> None:
    st.button(
        tr("新的一轮", "A new round"),
        key="practice-new",
        icon=":material/refresh:",
        on_click=_begin,
        args=(now.scope, now.number + 1),
    )


def rank(item: Item) -> int:
    """How soon an item should come: 0 is first."""
    mark = answers.marks().get(item.key)
    if mark is None:
        return 2
    if answers.is_right(item.key):
        return 4 if mark.sure else 3
    return 0 if mark.sure else 1


def in_order(items: Sequence[Item]) -> list[Item]:
    """Those most worth asking first; of equals the earlier."""
    return sorted(items, key=rank)


def _say_why(item: Item) -> None:
    why = {
        0: tr("上次你很有把握，却答错了", "Last time you were sure, and wrong"),
        1: tr("上次答错了", "Wrong last time"),
        3: tr("上次答对了，但没有把握", "Right last time, but you were not sure"),
    }.get(rank(item))
    if why:
        st.markdown(f":gray-badge[{why}]")


def _round(scope: str) -> QuestionRound:
    """The round at hand, begun anew where it cannot go on or would better know the marks."""
    _resume()
    now: QuestionRound | None = st.session_state.get(ROUND_KEY)
    if now is None or now.scope != scope:
        _begin(scope, 0)
    elif not now.is_informed and progress.is_known() and answers.is_blank(SHEET):
        _begin(scope, now.number)
    begun: QuestionRound = st.session_state[ROUND_KEY]
    return begun


def _resume() -> None:
    """Go on with the round that this reader's tab has kept."""
    kept = st.session_state.pop(tab.ROUND_KEPT, None)
    if kept is not None and QuestionRound(*kept).items:
        st.session_state[ROUND_KEY] = QuestionRound(*kept)


def _begin(scope: str, number: int) -> None:
    answers.clear(SHEET)
    turns.go(SHEET.name, 0)
    keys = tuple(item.key for item in questions(scope, number))
    st.session_state[ROUND_KEY] = QuestionRound(scope, number, progress.is_known(), keys)


def questions(scope: str, number: int) -> list[Item]:
    """A round, the same for everybody: what a reader knows comes in by the order alone."""
    if scope == NUMBERS:
        return drills.one_of_each(number)
    if scope != MIXED:
        return in_order(bank.load(scope))
    chapters_here = chapter_names()
    mixed = [item for item in bank.all_items().values() if item.chapter in chapters_here]
    random.Random(number).shuffle(mixed)
    return without_twins(in_order(mixed))[:ROUND]


def without_twins(items: Sequence[Item]) -> list[Item]:
    """Of those that ask the same, the first."""
    firsts = {item.twin or item.key: item for item in reversed(items)}
    return [item for item in items if firsts[item.twin or item.key] is item]
