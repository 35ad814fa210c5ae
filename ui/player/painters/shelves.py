"""Boxes on shelves: blocks in reading order, each with a head and what lies in it.

What a box holds, and what it means, may be another thing at every step; so may be how many there
are on a shelf.  On a chained shelf an arrow leads from each box to the next.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from ui import theme
from ui.player import Frames, FramesError, changes, check_length, pick


@dataclass(frozen=True)
class Box:
    """`kind`: a key of ui.theme; `body`: token by token; `ring`: this is what the step is about."""

    kind: str
    head: str
    body: tuple[str, ...] = ()
    ring: bool = False


@dataclass(frozen=True)
class Shelf:
    """A row of boxes for every step.  `counters`: short text right of the title, per step."""

    title: str
    steps: tuple[tuple[Box, ...], ...]
    chained: bool = False
    counters: tuple[str, ...] = ()

    def take(self, steps: np.ndarray) -> Self:
        return replace(self, steps=pick(self.steps, steps), counters=pick(self.counters, steps))


@dataclass(frozen=True, kw_only=True)
class Shelves(Frames):
    """Shelves below each other."""

    shelves: tuple[Shelf, ...]

    painter: ClassVar[str] = "shelves"

    @property
    def num_steps(self) -> int:
        return max((len(shelf.steps) for shelf in self.shelves), default=0)

    def meanings(self) -> tuple[str, ...]:
        used = {box.kind for box in self._boxes()}
        known = [name for name in theme.MEANINGS if name in used]
        return (*known, *sorted(used - set(known)))

    def check(self) -> None:
        for shelf in self.shelves:
            where = f"shelf {shelf.title!r}"
            check_length(where, shelf.steps, self.num_steps)
            check_length(f"{where}: counters", shelf.counters, self.num_steps, optional=True)
        if not any(True for _ in self._boxes()):
            raise FramesError("there is no box on any shelf")

    def picture(self) -> dict[str, Any]:
        number = {name: index for index, name in enumerate(self.meanings())}
        return {
            "shelves": [
                {
                    "chained": shelf.chained,
                    "kinds": changes([number[box.kind] for box in row] for row in shelf.steps),
                    "rings": changes(
                        [at for at, box in enumerate(row) if box.ring] for row in shelf.steps
                    ),
                }
                for shelf in self.shelves
            ]
        }

    def texts(self) -> dict[str, Any]:
        words = dict.fromkeys(
            text for box in self._boxes() for text in (box.head, "\n".join(box.body))
        )
        place = {text: index for index, text in enumerate(words)}
        return {
            "words": list(words),
            "shelves": [
                {
                    "title": shelf.title,
                    "counters": changes(shelf.counters or ("",) * self.num_steps),
                    "heads": changes([place[box.head] for box in row] for row in shelf.steps),
                    "bodies": changes(
                        [place["\n".join(box.body)] for box in row] for row in shelf.steps
                    ),
                }
                for shelf in self.shelves
            ],
        }

    def words(self) -> dict[str, str]:
        return {}

    def take(self, steps: np.ndarray) -> Self:
        return replace(
            super().take(steps), shelves=tuple(shelf.take(steps) for shelf in self.shelves)
        )

    def _boxes(self) -> Iterator[Box]:
        return (box for shelf in self.shelves for row in shelf.steps for box in row)
