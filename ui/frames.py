"""From a simulated run to the frames of the player: pictures and sentences, no scheduling."""

from collections.abc import Sequence

import numpy as np

from sim import slots
from sim.slots import SlotGrid
from ui import notes, player
from ui.language import tr
from ui.theme import request_letter

UNSEEN = {"block_full", "pool_full"}  # a picture of slots shows no blocks: nothing to stop at


def slot_frames(
    grids: Sequence[tuple[str, SlotGrid]], num_requests: int, alt: str
) -> player.Frames:
    """Slot grids above each other on one time axis; the note of a step says what each one did."""
    num_ticks = max(len(grid.steps) for _, grid in grids)
    tick_seconds = grids[0][1].tick_seconds
    return player.Frames(
        painter="slots",
        grids=tuple(_player_grid(title, grid) for title, grid in grids),
        notes=tuple(_note(grids, tick) for tick in range(num_ticks)),
        events=tuple(_kinds(grids, tick) for tick in range(num_ticks)),
        states=slots.STATES,
        requests=tuple(request_letter(who) for who in range(num_requests)),
        alt=alt,
        times=tuple(f"{(tick + 1) * tick_seconds:.2f} s" for tick in range(num_ticks)),
    )


def _player_grid(title: str, grid: SlotGrid) -> player.Grid:
    return player.Grid(
        title=title,
        slots=tuple(tr(f"槽 {slot + 1}", f"slot {slot + 1}") for slot in range(grid.num_slots)),
        cells=grid.cells,
        owners=grid.owners.astype(np.int16),
        waiting=tuple(step.waiting if step else () for step in grid.steps),
        counters=tuple(
            tr(f"利用率 {share:.1%}", f"utilization {share:.1%}") for share in grid.utilization
        ),
    )


def _note(grids: Sequence[tuple[str, SlotGrid]], tick: int) -> str:
    said = [(title, _grid_note(grid, tick)) for title, grid in grids]
    if len(said) == 1:
        return said[0][1]
    return "\n".join(tr(f"{title}：{note}", f"{title}: {note}") for title, note in said)


def _grid_note(grid: SlotGrid, tick: int) -> str:
    if tick >= len(grid.steps):
        return tr("已全部完成。", "Everything is done.")
    column, owners = grid.cells[:, tick], grid.owners[:, tick]
    return notes.step_note(
        grid.steps[tick],
        held=owners[column == slots.HELD].tolist(),
        stalled=owners[column == slots.STALLED].tolist(),
    )


def _kinds(grids: Sequence[tuple[str, SlotGrid]], tick: int) -> tuple[str, ...]:
    steps = [grid.steps[tick] for _, grid in grids if tick < len(grid.steps)]
    happened = dict.fromkeys(kind for step in steps for kind in notes.kinds(step))
    return tuple(kind for kind in happened if kind not in UNSEEN)
