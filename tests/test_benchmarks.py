"""The benchmarks of the simulator and the tiny model: what they print, not how long they take."""

import json
import subprocess
import sys

import pytest

from tests.chapters import ROOT

KEYS = [
    "row",
    "requests",
    "wall_seconds",
    "requests_per_s",
    "engine_steps",
    "preemptions",
    "step_path_ratio",
]


def benchmark(name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", f"benchmarks.{name}", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_throughput_prints_one_line_for_each_row():
    told = benchmark("throughput", "--requests", "150")
    rows = [json.loads(line) for line in told.stdout.splitlines()]
    assert [list(row) for row in rows] == [KEYS] * 3
    off, cut, on = rows
    assert off["preemptions"] == on["preemptions"] == 0 < cut["preemptions"]
    assert off["engine_steps"] == on["engine_steps"]  # nothing is shared: caching finds nothing
    assert all(row["requests"] == 150 and row["wall_seconds"] > 0 for row in rows)


@pytest.mark.parametrize(
    "wrong",
    [
        ("throughput", "--requests", "0"),
        ("throughput", "--trace", "nowhere.csv"),
        ("measured_run", "nowhere.jsonl"),
        ("measured_run", "README.md"),
    ],
)
def test_a_wrong_argument_is_told(wrong):
    told = benchmark(*wrong)
    assert told.returncode == 2
    assert "error: " in told.stderr
    assert "Traceback" not in told.stderr


def test_the_tiny_model_prints_one_line_with_both_stores():
    told = json.loads(benchmark("tiny_model").stdout)
    assert told["prompt_tokens"] == 256
    for store in ("contiguous", "paged"):
        times = told[store]
        for phase in ("prefill_ms", "decode_ms"):
            assert 0 < times[f"{phase}_best"] <= times[phase]
