"""Weights of one channel, rounded: a scale, its levels, every weight to the nearest one.

Neighbouring weights share a scale.  For each such span two moments are played: its levels appear,
its weights go there.  A weight beyond the picture is cut off and says its value.
"""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from ui.player import Frames, FramesError
from ui.words.language import tr

PHASES = ("before", "scale", "round")


@dataclass(frozen=True)
class ScaleSpan:
    """Weights `first` up to, but without, `end`; their scale in words; the levels they may take."""

    first: int
    end: int
    scale: str
    levels: tuple[float, ...]  # rising; those within the picture
    error: str  # of its weights, in words


@dataclass(frozen=True)
class RoundingMoment:
    """`span` is the one in question; all before it are rounded."""

    span: int
    phase: str  # of PHASES


@dataclass(frozen=True, kw_only=True)
class Rounding(Frames):
    """`before` and `after` are [num_weights]; the picture reaches from -`top` to `top`."""

    before: np.ndarray
    after: np.ndarray
    top: float
    spans: tuple[ScaleSpan, ...]
    moments: tuple[RoundingMoment, ...]

    painter: ClassVar[str] = "rounding"

    @property
    def num_steps(self) -> int:
        return len(self.moments)

    def meanings(self) -> tuple[str, ...]:
        return ("unrounded", "rounded", "round_off")

    def check(self) -> None:
        if self.before.shape != self.after.shape:
            raise FramesError(f"{self.before.shape} weights become {self.after.shape}")
        ends = [0, *(span.end for span in self.spans)]
        if [span.first for span in self.spans] != ends[:-1] or ends[-1] != len(self.before):
            raise FramesError("the spans do not cover the weights one after the other")
        if any(moment.phase not in PHASES for moment in self.moments):
            raise FramesError(f"phases are {PHASES}")

    def picture(self) -> dict[str, Any]:
        return {
            "before": _short(self.before),
            "after": _short(self.after),
            "top": self.top,
            "spans": [[span.first, span.end, _short(np.array(span.levels))] for span in self.spans],
            "moments": [[moment.span, PHASES.index(moment.phase)] for moment in self.moments],
        }

    def texts(self) -> dict[str, Any]:
        return {
            "scales": [span.scale for span in self.spans],
            "errors": [span.error for span in self.spans],
        }

    def words(self) -> dict[str, str]:
        return {
            "scale": tr("缩放系数 {n}", "scale {n}"),
            "weight": tr("第 {n} 个权重", "weight {n}"),
            "column_span": tr("权重", "Weights"),
            "column_scale": tr("缩放系数", "Scale"),
            "column_error": tr("误差", "Error"),
        }

    def take(self, steps: np.ndarray) -> Self:
        return replace(super().take(steps), moments=tuple(self.moments[step] for step in steps))


def _short(numbers: np.ndarray) -> list[float]:
    return [float(f"{number:.4g}") for number in numbers]
