"""What a policy decides in one step."""

import math
from collections import deque
from collections.abc import Sequence as Row
from typing import NamedTuple

from sim.events import PoolFull
from sim.kv import Memory
from sim.request import Sequence
from sim.scheduler.load import Load


class Work(NamedTuple):
    """One sequence's share of a step."""

    sequence: Sequence
    num_tokens: int


class Admission(NamedTuple):
    sequence: Sequence
    hit_tokens: int
    resumed: bool


class Batch:
    """The decision of one step.

    work: who computes how many tokens; its sums are kept up with it.  `padded` replaces them where
    the GPU computes more than it needs to (static batching).  An empty batch may say `wait_until`:
    the moment at which it would like to be asked again.  `line_stands`: whoever arrives now changes
    nothing before somebody leaves.  `group_decodes`: besides those in `work`, every member of the
    decoding group takes a token; `owns_all`: whatever blocks the decodes will need are theirs
    already.  `num_set_aside`: so many of the first in line were passed over, and turned round.
    `num_promised_blocks`: free, but kept for what those who run may still take.
    """

    __slots__ = (
        "admitted",
        "group_decodes",
        "kv_tokens",
        "line_stands",
        "num_decode_tokens",
        "num_promised_blocks",
        "num_sampled",
        "num_set_aside",
        "num_tokens",
        "owns_all",
        "padded",
        "preempted",
        "prompt_tokens",
        "refused",
        "twice_attended",
        "wait_until",
        "work",
    )

    def __init__(self) -> None:
        self.work: list[Work] = []
        self.admitted: list[Admission] = []
        self.preempted: list[tuple[Sequence, int]] = []  # (who, lost tokens)
        self.refused: list[PoolFull] = []
        self.padded: Load | None = None
        self.wait_until = math.inf
        self.line_stands = self.group_decodes = self.owns_all = False
        self.num_tokens = self.kv_tokens = self.twice_attended = 0
        self.num_sampled = self.prompt_tokens = self.num_decode_tokens = self.num_set_aside = 0
        self.num_promised_blocks = 0

    def add(self, sequence: Sequence, num_tokens: int) -> None:
        """The sequence computes so many of its missing tokens and, after them, of its proposals."""
        context = sequence.num_computed_tokens + num_tokens
        num_sampled = max(0, context - sequence.num_tokens + 1)  # 1, and one for each proposal
        self.work.append(Work(sequence, num_tokens))
        self.num_tokens += num_tokens
        self.kv_tokens += context
        self.twice_attended += num_tokens * (2 * context - num_tokens)
        self.num_sampled += num_sampled
        if num_sampled > 1:
            self.num_decode_tokens += num_tokens
        elif num_tokens > 1 or context == 1:
            self.prompt_tokens += num_tokens
        elif num_sampled and sequence.num_output_tokens:
            self.num_decode_tokens += 1

    def admit(self, sequence: Sequence, hit_tokens: int, num_tokens: int) -> None:
        """The sequence joins, with so many tokens found in the cache, and computes."""
        sequence.num_computed_tokens = hit_tokens
        self.admitted.append(Admission(sequence, hit_tokens, sequence.num_preemptions > 0))
        self.add(sequence, num_tokens)

    def refuse(
        self, sequence: Sequence, num_tokens: int, memory: Memory, hits: Row[int] = ()
    ) -> None:
        needed = memory.num_missing_blocks(sequence, num_tokens, hits)
        self.refused.append(PoolFull(sequence.id, needed, memory.num_free_blocks))

    def load(self) -> Load:
        """What is to be costed."""
        return self.padded or Load(
            self.num_tokens,
            self.kv_tokens,
            self.twice_attended / 2,
            self.num_sampled,
            self.prompt_tokens,
        )


def allocate_or_preempt(
    sequence: Sequence,
    num_tokens: int,
    waiting: deque[Sequence],
    running: list[Sequence],
    memory: Memory,
    batch: Batch,
) -> bool:
    """Find room for a running sequence to grow, at the cost of those admitted last.

    The victim loses its blocks and goes to the front of the queue.  False when the sequence
    itself was the last one and had to go.
    """
    while not memory.allocate(sequence, num_tokens):
        batch.refuse(sequence, num_tokens, memory)
        victim = running.pop()
        memory.free(victim)
        batch.preempted.append((victim, victim.preempt()))
        waiting.appendleft(victim)
        if victim is sequence:
            return False
    return True
