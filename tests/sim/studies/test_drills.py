"""Sums: the same seed gives the same sum, and what comes out is what the server does."""

import pytest

from sim import scheduler
from sim.cost import SimpleClock
from sim.engine import Setup, steps
from sim.kv import Paged
from sim.request import Request
from sim.studies import drills
from sim.views.slots import slot_grid
from sim.workload import of_lengths

TICK = 1 / 64
CLOCK = SimpleClock(prefill_tokens_per_second=1e12, decode_seconds_per_step=TICK)
SEEDS = range(40)


@pytest.mark.parametrize("name", drills.KINDS)
def test_a_seed_is_a_sum_and_another_seed_another(name):
    make = drills.KINDS[name]
    assert make(3) == make(3)
    assert len({tuple(make(seed).given.values()) for seed in SEEDS}) > len(SEEDS) / 3


@pytest.mark.parametrize("name", drills.KINDS)
def test_a_mistake_hardly_ever_comes_out_right(name):
    sums = [drills.KINDS[name](seed) for seed in SEEDS]
    for mistake in sums[0].wrong:
        wrong = [abs(drill.wrong[mistake] - drill.right) > drill.tolerance for drill in sums]
        assert sum(wrong) > len(SEEDS) / 3


def test_a_prompt_takes_the_steps_that_the_scheduler_gives_it():
    for seed in range(4):
        given = drills.chunk_steps(seed).given
        decoding = [Request(number, 0.0, 1, 200) for number in range(given["decoding"])]
        prompt = Request(len(decoding), 0.5 * TICK, given["prompt"], 2)
        policy = scheduler.Chunked(512, max_num_batched_tokens=given["budget"])
        setup = Setup((*decoding, prompt), policy, Paged(num_blocks=8_192), CLOCK)
        work = [share for step in steps(setup) for share in step.work if share.is_prefill]
        taken = sum(share.request_id == prompt.id for share in work)
        assert taken == drills.chunk_steps(seed).right


def test_a_static_batch_is_as_busy_as_the_grid_of_its_slots_shows():
    for seed in range(4):
        drill = drills.static_slots(seed)
        requests = of_lengths(drill.given["lengths"], prompt_tokens=1)
        policy = scheduler.Static(drill.given["number"])
        grid = slot_grid(Setup(requests, policy, Paged(num_blocks=8_192), CLOCK), TICK)
        assert 100 * float(grid.utilization[-1]) == pytest.approx(drill.right)


def test_the_last_block_is_short_of_what_whole_blocks_hold():
    for seed in SEEDS:
        drill = drills.last_block(seed)
        size, tokens = drill.given["size"], drill.given["tokens"]
        assert (tokens + drill.right) % size == 0
        assert 0 < drill.right < size


def test_tpot_leaves_out_the_first_token():
    drill = drills.tpot(1)
    given = drill.given
    assert (given["whole"] - given["ttft"]) / (given["tokens"] - 1) == pytest.approx(drill.right)
