"""Where a reader has been: what the browser kept is hostile, and the newest stands last."""

import json

import pytest
import streamlit as st

from ui.course import chapters, visited


@pytest.fixture(autouse=True)
def _session(monkeypatch):
    monkeypatch.setattr(st, "session_state", {})


def stem(name):
    return next(one.stem for one in chapters.in_order() if one.stem.endswith(name))


def here(name, part=None):
    place = visited.here(stem(name), part)
    assert place is not None
    return place


def go(name, part=None):
    visited.note(here(name, part))


def test_without_a_part_or_with_an_unknown_one_a_reader_is_at_the_first_act():
    assert here("batching").act.code == "hook"
    assert here("batching", "nonsense").act.code == "hook"
    assert visited.here("app", None) is None


def test_the_last_act_is_the_last_one_opened_and_each_is_kept_once():
    go("batching")
    go("batching", "compare")
    go("latency")
    go("batching", "compare")
    last = visited.last()
    assert last is not None
    assert last.key == "batching/compare"
    assert visited.kept() == ["batching/hook", "latency/hook", "batching/compare"]
    assert visited.acts_of(last.chapter) == {"hook", "compare"}


def test_what_the_browser_kept_comes_before_what_this_session_saw():
    go("latency")
    visited.came_back(json.dumps(["latency/hook", "batching/sandbox"]))
    assert visited.kept() == ["batching/sandbox", "latency/hook"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[",
        "[" * 10_000,
        "{}",
        "7",
        '[3, null, ["batching/hook"]]',
        '["batching/<b>", "nowhere/hook", "batching", "/", "kv_cache/../hook"]',
        json.dumps(["batching/hook"] * 5_000),
    ],
)
def test_what_is_no_place_of_the_course_is_dropped(text):
    visited.came_back(text)
    assert visited.last() is None


def test_everything_can_be_forgotten():
    go("batching")
    visited.forget()
    assert visited.last() is None
    assert visited.kept() == []
