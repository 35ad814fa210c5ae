"""The loop: schedule, time, advance.

    while anybody waits or runs:
        batch = policy.next_batch(now, waiting, running, memory)   who goes
        end = now + clock.step_time(batch)                         how long it takes
        advance(batch)                                             what changed
        yield Step(...)                                            what the reader sees

The clock: a step sees the requests that arrived no later than its start.  An idle server jumps to
the next arrival.  All tokens of a step are stamped at its end.  (engine_semantics, "The clock".)
"""

import math
from collections import deque
from collections.abc import Iterator, Mapping
from collections.abc import Sequence as Row
from dataclasses import dataclass
from typing import NamedTuple

from sim.cost import StepTime
from sim.engine.inbox import Inbox, refusal
from sim.engine.setup import Setup
from sim.engine.speculation import Verifier
from sim.errors import SimError
from sim.events import (
    Admitted,
    Arrived,
    Event,
    Finished,
    FirstToken,
    Preempted,
    Released,
)
from sim.kv import OpenMemory
from sim.request import Sequence
from sim.scheduler import Batch


class StepWork(NamedTuple):
    """One request's share of a step.  `context`: tokens with K and V afterwards."""

    request_id: int
    num_tokens: int
    context: int
    is_prefill: bool
    sampled: bool


@dataclass(frozen=True)
class Step:
    """One step, after it ran.  `running` and `waiting` are as scheduled, in order of the lists.

    `block_tables` holds the physical blocks of each running request; `finished` sampled their last
    token in this step; `events` include arrivals since the step before.
    """

    index: int
    start_seconds: float
    end_seconds: float
    time: StepTime
    work: tuple[StepWork, ...]
    running: tuple[int, ...]
    waiting: tuple[int, ...]
    finished: tuple[int, ...]
    block_tables: dict[int, tuple[int, ...]]
    num_free_blocks: int
    num_usable_blocks: int
    events: tuple[Event, ...]

    @property
    def seconds(self) -> float:
        return self.end_seconds - self.start_seconds

    @property
    def num_tokens(self) -> int:
        """Tokens computed in this step, over all requests."""
        return sum(work.num_tokens for work in self.work)

    @property
    def kv_usage(self) -> float:
        return 1 - self.num_free_blocks / self.num_usable_blocks


def steps(setup: Setup) -> Iterator[Step]:
    """Run the setup and yield every step.

    Raises:
        SimError: `no_progress` when requests wait that can never be scheduled.
    """
    for index, pulse in enumerate(pulses(setup)):
        yield _look(index, pulse)


def advance(batch: Batch) -> list[Sequence]:
    """Count the step's tokens as computed; who has no token missing samples one.

    Returns those who sampled, in order.  The last chunk of a prompt yields the first token: no
    extra decode step is needed.
    """
    sampled = []
    for sequence, num_tokens in batch.work:
        sequence.num_computed_tokens += num_tokens
        if sequence.num_computed_tokens == sequence.num_tokens:
            sequence.append_token()
            sampled.append(sequence)
    return sampled


def advance_with_proposals(batch: Batch, verifier: Verifier) -> list[Sequence]:
    """`advance` where sequences may have computed proposals as well.

    Those that are accepted are tokens of the text, whose K and V are there already; one token more
    follows them.  The others count as not computed.  Then the draft proposes again.
    """
    sampled = []
    for sequence, num_tokens in batch.work:
        sequence.num_computed_tokens += num_tokens
        num_proposed = sequence.num_computed_tokens - sequence.num_tokens
        if num_proposed < 0:
            continue
        num_accepted = verifier.num_accepted(sequence, num_proposed) if num_proposed else 0
        sequence.num_computed_tokens -= num_proposed - num_accepted
        for _ in range(num_accepted + 1):
            sequence.append_token()
        verifier.propose(sequence)
        sampled.append(sequence)
    return sampled


def wake_up(batch: Batch, inbox: Inbox, waiting: deque[Sequence], now: float) -> float:
    """The next moment at which something can change, when nobody could be scheduled.

    If that was in spite of a preemption, the request would only be admitted and preempted again,
    for ever.

    Raises:
        SimError: `no_progress` when nothing can change any more.
    """
    moment = min(inbox.next_seconds, batch.wait_until)
    if waiting and (batch.preempted or moment == math.inf):
        head = waiting[0]
        raise SimError("no_progress", request_id=head.id, num_tokens=head.num_tokens, seconds=now)
    return max(now, moment)


