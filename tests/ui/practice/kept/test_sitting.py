"""A sitting comes back from the browser as it was, or not at all."""

import json
import time

import pytest

from ui.practice import answers, exam
from ui.practice.answers import Given
from ui.practice.kept import sitting
from ui.practice.kept.sitting import Paper, Sitting

PAPER = Paper(seed=7, num_items=10, minutes=15)
ITEMS = exam.questions(PAPER)
CHOICE = next(item for item in ITEMS if item.kind == "single")
NUMBER = next(item for item in ITEMS if item.kind == "numeric")
GIVEN = {CHOICE.key: Given(1, (), True), NUMBER.key: Given(2.5)}


@pytest.fixture
def session(monkeypatch):
    state: dict = {}
    monkeypatch.setattr(answers.st, "session_state", state)
    return state


def begun(seconds_ago=60.0, ended=None):
    return Sitting(PAPER, time.time() - seconds_ago, ended)


def changed(**changes):
    return json.dumps(json.loads(sitting.written(begun(), GIVEN)) | changes)


def test_what_is_written_is_read_again():
    for one in (begun(), begun(ended=time.time() - 10)):
        assert sitting.read(sitting.written(one, GIVEN), ITEMS) == (one, GIVEN)


def test_the_clock_runs_on_while_the_tab_is_closed():
    found = sitting.read(sitting.written(begun(seconds_ago=100), {}), ITEMS)
    assert found is not None
    assert found[0].seconds_left == pytest.approx(15 * 60 - 100, abs=5)


NOT_EVEN_A_SITTING = ["", "[", "[]", "[" * 19_000, " " * 20_001]
FAR_OFF = 4e9  # a second of the year 2096


@pytest.mark.parametrize("text", NOT_EVEN_A_SITTING, ids=lambda text: repr(text[:8]))
def test_what_is_no_sitting_is_left_behind(text):
    assert sitting.read(text, ITEMS) is None


@pytest.mark.parametrize(
    "changes",
    [
        {"version": 2},
        {"paper": None},
        {"paper": {"seed": "a", "num_items": 10, "minutes": 15}},
        {"started": FAR_OFF},  # more time than there is
        {"started": float("nan")},
        {"started": -1},
        {"ended": FAR_OFF},
        {"given": [CHOICE.key]},
        {"given": {CHOICE.key: {"answer": 99, "draft": [], "sure": True}}},
        {"given": {CHOICE.key: {"answer": None, "draft": ["<b>"], "sure": True}}},
        {"given": {CHOICE.key: {"answer": None, "draft": [], "sure": "yes"}}},
    ],
    ids=str,
)
def test_what_was_tampered_with_is_left_behind(changes):
    assert sitting.read(changed(), ITEMS) is not None
    assert sitting.read(changed(**changes), ITEMS) is None


def test_a_sitting_goes_on_in_a_new_session_with_its_own_paper_alone(session):
    sitting.came_back(sitting.written(begun(), GIVEN))
    other = Paper(seed=8, num_items=10, minutes=15)
    assert sitting.resume(other, exam.questions(other)) is None
    assert sitting.kept() is None  # the browser leaves what it has
    found = sitting.resume(PAPER, ITEMS)
    assert found is not None
    assert answers.on(found.sheet) == GIVEN
    assert sitting.read(sitting.kept() or "", ITEMS) == (found, GIVEN)
    sitting.take(Sitting(other, time.time()))
    assert sitting.resume(PAPER, ITEMS) is None  # another was begun since
    sitting.forget()
    assert sitting.kept() == ""
