"""What happened in a step, in words: every event, in both languages."""

import re
from dataclasses import fields
from typing import get_args

import pytest

from sim import engine, events, scheduler, workload
from sim.cost import SimpleClock, StepTime
from sim.engine import Setup, Step, StepWork
from sim.kv import Paged
from tests.chapters import LANGUAGES
from ui.words import notes

HAN = re.compile("[\u4e00-\u9fff]")
TERMS = {"token", "KV", "GPU", "CSV", "UTF"}  # that stay Latin in Chinese
both_languages = pytest.mark.parametrize("code", LANGUAGES)

EVENTS = {
    events.Arrived: events.Arrived(2),
    events.Rejected: events.Rejected(2, 99, 50),
    events.TooLong: events.TooLong(2, 99, 50),
    events.Admitted: events.Admitted(2, 0, False),
    events.FirstToken: events.FirstToken(2),
    events.BlockFull: events.BlockFull(2, 17),
    events.Evicted: events.Evicted(17),
    events.PoolFull: events.PoolFull(2, 4, 1),
    events.Compacted: events.Compacted(24),
    events.Preempted: events.Preempted(2, 640),
    events.Finished: events.Finished(2, 30),
    events.Released: events.Released((0, 2)),
}


def latin(text):
    """Latin words that are neither a request's letter nor a term."""
    return set(re.findall(r"[A-Za-z]{2,}", text)) - TERMS


def step(*happened, work=(), running=(), waiting=(), finished=()):
    return Step(
        0, 0.0, 1.0, StepTime(1.0, 1.0, 0.0), work, running, waiting, finished, {}, 9, 9, happened
    )


def decoding(*who):
    return tuple(StepWork(each, 1, 20, False, True) for each in who)


# -- events -------------------------------------------------------------------------------------


def test_every_event_of_the_simulation_has_words():
    assert set(notes.WORDS) == set(EVENTS) == set(get_args(events.Event))


def test_a_player_stops_at_events_it_knows():
    assert set(notes.KINDS) <= set(EVENTS)
    assert len(set(notes.KINDS.values())) == len(notes.KINDS) - 1  # both refusals are one kind


@both_languages
@pytest.mark.parametrize("event", EVENTS.values(), ids=lambda event: type(event).__name__)
def test_an_event_is_said_in_the_readers_language_with_its_values(read, code, event):
    read(code)
    said = notes.WORDS[type(event)](event)
    assert bool(HAN.search(said)) == (code == "zh")
    if code == "zh":
        assert latin(said) == set()
    if hasattr(event, "request_id"):
        assert "C" in said
    for field in fields(event):
        value = getattr(event, field.name)
        if field.name not in ("request_id", "request_ids") and value:
            assert str(value) in said, field.name


@both_languages
@pytest.mark.parametrize(
    "event", [events.Admitted(0, 64, False), events.Admitted(0, 0, True)], ids=["hit", "resumed"]
)
def test_joining_with_a_cache_hit_and_joining_again_are_said_differently(read, code, event):
    read(code)
    said = {notes.admitted(event), notes.admitted(events.Admitted(0, 0, False))}
    assert len(said) == 2
    assert ("64" in notes.admitted(event)) == (event.hit_tokens == 64)


# -- names --------------------------------------------------------------------------------------


def test_requests_are_listed_by_letter(read):
    read("en")
    assert notes.names([0]) == "A"
    assert notes.names([0, 2]) == "A and C"
    assert notes.names([0, 1, 2]) == "A, B and C"
    read("zh")
    assert notes.names([0, 1, 2]) == "A、B、C"


def test_a_long_list_is_cut_and_counted(read):
    read("en")
    assert notes.names(range(9)) == "A, B, C, D, E, F and 3 more"
    assert notes.names(range(6)) == "A, B, C, D, E and F"
    read("zh")
    assert notes.names(range(9)) == "A、B、C、D、E、F 等 9 个"


# -- one sentence per step ----------------------------------------------------------------------

