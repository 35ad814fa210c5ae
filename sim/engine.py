"""The loop: schedule, time, advance.

    while anybody waits or runs:
        batch = policy.next_batch(now, waiting, running, memory)   who goes
        end = now + clock.step_time(batch)                         how long it takes
        advance(batch)                                             what changed
        yield Step(...)                                            what the reader sees

The clock: a step sees the requests that arrived no later than its start.  An idle server jumps to
the next arrival.  All tokens of a step are stamped at its end.  (engine_semantics, "The clock".)
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from sim.cost import Clock, StepTime
from sim.errors import SimError, require
from sim.events import (
    Admitted,
    Arrived,
    Event,
    Finished,
    FirstToken,
    Preempted,
    Rejected,
    Released,
)
from sim.kv import Paged, PagedMemory
from sim.request import Request, Sequence
from sim.scheduler import Batch, Policy


@dataclass(frozen=True)
class Setup:
    """Everything a run depends on; the same setup gives the same run.

    `reject_impossible` refuses on arrival a request whose prompt + output can never fit the pool;
    switched off, it waits forever, as in engines without that check.

    Raises:
        SimError: `no_requests`, `duplicate_request_id`.
    """

    requests: tuple[Request, ...]
    policy: Policy
    memory: Paged
    clock: Clock
    reject_impossible: bool = True

    def __post_init__(self) -> None:
        require(len(self.requests) >= 1, "no_requests")
        ids = [request.id for request in self.requests]
        require(len(set(ids)) == len(ids), "duplicate_request_id")


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


@dataclass(frozen=True)
class Record:
    """What happened to one request.  Times in seconds; None where it never came to that.

    `token_seconds`: [output_tokens] when each token came out.  `pauses`: (preempted, resumed).
    """

    request: Request
    scheduled_seconds: float | None
    token_seconds: np.ndarray
    pauses: tuple[tuple[float, float], ...]
    hit_tokens: int
    rejected: bool


@dataclass(frozen=True)
class Series:
    """One row per step; every array is [num_steps]."""

    start_seconds: np.ndarray
    end_seconds: np.ndarray
    num_running: np.ndarray
    num_waiting: np.ndarray
    kv_usage: np.ndarray  # share of usable blocks held while the step runs
    prefill_tokens: np.ndarray
    decode_tokens: np.ndarray
    sampled_tokens: np.ndarray
    memory_bound: np.ndarray  # bool


@dataclass(frozen=True)
class Run:
    """A whole run, for metrics and charts.  Records are in the order of the setup's requests."""

    setup: Setup
    records: tuple[Record, ...]
    series: Series
    num_preemptions: int


def steps(setup: Setup) -> Iterator[Step]:
    """Run the setup and yield every step.

    Raises:
        SimError: `no_progress` when requests wait that can never be scheduled.
    """
    for index, pulse in enumerate(_pulses(setup)):
        yield _look(index, pulse)


def simulate(setup: Setup) -> Run:
    """Run the setup to its end and keep what metrics need.

    Raises:
        SimError: `no_progress` when requests wait that can never be scheduled.
    """
    ledger = _Ledger(setup)
    for pulse in _pulses(setup):
        ledger.write(pulse)
    return ledger.close()


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


# -- inside -----------------------------------------------------------------------------------


@dataclass
class _Pulse:
    """The live state of one step, before the next one changes it."""

    start: float
    end: float
    time: StepTime
    batch: Batch
    work: list[StepWork]
    sampled: list[Sequence]
    running: list[Sequence]  # as scheduled
    waiting: deque[Sequence]
    memory: PagedMemory
    num_used_blocks: int
    block_tables: dict[int, list[int]]
    events: list[Event]


def _pulses(setup: Setup) -> Iterator[_Pulse]:
    policy, clock, memory = setup.policy, setup.clock, setup.memory.open()
    future = deque(sorted(setup.requests, key=lambda request: request.arrival_seconds))
    waiting: deque[Sequence] = deque()
    running: list[Sequence] = []
    events: list[Event] = []
    now = 0.0
    while future or waiting or running:
        while future and future[0].arrival_seconds <= now:
            _arrive(future.popleft(), setup, memory, waiting, events)
        batch = policy.next_batch(now, waiting, running, memory)
        events += _scheduling_events(batch, memory)
        if not batch.work:
            now = _wake_up(batch, future, waiting, now)
            continue
        time = clock.step_time(batch.load())
        start, now = now, now + time.seconds
        work = [_share(sequence, num_tokens) for sequence, num_tokens in batch.work]
        sampled = advance(batch)
        events += _token_events(sampled)
        leaving = policy.leaving(running)
        if leaving:
            events.append(Released(tuple(sequence.id for sequence in leaving)))
        yield _Pulse(
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
        )
        events = []
        for sequence in leaving:
            memory.free(sequence)
        if leaving:
            gone = {sequence.id for sequence in leaving}
            running[:] = [sequence for sequence in running if sequence.id not in gone]


