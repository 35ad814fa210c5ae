"""Who sits in which slot, step by step: the picture behind the batching chapter.

The scheduler only keeps a list of running requests.  For the picture each of them takes the lowest
empty slot when it joins and keeps it until it leaves.  Columns are ticks of the clock, so that two
policies can stand above each other on one time axis; where the server had nothing to do, a column
has no step.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from sim.engine import Setup, Step, steps

EMPTY, PREFILL, DECODE, HELD, STALLED = range(5)
STATES = ("free", "prefill", "decode", "held", "stalled")


@dataclass(frozen=True)
class SlotGrid:
    """One column per tick.

    cells: index into `STATES`, [num_slots, num_ticks] uint8; owners: request id or -1, same shape,
    int32; steps: the engine's step in each tick, None where the server was idle.
    """

    cells: np.ndarray
    owners: np.ndarray
    steps: tuple[Step | None, ...]
    tick_seconds: float

    @property
    def num_slots(self) -> int:
        return int(self.cells.shape[0])

    @property
    def num_steps(self) -> int:
        return int(np.sum(self.busy))

    @property
    def num_slot_steps(self) -> int:
        """Slots x steps: what utilization is measured against."""
        return self.num_slots * self.num_steps

    @property
    def busy(self) -> np.ndarray:
        """[num_ticks] bool: a step ran."""
        return np.array([step is not None for step in self.steps])

    @property
    def generated(self) -> np.ndarray:
        """Tokens sampled up to and including each tick, [num_ticks]."""
        return np.cumsum([sum(w.sampled for w in step.work) if step else 0 for step in self.steps])

    @property
    def utilization(self) -> np.ndarray:
        """Generated tokens / (slots x steps), up to and including each tick, [num_ticks]."""
        slot_steps = self.num_slots * np.cumsum(self.busy)
        return self.generated / np.maximum(slot_steps, 1)

    def share(self, state: int) -> float:
        """Share of all slot-steps spent in a state; ticks without a step do not count."""
        return float(np.mean(self.cells[:, self.busy] == state))

    @property
    def shares(self) -> dict[str, float]:
        """`share` of every state, by its name in `STATES`."""
        return {name: self.share(state) for state, name in enumerate(STATES)}


def slot_grid(setup: Setup, tick_seconds: float) -> SlotGrid:
    """Run a setup whose steps all take one tick, and lay it out as slots x ticks."""
    return lay_out(steps(setup), setup.policy.max_num_seqs, tick_seconds)


def lay_out(all_steps: Iterable[Step], num_slots: int, tick_seconds: float) -> SlotGrid:
    kept: list[Step | None] = []
    cells: list[np.ndarray] = []
    owners: list[np.ndarray] = []
    taken: dict[int, int] = {}  # request id -> slot
    finished: set[int] = set()
    for step in all_steps:
        for _ in range(round(step.start_seconds / tick_seconds) - len(kept)):
            kept.append(None)
            cells.append(np.full(num_slots, EMPTY, np.uint8))
            owners.append(np.full(num_slots, -1, np.int32))
        taken = _seats(taken, step.running, num_slots)
        cells.append(_column(step, taken, finished, num_slots))
        owners.append(np.full(num_slots, -1, np.int32))
        owners[-1][list(taken.values())] = list(taken)
        finished.update(step.finished)
        kept.append(step)
    return SlotGrid(np.stack(cells, axis=1), np.stack(owners, axis=1), tuple(kept), tick_seconds)


def _seats(taken: dict[int, int], running: tuple[int, ...], num_slots: int) -> dict[int, int]:
    """Those who stay keep their slot; those who join take the lowest empty one."""
    staying = {who: slot for who, slot in taken.items() if who in running}
    empty = sorted(set(range(num_slots)) - set(staying.values()))
    joining = [who for who in running if who not in staying]
    return staying | dict(zip(joining, empty, strict=False))


def _column(step: Step, taken: dict[int, int], finished: set[int], num_slots: int) -> np.ndarray:
    column = np.full(num_slots, EMPTY, np.uint8)
    states = {work.request_id: PREFILL if work.is_prefill else DECODE for work in step.work}
    for who, slot in taken.items():
        column[slot] = states.get(who, HELD if who in finished else STALLED)
    return column