STEPS = {
    "idle": (None, {}),
    "decoding": (step(work=decoding(0, 1)), {}),
    "decoding, unseen event": (step(events.BlockFull(0, 7), work=decoding(0, 1)), {}),
    "decoding, arrival": (step(events.Arrived(5), work=decoding(0, 1)), {}),
    "one decoding": (step(work=decoding(0)), {}),
    "prefill goes on": (step(work=(StepWork(0, 8, 8, True, False),)), {}),
    "held": (step(work=decoding(1)), {"held": [0, 2]}),
    "stalled": (step(events.Admitted(3, 0, False)), {"stalled": [1]}),
    "joining together": (step(events.Admitted(0, 0, False), events.Admitted(1, 0, False)), {}),
    "done and gone": (step(events.Finished(0, 9), events.Released((0,))), {}),
    "done and kept": (step(events.Finished(0, 9)), {"held": [2]}),
    "all over": (step(events.Finished(1, 99), events.Released((0, 1, 2))), {}),
    "preempted": (step(events.PoolFull(1, 1, 0), events.Preempted(2, 70)), {}),
    "refused": (step(events.Rejected(4, 99, 50)), {}),
}


@both_languages
@pytest.mark.parametrize("name", STEPS)
def test_a_step_is_one_sentence(read, code, name):
    read(code)
    what, more = STEPS[name]
    said = notes.step_note(what, **more)
    assert said.endswith("。" if code == "zh" else ".")
    assert said.count("。" if code == "zh" else ". ") <= 1
    assert bool(HAN.search(said)) == (code == "zh")
    if code == "zh":
        assert latin(said) == set()
        assert not re.search(r"[,;:!?]", said)


def test_who_generates_is_said_when_nothing_else_happens(read):
    read("en")
    for name in ("decoding", "decoding, unseen event", "decoding, arrival"):
        assert notes.step_note(STEPS[name][0]) == "A and B generate one token each.", name
    assert notes.step_note(STEPS["prefill goes on"][0]) == "prefill goes on."
    assert notes.step_note(STEPS["one decoding"][0]) == "A generates one token."


def test_held_and_stalled_are_named(read):
    read("en")
    assert "the slots of A and C sit idle" in notes.step_note(step(work=decoding(1)), held=[0, 2])
    assert "A's slot sits idle" in notes.step_note(step(work=decoding(1)), held=[0])
    said = notes.step_note(step(events.Admitted(3, 0, False)), stalled=[1])
    assert said == "D joins the batch; B waits for the prefill."


def test_leaving_at_once_keeping_the_slot_and_leaving_together_are_told_apart(read):
    read("en")
    gone, kept, over = (
        notes.step_note(STEPS[name][0]) for name in ("done and gone", "done and kept", "all over")
    )
    assert "free at once" in gone
    assert "keeps its slot" in kept
    assert "all slots are released" in over


def test_several_that_finish_in_one_step_are_plural(read):
    read("en")
    both = (events.Finished(0, 9), events.Finished(1, 9))
    assert notes.step_note(step(*both)) == "A and B are done but keep their slots."
    said = notes.step_note(step(*both, events.Released((0, 1))))
    assert said == "A and B are done; their slots are free at once."


@both_languages
def test_every_step_of_runs_under_every_policy_can_be_said(read, code):
    read(code)
    requests = workload.of_lengths((5, 40, 12, 30, 9, 21), 24)
    clock = SimpleClock(10_000, 0.02)
    for policy in (
        scheduler.Static(3),
        scheduler.Dynamic(3, window_seconds=0.1),
        scheduler.Continuous(3),
        scheduler.Chunked(4, max_num_batched_tokens=32),
    ):
        for what in engine.steps(Setup(requests, policy, Paged(14), clock)):
            said = notes.step_note(what)
            assert bool(HAN.search(said)) == (code == "zh"), said
            assert len(said) < 160, said


def test_kinds_are_those_of_the_step_each_once_in_order():
    both = (events.Admitted(0, 0, False), events.Arrived(1), events.Admitted(1, 0, False))
    assert notes.kinds(step(*both, events.FirstToken(0))) == ("admitted", "first_token")
    assert notes.kinds(None) == ()
