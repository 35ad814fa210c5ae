"""What every policy must be able to answer: who goes next, and who leaves."""

from collections import deque
from typing import ClassVar, Protocol

from sim.kv import CountedMemory, Memory
from sim.request import Sequence
from sim.scheduler.batch import Batch
from sim.scheduler.decoding import Decoding


class Policy(Protocol):
    """The verbs of a policy.  It moves sequences between `waiting` and `running` in place."""

    @property
    def max_num_seqs(self) -> int: ...

    @property
    def max_model_len(self) -> int | None: ...

    takes_groups: ClassVar[bool]
    """Whether those who decode may be advanced as one group, many steps at a time; else every
    request is asked at every step."""

    def open(self) -> "Policy":
        """The policy for one run: the same, where it keeps nothing in mind from step to step."""
        ...

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
        decoding: Decoding,
        memory: CountedMemory,
    ) -> Batch | None:
        """The same choice with those who decode taken as one group; None, and nothing changed, if
        they cannot be."""
        ...

    def leaving(self, finished: list[Sequence], running: list[Sequence]) -> list[Sequence]:
        """Who gives slot and memory back after a step in which `finished` (maybe nobody) sampled
        their last token; in running order."""
        ...
