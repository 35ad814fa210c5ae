"""The step player: all frames are computed once, sent once, and played in the browser.

A page hands in `Frames`, what is said at every step and a picture of it, and gets back the step at
which the reader stands still.  Playing, stepping and scrubbing never ask the server.  The browser's
half is `assets/player/`: plain modules, tested with node, joined here because inline components
cannot import.  It travels once a session, in a component of its own: a player's message is its
frames.

A painter is one kind of picture: a subclass of `Frames` in `painters/`, and a module of the same
name in `assets/player/painters/` whose exports are the verbs that `player.js` lists.
"""

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.errors import StreamlitDuplicateElementKey

from ui.course import state
from ui.files import ASSETS
from ui.player.encoding import MAX_STEPS, Frames, check, encode
from ui.words.language import tr

PLAYER = ASSETS / "player"
MODULES = (  # in the order they are joined in; the painters come before the last one
    "words.js",  # sentences with blanks
    "clock.js",  # which step it is
    "zoom.js",  # which part of the axis is in view
    "time_axis.js",
    "motion.js",  # from one step to the next, for painters
    "decode.js",  # from what the server sends to frames
    "shared_clock.js",  # what moves: one clock for one player or several
    "patterns.js",
    "cells.js",  # text in cells, for painters
    "stops.js",  # the stations of a server, for painters
    "look.js",  # colours and fonts of the reader's theme
    "strip.js",  # a strip of memory, for painters
    "table.js",  # the same frames as a table
    "tip.js",  # what stands under the pointer
    "link.js",  # "copy link"
    "hands.js",  # buttons, the scrubber, keys
    "player.js",  # one player: a view of its clock, drawn by its painter
)
EXPORT = re.compile(r"^export (?!default)", re.M)
LECTURE_BAR = 58  # px; the line under an act in the lecture view


