"""The book of a fast run: one line for many steps, one entry for many tokens.

While the run goes on only what changes is written down; the rows of single steps and the times of
single tokens are made of it in one go when the book is closed.
"""

import math
from array import array

import numpy as np

from sim.cost import StepTime
from sim.engine.run import Run, StepSeries
from sim.engine.setup import Setup
from sim.request import Sequence

NUM_FIELDS = 7  # of a line


class Ledger:
    """Written by the fast path, in the order of time; `close` makes the run of it."""

    def __init__(self, setup: Setup, num_usable_blocks: int):
        self.setup = setup
        self.num_usable_blocks = num_usable_blocks
        self.arrivals: list[float] = []  # of those who were let into the queue
        self.num_preemptions = 0
        self._index = {request.id: index for index, request in enumerate(setup.requests)}
        self._requests = list(setup.requests)  # [num_requests], as the next two
        self._scheduled = [math.nan] * len(self._requests)
        self._hit_tokens = [0] * len(self._requests)
        self._pauses: dict[int, list[tuple[float, float]]] = {}
        self._paused_at: dict[int, float] = {}
        self._tokens: list[tuple[int, int, int, bool]] = []  # (whose, first, number, of ticks?)
        self._lines = array("q")  # [num_lines * fields]
        self._starts: list[float] = []  # [num_steps], as the next three
        self._ends: list[float] = []
        self._num_used: list[int] = []
        self._memory_bound: list[bool] = []

    def preempted(self, sequence: Sequence, now: float) -> None:
        self._paused_at[sequence.id] = now
        self.num_preemptions += 1

    def admitted(self, sequence: Sequence, now: float, hit_tokens: int, resumed: bool) -> None:
        if resumed:
            pause = (self._paused_at[sequence.id], now)
            self._pauses.setdefault(sequence.id, []).append(pause)
        else:
            index = self._index[sequence.id]
            self._requests[index] = sequence.request
            self._scheduled[index] = now
            self._hit_tokens[index] = hit_tokens

    def line(
        self,
        num_steps: int,
        num_running: int,
        prefill_tokens: int,
        decode_tokens: int,
        sampled_tokens: int,
        group_decodes: bool,
        num_left_queue: int,
    ) -> None:
        """So many steps that are the same but for their times and blocks, which `step` or `stretch`
        adds.  `num_left_queue`: before the first of them; negative when preempted requests came
        back."""
        self._lines.extend(
            (
                num_steps,
                num_running,
                prefill_tokens,
                decode_tokens,
                sampled_tokens,
                group_decodes,
                num_left_queue,
            )
        )

    def step(self, start: float, time: StepTime, num_used: int) -> float:
        """One step; returns its end."""
        end = start + time.seconds
        self._starts.append(start)
        self._ends.append(end)
        self._num_used.append(num_used)
        self._memory_bound.append(time.memory_bound)
        return end

    def stretch(self, moments: list[float], memory_bound: list[bool], num_used: list[int]) -> None:
        """Steps without a pause between them; moments: [num_steps + 1], from start to end."""
        self._starts += moments[:-1]
        self._ends += moments[1:]
        self._num_used += num_used
        self._memory_bound += memory_bound

    def token(self, sequence: Sequence) -> None:
        """One token, in the newest step."""
        self._tokens.append((self._index[sequence.id], len(self._ends) - 1, 1, False))

    def tokens(self, sequence: Sequence, first_tick: int, num_ticks: int) -> None:
        """One token in each of these ticks of the decoding group."""
        if num_ticks:
            self._tokens.append((self._index[sequence.id], first_tick, num_ticks, True))

    def close(self) -> Run:
        num_tokens, token_seconds = self._token_times()
        return Run(
            setup=self.setup,
            requests=tuple(self._requests),
            scheduled_seconds=np.array(self._scheduled),
            hit_tokens=np.array(self._hit_tokens),
            num_tokens=num_tokens,
            token_seconds=token_seconds,
            pauses={who: tuple(pauses) for who, pauses in self._pauses.items()},
            series=self._series(),
            num_preemptions=self.num_preemptions,
        )

    # -- inside -----------------------------------------------------------------------------

    def _token_times(self) -> tuple[np.ndarray, np.ndarray]:
        """How many tokens each request got, [num_requests], and when, request after request."""
        ends = np.array(self._ends)
        num_steps, _, _, _, _, group_decodes, _ = self._columns()
        tick_ends = ends[np.repeat(group_decodes.astype(bool), num_steps)]
        moments = np.concatenate([ends, tick_ends])

        entries = sorted(self._tokens, key=lambda entry: entry[0])  # each request's stay in order
        num_tokens = np.zeros(len(self._requests), dtype=np.int64)
        pieces = [np.zeros(0)]
        for whose, first, number, of_ticks in entries:
            first += of_ticks * len(ends)
            pieces.append(moments[first : first + number])
            num_tokens[whose] += number
        return num_tokens, np.concatenate(pieces)

    def _columns(self) -> np.ndarray:
        """The lines, [fields of a line, num_lines]."""
        return np.array(self._lines, dtype=np.int64).reshape(-1, NUM_FIELDS).T

    def _series(self) -> StepSeries:
        num_steps, num_running, prefill, decode, sampled, _, num_left = self._columns()
        starts = np.array(self._starts)
        num_come = np.searchsorted(np.array(self.arrivals), starts, side="right")
        return StepSeries(
            start_seconds=starts,
            end_seconds=np.array(self._ends),
            num_running=np.repeat(num_running, num_steps),
            num_waiting=num_come - np.repeat(np.cumsum(num_left), num_steps),
            kv_usage=np.array(self._num_used) / self.num_usable_blocks,
            kv_promised=np.zeros(len(starts)),  # a policy that promises goes step by step
            prefill_tokens=np.repeat(prefill, num_steps),
            decode_tokens=np.repeat(decode, num_steps),
            sampled_tokens=np.repeat(sampled, num_steps),
            memory_bound=np.array(self._memory_bound, dtype=bool),
        )
