"""The book of a fast run: one line for many steps, one entry for many tokens.

While the run goes on only what changes is written down; the rows of single steps and the times of
single tokens are made of it in one go when the book is closed.
"""

from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from sim.cost import StepTime
from sim.engine.run import Record, Run, Series
from sim.engine.setup import Setup
from sim.request import Request, Sequence
from sim.scheduler import Batch


class Line(NamedTuple):
    """So many steps that are the same but for their times and blocks."""

    num_steps: int
    num_running: int
    prefill_tokens: int
    decode_tokens: int
    sampled_tokens: int
    group_decodes: bool
    num_left_queue: int  # in the first of the steps; negative when preempted requests came back


@dataclass
class _Life:
    """A record while it is being written.

    `singles`: steps that gave one token; `stretches`: (first, after last) tick of the group.  They
    alternate in time, and `order` says how: True for a stretch.
    """

    request: Request
    scheduled: float | None = None
    hit_tokens: int = 0
    paused_at: float = 0.0
    pauses: list[tuple[float, float]] = field(default_factory=list)
    tokens: list[tuple[int, int, bool]] = field(default_factory=list)  # (first, number, of ticks?)


class Ledger:
    def __init__(self, setup: Setup, num_usable_blocks: int):
        self.setup = setup
        self.num_usable_blocks = num_usable_blocks
        self.arrivals: list[float] = []  # of those who were let into the queue
        self.num_preemptions = 0
        self._lives = {request.id: _Life(request) for request in setup.requests}
        self._lines: list[Line] = []
        self._starts: list[float] = []  # [num_steps], as the next three
        self._ends: list[float] = []
        self._num_used: list[int] = []
        self._memory_bound: list[bool] = []

    def choose(self, batch: Batch, now: float) -> None:
        """Who joined and who had to go before the step that starts now."""
        for sequence, _ in batch.preempted:
            self._lives[sequence.id].paused_at = now
            self.num_preemptions += 1
        for sequence, hit_tokens, resumed in batch.admitted:
            life = self._lives[sequence.id]
            life.request = sequence.request
            if resumed:
                life.pauses.append((life.paused_at, now))
            else:
                life.scheduled, life.hit_tokens = now, hit_tokens

    def step(self, line: Line, start: float, time: StepTime, num_used: int) -> float:
        """One step; returns its end."""
        end = start + time.seconds
        self._lines.append(line)
        self._starts.append(start)
        self._ends.append(end)
        self._num_used.append(num_used)
        self._memory_bound.append(time.memory_bound)
        return end

    def stretch(
        self, line: Line, moments: list[float], memory_bound: list[bool], num_used: list[int]
    ) -> None:
        """Steps without a pause between them; moments: [num_steps + 1], from start to end."""
        self._lines.append(line)
        self._starts += moments[:-1]
        self._ends += moments[1:]
        self._num_used += num_used
        self._memory_bound += memory_bound

    def token(self, sequence: Sequence) -> None:
        """One token, in the newest step."""
        self._lives[sequence.id].tokens.append((len(self._ends) - 1, 1, False))

    def tokens(self, sequence: Sequence, first_tick: int, num_ticks: int) -> None:
        """One token in each of these ticks of the decoding group."""
        if num_ticks:
            self._lives[sequence.id].tokens.append((first_tick, num_ticks, True))

    def close(self) -> Run:
        times = self._token_times()
        return Run(
            setup=self.setup,
            records=tuple(
                self._record(request, seconds)
                for request, seconds in zip(self.setup.requests, times, strict=True)
            ),
            series=self._series(),
            num_preemptions=self.num_preemptions,
        )

    # -- inside -----------------------------------------------------------------------------

    def _token_times(self) -> list[np.ndarray]:
        """When each request's tokens came out: [output_tokens] per request, in their order."""
        ends = np.array(self._ends)
        if not len(ends):
            return [np.array([])] * len(self._lives)
        num_steps, _, _, _, _, group_decodes, _ = self._columns()
        tick_ends = ends[np.repeat(group_decodes.astype(bool), num_steps)]
        moments = np.concatenate([ends, tick_ends])

        entries = [entry for life in self._lives.values() for entry in life.tokens]
        first, number, of_ticks = np.array(entries, dtype=np.int64).reshape(-1, 3).T
        first = first + of_ticks * len(ends)
        after = np.cumsum(number)
        places = np.arange(after[-1]) + np.repeat(first - (after - number), number)
        seconds = moments[places]  # [tokens of all requests]

        num_entries = np.cumsum([0] + [len(life.tokens) for life in self._lives.values()])
        cuts = np.concatenate([[0], after])[num_entries].tolist()
        return [seconds[a:b] for a, b in pairwise(cuts)]

    def _record(self, request: Request, token_seconds: np.ndarray) -> Record:
        life = self._lives[request.id]
        return Record(
            life.request,
            life.scheduled,
            token_seconds,
            tuple(life.pauses),
            life.hit_tokens,
            rejected=life.scheduled is None,  # everybody else was served
        )

    def _columns(self) -> np.ndarray:
        """The lines, [fields, num_lines]."""
        return np.array(self._lines, dtype=np.int64).reshape(-1, len(Line._fields)).T

    def _series(self) -> Series:
        num_steps, num_running, prefill, decode, sampled, _, num_left = self._columns()
        starts = np.array(self._starts)
        num_come = np.searchsorted(np.array(self.arrivals), starts, side="right")
        return Series(
            start_seconds=starts,
            end_seconds=np.array(self._ends),
            num_running=np.repeat(num_running, num_steps),
            num_waiting=num_come - np.repeat(np.cumsum(num_left), num_steps),
            kv_usage=np.array(self._num_used) / self.num_usable_blocks,
            prefill_tokens=np.repeat(prefill, num_steps),
            decode_tokens=np.repeat(decode, num_steps),
            sampled_tokens=np.repeat(sampled, num_steps),
            memory_bound=np.array(self._memory_bound, dtype=bool),
        )
