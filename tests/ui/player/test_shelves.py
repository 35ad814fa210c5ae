"""Boxes on shelves: what is accepted, and how it travels."""

from dataclasses import replace

import numpy as np
import pytest

from ui import player
from ui.player.painters.shelves import Box, Shelf, Shelves

EMPTY, FULL = Box("free", "1"), Box("prefill", "1", ("a", "b"), ring=True)
POOL = Shelf("pool", ((EMPTY,), (FULL,), (FULL, EMPTY)), counters=("0", "1", "1"))
FRAMES = Shelves(shelves=(POOL,), notes=("x", "y", "z"), events=((), ("admitted",), ()), alt="pool")


def test_boxes_travel_as_changes_and_their_words_once():
    sent = player.encode(FRAMES)
    (shelf,) = sent["picture"]["shelves"]
    assert shelf["kinds"] == [[0, [1]], [1, [0]], [2, [0, 1]]]
    assert shelf["rings"] == [[0, []], [1, [0]]]
    assert sent["texts"]["words"] == ["1", "", "a\nb"]
    assert sent["texts"]["shelves"][0]["counters"] == [[0, "0"], [1, "1"]]
    assert [state["name"] for state in sent["states"]] == ["prefill", "free"]


def test_other_words_are_the_same_picture():
    other = replace(FRAMES, shelves=(replace(POOL, title="池"),))
    assert player.encode(other)["id"] == player.encode(FRAMES)["id"]


def test_fewer_steps_keep_their_boxes_and_counters():
    some = FRAMES.take(np.array([0, 2]))
    assert some.shelves[0].steps == ((EMPTY,), (FULL, EMPTY))
    assert some.shelves[0].counters == ("0", "1")
    player.check(some)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (replace(FRAMES, shelves=()), "at least one step"),
        (replace(FRAMES, shelves=(POOL, Shelf("short", ((EMPTY,),)))), "1 entries"),
        (replace(FRAMES, shelves=(replace(POOL, counters=("1",)),)), "counters has 1"),
        (replace(FRAMES, shelves=(Shelf("bare", ((), (), ())),)), "no box"),
        (replace(FRAMES, shelves=(Shelf("odd", ((Box("odd", "1"),),) * 3),)), "'odd'"),
    ],
)
def test_shelves_that_contradict_themselves_are_refused(wrong, says):
    with pytest.raises(player.FramesError, match=says):
        player.check(wrong)
