"""The server's half of the step player: what it accepts, and what it sends."""

import base64
import dataclasses
import shutil
import subprocess

import numpy as np
import pytest

from ui import player
from ui.player.painters import slots

STATES = ("free", "prefill", "decode")


def frames(num_steps=6, note="", **changes):
    """Two slots: A runs throughout, B for half of the time."""
    cells = np.zeros((2, num_steps), np.uint8)
    owners = np.full((2, num_steps), -1, np.int16)
    cells[0], owners[0] = 2, 0
    cells[1, : num_steps // 2], owners[1, : num_steps // 2] = 1, 1
    grid = slots.Grid(
        title="static",
        slots=("slot 1", "slot 2"),
        cells=cells,
        owners=owners,
        waiting=((),) * num_steps,
        counters=("50 %",) * num_steps,
    )
    whole = slots.Slots(
        grids=(grid,),
        notes=tuple(f"{note}{step}" for step in range(num_steps)),
        events=tuple(("admitted",) if step == 1 else () for step in range(num_steps)),
        states=STATES,
        requests=("A", "B"),
        alt="two slots",
    )
    return dataclasses.replace(whole, **changes)


def with_grid(**changes):
    whole = frames()
    return dataclasses.replace(whole, grids=(dataclasses.replace(whole.grids[0], **changes),))


def test_rows_travel_as_runs():
    runs = np.frombuffer(
        base64.b64decode(player.encode(frames())["picture"]["grids"][0]["runs"]), "<i2"
    )
    assert runs.reshape(-1, 3).tolist() == [[6, 2, 0], [3, 1, 1], [3, 0, -1]]


def test_two_requests_in_the_same_state_are_two_runs():
    owners = np.array([[0, 0, 1, 1]], np.int16)
    runs = base64.b64decode(slots.encode_runs(np.full((1, 4), 2, np.uint8), owners))
    assert np.frombuffer(runs, "<i2").reshape(-1, 3).tolist() == [[2, 2, 0], [2, 2, 1]]


def test_other_words_are_the_same_frames_and_other_pictures_are_not():
    same, other = frames(note="x"), frames(num_steps=8)
    assert player.encode(frames())["id"] == player.encode(same)["id"]
    assert player.encode(frames())["id"] != player.encode(other)["id"]


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (frames(grids=()), "at least one step"),
        (frames(states=("free", "prefill", "sleeping")), "'sleeping'"),
        (frames(notes=("one",)), "notes has 1 entries"),
        (frames(requests=("A",)), "an owner is outside the 1 requests"),
        (frames(states=("free",)), "a cell is outside the 1 states"),
        (with_grid(slots=("slot 1",)), r"cells has shape \(2, 6\), expected \(1, 6\)"),
        (with_grid(waiting=()), "waiting has 0 entries"),
    ],
)
def test_frames_that_contradict_themselves_are_refused_with_the_place(wrong, says):
    with pytest.raises(player.FramesError, match=says):
        player.check(wrong)


def test_small_frames_are_sent_whole():
    payload = player.encode(frames())
    assert payload["at"] is None
    assert payload["total"] == 6


def test_heavy_frames_are_thinned_to_the_limit_and_keep_their_events_and_their_end():
    heavy = frames(num_steps=4000, note="a sentence long enough to weigh something, number ")
    payload = player.encode(heavy)
    assert player.weight(payload) <= player.MAX_BYTES
    assert {0, 1, 3999} <= set(payload["at"])
    assert payload["events"] == [payload["at"].index(1)]
    assert payload["total"] == 4000


def test_the_modules_join_into_one_that_needs_no_import():
    lines = player.join_modules().splitlines()
    assert not [line for line in lines if line.startswith("import")]
    assert [line.split("(")[0] for line in lines if line.startswith("export")] == [
        "export default function bring"
    ]


@pytest.mark.skipif(shutil.which("node") is None, reason="no node here")
def test_the_joined_module_is_javascript(tmp_path):
    module = tmp_path / "player.mjs"
    module.write_text(player.join_modules(), encoding="utf-8")
    subprocess.run(["node", "--check", str(module)], check=True)
