"""Pictures of who owns which KV memory: maps of it, block tables, and what is wasted.

They read results of `sim` and hand them to the painters or to `charts`; nothing here decides or
measures anything.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from sim.engine import Setup, Step
from sim.kv import Contiguous
from sim.views import forks, occupancy
from sim.views.forks import ForkSetup, ForkStep, Sharing
from sim.views.occupancy import EXTERNAL, FILLED, INTERNAL, LATER, Occupancy
from ui import charts, theme
from ui.player.painters.block_tables import BlockTables
from ui.player.painters.memory_map import MemoryMap, Strip
from ui.results import runs
from ui.subjects.memory import memory_notes
from ui.words.language import tr
from ui.words.numbers import percent

FIRST_BLOCK = 1  # a pool counts from here: block 0 is never given out


@lru_cache(maxsize=64)
def seen(setup: Setup) -> Occupancy:
    return occupancy.occupancy(setup, runs.steps(setup))


@lru_cache(maxsize=64)
def forked(setup: ForkSetup) -> tuple[ForkStep, ...]:
    return tuple(forks.steps(setup))


def sharing(setup: ForkSetup) -> Sharing:
    return forks.sharing(forked(setup))


# -- a scale model, in GB ---------------------------------------------------------------------


def gigabytes(slots: float, per_gb: float) -> str:
    return f"{slots / per_gb:.1f} GB"


def in_bytes(slots: float, per_gb: float) -> float:
    return slots / per_gb * 1e9


@dataclass(frozen=True)
class MemoryAtArrival:
    """How memory stands in the step in which the last request comes; sizes in words.

    need: what it asks for; fragmentation: of what is free, the part that no single request could
    get; wait: steps until it is let in.
    """

    who: str
    need: str
    free: str
    hole: str
    later: str
    internal: str
    external: str
    fragmentation: str
    wait: int


def when_it_comes(setup: Setup, per_gb: float) -> MemoryAtArrival:
    memory, last = seen(setup), runs.run(setup).records[-1]
    arrival = last.request.arrival_seconds
    row = next(row for row, s in enumerate(runs.steps(setup)) if s.start_seconds >= arrival)
    need = last.request.total_tokens
    if isinstance(setup.memory, Contiguous):
        need = setup.memory.num_slots_for(need)
    free = memory.num_free[row]
    for_one = memory.largest_hole[row] if isinstance(setup.memory, Contiguous) else free

    def size(slots: float) -> str:
        return gigabytes(slots, per_gb)

    assert last.scheduled_seconds is not None
    return MemoryAtArrival(
        who=theme.request_letter(last.request.id),
        need=size(need),
        free=size(free),
        hole=size(memory.largest_hole[row]),
        later=size(memory.count(LATER)[row]),
        internal=size(memory.count(INTERNAL)[row]),
        external=size(memory.count(EXTERNAL)[row]),
        fragmentation=percent(1 - for_one / free) if free else "–",
        wait=round(last.scheduled_seconds - arrival),
    )


@dataclass(frozen=True)
class Address:
    """Where a token lies: the entry of its request's block table, and the place in that block."""

    who: str
    position: int
    block_size: int
    entry: int
    block: int
    offset: int

    @property
    def slot(self) -> int:
        return self.block * self.block_size + self.offset


def first_written(setup: Setup) -> Address:
    """Of the last request's first output token, once its K and V are there."""
    request, size = setup.requests[-1], setup.memory.block_size
    position = request.prompt_tokens
    entry, offset = divmod(position, size)
    last = [step for step in runs.steps(setup) if request.id in step.running][-1]
    block = last.block_tables[request.id][entry]
    return Address(theme.request_letter(request.id), position, size, entry, block, offset)


def who_starts_at_once(holes: Setup, pool: Setup) -> str:
    """In which of two memories the last request does not wait."""
    at_once = when_it_comes(holes, 1).wait == 0, when_it_comes(pool, 1).wait == 0
    return {
        (False, False): "neither",
        (True, False): "holes",
        (False, True): "blocks",
        (True, True): "both",
    }[at_once]


# -- pictures ---------------------------------------------------------------------------------


def hole_map(setup: Setup, title: str, per_gb: float, alt: str) -> MemoryMap:
    """Contiguous memory in sizes; `per_gb`: so many slots are a GB."""
    steps, memory = runs.steps(setup), seen(setup)

    def size(slots: float) -> str:
        return gigabytes(slots, per_gb)

    free, hole = memory.num_free.tolist(), memory.largest_hole.tolist()
    strip = _strip(
        setup,
        title,
        [_holes(some, largest, size) for some, largest in zip(free, hole, strict=True)],
        unit="GB",
        per_unit=per_gb,
    )
    said = [
        memory_notes.of_holes(step, table, waiting, some, largest, size)
        for step, table, waiting, some, largest in zip(
            steps, memory.tables, memory.waiting, free, hole, strict=True
        )
    ]
    return MemoryMap(strips=(strip,), notes=tuple(said), **_common(setup, steps, alt))


