"""A timed mock exam: the same paper for everybody with the same link.

A paper is drawn from the bank by its number.  Nothing is judged before it is handed in; then every
answer gets its feedback, counts as progress, and can be carried off as a table.
"""

import random
import time
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import streamlit as st

from ui import answers, drills, practice, progress, quiz, state, take_along, turns
from ui import quiz_bank as bank
from ui.answers import Mark, Sheet
from ui.language import tr
from ui.quiz_bank import Item

MAX_SEED = 999_999
ONE_SUM_IN = 5  # questions
NAME = "exam"  # of the sheet
SCRIPT = Path(__file__).resolve().parent.parent / "assets" / "countdown.js"


@dataclass(frozen=True)
class Paper:
    """What settles an exam."""

    seed: int
    num_items: int
    minutes: int

    @property
    def items(self) -> tuple[Item, ...]:
        return drawn(self.seed, self.num_items)


@dataclass(frozen=True)
class Sitting:
    """A reader at work on a paper; times in seconds since 1970."""

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


@cache
def drawn(seed: int, num_items: int) -> tuple[Item, ...]:
    """Questions from chapters in turn, so that each has its share, and a sum now and then."""
    lot = random.Random(f"paper:{seed}:{num_items}")
    piles = [list(bank.load(name)) for name in practice.chapter_names()]
    lot.shuffle(piles)
    for pile in piles:
        lot.shuffle(pile)
    sums = [drills.item(name, seed) for name in drills.TEXTS]
    lot.shuffle(sums)
    paper: list[Item] = []
    while len(paper) < num_items and (piles or sums):
        pile = sums if sums and len(paper) % ONE_SUM_IN == ONE_SUM_IN - 1 else _next_pile(piles)
        paper.append(pile.pop())
        piles = [pile for pile in piles if pile]
    return tuple(paper)


def _next_pile(piles: list[list[Item]]) -> list[Item]:
    """The one that has waited longest; it goes to the end of the row."""
    piles.append(piles.pop(0))
    return piles[-1]


@st.fragment
def show(paper: Paper, large: bool = False) -> None:
    """Draw what this reader sees of the paper now.  An answer reruns the exam alone."""
    progress.mount()
    sitting = _sitting(paper)
    if sitting is None:
        _offer(paper)
    elif sitting.ended is None:
        _at_work(sitting)
    else:
        _results(sitting, large)


def _sitting(paper: Paper) -> Sitting | None:
    """This reader's sitting of this paper; one whose time is up hands itself in."""
    sitting: Sitting | None = st.session_state.get("_exam")
    if sitting is None or sitting.paper != paper:
        return None
    if sitting.ended is None and sitting.seconds_left == 0:
        _hand_in(sitting)
    return st.session_state["_exam"]


def _offer(paper: Paper) -> None:
    num_items = len(paper.items)
    st.markdown(
        tr(
            f"试卷 {paper.seed}：{num_items} 题，{paper.minutes} 分钟。",
            f"Paper {paper.seed}: {num_items} questions, {paper.minutes} minutes.",
        )
    )
    st.button(
        tr("开始", "Start"),
        key="exam-start",
        icon=":material/timer:",
        on_click=_start,
        args=(paper,),
    )
    st.markdown(tr("发给全班的链接：", "The link for a class:"))
    query = state.query_of("15_quiz", part="exam")
    st.code(take_along.address(query), language=None, wrap_lines=True)


def _at_work(sitting: Sitting) -> None:
    sheet, items = sitting.sheet, sitting.paper.items
    answered = sum(answers.given(sheet, item).answer is not None for item in items)
    with st.container(horizontal=True, gap="medium", vertical_alignment="center", key="exam-line"):
        _countdown(sitting)
        st.markdown(
            tr(f"已答 {answered} / {len(items)}", f"{answered} of {len(items)} answered"),
            width="content",
        )
        st.button(tr("交卷", "Hand in"), key="exam-hand-in", on_click=_hand_in, args=(sitting,))
    quiz.draw_one(sheet, items)


def _results(sitting: Sitting, large: bool) -> None:
    sheet, items = sitting.sheet, sitting.paper.items
    marks = [_mark(sheet, item) for item in items]
    right = sum(
        mark is not None and answers.judged(item, mark.answer)
        for item, mark in zip(items, marks, strict=True)
    )
    minutes = ((sitting.ended or 0.0) - sitting.started) / 60
    with st.container(key="exam-result"):
        st.markdown(
            tr(
                f"**{right} / {len(items)}** 题答对，用时 {minutes:.1f} 分钟"
                f"（试卷 {sitting.paper.seed}）。",
                f"**{right} of {len(items)}** right, in {minutes:.1f} minutes "
                f"(paper {sitting.paper.seed}).",
            )
        )
    with st.container(horizontal=True, gap="small", key="exam-out"):
        st.download_button(
            tr("成绩表（CSV）", "Table of results (CSV)"),
            lambda: progress.table(zip(items, marks, strict=True)),
            f"paper-{sitting.paper.seed}.csv",
            "text/csv",
            key="exam-csv",
            icon=":material/table:",
            on_click="ignore",
        )
        st.button(
            tr("再做一遍", "Sit it again"), key="exam-again", on_click=_start, args=(sitting.paper,)
        )
    if large:
        quiz.draw_one(sheet, items)
        return
    for at, item in enumerate(items):
        quiz.draw(sheet, item, f"{at + 1} / {len(items)}")


def _mark(sheet: Sheet, item: Item) -> Mark | None:
    given = answers.given(sheet, item)
    return None if given.answer is None else Mark(given.answer, given.sure, 1)


def _start(paper: Paper) -> None:
    sitting = Sitting(paper, time.time())
    answers.clear(sitting.sheet)
    turns.go(NAME, 0)
    st.session_state["_exam"] = sitting


def _hand_in(sitting: Sitting) -> None:
    answers.hand_in(sitting.sheet, sitting.paper.items)
    ended = min(time.time(), sitting.closes)
    st.session_state["_exam"] = replace(sitting, ended=ended)


def _countdown(sitting: Sitting) -> None:
    """The time left, counted down in the browser, which asks for a rerun when it is up."""
    component = st.components.v2.component(
        "countdown",
        html='<span role="timer" class="countdown"></span>',
        js=_script(),
        isolate_styles=False,
    )
    with st.container(key="exam-countdown", width="content"):
        component(
            key="countdown",
            data={"seconds": sitting.seconds_left, "words": tr("还剩", "Left:")},
            on_over_change=lambda: None,
            height="content",
            width="content",
        )


@cache
def _script() -> str:
    return SCRIPT.read_text(encoding="utf-8")