def _arrive(
    request: Request,
    setup: Setup,
    memory: PagedMemory,
    waiting: deque[Sequence],
    events: list[Event],
) -> None:
    sequence = Sequence(request, setup.policy.max_model_len)
    fits = memory.can_ever_hold(sequence.max_tokens) and request.prompt_tokens < (
        setup.policy.max_model_len or request.prompt_tokens + 1
    )
    if setup.reject_impossible and not fits:
        needed = memory.num_blocks_for(sequence.max_tokens)
        events.append(Rejected(request.id, needed, memory.num_usable_blocks))
    else:
        waiting.append(sequence)
        events.append(Arrived(request.id))


def _wake_up(batch: Batch, future: deque[Request], waiting: deque[Sequence], now: float) -> float:
    """The next moment at which something can change.

    Nobody could be scheduled.  If that was in spite of a preemption, the request would only be
    admitted and preempted again, for ever.
    """
    moments = [request.arrival_seconds for request in list(future)[:1]]
    if batch.wait_until is not None:
        moments.append(batch.wait_until)
    if waiting and (batch.preempted or not moments):
        head = waiting[0]
        raise SimError("no_progress", request_id=head.id, num_tokens=head.num_tokens, seconds=now)
    return max(now, min(moments, default=now))


def _share(sequence: Sequence, num_tokens: int) -> StepWork:
    context = sequence.num_computed_tokens + num_tokens
    return StepWork(
        sequence.id,
        num_tokens,
        context,
        not sequence.is_decoding,
        context == sequence.num_tokens,
    )


def _scheduling_events(batch: Batch, memory: PagedMemory) -> list[Event]:
    events: list[Event] = [*batch.refused]
    events += [Preempted(sequence.id, lost) for sequence, lost in batch.preempted]
    events += [Admitted(sequence.id, hit, resumed) for sequence, hit, resumed in batch.admitted]
    events += memory.events
    memory.events.clear()
    return events


def _token_events(sampled: list[Sequence]) -> list[Event]:
    first = [FirstToken(s.id) for s in sampled if s.num_output_tokens == 1]
    finished = [Finished(s.id, s.num_output_tokens) for s in sampled if s.is_finished]
    return [*first, *finished]


def _look(index: int, pulse: _Pulse) -> Step:
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


@dataclass
class _Life:
    """A record while it is being written."""

    scheduled: float | None = None
    tokens: list[float] = field(default_factory=list)
    pauses: list[tuple[float, float]] = field(default_factory=list)
    paused_at: float = 0.0
    hit_tokens: int = 0


class _Ledger:
    """Writes down each pulse, and closes into a `Run`."""

    def __init__(self, setup: Setup):
        self.setup = setup
        self.lives = {request.id: _Life() for request in setup.requests}
        self.rows: list[tuple[float, float, int, int, float, int, int, int, bool]] = []
        self.num_preemptions = 0

    def write(self, pulse: _Pulse) -> None:
        for sequence, _ in pulse.batch.preempted:
            self.lives[sequence.id].paused_at = pulse.start
            self.num_preemptions += 1
        for sequence, hit_tokens, resumed in pulse.batch.admitted:
            life = self.lives[sequence.id]
            if resumed:
                life.pauses.append((life.paused_at, pulse.start))
            else:
                life.scheduled, life.hit_tokens = pulse.start, hit_tokens
        for sequence in pulse.sampled:
            self.lives[sequence.id].tokens.append(pulse.end)
        self.rows.append(self._row(pulse))

    def _row(self, pulse: _Pulse) -> tuple[float, float, int, int, float, int, int, int, bool]:
        prefill = sum(work.num_tokens for work in pulse.work if work.is_prefill)
        computed = sum(work.num_tokens for work in pulse.work)
        return (
            pulse.start,
            pulse.end,
            len(pulse.running),
            len(pulse.waiting),
            pulse.num_used_blocks / pulse.memory.num_usable_blocks,
            prefill,
            computed - prefill,
            len(pulse.sampled),
            pulse.time.memory_bound,
        )

    def close(self) -> Run:
        columns = [np.array(column) for column in zip(*self.rows, strict=True)] or [np.zeros(0)] * 9
        return Run(
            setup=self.setup,
            records=tuple(self._record(request) for request in self.setup.requests),
            series=Series(*columns),
            num_preemptions=self.num_preemptions,
        )

    def _record(self, request: Request) -> Record:
        life = self.lives[request.id]
        return Record(
            request,
            life.scheduled,
            np.array(life.tokens),
            tuple(life.pauses),
            life.hit_tokens,
            rejected=life.scheduled is None,  # everybody else was served
        )