def _holes(free: int, largest: int, size: Callable[[float], str]) -> str:
    """What is free, and how much of it is cut off from the largest piece."""
    rate = percent(1 - largest / free) if free else "–"
    return tr(
        f"空闲 {size(free)} · 最大空洞 {size(largest)} · 碎片率 {rate}",
        f"free {size(free)} · largest hole {size(largest)} · fragmentation {rate}",
    )


def table_map(setup: Setup, title: str, alt: str) -> BlockTables:
    """Paged memory in blocks, with the tables of its requests."""
    steps, memory = runs.steps(setup), seen(setup)
    place = _places(setup)
    before = ({}, *memory.tables[:-1])
    said = [
        memory_notes.of_blocks(step, table, earlier, FIRST_BLOCK)
        for step, table, earlier in zip(steps, memory.tables, before, strict=True)
    ]
    return BlockTables(
        strip=_strip(setup, title, _blocks(memory), first=FIRST_BLOCK),
        tables=tuple(
            {place[who]: blocks for who, blocks in table.items()} for table in memory.tables
        ),
        notes=tuple(said),
        **_common(setup, steps, alt),
    )


def _blocks(memory: Occupancy) -> list[str]:
    """How many blocks are taken, and how much of them holds nothing."""
    total = memory.states.shape[1] // memory.block_size
    taken = total - memory.num_free // memory.block_size
    empty = memory.count(occupancy.LATER) + memory.count(occupancy.INTERNAL)
    return [
        tr(
            f"占用 {some} / {total} 块 · 其中空位 {rest} 个",
            f"{some} of {total} blocks taken · empty slots in them: {rest}",
        )
        for some, rest in zip(taken.tolist(), empty.tolist(), strict=True)
    ]


def fork_map(setup: ForkSetup, title: str, alt: str) -> BlockTables:
    """Answers that share blocks; a block in several tables is nobody's own."""
    steps, size = forked(setup), setup.block_size
    shape = len(steps), setup.num_blocks * size
    states, owners = np.zeros(shape, np.uint8), np.full(shape, occupancy.NOBODY, np.int16)
    for row, step in enumerate(steps):
        counts = Counter(block for table in step.tables.values() for block in table)
        for who, table in step.tables.items():
            for place, block in enumerate(table):
                used = min(step.num_tokens[who] - place * size, size)
                slots = slice(block * size, (block + 1) * size)
                states[row, slots] = [FILLED] * used + [LATER] * (size - used)
                owners[row, slots] = who if counts[block] == 1 else occupancy.NOBODY
    strip = Strip(
        title,
        states,
        owners,
        waiting=((),) * len(steps),
        counters=tuple(_shared(step) for step in steps),
        block_size=size,
        first=FIRST_BLOCK,
    )
    answers = range(setup.num_answers)
    return BlockTables(
        strip=strip,
        tables=tuple(step.tables for step in steps),
        notes=tuple(memory_notes.of_forks(step, FIRST_BLOCK) for step in steps),
        events=tuple(memory_notes.fork_kinds(step) for step in steps),
        states=occupancy.STATES,
        requests={theme.request_letter(who): charts.colour(who) for who in answers},
        at=tuple(float(row) for row in range(1, len(steps) + 1)),
        alt=alt,
    )


def _shared(step: ForkStep) -> str:
    return tr(
        f"块表里 {step.num_listed_blocks} 项 · 占用 {step.num_used_blocks} 块",
        f"{step.num_listed_blocks} entries in tables · {step.num_used_blocks} blocks taken",
    )


# -- inside -----------------------------------------------------------------------------------


def _places(setup: Setup) -> dict[int, int]:
    """Request id -> its index in a picture."""
    return {who: place for place, who in enumerate(sorted(each.id for each in setup.requests))}


def _strip(setup: Setup, title: str, counters: Sequence[str], **more: Any) -> Strip:
    memory, place = seen(setup), _places(setup)
    owners = memory.owners.copy()
    for who, index in place.items():
        owners[memory.owners == who] = index
    waiting = tuple(tuple((place[who], much) for who, much in line) for line in memory.waiting)
    return Strip(
        title,
        memory.states,
        owners,
        waiting,
        tuple(counters),
        block_size=memory.block_size,
        **more,
    )


def _common(setup: Setup, steps: Sequence[Step], alt: str) -> dict[str, Any]:
    known: set[int] = set()
    return {
        "states": occupancy.STATES,
        "requests": {theme.request_letter(who): charts.colour(who) for who in _places(setup)},
        "at": tuple(step.end_seconds for step in steps),
        "events": tuple(memory_notes.kinds(step, known) for step in steps),
        "alt": alt,
    }
