"""Progress is read as what it is: something that anybody may have written."""

import csv
import io
import json

import pytest

from ui.practice import bank
from ui.practice.answers import Mark
from ui.practice.kept import progress

KEY = "05/why_continuous"
MARKS = {
    KEY: Mark(1, True, 2),
    "05/seed_utilization": Mark(55.6, False, 1),
    "05/what_static_wastes": Mark([0, 2], False, 1),
}


def file(**changes):
    entry = {"answer": 1, "sure": True, "tries": 2} | changes
    return json.dumps({"version": 1, "marks": {KEY: entry}}).encode()


def test_what_is_written_is_read_again():
    assert progress.read(progress.written(MARKS)).marks == MARKS


def test_questions_of_another_version_are_left_out_and_counted():
    content = json.loads(progress.written(MARKS))
    content["marks"]["99/gone"] = {"answer": "anything"}
    stored = progress.read(json.dumps(content).encode())
    assert stored.num_unknown == 1
    assert stored.marks == MARKS


@pytest.mark.parametrize(
    ("content", "named"),
    [
        (b"", "第 1 行第 1 列"),
        (b'{"version": 1,\n oops', "第 2 行第 2 列"),
        (b"\xff\xfe", "JSON"),
        (b"[" * 100_000, "JSON"),
        (b'{"version": ' + b"9" * 5_000 + b"}", "JSON"),
        (b" " * 200_001, "200,001"),
        (b"[]", "version"),
        (b'{"version": 2, "marks": {}}', "version"),
        (b'{"version": 1, "marks": []}', "marks"),
        (json.dumps({"version": 1, "marks": dict.fromkeys(range(2_001))}).encode(), "2,000"),
        (b'{"version": 1, "marks": {"05/why_continuous": 3}}', KEY),
        (file(answer=4), f"{KEY}.answer"),
        (file(answer=True), f"{KEY}.answer"),
        (file(answer="<b>"), f"{KEY}.answer"),
        (file(sure=1), f"{KEY}.sure"),
        (file(tries=0), f"{KEY}.tries"),
        (file(tries=1.5), f"{KEY}.tries"),
    ],
)
def test_what_is_not_a_progress_file_is_refused_by_its_place(content, named):
    with pytest.raises(progress.ProgressError, match=named):
        progress.read(content)


@pytest.mark.parametrize(
    ("key", "good", "bad"),
    [
        ("05/why_continuous", [0, 3], [-1, 4, 1.0, None, [1], True]),
        ("05/seed_utilization", [0, 55.6, -3], [float("nan"), float("inf"), 10**400, "1", True]),
        ("05/what_static_wastes", [[0], [2, 1]], [[], [0, 0], [9], 0, [True], ["0"]]),
        ("03/stations_in_order", [], [[0], [0, 0, 1]]),
    ],
)
def test_an_answer_must_be_one_that_the_question_can_have(key, good, bad):
    item = bank.all_items()[key]
    assert all(item.takes(answer) for answer in good)
    assert not any(item.takes(answer) for answer in bad)


def test_the_table_has_a_row_for_every_question_and_judges_anew():
    items = bank.all_items()
    rows = list(
        csv.DictReader(
            io.StringIO(progress.table((items[key], MARKS.get(key)) for key in items).decode())
        )
    )
    assert len(rows) == len(items)
    by_key = {f"{row['chapter']}/{row['item']}": row for row in rows}
    assert by_key[KEY]["result"] == "wrong"
    assert by_key[KEY]["sure"] == "1"
    assert by_key["05/seed_utilization"]["result"] == "right"
    assert by_key["05/one_request_alone"]["result"] == ""


def test_guesses_are_read_again_and_what_is_no_guess_is_left_out():
    good = {"05_batching.utilization": {"state": "answered", "answers": {"value": 40.0}}}
    assert progress.read_guesses(json.dumps({"version": 1, "guesses": good})) == good
    strange = {"x": {"state": "won", "answers": {}}}
    assert progress.read_guesses(json.dumps({"guesses": good | strange})) == good


@pytest.mark.parametrize(
    "text",
    [
        *("", "oops", "[]", '{"guesses": 3}', '{"guesses": {"x": 3}}', "[" * 100_000),
        '{"guesses": {"x": {"state": "open", "answers": {"value": [1]}}}}',
    ],
)
def test_a_store_of_guesses_that_was_tampered_with_is_no_guess(text):
    assert progress.read_guesses(text) == {}
