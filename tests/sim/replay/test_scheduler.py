"""Held to the real scheduler: recorded steps must come out the same, and a changed one must not."""

import json
import subprocess
import sys
from copy import deepcopy
from pathlib import Path

import pytest

from sim.errors import SimError
from sim.replay.__main__ import USAGE, main
from sim.replay.scheduler import generated_token, replay_case

ROOT = Path(__file__).parents[3]
GOLDEN = ROOT / "tests" / "golden" / "scheduler_steps.json"
MORE = ROOT / "tests" / "golden" / "more_scheduler_steps.json"  # the same scheduler, driven by us
CASES = [(file, name) for file in (GOLDEN, MORE) for name in json.loads(file.read_text())]


def command(path: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "sim.replay", str(path)], cwd=ROOT, capture_output=True, text=True
    )


def golden_case(name: str = "tiny_preempt") -> dict:
    return json.loads(GOLDEN.read_text())[name]


@pytest.fixture
def write(tmp_path):
    def write(content: object) -> Path:
        path = tmp_path / "records.json"
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return path

    return write


# -- the same --------------------------------------------------------------------------------


def test_the_command_finds_no_mismatch_in_the_six_golden_cases():
    done = command(GOLDEN)
    assert done.stdout == "cases 6, steps 624, mismatches 0\n"
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(("file", "name"), CASES, ids=[name for _, name in CASES])
def test_every_step_is_as_the_real_scheduler_took_it(file, name):
    case = json.loads(file.read_text())[name]
    replay = replay_case(name, case)
    assert replay.mismatches == ()
    assert replay.num_compared == len(case["steps"]) > 0


def test_the_records_reach_what_they_are_there_for():
    """Preemption, resumption with hits, sharing, overtaking, caps: else a pass says little."""
    seen = {"preempted": 0, "resumed": 0, "hits": 0, "null": 0, "shared": 0, "two victims": 0}
    settings: set[str] = set()
    for file, name in CASES:
        case = json.loads(file.read_text())[name]
        settings |= {f"{key}={value}" for key, value in case["config"].items()}
        for step in case["steps"]:
            if step is None:
                seen["null"] += 1
                continue
            seen["preempted"] += len(step["preempted"])
            seen["two victims"] += len(step["preempted"]) > 1
            seen["resumed"] += len(step["resumed"])
            seen["hits"] += sum(hit > 0 for hit in step["cached"].values())
            blocks = [block for table in step["blocks"].values() for block in table]
            seen["shared"] += len(blocks) > len(set(blocks))
    assert all(seen.values()), seen
    assert {"prefix_caching=False", "chunked_prefill=False"} <= settings
    assert {f"block_size={size}" for size in (1, 2, 3, 4, 5, 16, 32)} <= settings


def test_the_rule_of_generated_tokens():
    assert [generated_token(3, index) for index in range(3)] == [2111, 2122, 2133]
    assert generated_token(13, 40) == 2000 + (13 * 37 + 440) % 500


# -- not the same ----------------------------------------------------------------------------


def first_step_with(case: dict, key: str) -> int:
    return next(i for i, step in enumerate(case["steps"]) if step and step[key])


def swap_order(case: dict) -> int:
    index = next(i for i, step in enumerate(case["steps"]) if step and len(step["scheduled"]) > 1)
    step = case["steps"][index]
    step["scheduled"] = dict(reversed(step["scheduled"].items()))
    return index


def change_block(case: dict) -> int:
    index = first_step_with(case, "blocks")
    next(iter(case["steps"][index]["blocks"].values()))[-1] += 1
    return index


def change_count(case: dict) -> int:
    index = first_step_with(case, "scheduled")
    scheduled = case["steps"][index]["scheduled"]
    scheduled[next(iter(scheduled))] += 1
    return index


def change_hits(case: dict) -> int:
    index = next(i for i, s in enumerate(case["steps"]) if s and any(s["cached"].values()))
    cached = case["steps"][index]["cached"]
    cached[next(who for who, hit in cached.items() if hit)] = 0
    return index


def change_free(case: dict) -> int:
    case["steps"][-1]["free"] -= 1
    return len(case["steps"]) - 1


def drop_victim(case: dict) -> int:
    index = first_step_with(case, "preempted")
    case["steps"][index]["preempted"] = []
    return index


def reverse_running(case: dict) -> int:
    index = next(i for i, step in enumerate(case["steps"]) if step and len(step["running"]) > 1)
    case["steps"][index]["running"].reverse()
    return index


def reverse_waiting(case: dict) -> int:
    index = next(i for i, step in enumerate(case["steps"]) if step and len(step["waiting"]) > 1)
    case["steps"][index]["waiting"].reverse()
    return index


def end_nobody(case: dict) -> int:
    index = first_step_with(case, "finished")
    case["steps"][index]["finished"] = []
    return index


def take_a_break(case: dict) -> int:
    case["steps"][1] = None
    return 1


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (swap_order, "order"),
        (change_block, "blocks"),
        (change_count, "scheduled"),
        (change_hits, "cached"),
        (change_free, "free"),
        (drop_victim, "preempted"),
        (reverse_running, "running"),
        (reverse_waiting, "waiting"),
        (end_nobody, "finished"),
        (take_a_break, "step"),
    ],
)
def test_one_changed_entry_is_found_where_it_is(change, what):
    case = golden_case()
    index = change(case)
    (mismatch,) = replay_case("changed", case).mismatches
    assert (mismatch.index, mismatch.what) == (index, what)
    assert mismatch.ours != mismatch.theirs or what == "order"


