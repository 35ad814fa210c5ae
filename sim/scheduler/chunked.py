"""Chunked prefill with a token budget: one step of vLLM V1.

What plain continuous batching lacked: a long prompt stops every decode for as long as it takes.
Here each step has a budget of tokens.  Running requests take theirs first (one token each when they
decode), and prompts fill what is left, in pieces if need be.

Source: Sarathi-Serve, Agrawal et al. 2024, section 4; vLLM 0.11 `vllm/v1/core/sched/scheduler.py`
(`reserve_full_length` since 0.19).  Held to records of the real scheduler by `sim.replay`.
"""

from collections import deque
from dataclasses import dataclass
from typing import ClassVar

from sim.errors import require
from sim.events import PoolFull
from sim.kv import CountedMemory, Memory
from sim.request import Sequence
from sim.scheduler.batch import Batch, Work, allocate_or_preempt
from sim.scheduler.decoding import Decoding


@dataclass(frozen=True)
class Chunked:
    """vLLM's settings under vLLM's names.

    `long_prefill_token_threshold` caps what one request may take of a step (0: no cap);
    `reserve_full_length` admits a waiting request only if all its tokens fit now.  With
    `chunked_prefill` off, a prompt that does not fit the left-over budget is set aside and may be
    overtaken (0.19 stops the line there instead); vLLM then demands a budget of at least the model
    length, since a longer prompt would wait forever.

    Raises:
        SimError: `max_num_seqs_below_one`, `max_num_batched_tokens_below_one`,
            `threshold_negative`.
    """

    max_num_seqs: int = 256
    max_num_batched_tokens: int = 2048
    chunked_prefill: bool = True
    long_prefill_token_threshold: int = 0
    reserve_full_length: bool = False
    max_model_len: int | None = None
    takes_groups: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require(self.max_num_seqs >= 1, "max_num_seqs_below_one", value=self.max_num_seqs)
        require(
            self.max_num_batched_tokens >= 1,
            "max_num_batched_tokens_below_one",
            value=self.max_num_batched_tokens,
        )
        require(
            self.long_prefill_token_threshold >= 0,
            "threshold_negative",
            value=self.long_prefill_token_threshold,
        )

    def open(self) -> "Chunked":
        return self

    def next_batch(
        self, now: float, waiting: deque[Sequence], running: list[Sequence], memory: Memory
    ) -> Batch:
        batch = Batch()
        budget = self._schedule_running(waiting, running, memory, batch)
        if not batch.preempted:
            self._admit_waiting(waiting, running, memory, batch, budget)
        return batch

    def group_batch(
        self,
        waiting: deque[Sequence],
        running: list[Sequence],
        decoding: Decoding,
        memory: CountedMemory,
    ) -> Batch | None:
        """Running order does not matter while there are blocks for everybody and budget for all who
        decode: nobody is admitted to more than was left, so only the newest can go short."""
        budget = self.max_num_batched_tokens - decoding.num
        if budget < 0:
            return None
        due = wanted = decoding.num_blocks_due()
        work: list[Work] = []
        for sequence in decoding.others(running):
            num_tokens = min(self._capped(sequence.num_missing_tokens), budget)
            upto = sequence.num_computed_tokens + num_tokens
            wanted += memory.num_missing_blocks(sequence, upto)
            budget -= num_tokens
            work.append(Work(sequence, num_tokens))
        if wanted > memory.num_free_blocks:
            return None
        memory.take(due)
        batch = Batch()
        batch.group_decodes = True
        for sequence, num_tokens in work:
            if num_tokens > 0:
                memory.allocate(sequence, sequence.num_computed_tokens + num_tokens)
                batch.add(sequence, num_tokens)
        self._admit_waiting(waiting, running, memory, batch, budget)
        return batch

    def leaving(self, finished: list[Sequence], running: list[Sequence]) -> list[Sequence]:
        return finished

    @property
    def is_plain(self) -> bool:
        """At most one prompt is begun at a time, and it is the newest of those who run."""
        return self.chunked_prefill and self.long_prefill_token_threshold == 0

    def has_room(
        self,
        sequence: Sequence,
        upto: int,
        hits: list[int],
        running: list[Sequence],
        memory: Memory,
    ) -> bool:
        """Whether the first in line may join; if so, it has its blocks for the first tokens."""
        asked = self.num_blocks_asked(sequence, upto, hits, running, memory)
        return asked <= memory.num_free_blocks and memory.allocate(sequence, upto, hits)

    def num_blocks_asked(
        self,
        sequence: Sequence,
        upto: int,
        hits: list[int],
        running: list[Sequence],
        memory: Memory,
    ) -> int:
        """Free blocks that the first in line has to find."""
        if self.reserve_full_length:
            upto = sequence.num_tokens
        return memory.num_missing_blocks(sequence, upto, hits)

    def _schedule_running(
        self,
        waiting: deque[Sequence],
        running: list[Sequence],
        memory: Memory,
        batch: Batch,
    ) -> int:
        """Running requests first, in order of admission.  Returns what is left of the budget."""
        budget = self.max_num_batched_tokens
        index = 0
        while index < len(running) and budget > 0:
            sequence = running[index]
            wanted = sequence.num_missing_tokens + sequence.num_draft_tokens
            num_tokens = min(self._capped(wanted), budget)
            upto = sequence.num_computed_tokens + num_tokens
            if not allocate_or_preempt(sequence, upto, waiting, running, memory, batch):
                break
            batch.add(sequence, num_tokens)
            budget -= num_tokens
            index += 1
        return budget

    def _admit_waiting(
        self,
        waiting: deque[Sequence],
        running: list[Sequence],
        memory: Memory,
        batch: Batch,
        budget: int,
    ) -> None:
        """Waiting requests in order of arrival; the first that finds no memory stops the line."""
        set_aside: deque[Sequence] = deque()
        while waiting and budget > 0 and len(running) < self.max_num_seqs:
            sequence = waiting[0]
            hits = memory.match_prefix(sequence)
            hit_tokens = len(hits) * memory.block_size
            num_tokens = self._capped(sequence.num_tokens - hit_tokens)
            if num_tokens > budget and not self.chunked_prefill:
                set_aside.appendleft(waiting.popleft())
                continue
            num_tokens = min(num_tokens, budget)
            upto = hit_tokens + num_tokens
            if not self.has_room(sequence, upto, hits, running, memory):
                asked = self.num_blocks_asked(sequence, upto, hits, running, memory)
                batch.refused.append(PoolFull(sequence.id, asked, memory.num_free_blocks))
                break
            running.append(waiting.popleft())
            batch.admit(sequence, hit_tokens, num_tokens)
            budget -= num_tokens
        batch.line_stands = bool(waiting) or len(running) >= self.max_num_seqs or budget == 0
        batch.num_set_aside = len(set_aside)
        waiting.extendleft(reversed(set_aside))

    def _capped(self, num_tokens: int) -> int:
        if 0 < self.long_prefill_token_threshold < num_tokens:
            return self.long_prefill_token_threshold
        return num_tokens
