"""The ladder: each rung adds one mechanism to the one below, on the same requests."""

from dataclasses import replace
from itertools import pairwise

import pytest

from sim import workload
from sim.cost import SimpleClock
from sim.engine import run_by_steps, simulate
from sim.kv import Contiguous, Paged
from sim.scheduler import Chunked, Continuous, Static
from sim.studies.ablation import RUNGS, Ladder, wasted_share

SERVER = Ladder(SimpleClock(8_000, 0.02), num_slots=8_192, max_model_len=1_024)
REQUESTS = workload.Workload(
    40,
    workload.PoissonArrivals(8),
    workload.UniformLength(50, 200),
    workload.UniformLength(10, 200),
    workload.SharedPrefix(128),
).requests()


def test_each_rung_changes_the_scheduler_or_the_memory_and_never_both():
    setups = [SERVER.setup(rung, REQUESTS) for rung in RUNGS]
    for one, other in pairwise(setups):
        changed = [one.policy != other.policy, one.memory != other.memory]
        assert sum(changed) == 1
        assert replace(one, policy=other.policy, memory=other.memory) == other


def test_the_rungs_are_what_they_are_called():
    kinds = {rung: SERVER.setup(rung, REQUESTS) for rung in RUNGS}
    policies = [type(setup.policy) for setup in kinds.values()]
    assert policies == [Static, Continuous, Continuous, Continuous, Chunked]
    memories = [type(setup.memory) for setup in kinds.values()]
    assert memories == [Contiguous, Contiguous, Paged, Paged, Paged]
    cached = [setup.memory for setup in kinds.values() if isinstance(setup.memory, Paged)]
    assert [memory.prefix_caching for memory in cached] == [False, True, True]


@pytest.mark.parametrize("rung", RUNGS)
def test_waste_is_a_share_and_agrees_with_a_run_step_by_step(rung):
    setup = SERVER.setup(rung, REQUESTS)
    fast, slow = wasted_share(simulate(setup)), wasted_share(run_by_steps(setup))
    assert 0 <= fast <= 1
    assert fast == pytest.approx(slow)


def test_one_request_alone_wastes_what_it_reserves_and_does_not_fill():
    alone = workload.of_lengths([101], 100)
    run = simulate(SERVER.setup("batching", alone))
    filled = sum(100 + token for token in range(101)) / 101  # on average
    prefill, step = 100 / 8_000, 0.02
    shares = 1 - filled / 1_024
    assert prefill < step
    assert wasted_share(run) == pytest.approx(shares, abs=0.01)


@pytest.mark.parametrize("rung", RUNGS)
def test_nothing_is_wasted_while_nothing_is_held(rung):
    late = (replace(workload.of_lengths([10], 16)[0], arrival_seconds=1.0),)
    assert wasted_share(simulate(SERVER.setup(rung, late))) == 0


def test_pages_waste_less_than_a_block_of_each_request():
    run = simulate(SERVER.setup("paging", REQUESTS))
    assert wasted_share(run) < 16 / (128 + 50)
