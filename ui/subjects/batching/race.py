"""The same requests under two policies, on one clock, over and over: the figure that opens home.

Its browser half is `assets/home/race.js`.  What travels is small: for each slot the stretches in
which its state stays the same, and when the queue changes.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import streamlit as st

from sim.engine import Setup
from sim.views import slots
from sim.views.slots import SlotGrid
from ui import theme
from ui.files import ASSETS
from ui.player import encoding
from ui.results import runs
from ui.words.language import tr

HOME = ASSETS / "home"
STEPS_PER_SECOND = 15.0


@dataclass(frozen=True)
class Lane:
    """One policy's run: what it is called, what it does in a few words, who sat where when."""

    title: str
    says: str
    grid: SlotGrid


def lanes(setups: Mapping[str, Setup], tick_seconds: float) -> tuple[Lane, Lane]:
    """The runs of home, static batching above continuous batching."""
    static, continuous = (
        runs.grid(setups[name], tick_seconds) for name in ("static", "continuous")
    )
    return (
        Lane(
            tr("静态批", "Static batching"),
            tr("整批写完，才轮到下一批", "the next batch waits for the longest answer"),
            static,
        ),
        Lane(
            tr("连续批", "Continuous batching"),
            tr("谁写完谁离开，空位马上给下一个", "whoever is done leaves, the next one moves in"),
            continuous,
        ),
    )


def show(both: tuple[Lane, Lane], alt: str) -> None:
    """Draw it.  It plays by itself; still, and finished, for who wants little motion."""
    component()(key="race", data=payload(both, alt), height="content")


def payload(both: tuple[Lane, Lane], alt: str) -> dict[str, Any]:
    """What the browser needs, compact."""
    in_sight = sorted({int(state) for lane in both for state in np.unique(lane.grid.cells)})
    num_requests = 1 + max(int(lane.grid.owners.max()) for lane in both)
    return {
        "alt": alt,
        "rate": STEPS_PER_SECOND,
        "states": [_state(slots.STATES[state]) for state in in_sight],
        "letters": [theme.request_letter(who) for who in range(num_requests)],
        "lanes": [_lane(lane, in_sight) for lane in both],
        "queue": theme.MEANINGS["queue"].colour,
        "words": {
            "slot": tr("槽 {n}", "slot {n}"),
            "done": tr("写完 {done} / {all}", "{done} / {all} done"),
            "end": tr("第 {n} 步全部写完", "all done at step {n}"),
            "ahead": tr("早 {n} 步", "{n} steps earlier"),
            "axis": tr("步", "step"),
            "pause": tr("暂停", "Pause"),
            "play": tr("播放", "Play"),
        },
    }


def stretches(grid: SlotGrid) -> list[list[tuple[int, int, int, int]]]:
    """For each slot (first tick, tick after the last, state, owner), as long as both stay."""
    found = []
    for states, owners in zip(grid.cells, grid.owners, strict=True):
        changed = (np.diff(states.astype(int)) != 0) | (np.diff(owners) != 0)
        starts = [0, *(np.flatnonzero(changed) + 1).tolist()]
        ends = [*starts[1:], len(states)]
        found.append(
            [
                (start, end, int(states[start]), int(owners[start]))
                for start, end in zip(starts, ends, strict=True)
            ]
        )
    return found


def _lane(lane: Lane, in_sight: list[int]) -> dict[str, Any]:
    steps = lane.grid.steps
    return {
        "title": lane.title,
        "says": lane.says,
        "ticks": len(steps),
        "slots": [
            [(start, end, in_sight.index(state), who) for start, end, state, who in slot]
            for slot in stretches(lane.grid)
        ],
        "waiting": encoding.changes(step.waiting if step else () for step in steps),
        "done": [
            (tick + 1, who) for tick, step in enumerate(steps) if step for who in step.finished
        ],
    }


def _state(name: str) -> dict[str, str]:
    meaning = theme.MEANINGS[name]
    return {
        "name": name,
        "colour": meaning.colour,
        "pattern": meaning.pattern,
        "label": tr(meaning.zh, meaning.en),
    }


@cache
def component() -> Any:
    """Patterns are the step player's own; inline JavaScript cannot import, so they are joined."""
    parts = [ASSETS / "player" / "patterns.js", HOME / "race.js"]
    code = "\n".join(file.read_text("utf-8") for file in parts)
    kept = [line for line in code.split("\n") if not line.startswith("import ")]
    return st.components.v2.component(
        "race",
        html=(HOME / "race.html").read_text("utf-8"),
        css=(HOME / "race.css").read_text("utf-8"),
        js="\n".join(kept),
    )
