"""Held to the real radix cache: recorded operations must come out the same, a changed one not."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from sim.replay.__main__ import main
from sim.replay.radix import replay_case

ROOT = Path(__file__).parents[3]
GOLDEN = ROOT / "tests" / "golden" / "radix_operations.json"
NAMES = list(json.loads(GOLDEN.read_text()))


def golden_case(name: str = "page4_seed0") -> dict:
    return json.loads(GOLDEN.read_text())[name]


@pytest.fixture
def write(tmp_path):
    def write(case: object) -> str:
        path = tmp_path / "records.json"
        path.write_text(json.dumps({"bad": case}))
        return str(path)

    return write


# -- the same --------------------------------------------------------------------------------


def test_the_command_finds_no_mismatch_in_the_three_golden_cases():
    done = subprocess.run(
        [sys.executable, "-m", "sim.replay", "--radix", str(GOLDEN)],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.stdout == "cases 3, operations 1200, mismatches 0\n"
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("name", NAMES)
def test_every_operation_is_as_the_real_cache_did_it(name):
    replay = replay_case(name, golden_case(name))
    assert (replay.num_compared, replay.mismatches) == (400, ())


# -- not the same ----------------------------------------------------------------------------


def last(case: dict, name: str, happened: str) -> int:
    """The last operation of a kind of which something came."""
    return max(i for i, row in enumerate(case["ops"]) if row["op"] == name and row[happened])


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("insert", "prefix"),
        ("match", "prefix"),
        ("lock", "prefix"),
        ("evict", "evicted"),
        ("unlock", "evictable"),
        ("lock", "protected"),
        ("insert", "total"),
    ],
)
def test_one_changed_answer_is_found_where_it_is(name, key):
    case = golden_case()
    index = last(case, name, key)
    case["ops"][index][key] += 1
    replay = replay_case("changed", case)
    (mismatch,) = replay.mismatches
    assert (mismatch.index, mismatch.what) == (index, key)
    assert replay.num_compared == index + 1
    assert case["ops"][index][key] - 1 == mismatch.ours != mismatch.theirs


def test_another_order_of_the_freed_slots_is_found():
    case = golden_case()
    index = last(case, "evict", "freed")
    case["ops"][index]["freed"].reverse()
    (mismatch,) = replay_case("changed", case).mismatches
    assert (mismatch.index, mismatch.what) == (index, "freed")


@pytest.mark.parametrize("key", ["lock", "hits"])
def test_another_tree_at_the_end_is_found(key, write, capsys):
    case = golden_case()
    case["final_tree"]["children"][0]["children"][0][key] += 1
    assert main(["--radix", write(case)]) == 1
    assert "bad, operation 399: final_tree" in capsys.readouterr().out


def test_another_page_size_than_recorded_is_noticed():
    """A replay that ignored it would pass this, too."""
    assert replay_case("changed", golden_case() | {"page_size": 2}).mismatches


# -- not a record ----------------------------------------------------------------------------

SIZES = {"evictable": 0, "protected": 0, "total": 0}
MATCH: dict = {"op": "match", "ids": [1, 2], "prefix": 0} | SIZES
EVICT: dict = {"op": "evict", "n": 3, "evicted": 0, "freed": []} | SIZES
UNLOCK: dict = {"op": "unlock", "handle": 7} | SIZES
LOCK: dict = {"op": "lock", "ids": [1], "prefix": 0, "handle": 7} | SIZES


def with_operations(*rows: object) -> dict:
    return golden_case() | {"ops": list(rows)}


@pytest.mark.parametrize(
    "case",
    [
        None,
        7,
        [],
        {"page_size": 1},
        golden_case() | {"page_size": 0},
        golden_case() | {"page_size": "one"},
        golden_case() | {"page_size": 2**70},
        golden_case() | {"ops": None},
        golden_case() | {"final_tree": None},
        golden_case() | {"final_tree": {"key": [1], "lock": 1, "hits": 0, "children": [3]}},
        with_operations(),
        with_operations(None),
        with_operations({"op": "grow"}),
        with_operations({"op": ["match"]}),
        with_operations(MATCH | {"ids": 5}),
        with_operations(MATCH | {"ids": [[1], [2]]}),
        with_operations({key: MATCH[key] for key in MATCH if key != "prefix"}),
        with_operations(EVICT | {"n": -1}),
        with_operations(EVICT | {"n": 2**70}),
        with_operations(LOCK | {"handle": None}),
        with_operations(UNLOCK),
        with_operations(LOCK, UNLOCK, UNLOCK),
    ],
)
def test_a_file_that_is_no_record_exits_2_and_says_why(write, capsys, case):
    assert main(["--radix", write(case)]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith("cannot replay: replay_")


def test_a_record_of_the_other_kind_exits_2(capsys):
    assert main(["--radix", str(GOLDEN.with_name("scheduler_steps.json"))]) == 2
    assert main([str(GOLDEN)]) == 2
    assert "cannot replay: replay_bad_case" in capsys.readouterr().err
