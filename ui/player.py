"""The step player: all frames are computed once, sent once, and played in the browser.

A page hands in `Frames` (what the picture shows at every step, and one sentence about it) and gets
back the step at which the reader stands still.  Playing, stepping and scrubbing never ask the
server.  The browser's half is `assets/player/`: plain modules, tested with node, joined here
because inline components cannot import.
"""

import base64
import hashlib
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import streamlit as st

from ui import state, theme
from ui.language import tr

ASSETS = Path(__file__).resolve().parent.parent / "assets" / "player"
MODULES = (
    "clock.js",
    "decode.js",
    "patterns.js",
    "paint_slots.js",
    "player.js",
)  # the order they are joined in
PAINTERS = ("slots",)
MAX_BYTES = 200_000  # what one set of frames may weigh on its way to the browser
MAX_STEPS = 32_767  # run lengths travel as int16
STEPS_PER_SECOND = 4.0  # at speed 1x
LECTURE_BAR = 58  # px; the line under an act in the lecture view

Events = tuple[tuple[str, ...], ...]


class FramesError(ValueError):
    """The frames contradict themselves; the message says where."""


@dataclass(frozen=True)
class Grid:
    """One slot grid: who sits where, step by step, and who waits."""

    title: str
    slots: tuple[str, ...]  # row labels
    cells: np.ndarray  # uint8, index into `Frames.states`  # [num_slots, num_steps]
    owners: (
        np.ndarray
    )  # int16, index into `Frames.requests`, -1 for nobody  # [num_slots, num_steps]
    waiting: tuple[tuple[int, ...], ...]  # requests waiting, per step
    counters: tuple[str, ...]  # short text right of the title, per step

    @property
    def num_steps(self) -> int:
        return int(self.cells.shape[1])


@dataclass(frozen=True)
class Frames:
    """Everything one player shows.  Grids share the step axis; a shorter one is marked as ended."""

    grids: tuple[Grid, ...]
    notes: tuple[
        str, ...
    ]  # one sentence per step, in the current language, "" where nothing is to be said
    events: Events  # kinds of what happened, per step; the player pauses where there are any
    states: tuple[str, ...]  # keys of ui.theme
    requests: tuple[str, ...]  # letters
    alt: str  # the picture in words
    times: tuple[str, ...] = ()  # shown beside the step, per step
    painter: str = "slots"

    @property
    def num_steps(self) -> int:
        return max((grid.num_steps for grid in self.grids), default=0)


def show(
    frames: Frames,
    key: str,
    large: bool = False,
    step: int | None = None,
    steps_per_second: float = STEPS_PER_SECOND,
    below: int = LECTURE_BAR,
) -> int:
    """Draw the player; the answer is the step at which it last stood still (counted from 0).

    `step` is where a link wants it to start; a new value moves the player there.  `large` is for
    the lecture hall: text of 18 px and up, as high as the screen allows when `below` px have to
    stay free underneath.
    """
    check(frames)
    visit = _visit(key, step)
    payload = encode(frames)
    payload |= {
        "key": key,
        "large": large,
        "below": below,
        "rate": steps_per_second,
        "start": {"step": visit["start"], "serial": visit["serial"]},
    }
    result = component()(
        key=key,
        data=payload,
        default={"stands": None},
        on_stands_change=state.moved,
        height="content",
    )
    _hear(visit, result.stands)
    visit["step"] = min(max(visit["step"], 0), frames.num_steps - 1)
    return int(visit["step"])


def stands(key: str) -> int:
    """The step at which a player last stood still, also before it is drawn."""
    visit = st.session_state.get("_player_visits", {}).get(key, {"step": 0, "serial": 0})
    said = st.session_state.get(key)
    _hear(visit, said and said.get("stands"))
    return int(visit["step"])


def _hear(visit: dict[str, Any], said: dict[str, Any] | None) -> None:
    if said and said["serial"] == visit["serial"]:  # else said before the last order to move
        visit["step"] = int(said["step"])


def _visit(key: str, step: int | None) -> dict[str, Any]:
    """What this reader's session knows of the player: it moves to `start` at each new serial.

    Streamlit forgets a component's state when its page is left, so the step is kept here as well.
    """
    visits = st.session_state.setdefault("_player_visits", {})
    visit = visits.setdefault(key, {"serial": 0, "start": 0, "step": 0, "given": None})
    came_back = key not in st.session_state
    if step is not None and step != visit["given"]:
        where = min(max(step, 0), MAX_STEPS)
        visit |= {"serial": visit["serial"] + 1, "start": where, "step": where, "given": step}
    elif came_back and visit["start"] != visit["step"]:
        visit |= {"serial": visit["serial"] + 1, "start": visit["step"]}
    return visit


