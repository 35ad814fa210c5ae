"""The memory map: what lies where in KV memory at every step, a strip for each memory.

A slot is coloured by its request and patterned by its state.  Strips stand above each other, with
whoever waits below each, drawn to the same scale.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np

from ui.player import Frames, FramesError, changes, check_length, pick
from ui.player.painters.slots import encode_runs
from ui.words.language import tr

Waiting = tuple[tuple[int, int], ...]  # (request, slots that it asks for), first in line first


@dataclass(frozen=True)
class Strip:
    """One memory, step by step.

    states: index into the meanings, uint8 [num_steps, num_slots]; owners: index into the requests,
    -1 for nobody, int16 of the same shape; waiting and counters: one entry per step.  Memory in
    blocks of more than one slot shows their numbers, counted from `first`; else a scale with
    `per_unit` slots to a `unit`.
    """

    title: str
    states: np.ndarray
    owners: np.ndarray
    waiting: tuple[Waiting, ...]
    counters: tuple[str, ...]  # short text right of the title
    block_size: int = 1
    first: int = 0
    unit: str = ""
    per_unit: float = 1

    @property
    def num_steps(self) -> int:
        return len(self.states)

    def take(self, steps: np.ndarray) -> Self:
        return replace(
            self,
            states=self.states[steps],
            owners=self.owners[steps],
            waiting=pick(self.waiting, steps),
            counters=pick(self.counters, steps),
        )

    def check(self, num_states: int, num_requests: int) -> None:
        """Raise FramesError if the strip contradicts itself."""
        where = f"strip {self.title!r}"
        if self.states.shape != self.owners.shape or self.states.ndim != 2:
            raise FramesError(f"{where}: states {self.states.shape}, owners {self.owners.shape}")
        if self.states.shape[1] % self.block_size:
            raise FramesError(f"{where}: {self.states.shape[1]} slots are no whole blocks")
        for name in ("waiting", "counters"):
            check_length(f"{where}: {name}", getattr(self, name), self.num_steps)
        if self.states.size and int(self.states.max()) >= num_states:
            raise FramesError(f"{where}: a slot is outside the {num_states} states")
        if self.owners.size and not -1 <= int(self.owners.max()) < num_requests:
            raise FramesError(f"{where}: an owner is outside the {num_requests} requests")

    def picture(self) -> dict[str, Any]:
        return {
            "slots": self.states.shape[1],
            "size": self.block_size,
            "first": self.first,
            "perUnit": self.per_unit,
            "runs": encode_runs(self.states, self.owners),
            "waiting": changes(self.waiting),
        }

    def texts(self) -> dict[str, Any]:
        return {"title": self.title, "unit": self.unit, "counters": changes(self.counters)}


@dataclass(frozen=True, kw_only=True)
class MemoryFrames(Frames):
    """What pictures of memory have in common; `at`: the moment of each step, in order."""

    states: tuple[str, ...]  # keys of ui.theme
    requests: Mapping[str, str]  # letter -> colour
    at: tuple[float, ...]

    @property
    def num_steps(self) -> int:
        return len(self.at)

    def meanings(self) -> tuple[str, ...]:
        return self.states

    def strips_shown(self) -> tuple[Strip, ...]:
        raise NotImplementedError

    def check(self) -> None:
        if any(later <= earlier for earlier, later in pairwise(self.at)):
            raise FramesError("the moments of the memory are not in order")
        for strip in self.strips_shown():
            if strip.num_steps != self.num_steps:
                raise FramesError(f"strip {strip.title!r} has {strip.num_steps} steps")
            strip.check(len(self.states), len(self.requests))

    def picture(self) -> dict[str, Any]:
        names, colours = list(self.requests), list(self.requests.values())
        return {"at": self.at, "requests": {"letters": names, "colours": colours}}

    def words(self) -> dict[str, str]:
        return {
            "waiting": tr("排队", "Waiting"),
            "block": tr("块", "block"),
            "logical": tr("{who} 的逻辑块", "{who}'s logical blocks"),
            "table": tr("{who} 的块表：物理块号", "{who}'s block table: physical numbers"),
        }

    def take(self, steps: np.ndarray) -> Self:
        return replace(super().take(steps), at=pick(self.at, steps))


@dataclass(frozen=True, kw_only=True)
class MemoryMap(MemoryFrames):
    """Memories above each other."""

    strips: tuple[Strip, ...]

    painter: ClassVar[str] = "memory_map"

    def strips_shown(self) -> tuple[Strip, ...]:
        return self.strips

    def picture(self) -> dict[str, Any]:
        return super().picture() | {"strips": [strip.picture() for strip in self.strips]}

    def texts(self) -> dict[str, Any]:
        return {"strips": [strip.texts() for strip in self.strips]}

    def take(self, steps: np.ndarray) -> Self:
        return replace(super().take(steps), strips=tuple(each.take(steps) for each in self.strips))
