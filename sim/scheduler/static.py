"""Static and dynamic batching: requests are grouped once, and stay together to the end.

The whole batch is padded to its longest prompt, and a row that has finished keeps its slot and its
memory until the longest answer is done.  Memory for prompt + answer is taken at admission, since a
fixed batch has nobody to give way.  `Dynamic` differs in one thing only: it waits for a full batch
or for a time window before it starts.  It is *not* continuous batching: nobody joins on the way.

Source: engine_semantics, section 7 (our definitions); the problem is that of Orca, Yu et al. 2022,
section 3.
"""

import math
from collections import deque
from dataclasses import dataclass
from typing import ClassVar

from sim.errors import require
from sim.kv import CountedMemory, Memory
from sim.request import Sequence
from sim.scheduler.batch import Batch
from sim.scheduler.decoding import Decoding
from sim.scheduler.load import Load


@dataclass(frozen=True)
class Static:
    """When idle, take up to `max_num_seqs` waiting requests and serve them to the end.

    Raises:
        SimError: `max_num_seqs_below_one`.
    """

    max_num_seqs: int = 8
    max_model_len: int | None = None
    takes_groups: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require(self.max_num_seqs >= 1, "max_num_seqs_below_one", value=self.max_num_seqs)

    def open(self) -> "Static":
        return self

    def starts_at(self, waiting: deque[Sequence]) -> float:
        """The moment from which the waiting requests may start as a batch."""
        return 0.0

    def next_batch(
        self, now: float, waiting: deque[Sequence], running: list[Sequence], memory: Memory
    ) -> Batch:
        batch = Batch()
        if running:
            batch.line_stands = batch.owns_all = True
            self._decode(running, batch)
        elif waiting:
            start = self.starts_at(waiting)
            if now < start:
                batch.wait_until = start
            else:
                self._admit(waiting, running, memory, batch)
        return batch

    def group_batch(
        self,
        waiting: deque[Sequence],
        running: list[Sequence],
        decoding: Decoding,
        memory: CountedMemory,
    ) -> None:
        """Rows that are done keep computing, so the batch is never only those who decode."""

    def leaving(self, finished: list[Sequence], running: list[Sequence]) -> list[Sequence]:
        return list(running) if all(sequence.is_finished for sequence in running) else []

    def _admit(
        self,
        waiting: deque[Sequence],
        running: list[Sequence],
        memory: Memory,
        batch: Batch,
    ) -> None:
        while waiting and len(running) < self.max_num_seqs:
            sequence = waiting[0]
            if not memory.reserve(sequence, sequence.max_tokens):
                batch.refuse(sequence, sequence.max_tokens, memory)
                break
            running.append(waiting.popleft())
            batch.admit(sequence, 0, sequence.num_tokens)
        width = len(running)
        longest = max((sequence.num_tokens for sequence in running), default=0)
        batch.padded = Load.of_rows([longest] * width, [longest] * width, width)

    def _decode(self, running: list[Sequence], batch: Batch) -> None:
        for sequence in running:
            if not sequence.is_finished:
                batch.add(sequence, 1)
        width = len(running)
        longest_prompt = max(sequence.request.prompt_tokens for sequence in running)
        longest_output = max(sequence.num_output_tokens for sequence in running)
        context = longest_prompt + longest_output
        batch.padded = Load.decode(width, width * context)


@dataclass(frozen=True)
class Dynamic(Static):
    """Start when `max_num_seqs` requests wait, or the first of them has waited `window_seconds`."""

    window_seconds: float = 0.1

    def __post_init__(self) -> None:
        super().__post_init__()
        require(0 <= self.window_seconds < math.inf, "window_negative", value=self.window_seconds)

    def starts_at(self, waiting: deque[Sequence]) -> float:
        if len(waiting) >= self.max_num_seqs:
            return 0.0
        return waiting[0].request.arrival_seconds + self.window_seconds
