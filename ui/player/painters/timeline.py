"""The timeline: lanes of coloured spans on one axis of seconds, and a cursor that walks along it.

Frame k stands at the moment `at[k]`: what began before it is drawn, as far as it has come.  What a
span means is a key of ui.theme; whose it is and what it carries are written into it where there is
room, and told whole on pointing and in the table.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from typing import Any, ClassVar, Self

import numpy as np

from ui import theme
from ui.player import Frames, FramesError, packed
from ui.words.language import tr

QUANTA = 2**32 - 1  # times travel as whole parts of the last one


@dataclass(frozen=True)
class LaneSpan:
    """A stretch of a lane.  `kind`: a key of ui.theme; `owner`: a request's letter, or nothing."""

    lane: int
    start: float  # seconds
    end: float
    kind: str
    label: str = ""
    owner: str = ""


@dataclass(frozen=True, kw_only=True)
class Timeline(Frames):
    """Lanes of spans.  With `shows_future` what is still to come stands there faintly."""

    lanes: tuple[str, ...]
    spans: tuple[LaneSpan, ...]
    at: tuple[float, ...]  # seconds; where the cursor stands, per step
    title: str = ""
    shows_future: bool = False
    marks: tuple[tuple[float, str], ...] = ()  # seconds on the axis, and what is there: a guess

    painter: ClassVar[str] = "timeline"

    @property
    def num_steps(self) -> int:
        return len(self.at)

    @property
    def end(self) -> float:
        """Where the axis ends, in seconds."""
        return max([*self.at, *(span.end for span in self.spans)])

    def meanings(self) -> tuple[str, ...]:
        used = {span.kind for span in self.spans}
        known = [name for name in theme.MEANINGS if name in used]
        return (*known, *sorted(used - set(known)))

    def check(self) -> None:
        if not self.lanes:
            raise FramesError("a timeline needs at least one lane")
        if any(later <= earlier for earlier, later in pairwise(self.at)):
            raise FramesError("the moments of a timeline are not in order")
        if not (self.at[0] >= 0 and math.isfinite(self.end) and self.end > 0):
            raise FramesError("the moments of a timeline are not seconds from 0 on")
        for span in self.spans:
            if not 0 <= span.lane < len(self.lanes):
                raise FramesError(f"{span} is outside the {len(self.lanes)} lanes")
            if not 0 <= span.start <= span.end:
                raise FramesError(f"{span} ends before it starts")

    def picture(self) -> dict[str, Any]:
        spans, meanings = self._in_order(), self.meanings()
        owners = _distinct(span.owner for span in spans)
        return {
            "end": self.end,
            "at": self._quanta(self.at),
            "owners": owners,
            "lanes": packed(np.array([span.lane for span in spans]), "<u2"),
            "starts": self._quanta([span.start for span in spans]),
            "ends": self._quanta([span.end for span in spans]),
            "kinds": packed(np.array([meanings.index(span.kind) for span in spans]), "u1"),
            "whose": _indices([span.owner for span in spans], owners),
            "future": self.shows_future,
        }

    def texts(self) -> dict[str, Any]:
        said = [span.label for span in self._in_order()]
        labels = _distinct(said)
        return {
            "title": self.title,
            "lanes": self.lanes,
            "labels": labels,
            "marks": self.marks,  # a guess is no other run
            "said": _indices(said, labels),
        }

    def words(self) -> dict[str, str]:
        return {
            "axis_time": tr("时间（{unit}）", "Time ({unit})"),
            "column_spans": tr("时间线上", "On the timeline"),
            "nothing": tr("没有活动", "nothing going on"),
        }

    def take(self, steps: np.ndarray) -> Self:
        """Fewer moments; spans alike that touch become one where no moment is left between them."""
        at = tuple(self.at[step] for step in steps)
        lanes = (list(group) for _, group in groupby(self._in_order(), lambda span: span.lane))
        spans = tuple(joined for lane in lanes for joined in _joined(lane, at))
        return replace(super().take(steps), at=at, spans=spans)

    def _in_order(self) -> list[LaneSpan]:
        return sorted(self.spans, key=lambda span: (span.lane, span.start, span.end))

    def _quanta(self, seconds: Sequence[float]) -> str:
        return packed(np.round(np.array(seconds) / self.end * QUANTA), "<u4")


def _joined(lane: list[LaneSpan], at: Sequence[float]) -> Iterator[LaneSpan]:
    gaps = np.searchsorted(at, [span.end for span in lane])  # between which two moments it ends
    whole, gap = lane[0], gaps[0]
    for span, its_gap in zip(lane[1:], gaps[1:], strict=True):
        is_alike = (span.kind, span.owner) == (whole.kind, whole.owner)
        if is_alike and its_gap == gap and math.isclose(span.start, whole.end):
            label = whole.label if span.label == whole.label else ""
            whole = replace(whole, end=span.end, label=label)
        else:
            yield whole
            whole, gap = span, its_gap
    yield whole


def _distinct(values: Iterator[str] | Sequence[str]) -> list[str]:
    return list(dict.fromkeys(values))


def _indices(values: Sequence[str], distinct: Sequence[str]) -> str:
    place = {value: index for index, value in enumerate(distinct)}
    return packed(np.array([place[value] for value in values]), "<u2")
