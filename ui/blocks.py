"""Pictures of who owns which KV memory: maps of it, block tables, and what is wasted.

They read results of `sim` and hand them to the painters or to `charts`; nothing here decides or
measures anything.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache

from sim import occupancy
from sim.engine import Setup, Step
from sim.occupancy import Occupancy
from ui import charts, memory_notes, runs, theme
from ui.language import tr
from ui.numbers import percent
from ui.painters.block_tables import BlockTables
from ui.painters.memory_map import MemoryMap, Strip

FIRST_BLOCK = 1  # a pool counts from here: block 0 is never given out


@lru_cache(maxsize=64)
def seen(setup: Setup) -> Occupancy:
    return occupancy.occupancy(setup, runs.steps(setup))


def hole_map(setup: Setup, title: str, per_gb: float, alt: str) -> MemoryMap:
    """Contiguous memory in sizes; `per_gb`: so many slots are a GB."""
    steps, memory = runs.steps(setup), seen(setup)

    def size(slots: float) -> str:
        return f"{slots / per_gb:.1f} GB"

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
            f"占用 {some} / {total} 块 · 其中空着 {rest} 个 token 位",
            f"{some} of {total} blocks taken · {rest} slots of them empty",
        )
        for some, rest in zip(taken.tolist(), empty.tolist(), strict=True)
    ]


# -- inside -----------------------------------------------------------------------------------


def _places(setup: Setup) -> dict[int, int]:
    """Request id -> its index in a picture."""
    return {who: place for place, who in enumerate(sorted(each.id for each in setup.requests))}


def _strip(setup: Setup, title: str, counters: Sequence[str], **more: object) -> Strip:
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
        **more,  # type: ignore[arg-type]
    )


def _common(setup: Setup, steps: Sequence[Step], alt: str) -> dict[str, object]:
    known: set[int] = set()
    return {
        "states": occupancy.STATES,
        "requests": {theme.request_letter(who): charts.colour(who) for who in _places(setup)},
        "at": tuple(step.end_seconds for step in steps),
        "events": tuple(memory_notes.kinds(step, known) for step in steps),
        "alt": alt,
    }
