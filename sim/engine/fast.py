"""The whole run at once: the same steps as `steps`, many at a time.

Two things make it fast, and neither changes a result.  Those who decode are advanced as one group
(`sim.scheduler.decoding`), and a stretch of steps in which nobody comes or goes is timed in one
go: the same float64 expression on arrays, added up in the same order.  Where the group cannot stand
for its members (blocks run out, the budget does not reach all of them, a static batch holds rows
that are done) the policy is asked about every request, as in `steps`.
"""

import math
from bisect import bisect_left, bisect_right
from collections import deque

import numpy as np

from sim.engine.inbox import Inbox, refusal
from sim.engine.ledger import Ledger, Line
from sim.engine.run import Run
from sim.engine.setup import Setup
from sim.engine.steps import advance, wake_up
from sim.request import Sequence
from sim.scheduler import Batch, Decoding, Load


def simulate(setup: Setup) -> Run:
    """Run the setup to its end and keep what metrics need.

    Raises:
        SimError: `no_progress` when requests wait that can never be scheduled.
    """
    server = _Server(setup)
    while server.inbox or server.waiting or server.running:
        server.move_on()
    return server.ledger.close()


class _Server:
    """The state of a run between two steps."""

    def __init__(self, setup: Setup):
        self.setup, self.policy, self.clock = setup, setup.policy, setup.clock
        self.memory = setup.memory.counted()
        self.inbox = Inbox(setup)
        self.ledger = Ledger(setup, self.memory.num_usable_blocks)
        self.waiting: deque[Sequence] = deque()
        self.running: list[Sequence] = []
        self.decoding = Decoding(self.memory.block_size)
        self.num_admitted = 0
        self.places: dict[int, int] = {}  # request id -> its place in the order of admissions
        self.now = 0.0

    def move_on(self) -> None:
        """One step, or a stretch of steps that differ in nothing but their contexts."""
        while self.inbox.next_seconds <= self.now:
            self._arrive()
        batch = self._choose()
        for sequence, _, _ in batch.admitted:
            self.num_admitted += 1
            self.places[sequence.id] = self.num_admitted
        self.ledger.choose(batch, self.now)
        if batch.work:
            self._one_step(batch)
        elif batch.group_decodes:
            self._decode(batch)
        else:
            self.now = wake_up(batch, self.inbox, self.waiting, self.now)

    def _arrive(self) -> None:
        request = self.inbox.take()
        sequence = Sequence(request, self.policy.max_model_len)
        if refusal(sequence, self.setup, self.memory) is None:
            self.waiting.append(sequence)
            self.ledger.arrivals.append(request.arrival_seconds)
        else:
            self.inbox.answered(request.arrival_seconds)

    # -- who goes ---------------------------------------------------------------------------

    def _choose(self) -> Batch:
        if len(self.decoding):
            batch = self.policy.group_batch(self.waiting, self.running, self.decoding, self.memory)
            if batch is not None:
                return batch
        return self._choose_one_by_one()

    def _choose_one_by_one(self) -> Batch:
        """The policy's choice over every single request; if all of them decode, they become the
        group."""
        for sequence, first_tick in self.decoding.dissolve():
            self._leave_group(sequence, first_tick)
        batch = self.policy.next_batch(self.now, self.waiting, self.running, self.memory)
        if batch.work and not batch.admitted and all(s.is_decoding for s, _ in batch.work):
            self._join_group([sequence for sequence, _ in batch.work])
            batch.work, batch.group_decodes = [], True
        return batch

    def _join_group(self, sequences: list[Sequence]) -> None:
        for sequence in sequences:
            self.decoding.add(sequence, self.places[sequence.id])

    def _leave_group(self, sequence: Sequence, first_tick: int) -> None:
        self.memory.own(sequence)
        self.ledger.tokens(sequence, first_tick, self.decoding.ticks - first_tick)

    # -- how long it takes, what changed ----------------------------------------------------

    def _one_step(self, batch: Batch) -> None:
        """Prompts, beside the decoding group or without it."""
        load = batch.load()
        num_prefill = sum(n for sequence, n in batch.work if not sequence.is_decoding)
        num_decode = sum(n for sequence, n in batch.work) - num_prefill
        sampled = advance(batch)
        num_sampled = len(sampled)
        if batch.group_decodes:
            load = load.beside(self.decoding.load)
            num_decode += len(self.decoding)
            num_sampled += len(self.decoding)
            self.decoding.tick()
        line = Line(
            1,
            len(self.running),
            num_prefill,
            num_decode,
            num_sampled,
            batch.group_decodes,
            len(batch.admitted) - len(batch.preempted),
        )
        time = self.clock.step_time(load)
        self.now = self.ledger.step(line, self.now, time, self.memory.num_used_blocks)
        for sequence in sampled:
            self.ledger.token(sequence)
        finished = self._pop_finished() if batch.group_decodes else []
        finished += [sequence for sequence in sampled if sequence.is_finished]
        self._let_go(sorted(finished, key=lambda sequence: self.places[sequence.id]))
        self._join_group([sequence for sequence in sampled if not sequence.is_finished])

    def _decode(self, batch: Batch) -> None:
        """The group decodes until somebody is done, comes, or finds no block."""
        load = batch.padded or self.decoding.load
        time = self.clock.step_time(load)
        arrival = math.inf if batch.line_stands else self.inbox.next_seconds
        num_steps = self.decoding.steps_to_finish
        if batch.preempted:  # whoever gave way may find room in the very next step
            num_steps = 1
        elif arrival - self.now < num_steps * time.seconds:
            num_steps = 1 + int((arrival - self.now) / time.seconds)

        due = [0] * num_steps if batch.owns_all else self.decoding.blocks_due(num_steps)
        num_steps = bisect_right(due, self.memory.num_free_blocks + due[0])
        num_used = self.memory.num_used_blocks - due[0]  # the first step has taken its blocks

        if num_steps == 1:
            line = self._decode_line(batch, 1)
            self.now = self.ledger.step(line, self.now, time, num_used + due[0])
        else:
            moments, memory_bound = self._stretch(load, num_steps)
            num_steps = bisect_left(moments, arrival, 1, num_steps)
            self.memory.take(due[num_steps - 1] - due[0])
            self.ledger.stretch(
                self._decode_line(batch, num_steps),
                moments[: num_steps + 1],
                memory_bound[:num_steps],
                [num_used + blocks for blocks in due[:num_steps]],
            )
            self.now = moments[num_steps]
        self.decoding.tick(num_steps)
        self._let_go(self._pop_finished())

    def _stretch(self, load: Load, num_steps: int) -> tuple[list[float], list[bool]]:
        """The moments between the steps, [num_steps + 1], and what bounds each of them."""
        contexts = load.kv_tokens + load.num_tokens * np.arange(num_steps)
        time = self.clock.step_time(Load.decode(load.num_tokens, contexts))
        moments = np.empty(num_steps + 1)
        moments[0], moments[1:] = self.now, time.seconds
        np.add.accumulate(moments, out=moments)
        memory_bound = np.broadcast_to(time.memory_bound, num_steps)
        return moments.tolist(), memory_bound.tolist()

    def _decode_line(self, batch: Batch, num_steps: int) -> Line:
        num = len(self.decoding)
        num_left = len(batch.admitted) - len(batch.preempted)
        return Line(num_steps, len(self.running), 0, num, num, True, num_left)

    def _pop_finished(self) -> list[Sequence]:
        finished = self.decoding.pop_finished()
        for sequence, first_tick in finished:
            self._leave_group(sequence, first_tick)
        return [sequence for sequence, _ in finished]

    def _let_go(self, finished: list[Sequence]) -> None:
        """`finished` in running order."""
        for _ in finished:
            self.inbox.answered(self.now)
        for sequence in self.policy.leaving(finished, self.running):
            self.memory.free(sequence)
            self.running.remove(sequence)
