"""From a run to the frames of the player: every column has picture, sentence and events."""

import numpy as np
import pytest

from sim import scheduler, workload
from sim.cost import SimpleClock
from sim.engine import Setup
from sim.events import BlockFull
from sim.kv import Paged
from sim.request import Request
from sim.views import slots
from ui.subjects.batching import frames
from ui.words import language

TICK = 1 / 64
CLOCK = SimpleClock(20_000, TICK)
NAMES = {"static": "Static", "continuous": "Continuous"}


@pytest.fixture(autouse=True)
def _english(monkeypatch):
    monkeypatch.setattr(language, "current", lambda: "en")


def grid(policy, requests):
    return slots.slot_grid(Setup(requests, policy, Paged(4096), CLOCK), TICK)


def picture(policy, requests):
    return frames.slot_frames([("", grid(policy, requests))], len(requests), "a picture")


SEED = workload.of_lengths((10, 100, 30))


def test_every_step_has_a_note_its_events_and_a_time():
    shown = picture(scheduler.Static(3), SEED)
    assert len(shown.notes) == len(shown.events) == len(shown.times) == 100
    assert all(note.endswith(".") for note in shown.notes)
    assert shown.times[0] == "0.02 s"
    assert shown.times[-1] == f"{100 * TICK:.2f} s"
    assert shown.requests == ("A", "B", "C")
    assert shown.grids[0].slots == ("slot 1", "slot 2", "slot 3")
    assert shown.states == slots.STATES


def test_the_note_names_those_whose_slot_is_held():
    shown = picture(scheduler.Static(3), SEED)
    assert shown.notes[0] == "A, B and C join together and are prefilled."
    assert shown.notes[9] == "A is done but keeps its slot."
    assert shown.notes[10] == "B and C generate one token each; A's slot sits idle."
    assert shown.notes[29] == "C is done but keeps its slot; A's slot sits idle."
    assert shown.notes[50] == "B generates one token; the slots of A and C sit idle."
    assert "all slots are released" in shown.notes[99]


def test_the_note_names_those_who_wait_for_a_prefill():
    shown = picture(scheduler.Continuous(2), workload.of_lengths((5, 30, 8)))
    assert shown.notes[4] == "A is done; the slot is free at once."
    assert shown.notes[5] == "C joins the batch; B waits for the prefill."
    assert shown.notes[6] == "B and C generate one token each."


def test_an_idle_tick_is_a_column_without_requests():
    requests = (Request(0, 0.0, 12, 3), Request(1, 8 * TICK, 12, 2))
    shown = picture(scheduler.Continuous(2), requests)
    assert len(shown.notes) == 10
    assert set(shown.notes[3:8]) == {"The server is idle; nobody is here."}
    assert set(shown.events[3:8]) == {()}
    assert np.all(shown.grids[0].cells[:, 3:8] == slots.EMPTY)
    assert np.all(shown.grids[0].owners[:, 3:8] == -1)
    assert shown.events[8] == ("admitted", "first_token")


def test_events_are_those_at_which_the_player_stops():
    shown = picture(scheduler.Static(3), SEED)
    assert shown.events[0] == ("admitted", "first_token")
    assert shown.events[1] == ()
    assert shown.events[9] == ("finished",)
    assert shown.events[99] == ("finished", "released")


def test_who_waits_and_how_full_the_slots_were_stands_beside_every_step():
    shown = picture(scheduler.Static(1), workload.of_lengths((2, 2)))
    assert shown.grids[0].waiting == ((1,), (1,), (), ())
    assert shown.grids[0].counters == ("utilization 100%",) * 4
    seed = picture(scheduler.Static(3), SEED)
    assert seed.grids[0].counters[-1] == "utilization 46.7%"


def test_a_guess_stands_beside_the_utilization_it_is_about():
    one = [("", grid(scheduler.Static(3), SEED))]
    shown = frames.slot_frames(one, 3, "a picture", 60.0).grids[0]
    assert shown.counters[-1].endswith(" · your guess 60%")
    assert "guess" not in picture(scheduler.Static(3), SEED).grids[0].counters[-1]


def test_two_policies_share_one_axis_and_the_shorter_one_says_that_it_is_done():
    requests = workload.of_lengths((3, 12, 3, 3), 16)
    grids = [
        ("Static", grid(scheduler.Static(2), requests)),
        ("Continuous", grid(scheduler.Continuous(2), requests)),
    ]
    upper, lower = (len(each.steps) for _, each in grids)
    assert upper > lower
    shown = frames.slot_frames(grids, 4, "two pictures")
    assert len(shown.notes) == len(shown.events) == upper
    assert [each.title for each in shown.grids] == ["Static", "Continuous"]
    first, second = shown.notes[2].split("\n")
    assert first.startswith("Static: A is done but keeps")
    assert second.startswith("Continuous: A is done; the slot is free")
    assert shown.notes[-1].endswith("Continuous: Everything is done.")
    assert "finished" in shown.events[2]
    assert shown.events[2].count("finished") == 1  # a kind once, though both grids have it


def test_in_chinese_the_same_pictures_have_other_words(monkeypatch):
    english = picture(scheduler.Static(3), SEED)
    monkeypatch.setattr(language, "current", lambda: "zh")
    chinese = picture(scheduler.Static(3), SEED)
    assert np.array_equal(english.grids[0].cells, chinese.grids[0].cells)
    assert english.events == chinese.events
    assert chinese.notes[10] == "B、C 各生成 1 个 token；A 的槽位在空转。"
    assert chinese.grids[0].slots[0] == "槽 1"


def test_blocks_are_not_in_the_picture_so_the_player_does_not_stop_at_them():
    requests = workload.of_lengths((40, 40), 16)
    setup = Setup(requests, scheduler.Continuous(2), Paged(4096), CLOCK)
    grid = slots.slot_grid(setup, TICK)
    full = [
        step.index
        for step in grid.steps
        if step and any(isinstance(event, BlockFull) for event in step.events)
    ]
    assert len(full) > 2
    shown = frames.slot_frames([("", grid)], 2, "a picture")
    assert [index for index, kinds in enumerate(shown.events) if kinds] == [0, 39]
    assert shown.notes[full[1]] == "A and B generate one token each."
