"""A whole run, for metrics and charts: what happened to each request and in each step."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from functools import cached_property
from itertools import pairwise

import numpy as np

from sim.engine.setup import Setup
from sim.engine.speculation import NO_ROUNDS, Tally, Verifier
from sim.engine.steps import Pulse, pulses
from sim.request import Request


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
class StepSeries:
    """One row per step; every array is [num_steps]."""

    start_seconds: np.ndarray
    end_seconds: np.ndarray
    num_running: np.ndarray
    num_waiting: np.ndarray
    kv_usage: np.ndarray  # share of usable blocks held while the step runs
    kv_promised: np.ndarray  # share kept for what those who run may still take
    prefill_tokens: np.ndarray
    decode_tokens: np.ndarray
    sampled_tokens: np.ndarray
    memory_bound: np.ndarray  # bool


@dataclass(frozen=True, eq=False)
class Run:
    """A whole run, for metrics and charts; requests in the order of the setup.

    requests: as they were sent (in a closed loop the users decide when);
    scheduled_seconds: start of the first step with the request, [num_requests], NaN if refused;
    hit_tokens: found in the prefix cache at the first admission, [num_requests];
    num_tokens: tokens that came out, [num_requests]; token_seconds: when, request after request,
    [sum of num_tokens]; pauses: (preempted, resumed) of those who were preempted, by request id;
    rounds: of speculation.
    """

    setup: Setup
    requests: tuple[Request, ...]
    scheduled_seconds: np.ndarray
    hit_tokens: np.ndarray
    num_tokens: np.ndarray
    token_seconds: np.ndarray
    pauses: dict[int, tuple[tuple[float, float], ...]]
    series: StepSeries
    num_preemptions: int
    rounds: Tally = NO_ROUNDS

    @cached_property
    def records(self) -> tuple[Record, ...]:
        """The run request by request."""
        cuts = np.concatenate([[0], np.cumsum(self.num_tokens)]).tolist()
        columns = zip(
            self.requests,
            self.scheduled_seconds.tolist(),
            self.hit_tokens.tolist(),
            pairwise(cuts),
            strict=True,
        )
        return tuple(
            Record(
                request,
                None if scheduled != scheduled else scheduled,
                self.token_seconds[first:after],
                self.pauses.get(request.id, ()),
                hit_tokens,
                rejected=scheduled != scheduled,  # NaN: everybody else was served
            )
            for request, scheduled, hit_tokens, (first, after) in columns
        )


Watch = Callable[[], object]


def unwatched() -> None:
    """Nobody may end the run."""


def run_by_steps(setup: Setup, watch: Watch = unwatched) -> Run:
    """Run the setup step by step: slow, and what `simulate` has to agree with.

    Raises:
        SimError: `no_progress` when requests wait that can never be scheduled.
    """
    ledger = _Ledger(setup)
    for pulse in pulses(setup):
        watch()
        ledger.write(pulse)
    return ledger.close()


# -- inside -----------------------------------------------------------------------------------


Row = tuple[float, float, int, int, float, float, int, int, int, bool]  # of `StepSeries`


@dataclass
class _Life:
    """A record while it is being written."""

    request: Request  # as it was sent: in a closed loop the users decide when
    scheduled: float = math.nan
    tokens: list[float] = field(default_factory=list)
    pauses: list[tuple[float, float]] = field(default_factory=list)
    paused_at: float = 0.0
    hit_tokens: int = 0


class _Ledger:
    """Writes down each pulse, and closes into a `Run`."""

    def __init__(self, setup: Setup):
        self.setup = setup
        self.lives = {request.id: _Life(request) for request in setup.requests}
        self.rows: list[Row] = []
        self.num_preemptions = 0
        self.verifier: Verifier | None = None

    def write(self, pulse: Pulse) -> None:
        self.verifier = pulse.verifier
        for sequence, _ in pulse.batch.preempted:
            self.lives[sequence.id].paused_at = pulse.start
            self.num_preemptions += 1
        for sequence, hit_tokens, resumed in pulse.batch.admitted:
            life = self.lives[sequence.id]
            life.request = sequence.request
            if resumed:
                life.pauses.append((life.paused_at, pulse.start))
            else:
                life.scheduled, life.hit_tokens = pulse.start, hit_tokens
        num_sampled = 0
        for sequence in pulse.sampled:
            tokens = self.lives[sequence.id].tokens
            num_new = sequence.num_output_tokens - len(tokens)
            tokens += [pulse.end] * num_new
            num_sampled += num_new
        self.rows.append(self._row(pulse, num_sampled))

    def _row(self, pulse: Pulse, num_sampled: int) -> Row:
        prefill = sum(work.num_tokens for work in pulse.work if work.is_prefill)
        computed = sum(work.num_tokens for work in pulse.work)
        return (
            pulse.start,
            pulse.end,
            len(pulse.running),
            len(pulse.waiting),
            pulse.num_used_blocks / pulse.memory.num_usable_blocks,
            pulse.batch.num_promised_blocks / pulse.memory.num_usable_blocks,
            prefill,
            computed - prefill,
            num_sampled,
            pulse.time.memory_bound,
        )

    def close(self) -> Run:
        columns = [np.array(column) for column in zip(*self.rows, strict=True)]
        columns = columns or [np.zeros(0)] * len(fields(StepSeries))
        lives = [self.lives[request.id] for request in self.setup.requests]
        tokens = [seconds for life in lives for seconds in life.tokens]
        return Run(
            setup=self.setup,
            requests=tuple(life.request for life in lives),
            scheduled_seconds=np.array([life.scheduled for life in lives]),
            hit_tokens=np.array([life.hit_tokens for life in lives]),
            num_tokens=np.array([len(life.tokens) for life in lives]),
            token_seconds=np.array(tokens, dtype=float),
            pauses={life.request.id: tuple(life.pauses) for life in lives if life.pauses},
            series=StepSeries(*columns),
            num_preemptions=self.num_preemptions,
            rounds=self.verifier.tally if self.verifier else NO_ROUNDS,
        )
