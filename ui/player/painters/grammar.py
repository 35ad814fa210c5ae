"""Constrained decoding, token by token: the text, the state with its ways on, how many tokens each
state of the index allows, and the probabilities of the likeliest before and after the mask."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from ui.player import Frames, FramesError
from ui.words.language import tr

FATES = ("drawn", "jumped", "breaks", "astray")
MEANINGS = ("given", "drawn", "jumped", "breaks")  # of cells; what follows a break looks like it


@dataclass(frozen=True)
class GrammarBar:
    """A token's probability without and with the mask; without a name, all others."""

    token: str
    free: float
    used: float
    allowed: bool


@dataclass(frozen=True)
class Branch:
    """A token, or several, that lead on from a state to the same one (-1: the end)."""

    label: str
    target: int
    taken: bool


@dataclass(frozen=True)
class GrammarMoment:
    """One more token.  `state` and `after` are -1 where the format is broken."""

    token: str
    fate: str  # of FATES
    state: int
    after: int
    ways: tuple[Branch, ...]
    num_more_ways: int
    bars: tuple[GrammarBar, ...]  # none where no pass was needed


@dataclass(frozen=True, kw_only=True)
class Grammar(Frames):
    prompt: tuple[str, ...]
    moments: tuple[GrammarMoment, ...]  # one per step
    allowed: tuple[int, ...]  # how many tokens may come in each state of the index
    is_masked: bool

    painter: ClassVar[str] = "grammar"

    @property
    def num_steps(self) -> int:
        return len(self.moments)

    def meanings(self) -> tuple[str, ...]:
        return MEANINGS

    def check(self) -> None:
        for moment in self.moments:
            if moment.fate not in FATES:
                raise FramesError(f"{moment} has none of the fates {FATES}")
            if not all(0 <= bar.free <= 1 and 0 <= bar.used <= 1 for bar in moment.bars):
                raise FramesError(f"{moment} has a probability outside 0 to 1")

    def picture(self) -> dict[str, Any]:
        return {
            "masked": self.is_masked,
            "allowed": self.allowed,
            "moments": [
                {
                    "fate": FATES.index(one.fate),
                    "state": one.state,
                    "after": one.after,
                    "ways": [[way.target, int(way.taken)] for way in one.ways],
                    "more": one.num_more_ways,
                    "bars": [
                        [round(bar.free, 4), round(bar.used, 4), int(bar.allowed)]
                        for bar in one.bars
                    ],
                }
                for one in self.moments
            ],
        }

    def texts(self) -> dict[str, Any]:
        return {
            "prompt": self.prompt,
            "moments": [
                {
                    "token": one.token,
                    "ways": [way.label for way in one.ways],
                    "bars": [bar.token for bar in one.bars],
                }
                for one in self.moments
            ],
        }

    def words(self) -> dict[str, str]:
        return {
            "row_text": tr("文本", "text"),
            "row_state": tr("可以接", "may follow"),
            "row_index": tr("索引", "index"),
            "row_free": tr("模型的概率", "model's p"),
            "row_used": tr("掩码之后", "p after mask"),
            "state": tr("状态", "state"),
            "allows": tr("可接 {n} 个", "allows {n}"),
            "broken": tr("无路可走：格式已破坏", "no way on: the format is broken"),
            "no_pass": tr("只有一种写法：不必问模型", "only one text can follow: no pass needed"),
            "no_mask": tr("掩码关着：照模型的概率抽", "mask off: drawn from the model's own"),
            "others": tr("其余", "others"),
            "forbidden": tr("禁止", "forbidden"),
            "column_state": tr("状态", "State"),
            "column_ways": tr("可以接", "May follow"),
            "column_bars": tr("概率：模型 → 掩码后", "Probability: model → after the mask"),
        }

    def take(self, steps: np.ndarray) -> Self:
        return replace(super().take(steps), moments=tuple(self.moments[step] for step in steps))
