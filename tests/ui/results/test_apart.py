"""Runs that take long are computed in a process of their own."""

import pickle
import threading
import time
from contextlib import closing

import numpy as np
import pytest

from sim import engine, scheduler, workload
from sim.cost import SimpleClock
from sim.engine import Setup, Speculation
from sim.errors import SimError
from sim.kv import Paged
from ui.results import apart, runs

CLOCK = SimpleClock(prefill_tokens_per_second=20_000, decode_seconds_per_step=1 / 64)


def setup(num_tokens, seed=0):
    """Step by step, since it speculates."""
    requests = workload.of_lengths([num_tokens] * 8)
    speculation = Speculation(seed=seed)
    return Setup(requests, scheduler.Chunked(8), Paged(1_000_000), CLOCK, speculation=speculation)


@pytest.fixture
def processes(monkeypatch):
    """No run is computed here; the processes that are begun instead."""
    begun = []
    popen = apart.subprocess.Popen

    def begin(*given, **more):
        begun.append(popen(*given, **more))
        return begun[-1]

    monkeypatch.setattr(apart.subprocess, "Popen", begin)
    monkeypatch.setattr(apart, "HERE_SECONDS", 0.0)
    runs._runs.cache_clear()
    runs._figures.cache_clear()
    return begun


def test_a_run_apart_is_the_same_run(processes):
    found, here = runs.run(setup(20)), engine.simulate(setup(20))
    assert np.array_equal(found.token_seconds, here.token_seconds)
    assert found.rounds == here.rounds
    assert found.setup == here.setup
    assert len(processes) == 1


def test_a_short_run_stays_here(processes, monkeypatch):
    monkeypatch.setattr(apart, "HERE_SECONDS", 10.0)
    runs.run(setup(20))
    assert not processes


def test_a_sweep_takes_one_process_and_tells_how_far_it_is(processes):
    told = []
    setups = {seed: setup(20, seed) for seed in range(3)}
    points = runs.sweep(setups, lambda done, total: told.append((done, total)))
    assert [point.summary for point in points] == [runs.summary(own) for own in setups.values()]
    assert told[-1] == (3, 3)
    assert len(processes) == 1


def test_who_asks_for_the_same_waits_for_the_same_process(processes):
    found = []
    readers = [threading.Thread(target=lambda: found.append(runs.run(setup(20)))) for _ in range(4)]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join()
    assert len(found) == 4
    assert len(processes) == 1


def test_a_process_for_which_nobody_waits_any_more_ends(processes):
    with closing(apart.each([setup(100_000)])) as waiting:
        while not processes:
            assert next(waiting) is None
    processes[0].wait(timeout=10)
    assert processes[0].returncode != 0
    assert not apart._jobs


def test_one_who_stays_keeps_it(processes):
    with closing(apart.each([setup(300)])) as stays:
        with closing(apart.each([setup(300)])) as leaves:
            assert next(stays) is None
            next(leaves)
        assert any(run is not None for run in stays)
    assert len(processes) == 1


def test_what_takes_too_long_is_ended_and_said(processes, monkeypatch):
    monkeypatch.setattr(apart, "COMMAND", [*apart.COMMAND[:-1], "1"])
    begun = time.monotonic()
    with pytest.raises(SimError, match="run_too_long"):
        runs.run(setup(1_000_000))
    assert time.monotonic() - begun < 30


def test_a_fault_comes_back_with_its_values(processes):
    policy = scheduler.Chunked(max_num_batched_tokens=8, chunked_prefill=False)
    never = Setup(workload.of_lengths([4], prompt_tokens=9), policy, Paged(64), CLOCK)
    with pytest.raises(SimError) as here:
        engine.simulate(never)
    with pytest.raises(SimError) as there:
        runs.run(never)
    assert (there.value.code, there.value.values) == (here.value.code, here.value.values)


def test_a_fault_travels_with_its_values():
    fault = SimError("trace_too_long", most=7)
    again = pickle.loads(pickle.dumps(fault))
    assert (again.code, again.values, str(again)) == ("trace_too_long", {"most": 7}, str(fault))