def show(
    frames: Frames,
    key: str,
    large: bool = False,
    step: int | None = None,
    steps_per_second: float | None = None,
    below: int = LECTURE_BAR,
    clock: str | None = None,
    ghost: float = 1.0,
    plays: bool = False,
) -> int:
    """Draw the player; the answer is the step at which it last stood still (counted from 0).

    `step` is where a link wants it to start; a new value moves the player there.  `large` is for
    the lecture hall: text of 18 px and up, as high as the screen allows when `below` px have to
    stay free underneath.  Without `steps_per_second` a run takes about 17 s, however long it is.
    Before it is played the share `ghost` of it is faintly there.  Once `plays` is true it goes to
    its start and plays to its end by itself.

    Players with the same `clock` are linked: the upper one has the controls, they stop wherever
    one of them has a step, and each shows its last step that is not later.  A link's `step` then
    counts these common moments.
    """
    check(frames)
    visit = _visit(key, step, plays)
    visit["last"] = frames.num_steps - 1
    payload = encode(frames)
    payload["words"] = words() | payload["words"]
    _bring_code()
    payload |= {
        "key": key,
        "clock": clock,
        "large": large,
        "below": below,
        "rate": steps_per_second,
        "ghost": ghost,
        "start": {"step": visit["start"], "serial": visit["serial"], "plays": plays},
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
    visit = visits().get(key, {"step": 0, "serial": 0})
    said = st.session_state.get(key)
    _hear(visit, said and said.get("stands"))
    return int(visit["step"])


def is_over(key: str) -> bool:
    """Whether a player last stood still at its end."""
    last = visits().get(key, {}).get("last")
    return last is not None and stands(key) >= last


def visits() -> dict[str, dict[str, Any]]:
    """What this reader's session knows of each player, by its key."""
    known: dict[str, dict[str, Any]] = st.session_state.setdefault("_player_visits", {})
    return known


def visit_from(raw: Mapping[str, Any]) -> dict[str, Any]:
    """One of them, from an earlier session; raises ValueError or KeyError for what is none."""
    numbers = {name: raw[name] for name in ("serial", "start", "at", "step")}
    numbers |= {name: raw[name] for name in ("given", "last") if raw.get(name) is not None}
    if not all(type(one) is int and 0 <= one <= MAX_STEPS for one in numbers.values()):
        raise ValueError("a step is a whole number")
    return {"given": None, "plays": bool(raw.get("plays"))} | numbers


def take_up(key: str, visit: dict[str, Any], lives: bool) -> None:
    """Go on from what another session knew of a player; one that `lives` on the page is let be."""
    moved = {"lives": True} if lives else {"serial": visit["serial"] + 1, "start": visit["at"]}
    visits()[key] = visit | moved


def _hear(visit: dict[str, Any], said: dict[str, Any] | None) -> None:
    if said and said["serial"] == visit["serial"]:  # else said before the last order to move
        visit |= {"step": int(said["step"]), "at": int(said["at"])}


def _visit(key: str, step: int | None, plays: bool) -> dict[str, Any]:
    """What this reader's session knows of the player: it moves to `start` at each new serial.

    `at` is the moment of its clock, `step` the step it shows there.  Streamlit forgets a
    component's state when its page is left, so they are kept here as well.
    """
    visit = visits().setdefault(key, {"serial": 0, "start": 0, "at": 0, "step": 0, "given": None})
    came_back = key not in st.session_state and not visit.pop("lives", False)
    began, visit["plays"] = plays and not visit.get("plays"), plays
    if began:
        visit |= _ordered(visit, 0)
    elif step is not None and step != visit["given"]:
        where = min(max(step, 0), MAX_STEPS)
        visit |= _ordered(visit, where) | {"given": step}
    elif came_back and visit["start"] != visit["at"]:
        visit |= {"serial": visit["serial"] + 1, "start": visit["at"]}
    return visit


def _ordered(visit: dict[str, Any], where: int) -> dict[str, Any]:
    return {"serial": visit["serial"] + 1, "start": where, "at": where, "step": where}


def rewind() -> None:
    """Send every player of this reader back to its first step (in a callback)."""
    for visit in visits().values():
        visit |= _ordered(visit, 0) | {"given": None}
    st.query_params.pop("step", None)


# -- the browser's half ------------------------------------------------------------------------


@cache
def component() -> Any:
    return st.components.v2.component(
        "step_player",
        html='<div class="place"></div>',
        js=(PLAYER / "place.js").read_text("utf-8"),
    )


@cache
def _code() -> Any:
    return st.components.v2.component("step_player_code", html="<span></span>", js=join_modules())


def _bring_code() -> None:
    """Once a run, with the first of its players; the browser is sent it once a session."""
    with suppress(StreamlitDuplicateElementKey), st.container(key="player-code"):
        _code()(key="step_player_code", height="content")


def join_modules() -> str:
    """One module out of several: inline JavaScript cannot import, so those words go.

    A painter becomes an object of what it exports, out of the way of the other painters' names.
    """
    *parts, last = [_without_imports(PLAYER / name) for name in MODULES]
    painters = [_as_object(file) for file in sorted((PLAYER / "painters").glob("*.js"))]
    joined = [re.sub(EXPORT, "", part) for part in parts]
    html, css = ((PLAYER / name).read_text("utf-8") for name in ("player.html", "player.css"))
    given = f"const LOOKS = {json.dumps(f'<style>{css}</style>{html}')};"
    code = [given, *joined, "const PAINTERS = {};", *painters, re.sub(EXPORT, "", last)]
    return "\n".join(code)


def _as_object(file: Path) -> str:
    code = _without_imports(file)
    verbs = ", ".join(re.findall(r"^export function (\w+)", code, flags=re.M))
    body = re.sub(EXPORT, "", code)
    return f"PAINTERS.{file.stem} = (() => {{\n{body}\nreturn {{ {verbs} }};\n}})();"


def _without_imports(file: Path) -> str:
    return re.sub(r"^import .*$\n?", "", file.read_text("utf-8"), flags=re.M)


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
        "zoom": tr("缩放", "Zoom"),
        "zoom_in": tr("放大（+）", "Zoom in (+)"),
        "zoom_out": tr("缩小（-）", "Zoom out (-)"),
        "zoom_whole": tr("显示全部（0）", "Show all of it (0)"),
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
        "moment_of": tr("第 {n} 个时刻，共 {total} 个", "moment {n} of {total}"),
        "kept": tr("设置已改变，仍停在第 {n} 步", "Settings changed; still at step {n}"),
        "clamped": tr(
            "设置已改变，这次运行较短，停在最后的第 {n} 步",
            "Settings changed; this run is shorter, now at its last step {n}",
        ),
        "thinned": tr(
            "整个运行有 {total} 步，这里只画出其中 {shown} 步。",
            "The run has {total} steps; {shown} of them are shown here.",
        ),
        "to_come": tr("淡色：还没播到", "faint: still to come"),
        "axis": tr("步", "Step"),
        "table_label": tr("每一步的表格", "Table of the steps"),
        "table_caption": tr("到当前步为止的每一步", "Every step up to the current one"),
        "column_note": tr("说明", "What happened"),
    }
