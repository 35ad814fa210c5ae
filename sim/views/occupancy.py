"""What every slot of KV memory holds, step by step: for pictures of memory.

A slot has room for K and V of one token.  One that is taken holds a token, waits for a later token
of its request, or will never hold any.  A free one may be of no use all the same, in a hole too
small for whoever is first in the queue; in a paged pool it may still carry a prefix that can be
found again.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sim.engine import Setup, Step
from sim.events import BlockFull, Evicted
from sim.kv import Contiguous, Paged

FREE, EXTERNAL, FINDABLE, FILLED, LATER, INTERNAL = range(6)
STATES = ("free", "external", "findable", "filled", "later", "internal")  # keys of ui.theme
NOBODY = -1


@dataclass(frozen=True)
class Occupancy:
    """Memory while each step of a run goes on.

    states: index into STATES, uint8 [num_steps, num_slots]; owners: request ids or NOBODY, int16 of
    the same shape; tables: the blocks of each request, counted from 0; waiting: who waits, and for
    how many slots, first in line first.
    """

    block_size: int
    states: np.ndarray
    owners: np.ndarray
    tables: tuple[Mapping[int, tuple[int, ...]], ...]
    waiting: tuple[tuple[tuple[int, int], ...], ...]

    @property
    def num_free(self) -> np.ndarray:
        """Slots that nobody has taken, [num_steps]."""
        free: np.ndarray = (self.states <= FINDABLE).sum(axis=1)
        return free

    @property
    def largest_hole(self) -> np.ndarray:
        """The longest run of free slots, [num_steps]."""
        return np.array([max(map(len, _runs(row <= FINDABLE)), default=0) for row in self.states])

    @property
    def filled_share(self) -> float:
        """Of the slots that are taken, those that hold a token, over all steps."""
        return float((self.states == FILLED).sum() / (self.states >= FILLED).sum())

    def count(self, state: int) -> np.ndarray:
        """Slots in a state, [num_steps]."""
        number: np.ndarray = (self.states == state).sum(axis=1)
        return number


def occupancy(setup: Setup, steps: Sequence[Step]) -> Occupancy:
    """Of a run on contiguous or paged memory in which no block is shared."""
    size = setup.memory.block_size
    first = 1 if isinstance(setup.memory, Paged) else 0  # block 0 of a pool is never given out
    shape = len(steps), steps[0].num_usable_blocks * size
    states, owners = np.zeros(shape, np.uint8), np.full(shape, NOBODY, np.int16)
    totals = {request.id: request.total_tokens for request in setup.requests}
    known = {request.id: request.prompt_tokens for request in setup.requests}
    computed: dict[int, int] = {}
    content: dict[int, int] = {}  # full block -> whose tokens it holds, also when it is free
    tables, waiting = [], []
    for row, step in enumerate(steps):
        computed |= {work.request_id: work.context for work in step.work}
        if isinstance(setup.memory, Paged) and setup.memory.prefix_caching:
            _remember(content, step)
        for block, who in content.items():
            _mark(states[row], owners[row], (block - first,), size, FINDABLE, who)
        table = {who: tuple(b - first for b in step.block_tables[who]) for who in step.running}
        for who, blocks in table.items():
            held = len(blocks) * size
            used, ever = min(computed[who], held), min(totals[who], held)
            kinds = np.repeat((FILLED, LATER, INTERNAL), (used, ever - used, held - ever))
            _mark(states[row], owners[row], blocks, size, kinds, who)
        asked = tuple((who, _num_asked(setup, totals[who], known[who])) for who in step.waiting)
        if asked and isinstance(setup.memory, Contiguous):
            for hole in _runs(states[row] == FREE):
                if len(hole) < asked[0][1]:
                    states[row, hole.start : hole.stop] = EXTERNAL
        known |= {work.request_id: work.context + 1 for work in step.work if work.sampled}
        tables.append(table)
        waiting.append(asked)
    return Occupancy(size, states, owners, tuple(tables), tuple(waiting))


# -- inside -----------------------------------------------------------------------------------


def _num_asked(setup: Setup, total_tokens: int, known_tokens: int) -> int:
    """Slots for a whole life where they are reserved, for the tokens so far where memory grows."""
    if isinstance(setup.memory, Contiguous):
        return setup.memory.num_slots_for(total_tokens)
    size = setup.memory.block_size
    return -(-known_tokens // size) * size


def _remember(content: dict[int, int], step: Step) -> None:
    """Which blocks can be found by their hash after the events of a step."""
    for event in step.events:
        if isinstance(event, Evicted):
            content.pop(event.block_id, None)
        elif isinstance(event, BlockFull):
            content[event.block_id] = event.request_id


def _mark(
    states: np.ndarray,
    owners: np.ndarray,
    blocks: Sequence[int],
    size: int,
    kinds: np.ndarray | int,
    who: int,
) -> None:
    """Write the slots of some blocks, in their order."""
    slots = (np.array(blocks, int)[:, None] * size + np.arange(size)).ravel()
    states[slots], owners[slots] = kinds, who


def _runs(marked: np.ndarray) -> Iterator[range]:
    """Where a row of booleans is true without a break."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], marked.astype(np.int8), [0]])))
    for start, stop in zip(edges[0::2], edges[1::2], strict=True):
        yield range(int(start), int(stop))
