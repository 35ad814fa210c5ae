"""Requests that all take one token in every step, counted as one.

What the loop over requests lacked: speed.  While nobody comes or goes, a step of decodes differs
from the one before by one token of context per request, so the group needs only how many there are,
the sum of their contexts, when the first of them is done, and how many need a new block when.
"""

import heapq
from itertools import accumulate

from sim.request import Sequence
from sim.scheduler.load import Load

NEVER = -1


class Decoding:
    """The group.  A member's own counters stand still from `add` until `settle`."""

    def __init__(self, block_size: int, grows: bool = True):
        self.block_size = block_size
        self.grows = grows  # a member takes a block when its last one is full
        self.num = 0  # members
        self.context = 0  # tokens with K and V, over all members
        self.ticks = 0  # steps the group has taken
        self.next_done = NEVER  # the tick after which the first member is done
        self._joined: dict[int, int] = {}  # request id -> tick
        self._heap: list[tuple[int, int, Sequence]] = []  # (done after tick, order, who)
        self._num_due = [0] * block_size  # members that need a block at ticks of this remainder

    def __contains__(self, sequence: Sequence) -> bool:
        return sequence.id in self._joined

    def others(self, running: list[Sequence]) -> list[Sequence]:
        """Those who run but do not belong to the group, in running order; mostly the newest."""
        num_others = len(running) - self.num
        if num_others == 1 and running[-1] not in self:
            return running[-1:]
        return [sequence for sequence in running if sequence not in self] if num_others else []

    @property
    def load(self) -> Load:
        """What the group's next step computes: each member attends to one token more."""
        return Load.decode(self.num, self.context + self.num)

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
        self.num += 1
        self.context += sequence.num_computed_tokens
        self._num_due[(self.ticks - sequence.num_computed_tokens) % self.block_size] += self.grows
        done = self.ticks + sequence.max_tokens - sequence.num_tokens
        heapq.heappush(self._heap, (done, order, sequence))
        self.next_done = self._heap[0][0]

    def tick(self, num_steps: int = 1) -> None:
        self.ticks += num_steps
        self.context += num_steps * self.num

    def pop_finished(self) -> list[tuple[Sequence, int]]:
        """Those who are done leave the group, settled, in the order of admission; each with the
        tick at which it joined."""
        finished = []
        while self.next_done == self.ticks:
            sequence = heapq.heappop(self._heap)[2]
            finished.append((sequence, self._settle(sequence)))
            self.next_done = self._heap[0][0] if self._heap else NEVER
        return finished

    def dissolve(self) -> list[tuple[Sequence, int]]:
        """Everybody leaves, settled; each with the tick at which it joined."""
        members = [sequence for _, _, sequence in self._heap]
        self._heap.clear()
        self.next_done = NEVER
        return [(sequence, self._settle(sequence)) for sequence in members]

    def _settle(self, sequence: Sequence) -> int:
        """Bring the member's counters up to date."""
        joined = self._joined.pop(sequence.id)
        self.num -= 1
        self._num_due[(joined - sequence.num_computed_tokens) % self.block_size] -= self.grows
        num_steps = self.ticks - joined
        sequence.num_computed_tokens += num_steps
        sequence.num_tokens += num_steps
        sequence.num_output_tokens += num_steps
        self.context -= sequence.num_computed_tokens
        return joined
