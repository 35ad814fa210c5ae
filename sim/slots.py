"""Who sits in which slot, step by step: the picture behind the batching chapter.

The scheduler only keeps a list of running requests.  For the picture each of them takes the lowest
empty slot when it joins and keeps it until it leaves.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from sim.engine import Setup, Step, steps

EMPTY, PREFILL, DECODE, HELD, STALLED = range(5)
STATES = ("free", "prefill", "decode", "held", "stalled")


@dataclass(frozen=True)
class SlotGrid:
    """cells: index into `STATES`, [num_slots, num_steps] uint8; owners: request id or -1, int16.

    `steps` are the engine's own; `waiting` and `generated` follow from them.
    """

    cells: np.ndarray
    owners: np.ndarray
    steps: tuple[Step, ...]

    @property
    def num_slots(self) -> int:
        return self.cells.shape[0]

    @property
    def num_steps(self) -> int:
        return self.cells.shape[1]

    @property
    def generated(self) -> np.ndarray:
        """Tokens sampled up to and including each step, [num_steps]."""
        per_step = [sum(work.sampled for work in step.work) for step in self.steps]
        return np.cumsum(per_step)

    @property
    def utilization(self) -> np.ndarray:
        """Generated tokens / (slots x steps), up to and including each step, [num_steps]."""
        return self.generated / (self.num_slots * np.arange(1, self.num_steps + 1))

    def share(self, state: int) -> float:
        """Share of all slot-steps spent in a state."""
        return float(np.mean(self.cells == state))


def slot_grid(setup: Setup) -> SlotGrid:
    """Run a setup and lay its steps out as slots x steps."""
    return lay_out(steps(setup), setup.policy.max_num_seqs)


def lay_out(all_steps: Iterable[Step], num_slots: int) -> SlotGrid:
    taken: dict[int, int] = {}  # request id -> slot
    finished: set[int] = set()
    kept, cells, owners = [], [], []
    for step in all_steps:
        taken = {who: slot for who, slot in taken.items() if who in step.running}
        for who in step.running:
            if who not in taken:
                taken[who] = min(set(range(num_slots)) - set(taken.values()))
        column = np.full(num_slots, EMPTY, np.uint8)
        owner = np.full(num_slots, -1, np.int16)
        states = {w.request_id: PREFILL if w.is_prefill else DECODE for w in step.work}
        for who, slot in taken.items():
            column[slot] = states.get(who, HELD if who in finished else STALLED)
            owner[slot] = who
        finished.update(step.finished)
        kept.append(step)
        cells.append(column)
        owners.append(owner)
    return SlotGrid(np.stack(cells, axis=1), np.stack(owners, axis=1), tuple(kept))
