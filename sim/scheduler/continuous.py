"""Continuous batching at the level of iterations: the batch is chosen anew before every step.

What static batching lacked: a finished request leaves at once, and a waiting one takes its slot in
the next step.  Prompts are computed whole and come first: if any waiting request can be admitted
the step is prefill only, and those who decode wait for it (vLLM V0; Orca itself computes prefills
and decodes in one step).  With `chunked` nobody stops, but steps get longer.

Source: vLLM V0; the choice anew before every step is Orca's (Yu et al. 2022, section 4.1).
"""

from collections import deque
from dataclasses import dataclass
from typing import ClassVar

from sim.errors import require
from sim.kv import CountedMemory, Memory
from sim.request import Sequence
from sim.scheduler.batch import Batch, allocate_or_preempt
from sim.scheduler.decoding import Decoding


@dataclass(frozen=True)
class Continuous:
    """At most `max_num_seqs` at once; at most `max_num_batched_tokens` prompt tokens per step.

    A prompt longer than that is computed alone.

    Raises:
        SimError: `max_num_seqs_below_one`, `max_num_batched_tokens_below_one`.
    """

    max_num_seqs: int = 256
    max_num_batched_tokens: int = 16_384
    max_model_len: int | None = None
    takes_groups: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require(self.max_num_seqs >= 1, "max_num_seqs_below_one", value=self.max_num_seqs)
        require(
            self.max_num_batched_tokens >= 1,
            "max_num_batched_tokens_below_one",
            value=self.max_num_batched_tokens,
        )

    def open(self) -> "Continuous":
        return self

    def next_batch(
        self, now: float, waiting: deque[Sequence], running: list[Sequence], memory: Memory
    ) -> Batch:
        batch = Batch()
        self._prefill(waiting, running, memory, batch)
        if not batch.work:
            self._decode(waiting, running, memory, batch)
        return batch

    def group_batch(
        self,
        waiting: deque[Sequence],
        running: list[Sequence],
        decoding: Decoding,
        memory: CountedMemory,
    ) -> Batch | None:
        batch = Batch()
        self._prefill(waiting, running, memory, batch)
        if batch.work:
            return batch
        due = decoding.num_blocks_due()
        if due > memory.num_free_blocks:
            return None
        memory.take(due)
        batch.group_decodes = True
        return batch

    def leaving(self, finished: list[Sequence], running: list[Sequence]) -> list[Sequence]:
        return finished

    def _prefill(
        self,
        waiting: deque[Sequence],
        running: list[Sequence],
        memory: Memory,
        batch: Batch,
    ) -> None:
        budget = self.max_num_batched_tokens
        while waiting and len(running) < self.max_num_seqs:
            sequence = waiting[0]
            hits = memory.match_prefix(sequence)
            hit_tokens = len(hits) * memory.block_size
            num_tokens = sequence.num_tokens - hit_tokens
            if num_tokens > budget and batch.work:
                break
            if not memory.allocate(sequence, sequence.num_tokens, hits):
                batch.refuse(sequence, sequence.num_tokens, memory, hits)
                break
            running.append(waiting.popleft())
            batch.admit(sequence, hit_tokens, num_tokens)
            budget -= num_tokens
        batch.line_stands = bool(waiting) or len(running) >= self.max_num_seqs

    def _decode(
        self,
        waiting: deque[Sequence],
        running: list[Sequence],
        memory: Memory,
        batch: Batch,
    ) -> None:
        index = 0
        while index < len(running):
            sequence = running[index]
            upto = sequence.num_tokens + sequence.num_draft_tokens
            if not allocate_or_preempt(sequence, upto, waiting, running, memory, batch):
                break
            batch.add(sequence, upto - sequence.num_computed_tokens)
            index += 1
