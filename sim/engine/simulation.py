"""A run between two steps, and how it moves on: one step, or a stretch of steps at once.

Those who decode are advanced as one group (`sim.scheduler.decoding`), and a stretch of steps in
which nobody comes or goes is timed in one go: the same float64 expression on arrays, added up in
the same order.  Where the group cannot stand for its members (blocks run out, the budget does not
reach all of them, a static batch holds rows that are done) the policy is asked about every request,
as in `steps`.
"""

import math
from bisect import bisect_right
from collections import deque

import numpy as np

from sim.cost import StepTime
from sim.engine.inbox import Inbox, refusal
from sim.engine.ledger import Ledger
from sim.engine.setup import Setup
from sim.engine.steps import advance, wake_up
from sim.request import Sequence
from sim.scheduler import Batch, Decoding, Load

WORTH_ARRAYS = 12  # steps; fewer are timed one by one


class Simulation:
    """The state of a run between two steps."""

    def __init__(self, setup: Setup):
        self.setup, self.policy, self.clock = setup, setup.policy, setup.clock
        self.memory = setup.memory.counted()
        self.inbox = Inbox(setup)
        self.ledger = Ledger(setup, self.memory.num_usable_blocks)
        self.waiting: deque[Sequence] = deque()
        self.running: list[Sequence] = []
        self.decoding = Decoding(self.memory.block_size, self.memory.grows)
        self.num_admitted = 0
        self.places: dict[int, int] = {}  # request id -> its place in the order of admissions
        self.now = 0.0

    @property
    def goes_on(self) -> bool:
        """Whether somebody is still to come, waits, or runs."""
        return bool(self.inbox or self.waiting or self.running)

    def move_on(self) -> None:
        """One step, or a stretch of steps that differ in nothing but their contexts."""
        while self.inbox.next_seconds <= self.now:
            self.arrive()
        batch = self._choose()
        for sequence, _ in batch.preempted:
            self.ledger.preempted(sequence, self.now)
        for sequence, hit_tokens, resumed in batch.admitted:
            self.admitted(sequence, hit_tokens, resumed)
        if batch.work:
            self._one_step(batch)
        elif batch.group_decodes:
            self._decode(batch)
        else:
            self.now = wake_up(batch, self.inbox, self.waiting, self.now)

    def arrive(self) -> None:
        """The next request joins the queue, or is turned away."""
        request = self.inbox.take()
        sequence = Sequence(request, self.policy.max_model_len)
        if refusal(sequence, self.setup, self.memory) is None:
            self.waiting.append(sequence)
            self.ledger.arrivals.append(request.arrival_seconds)
        else:
            self.inbox.answered(request.arrival_seconds)

    def admitted(self, sequence: Sequence, hit_tokens: int, resumed: bool) -> None:
        """Note who has just joined those who run."""
        self.num_admitted += 1
        self.places[sequence.id] = self.num_admitted
        self.ledger.admitted(sequence, self.now, hit_tokens, resumed)

    def sampled(self, sequences: list[Sequence]) -> None:
        """After a step: these sampled a token beside the group, and some may be done."""
        finished = self._pop_finished()
        for sequence in sequences:
            self.ledger.token(sequence)
            if sequence.is_finished:
                finished.append(sequence)
            else:
                self.decoding.add(sequence, self.places[sequence.id])
        if finished:
            finished.sort(key=lambda sequence: self.places[sequence.id])  # as they run
            for _ in finished:
                self.inbox.answered(self.now)
            for sequence in self.policy.leaving(finished, self.running):
                self.memory.free(sequence)
                self.running.remove(sequence)

    def decode(
        self,
        load: Load,
        until: float,
        *,
        only_one: bool = False,
        needs_blocks: bool = True,
        num_left_queue: int = 0,
    ) -> int:
        """The group decodes: `only_one` step, or until somebody is done, no block is free, or the
        moment `until` is reached.  The first step computes `load` and has taken its blocks.
        Returns the number of steps."""
        time = self.clock.step_time(load)
        num_steps = 1 if only_one else self.decoding.next_done - self.decoding.ticks
        if until - self.now < num_steps * time.seconds:
            num_steps = 1 + int((until - self.now) / time.seconds)
        due = self.decoding.blocks_due(num_steps) if needs_blocks else [0] * num_steps
        num_steps = bisect_right(due, self.memory.num_free_blocks + due[0])

        moments, memory_bound = self._moments(load, time, num_steps, until)
        num_steps = len(memory_bound)
        used = self.memory.num_used_blocks - due[0]
        self.ledger.stretch(moments, memory_bound, [used + blocks for blocks in due[:num_steps]])
        num = self.decoding.num
        self.ledger.line(num_steps, len(self.running), 0, num, num, True, num_left_queue)

        self.memory.take(due[num_steps - 1] - due[0])
        self.now = moments[-1]
        self.decoding.tick(num_steps)
        if self.decoding.next_done == self.decoding.ticks:
            self.sampled([])
        return num_steps

    def _moments(
        self, load: Load, first: StepTime, num_steps: int, until: float
    ) -> tuple[list[float], list[bool]]:
        """When the steps begin and end, [num_steps + 1], and which are memory-bound; fewer steps if
        one of them would begin at `until` or later.  Arrays pay from a dozen steps on."""
        if num_steps < WORTH_ARRAYS:
            moments, memory_bound = [self.now, self.now + first.seconds], [first.memory_bound]
            num_rows, kv_tokens = load.num_tokens, load.kv_tokens
            for _ in range(num_steps - 1):
                if moments[-1] >= until:
                    break
                kv_tokens += num_rows
                time = self.clock.step_time(Load.decode(num_rows, kv_tokens))
                moments.append(moments[-1] + time.seconds)
                memory_bound.append(time.memory_bound)
            return moments, memory_bound
        contexts = load.kv_tokens + load.num_tokens * np.arange(num_steps)
        time = self.clock.step_time(Load.decode(load.num_tokens, contexts))
        line = np.empty(num_steps + 1)
        line[0], line[1:] = self.now, time.seconds
        np.add.accumulate(line, out=line)
        num_steps = 1 + int(np.searchsorted(line[1:-1], until))
        bound = np.broadcast_to(time.memory_bound, len(contexts))
        return line[: num_steps + 1].tolist(), bound[:num_steps].tolist()

    # -- who goes ---------------------------------------------------------------------------

    def _choose(self) -> Batch:
        if self.decoding.num:
            batch = self.policy.group_batch(self.waiting, self.running, self.decoding, self.memory)
            if batch is not None:
                return batch
        return self._choose_one_by_one()

    def _choose_one_by_one(self) -> Batch:
        """The policy's choice over every single request; if all of them decode, they become the
        group."""
        for sequence, first_tick in self.decoding.dissolve():
            self.ledger.tokens(sequence, first_tick, self.decoding.ticks - first_tick)
        batch = self.policy.next_batch(self.now, self.waiting, self.running, self.memory)
        if batch.work and not batch.admitted and all(s.is_decoding for s, _ in batch.work):
            for sequence, _ in batch.work:
                self.decoding.add(sequence, self.places[sequence.id])
            batch.work, batch.group_decodes = [], True
        return batch

    # -- how long it takes, what changed ----------------------------------------------------

    def _one_step(self, batch: Batch) -> None:
        """Prompts, beside the decoding group or without it."""
        load, num_decode = batch.load(), batch.num_decode_tokens
        num_prefill, num_sampled = batch.num_tokens - num_decode, batch.num_sampled
        if batch.group_decodes:
            load = load.beside(self.decoding.load)
            num_decode += self.decoding.num
            num_sampled += self.decoding.num
            self.decoding.tick()
        num_left = len(batch.admitted) - len(batch.preempted)
        num_running, ticked = len(self.running), batch.group_decodes
        self.ledger.line(1, num_running, num_prefill, num_decode, num_sampled, ticked, num_left)
        time = self.clock.step_time(load)
        self.now = self.ledger.step(self.now, time, self.memory.num_used_blocks)
        self.sampled(advance(batch))

    def _decode(self, batch: Batch) -> None:
        until = math.inf if batch.line_stands else self.inbox.next_seconds
        num_left = len(batch.admitted) - len(batch.preempted)
        num_steps = self.decode(
            batch.padded or self.decoding.load,
            until,
            only_one=bool(batch.preempted),  # who gave way may find room in the very next step
            needs_blocks=not batch.owns_all,
            num_left_queue=num_left,
        )
        if num_steps % 2 == 0:  # each step turned them round; the choice did so once
            turned = [self.waiting.popleft() for _ in range(batch.num_set_aside)]
            self.waiting.extendleft(turned)

    def _pop_finished(self) -> list[Sequence]:
        finished = self.decoding.pop_finished()
        for sequence, first_tick in finished:
            self.ledger.tokens(sequence, first_tick, self.decoding.ticks - first_tick)
        return [sequence for sequence, _ in finished]
