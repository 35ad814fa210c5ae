"""One run as a client measured it, and what of it is a latency.

What a client did not measure it often writes as 0, and a run in which every request failed has
percentiles of nothing, 0 as well: neither is a latency.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ui.subjects.clinic.brought.found import Brought, Interval, Note, number

WANTED = 99
MILLI = 1e-3
PERCENTILE = re.compile(r"p(\d{1,2}(?:\.\d{1,3})?)", re.ASCII)
ONE_PIECE = 0.98  # of the whole answer: a first token that comes so late came with all others


@dataclass(frozen=True)
class ClientRun:
    """One run as a tool counted it; seconds, None where it did not measure."""

    tool: str
    ttft: Interval | None
    itl: Interval | None
    completed: float | None
    failed: float | None
    itl_is_tpot: bool = False
    e2e: float | None = None  # the same percentile of whole answers
    has_gaps: bool = True  # whether answers have more than one token
    notes: tuple[Note, ...] = ()

    def brought(self) -> Brought:
        ttft, itl, notes = self.ttft, self.itl, [Note("tool", {"tool": self.tool}), *self.notes]
        if self.itl_is_tpot:
            notes.append(Note("mean_gaps", {"tool": self.tool}))
        if self.completed == 0:
            ttft = itl = None
            notes.append(Note("none_completed", {"failed": self.failed or 0}))
        missing = [name for name, own in (("TTFT", ttft), ("ITL", itl)) if _is_zero(own)]
        ttft, itl = (None if _is_zero(own) else own for own in (ttft, itl))
        if missing:
            notes.append(Note("zeros", {"names": missing}))
        if ttft and not itl and self.e2e and self.has_gaps and ttft.low >= self.e2e * ONE_PIECE:
            ttft = None
            notes.append(Note("one_piece"))
        return Brought(
            self.tool,
            "run",
            ttft=_of(ttft, self.completed),
            itl=itl,
            itl_is_tpot=self.itl_is_tpot,
            completed=self.completed,
            failed=self.failed,
            notes=tuple(notes),
        )


def _is_zero(own: Interval | None) -> bool:
    return own is not None and own.high == 0


def _of(own: Interval | None, observations: float | None) -> Interval | None:
    return own and replace(own, observations=observations)


def exactly(value: object, unit: float = 1.0) -> Interval | None:
    found = number(value)
    return None if found is None else Interval.exactly(found * unit)


def at(tree: object, *path: str) -> Any:
    """What stands at a path of keys; None where it leads nowhere."""
    for key in path:
        tree = tree.get(key) if isinstance(tree, Mapping) else None
    return tree


def around_p99(tree: object, unit: float) -> Interval | None:
    """Exactly the p99, or between the percentiles around it, as in {"p90": 1, "max": 3}."""
    if not isinstance(tree, Mapping):
        return None
    exact = exactly(tree.get("p99"), unit)
    if exact:
        return exact
    known = [(rank, number(tree[key])) for key in tree if (rank := _rank(key)) is not None]
    below = [value * unit for rank, value in known if value is not None and rank < WANTED]
    above = [value * unit for rank, value in known if value is not None and rank > WANTED]
    found = Interval(max(below, default=0.0), min(above, default=math.inf))
    return None if found.is_anywhere else found


def _rank(key: object) -> float | None:
    """The percentile that a key names: "p95" -> 95, "p99.9" -> 99.9, "max" -> 100."""
    named = {"min": 0.0, "median": 50.0, "max": 100.0}
    if key in named:
        return named[str(key)]
    found = PERCENTILE.fullmatch(str(key))
    return float(found[1]) if found else None
