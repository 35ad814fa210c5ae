"""Judges an answer, and shuffles options; without any drawing.

Nothing is scored: every option has a feedback that says why it tempts.  Options are shuffled by
item and seed, so the order survives reruns and a change of language.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ui.practice.bank import Answer, Item, Option, Words


@dataclass(frozen=True)
class Verdict:
    """Whether an answer is right, and the remarks on it, in the order they are shown."""

    right: bool
    remarks: tuple[Words, ...]
    missed: tuple[Option, ...] = ()  # several: right options not ticked
    right_so_far: bool = False  # several: nothing wrong was ticked


def judge(item: Item, answer: Answer) -> Verdict:
    """What to say to an answer.  Needs no page."""
    return _JUDGES[item.kind](item, answer)


def solution(item: Item) -> Answer:
    """The right answer."""
    match item.kind:
        case "numeric":
            assert item.answer is not None
            return item.answer.value
        case "order":
            return list(range(len(item.options)))
    right = [place for place, option in enumerate(item.options) if option.right]
    return right if item.kind == "several" else right[0]


def _judge_single(item: Item, answer: int) -> Verdict:
    option = item.options[answer]
    return Verdict(option.right, (option.feedback,))


def _judge_several(item: Item, answer: Sequence[int]) -> Verdict:
    missed = tuple(
        option for index, option in enumerate(item.options) if option.right and index not in answer
    )
    wrong = [index for index in answer if not item.options[index].right]
    remarks = tuple(item.options[index].feedback for index in wrong or sorted(answer))
    return Verdict(not wrong and not missed, remarks, missed, right_so_far=not wrong)


def _judge_numeric(item: Item, answer: float) -> Verdict:
    assert item.answer is not None
    assert item.otherwise is not None
    if item.answer.matches(answer):
        return Verdict(True, (item.answer.feedback,))
    remarks = [lure.feedback for lure in item.lures if lure.matches(answer)]
    return Verdict(False, (remarks[0] if remarks else item.otherwise,))


def _judge_order(item: Item, answer: Sequence[int]) -> Verdict:
    wrong = [index for place, index in enumerate(answer) if index != place]
    if wrong:
        return Verdict(False, (item.options[wrong[0]].feedback,))
    return Verdict(True, tuple(option.feedback for option in item.options))


_JUDGES: dict[str, Callable[[Item, Any], Verdict]] = {
    "single": _judge_single,
    "several": _judge_several,
    "numeric": _judge_numeric,
    "order": _judge_order,
    "curve": _judge_single,
}


def shuffled(item: Item, seed: int) -> list[int]:
    """The order in which options stand: the same on every run and in either language."""
    order = list(range(len(item.options)))
    random.Random(f"{item.id}:{seed}").shuffle(order)
    return order
