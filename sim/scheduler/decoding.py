"""Requests that all take one token in every step, counted as one.

What the loop over requests lacked: speed.  While nobody comes or goes, a step of decodes differs
from the one before by one token of context per request, so the group needs only how many there are,
the sum of their contexts, when the first of them is done, and how many need a new block when.
"""

import heapq
from itertools import accumulate, islice

from sim.request import Sequence
from sim.scheduler.batch import Load


class Decoding:
    """The group.  A member's own counters stand still from `add` until `settle`."""

    def __init__(self, block_size: int):
        self.block_size = block_size
        self.ticks = 0  # steps the group has taken
        self._context = 0  # tokens with K and V, over all members
        self._joined: dict[int, int] = {}  # request id -> tick
        self._last_ticks: list[tuple[int, int, Sequence]] = []  # a heap: (done at, order, who)
        self._num_due = [0] * block_size  # members that need a block at ticks of this remainder

    def __len__(self) -> int:
        return len(self._joined)

    def __contains__(self, sequence: Sequence) -> bool:
        return sequence.id in self._joined

    def others(self, running: list[Sequence]) -> list[Sequence]:
        """Those who run but do not belong to the group, in running order; mostly the last."""
        num_others = len(running) - len(self._joined)
        outside = (sequence for sequence in reversed(running) if sequence not in self)
        return list(islice(outside, num_others))[::-1]

    @property
    def load(self) -> Load:
        """What the group's next step computes: each member attends to one token more."""
        return Load.decode(len(self._joined), self._context + len(self._joined))

    @property
    def steps_to_finish(self) -> int:
        """Steps until the first member is done."""
        return self._last_ticks[0][0] - self.ticks

    def num_blocks_due(self) -> int:
        """Blocks that the group's next step needs."""
        return self._num_due[self.ticks % self.block_size]

    def blocks_due(self, num_steps: int) -> list[int]:
        """Blocks needed up to and including each of the next steps, [num_steps]."""
        turn = self.ticks % self.block_size
        cycle = self._num_due[turn:] + self._num_due[:turn]
        return list(accumulate((cycle * (num_steps // self.block_size + 1))[:num_steps]))

    def add(self, sequence: Sequence, order: int) -> None:
        """`order` settles who comes first among those who are done in the same step."""
        self._joined[sequence.id] = self.ticks
        self._context += sequence.num_computed_tokens
        done = self.ticks + sequence.max_tokens - sequence.num_tokens
        heapq.heappush(self._last_ticks, (done, order, sequence))
        self._num_due[(self.ticks - sequence.num_computed_tokens) % self.block_size] += 1

    def tick(self, num_steps: int = 1) -> None:
        self.ticks += num_steps
        self._context += num_steps * len(self._joined)

    def pop_finished(self) -> list[tuple[Sequence, int]]:
        """Those who are done leave the group, settled, in the order of admission; each with the
        tick at which it joined."""
        finished = []
        while self._last_ticks and self._last_ticks[0][0] == self.ticks:
            sequence = heapq.heappop(self._last_ticks)[2]
            finished.append((sequence, self._settle(sequence)))
        return finished

    def dissolve(self) -> list[tuple[Sequence, int]]:
        """Everybody leaves, settled; each with the tick at which it joined."""
        members = [sequence for _, _, sequence in self._last_ticks]
        self._last_ticks.clear()
        return [(sequence, self._settle(sequence)) for sequence in members]

    def _settle(self, sequence: Sequence) -> int:
        """Bring the member's counters up to date."""
        joined = self._joined.pop(sequence.id)
        self._num_due[(joined - sequence.num_computed_tokens) % self.block_size] -= 1
        num_steps = self.ticks - joined
        sequence.num_computed_tokens += num_steps
        sequence.num_tokens += num_steps
        sequence.num_output_tokens += num_steps
        self._context -= sequence.num_computed_tokens
        return joined
