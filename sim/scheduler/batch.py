"""What a policy decides in one step, and what every policy must be able to answer."""

from collections import deque
from collections.abc import Sequence as Row
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from sim.events import PoolFull
from sim.kv import PagedMemory
from sim.request import Sequence


class Work(NamedTuple):
    """One sequence's share of a step."""

    sequence: Sequence
    num_tokens: int


class Admission(NamedTuple):
    sequence: Sequence
    hit_tokens: int
    resumed: bool


class Rows(NamedTuple):
    """What the GPU computes: one row per request.

    tokens: how many each row computes; contexts: how long each row's context is afterwards.
    """

    tokens: list[int]
    contexts: list[int]
    num_sampled: int


@dataclass
class Batch:
    """The decision of one step.

    `padded` replaces the rows of `work` where the GPU computes more than it needs to (static
    batching).  An empty batch may say `wait_until`: the moment at which it would like to be asked
    again.
    """

    work: list[Work] = field(default_factory=list)
    admitted: list[Admission] = field(default_factory=list)
    preempted: list[tuple[Sequence, int]] = field(default_factory=list)  # (who, lost tokens)
    refused: list[PoolFull] = field(default_factory=list)
    padded: Rows | None = None
    wait_until: float | None = None

    def admit(self, sequence: Sequence, hit_tokens: int) -> None:
        sequence.num_computed_tokens = hit_tokens
        self.admitted.append(Admission(sequence, hit_tokens, sequence.num_preemptions > 0))

    def refuse(
        self, sequence: Sequence, num_tokens: int, memory: PagedMemory, hits: Row[int] = ()
    ) -> None:
        needed = memory.num_missing_blocks(sequence, num_tokens, hits)
        self.refused.append(PoolFull(sequence.id, needed, memory.num_free_blocks))

    def rows(self) -> Rows:
        """The rows to be costed, before the step's tokens are counted as computed."""
        if self.padded is not None:
            return self.padded
        tokens, contexts, num_sampled = [], [], 0
        for sequence, num_tokens in self.work:
            context = sequence.num_computed_tokens + num_tokens
            tokens.append(num_tokens)
            contexts.append(context)
            num_sampled += context == sequence.num_tokens
        return Rows(tokens, contexts, num_sampled)


class Policy(Protocol):
    """The verbs of a policy.  It moves sequences between `waiting` and `running` in place."""

    @property
    def max_num_seqs(self) -> int: ...

    @property
    def max_model_len(self) -> int | None: ...

    def next_batch(
        self,
        now: float,
        waiting: deque[Sequence],
        running: list[Sequence],
        memory: PagedMemory,
    ) -> Batch:
        """Choose who computes how many tokens in the step that starts at `now`."""
        ...

    def leaving(self, running: list[Sequence]) -> list[Sequence]:
        """Who gives slot and memory back after a step, in running order."""
        ...


def allocate_or_preempt(
    sequence: Sequence,
    num_tokens: int,
    waiting: deque[Sequence],
    running: list[Sequence],
    memory: PagedMemory,
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
