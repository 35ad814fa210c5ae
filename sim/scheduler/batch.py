"""What a policy decides in one step, and what every policy must be able to answer."""

import math
from collections import deque
from collections.abc import Sequence as Row
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from sim.events import PoolFull
from sim.kv import CountedMemory, Memory
from sim.request import Sequence

if TYPE_CHECKING:
    from sim.scheduler.decoding import Decoding


class Work(NamedTuple):
    """One sequence's share of a step."""

    sequence: Sequence
    num_tokens: int


class Admission(NamedTuple):
    sequence: Sequence
    hit_tokens: int
    resumed: bool


class Load(NamedTuple):
    """What the GPU computes in a step, added up over its rows (one row per request).

    num_tokens: through the linear layers.  kv_tokens: context read.  attended: pairs of a token
    and one it attends to, half of a chunk's own counted.  num_sampled: rows that go through the
    head.  prompt_tokens: tokens of rows that do not decode.  For a stretch of steps that differ in
    context only, `kv_tokens` and `attended` are arrays, [num_steps].
    """

    num_tokens: int
    kv_tokens: int | np.ndarray
    attended: float | np.ndarray
    num_sampled: int
    prompt_tokens: int

    @classmethod
    def of_rows(cls, tokens: Row[int], contexts: Row[int], num_sampled: int) -> "Load":
        """From the tokens each row computes, and how long each row's context is afterwards."""
        pairs = list(zip(tokens, contexts, strict=True))
        return cls(
            sum(tokens),
            sum(contexts),
            sum(q * (2 * c - q) for q, c in pairs) / 2,
            num_sampled,
            sum(q for q, c in pairs if q > 1 or c == 1),  # c == 1: a whole prompt of one token
        )

    @classmethod
    def decode(cls, num_rows: int, kv_tokens: int | np.ndarray) -> "Load":
        """One new token per row; `kv_tokens` is the context of all rows together."""
        return cls(num_rows, kv_tokens, kv_tokens - num_rows / 2, num_rows, 0)

    def beside(self, other: "Load") -> "Load":
        """Both in one step."""
        return Load(
            self.num_tokens + other.num_tokens,
            self.kv_tokens + other.kv_tokens,
            self.attended + other.attended,
            self.num_sampled + other.num_sampled,
            self.prompt_tokens + other.prompt_tokens,
        )


@dataclass
class Batch:
    """The decision of one step.

    `padded` replaces the load of `work` where the GPU computes more than it needs to (static
    batching).  An empty batch may say `wait_until`: the moment at which it would like to be asked
    again.  `line_stands`: whoever arrives now changes nothing before somebody leaves.
    `group_decodes`: besides those in `work`, every member of the decoding group takes a token;
    `owns_all`: whatever blocks the decodes of `work` will need are theirs already.
    """

    work: list[Work] = field(default_factory=list)
    admitted: list[Admission] = field(default_factory=list)
    preempted: list[tuple[Sequence, int]] = field(default_factory=list)  # (who, lost tokens)
    refused: list[PoolFull] = field(default_factory=list)
    padded: Load | None = None
    wait_until: float = math.inf
    line_stands: bool = False
    group_decodes: bool = False
    owns_all: bool = False

    def admit(self, sequence: Sequence, hit_tokens: int) -> None:
        sequence.num_computed_tokens = hit_tokens
        self.admitted.append(Admission(sequence, hit_tokens, sequence.num_preemptions > 0))

    def refuse(
        self, sequence: Sequence, num_tokens: int, memory: Memory, hits: Row[int] = ()
    ) -> None:
        needed = memory.num_missing_blocks(sequence, num_tokens, hits)
        self.refused.append(PoolFull(sequence.id, needed, memory.num_free_blocks))

    def load(self) -> Load:
        """What is to be costed, before the step's tokens are counted as computed."""
        if self.padded is not None:
            return self.padded
        tokens, contexts, num_sampled = [], [], 0
        for sequence, num_tokens in self.work:
            context = sequence.num_computed_tokens + num_tokens
            tokens.append(num_tokens)
            contexts.append(context)
            num_sampled += context == sequence.num_tokens
        return Load.of_rows(tokens, contexts, num_sampled)


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
        memory: Memory,
    ) -> Batch:
        """Choose who computes how many tokens in the step that starts at `now`."""
        ...

    def group_batch(
        self,
        waiting: deque[Sequence],
        running: list[Sequence],
        decoding: "Decoding",
        memory: CountedMemory,
    ) -> Batch | None:
        """The same choice with those who decode taken as one group; None, and nothing changed, if
        they cannot be."""
        ...

    def leaving(self, finished: list[Sequence], running: list[Sequence]) -> list[Sequence]:
        """Who gives slot and memory back after a step in which `finished` (maybe nobody) sampled
        their last token; in running order."""
        ...


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