def rewind() -> None:
    """Send every player of this reader back to its first step (in a callback)."""
    for visit in st.session_state.get("_player_visits", {}).values():
        visit |= {"serial": visit["serial"] + 1, "start": 0, "step": 0, "given": None}
    st.query_params.pop("step", None)


# -- what may go into a player -----------------------------------------------------------------


def check(frames: Frames) -> None:
    """Raise FramesError if shapes, states or requests do not agree."""
    if frames.painter not in PAINTERS:
        raise FramesError(f"painter {frames.painter!r} is not one of {PAINTERS}")
    if not frames.grids or frames.num_steps == 0:
        raise FramesError("a player needs at least one grid with one step")
    if frames.num_steps > MAX_STEPS:
        raise FramesError(
            f"{frames.num_steps} steps are more than the {MAX_STEPS} a player can hold"
        )
    unknown = [state for state in frames.states if state not in theme.MEANINGS]
    if unknown:
        raise FramesError(f"states {unknown} are not in ui.theme")
    for name in ("notes", "events", "times"):
        _check_length(name, getattr(frames, name), frames.num_steps, optional=name == "times")
    for grid in frames.grids:
        _check_grid(grid, frames)


def _check_grid(grid: Grid, frames: Frames) -> None:
    where = f"grid {grid.title!r}"
    shape = (len(grid.slots), grid.num_steps)
    for name, values in (("cells", grid.cells), ("owners", grid.owners)):
        if values.shape != shape:
            raise FramesError(f"{where}: {name} has shape {values.shape}, expected {shape}")
    for name in ("waiting", "counters"):
        _check_length(f"{where}: {name}", getattr(grid, name), grid.num_steps)
    if grid.cells.size and not 0 <= int(grid.cells.min()) <= int(grid.cells.max()) < len(
        frames.states
    ):
        raise FramesError(f"{where}: a cell is outside the {len(frames.states)} states")
    if grid.owners.size and not -1 <= int(grid.owners.min()) <= int(grid.owners.max()) < len(
        frames.requests
    ):
        raise FramesError(f"{where}: an owner is outside the {len(frames.requests)} requests")


def _check_length(
    name: str, values: Sequence[object], expected: int, optional: bool = False
) -> None:
    if len(values) != expected and not (optional and not values):
        raise FramesError(
            f"{name} has {len(values)} entries, expected one for each of {expected} steps"
        )


# -- how it travels ----------------------------------------------------------------------------


def encode(frames: Frames) -> dict[str, Any]:
    """The compact form for the browser, thinned to MAX_BYTES if need be."""
    numbers = np.arange(frames.num_steps)
    payload = _encode(frames, numbers)
    every = 1
    while weight(payload) > MAX_BYTES and len(numbers) > 2:
        every *= 2
        numbers = _thin(frames, every)
        payload = _encode(_take(frames, numbers), numbers)
    payload["total"] = frames.num_steps
    payload["at"] = numbers.tolist() if len(numbers) < frames.num_steps else None
    return payload


def _encode(frames: Frames, numbers: np.ndarray) -> dict[str, Any]:
    happened = [step for step, kinds in enumerate(frames.events) if kinds]
    grids = [_encode_grid(grid) for grid in frames.grids]
    picture: dict[str, Any] = {
        "painter": frames.painter,
        "requests": frames.requests,
        "states": frames.states,
        "events": happened,
        "grids": grids,
    }
    identity = hashlib.sha256(json.dumps(picture).encode()).hexdigest()[
        :16
    ]  # the same in either language
    texts = [
        {"title": grid.title, "slots": grid.slots, "counters": _changes(grid.counters)}
        for grid in frames.grids
    ]
    return picture | {
        "id": identity,
        "grids": [text | grid for text, grid in zip(texts, grids, strict=True)],
        "states": [_state(name) for name in frames.states],
        "queue": _state("queue"),
        "notes": _changes(frames.notes),
        "times": _changes(frames.times or ("",) * frames.num_steps),
        "alt": frames.alt,
        "words": words(),
        "at": numbers.tolist(),
        "total": frames.num_steps,
    }


def _encode_grid(grid: Grid) -> dict[str, Any]:
    return {
        "steps": grid.num_steps,
        "runs": encode_runs(grid.cells, grid.owners),
        "waiting": _changes(grid.waiting),
    }


def encode_runs(cells: np.ndarray, owners: np.ndarray) -> str:
    """Rows as runs of equal cells: int16 triples (length, state, owner) in base64."""
    runs = [_row_runs(*row) for row in zip(cells, owners, strict=True)]
    return base64.b64encode(np.concatenate(runs).astype("<i2").tobytes()).decode() if runs else ""