@dataclass
class Pulse:
    """The live state of one step, before the next one changes it."""

    start: float
    end: float
    time: StepTime
    batch: Batch
    work: list[StepWork]
    sampled: list[Sequence]
    running: list[Sequence]  # as scheduled
    waiting: deque[Sequence]
    memory: OpenMemory
    num_used_blocks: int
    block_tables: Mapping[int, Row[int]]
    events: list[Event]
    verifier: Verifier | None


def pulses(setup: Setup) -> Iterator[Pulse]:
    """The loop itself; what it yields is only true until the next step."""
    policy, memory = setup.policy.open(), setup.memory.open()
    clock, inbox = setup.clock, Inbox(setup)
    waiting: deque[Sequence] = deque()
    running: list[Sequence] = []
    events: list[Event] = []
    verifier = Verifier(setup.speculation) if setup.speculation else None
    now = 0.0
    while inbox or waiting or running:
        while inbox.next_seconds <= now:
            events.append(_arrive(inbox, setup, memory, waiting))
        batch = policy.next_batch(now, waiting, running, memory)
        events += _scheduling_events(batch, memory)
        if not batch.work:
            now = wake_up(batch, inbox, waiting, now)
            continue
        time = clock.step_time(batch.load())
        if verifier is not None:
            drafting = verifier.drafting_seconds(batch, clock)
            time = time._replace(seconds=time.seconds + drafting)
        start, now = now, now + time.seconds
        work = [_share(sequence, num_tokens) for sequence, num_tokens in batch.work]
        sampled = advance_with_proposals(batch, verifier) if verifier else advance(batch)
        finished = [sequence for sequence in sampled if sequence.is_finished]
        events += _token_events(sampled, finished)
        leaving = policy.leaving(finished, running)
        if leaving:
            events.append(Released(tuple(sequence.id for sequence in leaving)))
        yield Pulse(
            start,
            now,
            time,
            batch,
            work,
            sampled,
            running,
            waiting,
            memory,
            memory.num_used_blocks,
            memory.block_tables,
            events,
            verifier,
        )
        events = []
        for _ in finished:
            inbox.answered(now)
        for sequence in leaving:
            memory.free(sequence)
            running.remove(sequence)


# -- inside -----------------------------------------------------------------------------------


def _arrive(inbox: Inbox, setup: Setup, memory: OpenMemory, waiting: deque[Sequence]) -> Event:
    request = inbox.take()
    sequence = Sequence(request, setup.policy.max_model_len)
    refused = refusal(sequence, setup, memory)
    if refused is None:
        waiting.append(sequence)
        return Arrived(request.id)
    inbox.answered(request.arrival_seconds)
    return refused


def _share(sequence: Sequence, num_tokens: int) -> StepWork:
    context = sequence.num_computed_tokens + num_tokens
    return StepWork(
        sequence.id,
        num_tokens,
        context,
        not sequence.is_decoding,
        context >= sequence.num_tokens,
    )


def _scheduling_events(batch: Batch, memory: OpenMemory) -> list[Event]:
    events: list[Event] = [*batch.refused]
    events += [Preempted(sequence.id, lost) for sequence, lost in batch.preempted]
    events += [Admitted(sequence.id, hit, resumed) for sequence, hit, resumed in batch.admitted]
    events += memory.events
    memory.events.clear()
    return events


def _token_events(sampled: list[Sequence], finished: list[Sequence]) -> list[Event]:
    first = [FirstToken(s.id) for s in sampled if s.num_output_tokens == 1]
    return [*first, *(Finished(s.id, s.num_output_tokens) for s in finished)]


def _look(index: int, pulse: Pulse) -> Step:
    memory = pulse.memory
    return Step(
        index=index,
        start_seconds=pulse.start,
        end_seconds=pulse.end,
        time=pulse.time,
        work=tuple(pulse.work),
        running=tuple(sequence.id for sequence in pulse.running),
        waiting=tuple(sequence.id for sequence in pulse.waiting),
        finished=tuple(s.id for s in pulse.sampled if s.is_finished),
        block_tables={s.id: tuple(memory.block_tables[s.id]) for s in pulse.running},
        num_free_blocks=memory.num_free_blocks,
        num_usable_blocks=memory.num_usable_blocks,
        events=tuple(pulse.events),
    )
