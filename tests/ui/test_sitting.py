"""A sitting comes back from the browser as it was, or not at all."""

import json
import time

import pytest

from ui import answers, exam, sitting
from ui.answers import Given
from ui.sitting import Paper, Sitting

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


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[",
        "[]",
        "[" * 19_000,
        " " * 20_001,
        changed(version=2),
        changed(paper=None),
        changed(paper={"seed": "a", "num_items": 10, "minutes": 15}),
        changed(started=time.time() + 10_000),  # more time than there is
        changed(started=float("nan")),
        changed(started=-1),
        changed(ended=time.time() + 10_000),
        changed(given=[CHOICE.key]),
        changed(given={CHOICE.key: {"answer": 99, "draft": [], "sure": True}}),
        changed(given={CHOICE.key: {"answer": None, "draft": ["<b>"], "sure": True}}),
        changed(given={CHOICE.key: {"answer": None, "draft": [], "sure": "yes"}}),
    ],
    ids=lambda text: text[:60].strip(),
)
def test_what_was_tampered_with_is_left_behind(text):
    assert sitting.read(text, ITEMS) is None


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