def test_the_command_spells_the_first_mismatch_and_exits_1(write):
    case = golden_case()
    index = change_free(case)
    done = command(write({"fine": golden_case(), "changed": case}))
    assert done.returncode == 1
    free = case["steps"][index]["free"]
    assert done.stdout.splitlines() == [
        f"cases 2, steps {2 * len(case['steps'])}, mismatches 1",
        f"changed, step {index}: free",
        f"  ours   {free + 1}",
        f"  theirs {free}",
    ]


def test_another_order_of_the_same_counts_is_told_in_words(write, capsys):
    case = golden_case()
    index = swap_order(case)
    assert main([str(write({"changed": case}))]) == 1
    told = capsys.readouterr().out
    assert f"changed, step {index}: order" in told
    assert str(case["steps"][index]["scheduled"]) in told


def test_other_settings_than_recorded_are_noticed():
    """A replay that ignored its settings would pass these, too."""
    for name, key, value in (
        ("tiny_preempt", "num_blocks", 14),
        ("tiny_preempt", "block_size", 5),
        ("tiny_preempt", "max_num_batched_tokens", 15),
        ("tiny_preempt", "max_num_seqs", 3),
        ("tiny_preempt", "prefix_caching", False),
        ("no_chunked_overtaking", "chunked_prefill", True),
        ("long_prefill_cap", "long_prefill_token_threshold", 0),
        ("tiny_preempt", "max_model_len", 17),
    ):
        case = deepcopy(golden_case(name))
        case["config"][key] = value
        num_mismatches = len(replay_case(name, case).mismatches)
        assert num_mismatches > 0, key


# -- not a record ----------------------------------------------------------------------------


def without(key: str) -> dict:
    case = golden_case()
    del case[key]
    return {"bad": case}


def with_config(**changed: object) -> dict:
    case = golden_case()
    case["config"] |= changed
    return {"bad": case}


def with_steps(recorded: object) -> dict:
    return {"bad": golden_case() | {"steps": recorded}}


def with_requests(rows: object) -> dict:
    return {"bad": golden_case() | {"requests": rows}}


NINES = "9" * 5000  # more digits than Python turns into a number
ROW = {"id": "r1", "step": 0, "prompt": [1, 2], "max_tokens": 2}


@pytest.mark.parametrize(
    "content",
    [
        "not json",
        "",
        "[" * 100_000,
        "[]",
        "{}",
        '{"bad": null}',
        '{"bad": 7}',
        without("config"),
        without("requests"),
        without("steps"),
        with_config(block_size=0),
        with_config(block_size="four"),
        with_config(num_blocks=None),
        with_config(policy="priority"),
        with_steps(None),
        with_steps([]),
        with_steps([{}]),
        with_steps([7]),
        with_steps([{"scheduled": 3}]),
        with_requests([{}]),
        with_requests([ROW | {"id": "somebody"}]),
        with_requests([ROW | {"id": 1}]),
        with_requests([ROW | {"prompt": []}]),
        with_requests([ROW | {"prompt": 5}]),
        with_requests([ROW | {"max_tokens": 0}]),
        with_requests([ROW, ROW]),
        with_config(num_blocks=2**70),
        with_config(num_blocks=13.0),
        with_config(max_num_seqs=True),
        with_config(max_num_batched_tokens="sixteen"),
        with_config(prefix_caching=1),
        with_config(long_prefill_token_threshold=-1),
        with_config(max_model_len=0),
        with_requests([ROW | {"prompt": [[1], [2]]}]),
        with_requests([ROW | {"prompt": "12"}]),
        with_requests([ROW | {"prompt": [1, 2.5]}]),
        with_requests([ROW | {"max_tokens": 2**70}]),
        with_requests([ROW | {"max_tokens": 1.5}]),
        with_requests([ROW | {"step": None}]),
        with_requests([ROW | {"id": "r" + "9" * 5000}]),
        json.dumps(with_config(block_size=0)).replace('"block_size": 0', f'"block_size": {NINES}'),
        json.dumps(with_config(block_size=0)).replace('"block_size": 0', '"block_size": Infinity'),
    ],
)
def test_a_file_that_is_no_record_exits_2_and_says_why(write, capsys, content):
    assert main([str(write(content))]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith("cannot replay: replay_")
    assert "Traceback" not in told.err


def test_the_command_exits_2_where_there_is_no_file(tmp_path):
    for path in (tmp_path / "missing.json", tmp_path):
        done = command(path)
        assert done.returncode == 2
        assert done.stderr.startswith("cannot replay: ")
        assert "Traceback" not in done.stderr


def test_bytes_that_are_no_text_exit_2(tmp_path, capsys):
    path = tmp_path / "binary.json"
    path.write_bytes(b"\xff\xfe\x00\x80")
    assert main([str(path)]) == 2
    assert "replay_not_json" in capsys.readouterr().err


def test_without_a_file_the_command_says_how_it_is_used(capsys):
    assert main([]) == 2
    assert capsys.readouterr().err == f"{USAGE}\n"


def test_settings_the_replay_does_not_know_are_named_and_the_steps_decide(write, capsys):
    """A seed in the settings changes nothing; whatever does would show up as a mismatch."""
    path = write(with_config(seed=7))
    assert main([str(path)]) == 0
    assert "seed" in capsys.readouterr().err


def test_a_case_names_itself_in_its_error():
    with pytest.raises(SimError) as error:
        replay_case("mine", {"config": {}})
    assert error.value.values["case"] == "mine"