def _row_runs(states: np.ndarray, owners: np.ndarray) -> np.ndarray:
    changed = (np.diff(states.astype(np.int16)) != 0) | (np.diff(owners.astype(np.int16)) != 0)
    starts = np.concatenate([[0], np.flatnonzero(changed) + 1])
    lengths = np.diff(np.append(starts, len(states)))
    return np.column_stack([lengths, states[starts], owners[starts]])  # [num_runs, 3]


def _changes(values: Iterable[Any]) -> list[list[Any]]:
    """[[step, value], ...] where the value differs from the one before."""
    changes: list[list[Any]] = []
    for step, value in enumerate(values):
        if not changes or changes[-1][1] != value:
            changes.append([step, value])
    return changes


def _state(name: str) -> dict[str, str]:
    meaning = theme.MEANINGS[name]
    return {
        "name": name,
        "label": tr(meaning.zh, meaning.en),
        "colour": meaning.colour,
        "pattern": meaning.pattern,
    }


def weight(payload: dict[str, Any]) -> int:
    """Bytes on the way to the browser."""
    return len(json.dumps(payload))


def _thin(frames: Frames, every: int) -> np.ndarray:
    """Every n-th step, the last one, and those with events while these are the smaller part."""
    steps = np.arange(0, frames.num_steps, every)
    happened = np.flatnonzero([bool(kinds) for kinds in frames.events])
    if len(happened) <= len(steps):
        steps = np.append(steps, happened)
    return np.unique(np.append(steps, frames.num_steps - 1))


def _take(frames: Frames, steps: np.ndarray) -> Frames:
    def pick(values: Sequence[Any]) -> tuple[Any, ...]:
        return tuple(values[step] for step in steps if step < len(values))

    def pick_grid(grid: Grid) -> Grid:
        kept = steps[steps < grid.num_steps]
        return replace(
            grid,
            cells=grid.cells[:, kept],
            owners=grid.owners[:, kept],
            waiting=pick(grid.waiting),
            counters=pick(grid.counters),
        )

    return replace(
        frames,
        grids=tuple(pick_grid(grid) for grid in frames.grids),
        notes=pick(frames.notes),
        events=pick(frames.events),
        times=pick(frames.times),
    )


# -- the browser's half ------------------------------------------------------------------------


@cache
def component() -> Any:
    return st.components.v2.component(
        "step_player",
        html=(ASSETS / "player.html").read_text("utf-8"),
        css=(ASSETS / "player.css").read_text("utf-8"),
        js=join_modules(),
    )


def join_modules() -> str:
    """One module out of several: inline JavaScript cannot import, so those words go."""
    parts = [(ASSETS / name).read_text("utf-8") for name in MODULES]
    joined = "\n".join(re.sub(r"^import .*$\n?", "", part, flags=re.M) for part in parts)
    return re.sub(r"^export (?!default)", "", joined, flags=re.M)


def words() -> dict[str, str]:
    """What the player itself says; {n}, {total} and {shown} are filled in the browser."""
    return {
        "player": tr("步进播放器", "Step player"),
        "reset": tr("回到开头", "Back to the start"),
        "previous_event": tr("上一个事件", "Previous event"),
        "back": tr("后退一步", "One step back"),
        "play": tr("播放", "Play"),
        "pause": tr("暂停", "Pause"),
        "forward": tr("前进一步", "One step forward"),
        "next_event": tr("下一个事件", "Next event"),
        "speed": tr("播放速度", "Speed"),
        "pause_at_events": tr("遇事件暂停", "Pause at events"),
        "scrub": tr("当前步", "Current step"),
        "table": tr("用表格显示", "Show as a table"),
        "copy": tr("复制这一步的链接", "Copy a link to this step"),
        "copied": tr("链接已复制", "Link copied"),
        "copy_failed": tr("请手动复制：", "Please copy by hand:"),
        "calm": tr(
            "系统要求减少动态效果，因此只能逐步查看",
            "Your system asks for reduced motion, so the player only steps",
        ),
        "step_of": tr("第 {n} 步，共 {total} 步", "step {n} of {total}"),
        "kept": tr("设置已改变，仍停在第 {n} 步", "Settings changed; still at step {n}"),
        "clamped": tr(
            "设置已改变，这次运行较短，停在最后的第 {n} 步",
            "Settings changed; this run is shorter, now at its last step {n}",
        ),
        "thinned": tr(
            "整个运行有 {total} 步，这里只画出其中 {shown} 步。",
            "The run has {total} steps; {shown} of them are shown here.",
        ),
        "waiting": tr("等待", "Waiting"),
        "axis": tr("步", "Step"),
        "ended": tr("已全部完成", "All done"),
        "table_label": tr("每一步的表格", "Table of the steps"),
        "table_caption": tr("到当前步为止的每一步", "Every step up to the current one"),
        "column_note": tr("说明", "What happened"),
    }
