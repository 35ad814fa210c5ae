"""Admit by a guess, retract who has written least: what SGLang does when KV memory runs short.

What `reserving` lacked: hardly any answer takes all that its client allows.  So only a share of
that is promised to those who decode.  The share (`new_token_ratio`) starts high, falls a little
with each step that went well, and is estimated anew whenever it proved too low.  Then there are not
enough blocks for the next step, and requests are *retracted* until there are: those with the least
output first, of equals the longest prompt; one always stays.  The K and V of the victim's output
are dropped at once; those of its prompt can be found again until they are overwritten.  It queues
at the end.

Simplified: the step is that of `chunked`, so prompts are computed beside decodes (SGLang computes
them in steps of their own unless mixed chunks are on); a prompt that is still being computed counts
as zero output (SGLang leaves it alone); KV lies in blocks that are found by hash, not in the tree.

Source: SGLang 0.5, `python/sglang/srt/managers/`: `schedule_policy.py` (`PrefillAdder`),
`schedule_batch.py` (`retract_decode`), `scheduler.py` (`update_running_batch`).
"""

import math
from collections import deque
from dataclasses import dataclass, field, replace
from typing import cast

from sim.errors import require
from sim.kv import Memory, OpenMemory
from sim.request import Sequence
from sim.scheduler.batch import Batch
from sim.scheduler.reserving import Reserving

FIRST_RATIO = 0.7  # times the conservativeness
LEAST_SHARE = 0.14  # of the first ratio
DECAY_STEPS = 600  # from the first ratio to the least
LONGEST_GROWTH = 4_096  # tokens; more is not expected of anybody
STEPS_AHEAD = 20  # after a retraction the estimate looks so far


class NewTokenRatio:
    """The share of what answers may still take that is expected to come."""

    def __init__(self, conservativeness: float):
        self.first = min(FIRST_RATIO * conservativeness, 1.0)
        self.least = self.first * LEAST_SHARE
        self.now = self.first

    def decay(self) -> None:
        self.now = max(self.now - (self.first - self.least) / DECAY_STEPS, self.least)

    def reset(self) -> None:
        self.now = self.first

    def estimate(self, written: int, allowed: int, num_answers: int) -> None:
        """From how many tokens so many answers have, and how many they may have in all."""
        self.now = min((written + num_answers * STEPS_AHEAD) / (allowed + 1), 1.0)


@dataclass(frozen=True)
class Estimating(Reserving):
    """`conservativeness`: the higher, the more is promised (`--schedule-conservativeness`).

    Raises:
        SimError: as `Reserving`; `conservativeness_negative`.
    """

    conservativeness: float = 1.0
    ratio: NewTokenRatio = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        value = self.conservativeness
        require(0 <= value < math.inf, "conservativeness_negative", value=value)
        object.__setattr__(self, "ratio", NewTokenRatio(value))

    def open(self) -> "Estimating":
        return replace(self)  # with a ratio of its own

    def next_batch(
        self, now: float, waiting: deque[Sequence], running: list[Sequence], memory: Memory
    ) -> Batch:
        batch = Batch()
        self._retract(waiting, running, memory, batch)
        budget = self._schedule_running(waiting, running, memory, batch)
        if batch.preempted:
            written = sum(who.num_output_tokens for who in running)
            allowed = written + sum(self.growth(who, memory) for who in running)
            self.ratio.estimate(written, allowed, len(running))
        else:
            self._admit_waiting(waiting, running, memory, batch, budget)
            if batch.num_decode_tokens:
                self.ratio.decay()
            elif not running:
                self.ratio.reset()
        batch.num_promised_blocks = self.num_promised_blocks(running, memory)
        return batch

    def growth(self, sequence: Sequence, memory: Memory) -> int:
        return min(super().growth(sequence, memory), LONGEST_GROWTH)

    def num_promised_blocks(self, running: list[Sequence], memory: Memory) -> int:
        """What is known to come, and of the rest the share that is expected of those who decode."""
        known, expected = 0, 0.0
        for who in running:
            known += memory.num_missing_blocks(who, who.num_tokens)
            expected += self.growth(who, memory) * (self.ratio.now if who.is_decoding else 1)
        return known + math.ceil(expected / memory.block_size)

    def _retract(
        self,
        waiting: deque[Sequence],
        running: list[Sequence],
        memory: Memory,
        batch: Batch,
    ) -> None:
        """Until the others have room for the next step; the last one has the whole pool."""
        while self._num_due(running, memory) > memory.num_free_blocks:
            victim = min(
                reversed(running),  # of equals the one that was admitted last
                key=lambda who: (who.num_output_tokens, -who.request.prompt_tokens),
            )
            running.remove(victim)
            opened = cast(OpenMemory, memory)  # such runs go step by step
            opened.drop(victim, victim.request.prompt_tokens)
            memory.free(victim)
            batch.preempted.append((victim, victim.preempt()))
            waiting.append(victim)

    def _num_due(self, running: list[Sequence], memory: Memory) -> int:
        """Blocks that the next step of those who run needs."""
        budget, due = self.max_num_batched_tokens, 0
        for who in running:
            num_tokens = min(self._capped(who.num_missing_tokens + who.num_draft_tokens), budget)
            due += memory.num_missing_blocks(who, who.num_computed_tokens + num_tokens)
            budget -= num_tokens
        return due
