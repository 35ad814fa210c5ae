"""Several answers to one prompt, step by step: parallel sampling and beam search.

Parallel sampling forks once, after the prompt, and each answer goes its own way.  Beam search
forks again at every step: the best continuations survive, several of one beam perhaps and none of
another.  Which ones is drawn by lot here, since nothing but memory is looked at.

Source: Kwon et al. 2023 (PagedAttention), section 4.4.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from sim.errors import require
from sim.events import CopiedOnWrite, Forked, ForkEvent
from sim.kv.forked import ForkedMemory

Search = Literal["parallel", "beam"]
SEED = 5


@dataclass(frozen=True)
class ForkSetup:
    """`num_answers` of `output_tokens` each to one prompt; the pool is always large enough.

    Raises:
        SimError: `unknown_search`, `num_answers_below_one`, `length_below_one`.
    """

    search: Search = "parallel"
    num_answers: int = 3
    prompt_tokens: int = 10
    output_tokens: int = 10
    block_size: int = 4

    def __post_init__(self) -> None:
        require(self.search in get_args(Search), "unknown_search", value=self.search)
        require(self.num_answers >= 1, "num_answers_below_one", value=self.num_answers)
        for value in (self.prompt_tokens, self.output_tokens, self.block_size):
            require(value >= 1, "length_below_one", value=value)

    @property
    def fills_last_block(self) -> bool:
        """Whether the prompt does, and leaves nothing to copy where it forks."""
        return self.prompt_tokens % self.block_size == 0

    @property
    def num_blocks(self) -> int:
        """What it takes if nothing is shared."""
        longest = self.prompt_tokens + self.output_tokens
        return self.num_answers * -(-longest // self.block_size)


@dataclass(frozen=True)
class ForkStep:
    """After a step.  tables and num_tokens: by answer; events name answers, too."""

    tables: dict[int, tuple[int, ...]]
    num_tokens: dict[int, int]
    num_used_blocks: int
    num_listed_blocks: int
    events: tuple[ForkEvent, ...]


@dataclass(frozen=True)
class Sharing:
    """How a run ends: blocks taken, entries of all tables, blocks copied on the way."""

    num_used_blocks: int
    num_listed_blocks: int
    num_copies: int


def sharing(run: Sequence[ForkStep]) -> Sharing:
    copies = sum(isinstance(event, CopiedOnWrite) for step in run for event in step.events)
    return Sharing(run[-1].num_used_blocks, run[-1].num_listed_blocks, copies)


def steps(setup: ForkSetup) -> Iterator[ForkStep]:
    """The prompt, the first fork, then a token for each answer at every step."""
    memory, rng = ForkedMemory(setup.num_blocks, setup.block_size), np.random.default_rng(SEED)
    memory.start(0, setup.prompt_tokens)
    yield _look(memory, setup)
    ids = list(range(setup.num_answers))  # answer -> its sequence
    for child in ids[1:]:
        memory.fork(0, child)
    yield _look(memory, setup)
    for turn in range(1, setup.output_tokens + 1):
        for sequence in ids:
            memory.append(sequence)
        yield _look(memory, setup)
        if setup.search == "beam" and turn < setup.output_tokens:
            parents = rng.integers(setup.num_answers, size=setup.num_answers).tolist()
            ids = _survive(memory, setup, ids, parents, turn)
            yield _look(memory, setup)


# -- inside -----------------------------------------------------------------------------------


def _survive(
    memory: ForkedMemory, setup: ForkSetup, ids: list[int], parents: list[int], turn: int
) -> list[int]:
    """Answer n goes on from answer `parents[n]`; whoever has no continuation is dropped."""
    heirs = [turn * setup.num_answers + answer for answer in range(setup.num_answers)]
    for parent, heir in zip(parents, heirs, strict=True):
        memory.fork(ids[parent], heir)
    for sequence in ids:
        memory.free(sequence)
    return heirs


def _look(memory: ForkedMemory, setup: ForkSetup) -> ForkStep:
    """The memory as it stands, with answers in place of sequences."""
    count = setup.num_answers
    events: list[ForkEvent] = []
    for event in memory.events:
        match event:
            case Forked(parent, child):
                events.append(Forked(parent % count, child % count))
            case CopiedOnWrite(sequence, shared, own, tokens):
                events.append(CopiedOnWrite(sequence % count, shared, own, tokens))
    memory.events.clear()
    return ForkStep(
        {sequence % count: tuple(table) for sequence, table in memory.block_tables.items()},
        {sequence % count: tokens for sequence, tokens in memory.num_tokens.items()},
        memory.num_used_blocks,
        memory.num_listed_blocks,
        tuple(events),
    )
