"""The slot grid: who sits in which slot at which step, and who waits.

Grids stand above each other on one axis of steps; a shorter one is marked as ended.
"""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from ui.player import Frames, FramesError, changes, check_length, packed, pick
from ui.words.language import tr


@dataclass(frozen=True)
class Grid:
    """One slot grid: who sits where, step by step, and who waits.

    cells: uint8, index into the states, [num_slots, num_steps]; owners: int16, index into the
    requests, -1 for nobody, same shape; waiting and counters: one entry per step.
    """

    title: str
    slots: tuple[str, ...]  # row labels
    cells: np.ndarray
    owners: np.ndarray
    waiting: tuple[tuple[int, ...], ...]  # requests waiting
    counters: tuple[str, ...]  # short text right of the title

    @property
    def num_steps(self) -> int:
        return int(self.cells.shape[1])

    def take(self, steps: np.ndarray) -> Self:
        kept = steps[steps < self.num_steps]
        return replace(
            self,
            cells=self.cells[:, kept],
            owners=self.owners[:, kept],
            waiting=pick(self.waiting, steps),
            counters=pick(self.counters, steps),
        )


@dataclass(frozen=True, kw_only=True)
class Slots(Frames):
    """Slot grids above each other."""

    grids: tuple[Grid, ...]
    states: tuple[str, ...]  # keys of ui.theme, in the order of the cells
    requests: tuple[str, ...]  # letters

    painter: ClassVar[str] = "slots"

    @property
    def num_steps(self) -> int:
        return max((grid.num_steps for grid in self.grids), default=0)

    def meanings(self) -> tuple[str, ...]:
        return self.states

    def check(self) -> None:
        for grid in self.grids:
            self._check_grid(grid)

    def _check_grid(self, grid: Grid) -> None:
        where = f"grid {grid.title!r}"
        shape = (len(grid.slots), grid.num_steps)
        for name, values in (("cells", grid.cells), ("owners", grid.owners)):
            if values.shape != shape:
                raise FramesError(f"{where}: {name} has shape {values.shape}, expected {shape}")
        for name in ("waiting", "counters"):
            check_length(f"{where}: {name}", getattr(grid, name), grid.num_steps)
        if not _within(grid.cells, 0, len(self.states)):
            raise FramesError(f"{where}: a cell is outside the {len(self.states)} states")
        if not _within(grid.owners, -1, len(self.requests)):
            raise FramesError(f"{where}: an owner is outside the {len(self.requests)} requests")

    def picture(self) -> dict[str, Any]:
        return {
            "requests": self.requests,
            "grids": [
                {
                    "steps": grid.num_steps,
                    "runs": encode_runs(grid.cells, grid.owners),
                    "waiting": changes(grid.waiting),
                }
                for grid in self.grids
            ],
        }

    def texts(self) -> dict[str, Any]:
        return {
            "grids": [
                {"title": grid.title, "slots": grid.slots, "counters": changes(grid.counters)}
                for grid in self.grids
            ]
        }

    def words(self) -> dict[str, str]:
        return {
            "waiting": tr("等待", "Waiting"),
            "ended": tr("已全部完成", "All done"),
        }

    def take(self, steps: np.ndarray) -> Self:
        grids = tuple(grid.take(steps) for grid in self.grids)
        return replace(super().take(steps), grids=grids)


def encode_runs(cells: np.ndarray, owners: np.ndarray) -> str:
    """Rows as runs of equal cells: int16 triples (length, state, owner) in base64."""
    runs = [_row_runs(*row) for row in zip(cells, owners, strict=True)]
    return packed(np.concatenate(runs), "<i2") if runs else ""


def _row_runs(states: np.ndarray, owners: np.ndarray) -> np.ndarray:
    changed = (np.diff(states.astype(np.int16)) != 0) | (np.diff(owners.astype(np.int16)) != 0)
    starts = np.concatenate([[0], np.flatnonzero(changed) + 1])
    lengths = np.diff(np.append(starts, len(states)))
    return np.column_stack([lengths, states[starts], owners[starts]])  # [num_runs, 3]


def _within(values: np.ndarray, low: int, high: int) -> bool:
    return not values.size or (int(values.min()) >= low and int(values.max()) < high)
