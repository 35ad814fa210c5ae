"""A timed mock exam: the same paper for everybody with the same link.

A paper is drawn from the bank by its number.  Nothing is judged before it is handed in; then every
answer gets its feedback, counts as progress, and can be carried off as a table.  A reload, or the
link again, goes on where the reader was (`sitting`).
"""

import random
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import streamlit as st

from ui.controls import turns
from ui.course import state
from ui.files import ASSETS
from ui.practice import answers, bank, drills, quiz, rounds
from ui.practice.answers import Mark, Sheet
from ui.practice.bank import Item
from ui.practice.kept import progress, tab
from ui.practice.kept.sitting import NAME, Paper, Sitting, at_hand, resume, take
from ui.results import take_along
from ui.words.language import tr

MAX_SEED = 999_999
ONE_SUM_IN = 5  # questions
SCRIPT = ASSETS / "countdown.js"


@cache
def drawn(seed: int, num_items: int) -> tuple[Item, ...]:
    """Questions from chapters in turn, so that each has its share, and a sum now and then; of those
    that ask the same, one."""
    lot = random.Random(f"paper:{seed}:{num_items}")
    piles = [list(bank.load(name)) for name in rounds.chapter_names()]
    lot.shuffle(piles)
    for pile in piles:
        lot.shuffle(pile)
    sums = [drills.item(name, seed) for name in drills.TEXTS]
    lot.shuffle(sums)
    paper: list[Item] = []
    twins: set[str] = set()
    while len(paper) < num_items and (piles or sums):
        pile = sums if sums and len(paper) % ONE_SUM_IN == ONE_SUM_IN - 1 else _next_pile(piles)
        item = pile.pop()
        if item.twin not in twins:
            paper.append(item)
            twins |= {item.twin} - {""}
        piles = [pile for pile in piles if pile]
    return tuple(paper)


def _next_pile(piles: list[list[Item]]) -> list[Item]:
    """The one that has waited longest; it goes to the end of the row."""
    piles.append(piles.pop(0))
    return piles[-1]


def questions(paper: Paper) -> tuple[Item, ...]:
    return drawn(paper.seed, paper.num_items)


@st.fragment
def show(paper: Paper, large: bool = False) -> None:
    """Draw what this reader sees of the paper now.  An answer reruns the exam alone."""
    sitting = _sitting(paper)
    progress.mount()
    if sitting is None:
        _offer(paper)
    elif sitting.ended is None:
        _at_work(sitting)
    else:
        _results(sitting, large)
    tab.note("exam")


def _sitting(paper: Paper) -> Sitting | None:
    """This reader's sitting of this paper; one whose time is up hands itself in."""
    if at_hand() is None:
        _resume(paper)
    sitting = at_hand()
    if sitting is None or sitting.paper != paper:
        return None
    if sitting.ended is None and sitting.seconds_left == 0:
        _hand_in(sitting)
    return at_hand()


def _resume(paper: Paper) -> None:
    """Go on with what the browser has kept, at the first question that is open."""
    items = questions(paper)
    sitting = resume(paper, items)
    if sitting is not None and NAME not in turns.all_standing():
        turns.go(NAME, _first_open(sitting.sheet, items))


def _first_open(sheet: Sheet, items: Sequence[Item]) -> int:
    is_open = [answers.given(sheet, item).answer is None for item in items]
    return is_open.index(True) if any(is_open) else 0


def _offer(paper: Paper) -> None:
    num_items = len(questions(paper))
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
    """One question at a time.  The style sheet puts the settings of the paper away meanwhile."""
    quiz.draw_one(sitting.sheet, questions(sitting.paper), beside=lambda: _where(sitting))


def _where(sitting: Sitting) -> None:
    """The time left, how much is answered, and the way out, which asks once more."""
    sheet, items = sitting.sheet, questions(sitting.paper)
    answered = sum(answers.given(sheet, item).answer is not None for item in items)
    blank = len(items) - answered
    with st.popover(tr("交卷", "Hand in"), key="exam-sure"):
        st.markdown(
            tr(
                f"还有 {blank} 题没答。交卷以后不能再改。"
                if blank
                else "都答了。交卷以后不能再改。",
                (f"{blank} not answered. " if blank else "All answered. ")
                + "After handing in, nothing can be changed.",
            )
        )
        st.button(
            tr("确定交卷", "Hand it in"), key="exam-hand-in", on_click=_hand_in, args=(sitting,)
        )
    _countdown(sitting)
    st.markdown(
        tr(f"已答 {answered} / {len(items)}", f"{answered} of {len(items)} answered"),
        width="content",
    )


def _results(sitting: Sitting, large: bool) -> None:
    sheet, items = sitting.sheet, questions(sitting.paper)
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
    take(sitting)


def _hand_in(sitting: Sitting) -> None:
    answers.hand_in(sitting.sheet, questions(sitting.paper))
    take(replace(sitting, ended=min(time.time(), sitting.closes)))


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
