"""A session that a server has never heard of goes on from the note in the reader's tab."""

import json

import pytest

from ui import player
from ui.controls import turns
from ui.course import state
from ui.practice import answers, bank
from ui.practice.answers import Given, Sheet
from ui.practice.kept import progress, sitting, tab

ITEM = next(item for item in bank.load("05") if item.kind == "single")
PAGE = "05_batching"
ANOTHER_LIFE = "0123456789abcdef"


class Address(dict):
    """As `st.query_params`."""

    def from_dict(self, parameters):
        self.clear()
        self.update(parameters)


@pytest.fixture
def server(monkeypatch):
    """Begins a new server: one that knows nothing."""

    def begin(**address):
        monkeypatch.setattr(tab.st, "session_state", {})
        monkeypatch.setattr(tab.st, "query_params", Address(address))

    begin()
    return begin


def written():
    tab.st.session_state[tab.COUNT] = 1
    return json.dumps(tab._written())


def at_work():
    """A reader who has moved, answered, guessed, typed and stood still."""
    state.open_page(PAGE)
    state.settle("slots", 6, 4)
    state.settle("prompt", "x" * 2000, "")
    state.write()
    state.keep("figure-hook", (1, 3))
    answers.give(Sheet("05"), ITEM, 1)
    guess = {"state": "open", "asked": True, "answers": {}, "drafts": {"a": 0.8}, "coming": False}
    progress.guesses()[f"{PAGE}.utilization"] = guess
    player.visits()[f"{PAGE}-hook"] = player.visit_from({**STANDING, "given": 3})
    turns.go("practice", 2)
    answers.settle_seed(17)


STANDING = {"serial": 2, "start": 3, "at": 9, "step": 9, "last": 40}


def test_another_server_knows_what_the_first_one_knew(server):
    at_work()
    note = written()
    server(slots="6")
    assert tab._read(note)
    state.open_page(PAGE)
    page = state.pages()[PAGE]
    assert (page.written, page.values) == ({"slots": "6"}, {"prompt": "x" * 2000})
    assert not state.came_by_link()
    assert state.kept("figure-hook", None) == (1, 3)
    assert answers.given(Sheet("05"), ITEM) == Given(1)
    assert progress.guesses()[f"{PAGE}.utilization"]["drafts"] == {"a": 0.8}
    assert player.stands(f"{PAGE}-hook") == 9
    assert turns.standing("practice", 10) == 2
    assert answers.seed() == 17


def test_a_player_that_went_on_is_let_be_and_one_that_was_loaded_anew_goes_where_it_stood(server):
    at_work()
    note = written()
    for lives, orders in ((True, (2, 3)), (False, (3, 9))):
        server(slots="6")
        assert tab._read(note, lives)
        visit = player.visits()[f"{PAGE}-hook"]
        assert (visit["serial"], visit["start"]) == orders


def test_an_address_that_has_changed_meanwhile_wins(server):
    at_work()
    note = written()
    server(slots="8")
    assert tab._read(note)
    state.open_page(PAGE)
    assert state.pages()[PAGE].written == {"slots": "8"}


def test_a_session_takes_no_note_of_its_own(server):
    at_work()
    assert not tab._read(written())


def changed(note, **changes):
    return json.dumps(json.loads(note) | {"life": ANOTHER_LIFE} | changes)


@pytest.mark.parametrize(
    "changes",
    [
        {"version": 2},
        {"pages": 5},
        {"pages": {PAGE: {"written": []}}},
        {"players": {"x": {**STANDING, "step": -1}}},
        {"players": {"x": {**STANDING, "step": "9"}}},
        {"guesses": {"x": {"state": "won", "answers": {}}}},
        {"given": [["05", ITEM.key, {"answer": 99, "draft": [], "sure": False}]]},
        {"turns": {"practice": 1e9}},
        {"seed": None},
        {"round": ["mixed"]},
    ],
)
def test_what_does_not_fit_changes_nothing(server, changes):
    at_work()
    note = changed(written(), **changes)
    server()
    assert not tab._read(note)
    assert "_given" not in tab.st.session_state


@pytest.mark.parametrize("text", ["", "[", "null", "[]", "{}", "x" * (tab.MAX_LETTERS + 1)])
def test_what_is_no_note_changes_nothing(server, text):
    assert not tab._read(text)


def test_of_what_a_page_keeps_only_the_known_comes_back(server):
    at_work()
    note = json.loads(written()) | {"life": ANOTHER_LIFE}
    kept = {"figure-hook": [1, 0], "brought": "x", "_came_by_link": "yes", "text-box": "mine"}
    note["pages"][PAGE]["kept"] = kept
    server()
    assert tab._read(json.dumps(note))
    assert state.pages()[PAGE].private == {"text-box": "mine"}


def test_a_sitting_of_the_exam_comes_back_as_its_text(server):
    at_work()
    note = changed(written(), exam="whatever it says")
    server()
    assert tab._read(note)
    assert tab.st.session_state[sitting.STORED] == "whatever it says"
