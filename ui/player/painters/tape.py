"""The tape: a text as token cells, a draft's proposals below it, and what becomes of them.

A round of speculation is played in moments: proposal after proposal, one pass of the target over
all of them, then each is accepted until one is rejected, and the token that follows.  For the place
in question stand the bars of p (target), q (draft) and, once a token is rejected, of what is left.
"""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from ui.player import Frames, FramesError
from ui.words.language import tr

PHASES = ("propose", "verify", "accept", "reject", "correct", "bonus")
MEANINGS = ("given", "proposed", "accepted", "rejected", "corrected", "bonus", "target")


@dataclass(frozen=True)
class TapeBar:
    """How probable a token is for the target and for the draft; without a name, all others."""

    token: str
    p: float
    q: float


@dataclass(frozen=True)
class TapeRound:
    """What was proposed, how much was accepted, the token after that; bars of each place."""

    proposed: tuple[str, ...]
    num_accepted: int
    token: str
    places: tuple[tuple[TapeBar, ...], ...]  # one for each proposal, and the one after them


@dataclass(frozen=True)
class TapeMoment:
    """`place`: of the proposal in question; after the last proposal, of the bonus."""

    round: int
    phase: str  # of PHASES
    place: int


@dataclass(frozen=True, kw_only=True)
class Tape(Frames):
    prompt: tuple[str, ...]  # token by token
    rounds: tuple[TapeRound, ...]
    moments: tuple[TapeMoment, ...]  # one per step

    painter: ClassVar[str] = "tape"

    @property
    def num_steps(self) -> int:
        return len(self.moments)

    def meanings(self) -> tuple[str, ...]:
        return MEANINGS

    def check(self) -> None:
        if not self.prompt:
            raise FramesError("a tape begins with at least one token")
        for one in self.rounds:
            if len(one.places) != len(one.proposed) + 1:
                raise FramesError(f"{len(one.places)} places, one more than proposals expected")
        for moment in self.moments:
            if moment.phase not in PHASES:
                raise FramesError(f"{moment} has none of the phases {PHASES}")
            if not 0 <= moment.round < len(self.rounds):
                raise FramesError(f"{moment} is outside the {len(self.rounds)} rounds")
            if not 0 <= moment.place < len(self.rounds[moment.round].places):
                raise FramesError(f"{moment} is outside the places of its round")

    def picture(self) -> dict[str, Any]:
        return {
            "rounds": [
                {
                    "accepted": one.num_accepted,
                    "places": [
                        [[round(bar.p, 4), round(bar.q, 4)] for bar in bars] for bars in one.places
                    ],
                }
                for one in self.rounds
            ],
            "moments": [[m.round, PHASES.index(m.phase), m.place] for m in self.moments],
        }

    def texts(self) -> dict[str, Any]:
        return {
            "prompt": self.prompt,
            "rounds": [
                {
                    "proposed": one.proposed,
                    "token": one.token,
                    "bars": [[bar.token for bar in bars] for bars in one.places],
                }
                for one in self.rounds
            ],
        }

    def words(self) -> dict[str, str]:
        return {
            "row_text": tr("文本", "text"),
            "row_draft": tr("draft 的提议", "draft proposes"),
            "row_p": tr("target 的 p", "target's p"),
            "row_q": tr("draft 的 q", "draft's q"),
            "row_residual": "max(0, p − q)",
            "others": tr("其余", "others"),
            "not_yet": tr("target 还没看", "the target has not looked yet"),
            "no_draft": tr("draft 没有提议这个位置", "the draft proposed nothing here"),
            "one_pass": tr("target 一次看完", "one pass of the target"),
            "accepted": tr("接受", "accepted"),
            "rejected": tr("拒绝", "rejected"),
            "ignored": tr("作废", "dropped"),
            "proposed": tr("提议", "proposed"),
            "corrected": tr("修正", "correction"),
            "bonus": tr("额外", "bonus"),
            "column_bars": tr("概率", "Probabilities"),
        }

    def take(self, steps: np.ndarray) -> Self:
        moments = tuple(self.moments[step] for step in steps)
        return replace(super().take(steps), moments=moments)
