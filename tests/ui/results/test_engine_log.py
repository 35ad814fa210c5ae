"""The log line is vLLM's own."""

import re

from sim import engine, scheduler, workload
from sim.cost import SimpleClock
from sim.kv import Paged
from sim.request import Request
from sim.views import over_time
from ui.results import engine_log

VLLM = re.compile(
    r"\d\d:\d\d:\d\d Engine 000: Avg prompt throughput: [\d.]+ tokens/s, "
    r"Avg generation throughput: [\d.]+ tokens/s, Running: \d+ reqs, Waiting: \d+ reqs, "
    r"GPU KV cache usage: \d+\.\d%, Prefix cache hit rate: \d+\.\d%"
)


def run_of(output_tokens, seqs=2):
    return run_with(workload.of_lengths(output_tokens, 100), seqs)


def run_with(requests, seqs=2):
    setup = engine.Setup(
        requests,
        scheduler.Chunked(seqs),
        Paged(1024),
        SimpleClock(10_000, 0.1),
    )
    return engine.simulate(setup)


def test_a_line_reads_as_vllm_writes_it():
    log = over_time.LogLine(412.34, 96.0, 3, 12, 0.456, 0.25)
    assert engine_log.line(log) == (
        "Engine 000: Avg prompt throughput: 412.3 tokens/s, "
        "Avg generation throughput: 96.0 tokens/s, Running: 3 reqs, Waiting: 12 reqs, "
        "GPU KV cache usage: 45.6%, Prefix cache hit rate: 25.0%"
    )


def test_a_long_run_says_a_few_of_its_lines_in_order():
    lines = engine_log.lines(run_of([1000] * 6), most=4)
    assert len(lines) == 4
    assert all(VLLM.fullmatch(line) for line in lines)
    times = [line[:8] for line in lines]
    assert times[0] == "00:00:10"
    assert times == sorted(times)
    assert "Running: 2 reqs, Waiting: 4 reqs" in lines[0]


def test_a_run_that_ends_before_the_first_line_is_asked_in_its_middle():
    (line,) = engine_log.lines(run_of([20]))
    assert VLLM.fullmatch(line)
    assert line.startswith("00:00:01 ")
    assert "Running: 1 reqs" in line


def test_a_run_of_centuries_is_asked_as_quickly_as_any_other():
    centuries = (Request(0, 0.0, 100, 20), Request(1, 3e11, 100, 20))
    lines = engine_log.lines(run_with(centuries))
    assert len(lines) == 5
    assert lines[0].startswith("00:00:10 ")
    assert lines[-1].startswith(f"{300_000_000_000 // 3600}:20:00 ")


def test_engines_of_a_fleet_speak_at_the_same_moment_each_by_its_number():
    lines = engine_log.in_the_middle([run_of([1000] * 6), run_of([600])])
    assert [line[9:20] for line in lines] == ["Engine 000:", "Engine 001:"]
    assert len({line[:8] for line in lines}) == 1
    assert "Running: 2 reqs" in lines[0]
