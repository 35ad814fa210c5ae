"""Sums: the same seed gives the same sum, and what comes out is what the server does."""

import pytest

from sim import scheduler
from sim.cost import SimpleClock
from sim.engine import Setup, steps
from sim.kv import Paged
from sim.request import Request
from sim.specs import MODELS
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


# -- by hand ----------------------------------------------------------------------------------


def test_kv_is_two_times_layers_heads_dimensions_and_bytes_for_every_token():
    for seed in SEEDS:
        drill = drills.kv_bytes(seed)
        given = drill.given
        numbers = 2 * given["layers"] * given["kv_heads"] * given["head_dim"]
        one = numbers * 2 * given["tokens"] / 2**30
        assert drill.right == pytest.approx(given["number"] * one)
        assert drill.wrong["only_k"] == pytest.approx(drill.right / 2)
        assert drill.wrong["one_request"] == pytest.approx(one)
        assert drill.wrong["query_heads"] == pytest.approx(drill.right * 32 / given["kv_heads"])
        assert drill.tolerance == pytest.approx(drill.right / 50)


def test_what_a_static_batch_does_not_use_is_idle():
    for seed in SEEDS:
        drill = drills.static_slots(seed)
        assert drill.given["longest"] == sorted(drill.given["lengths"])[-1]
        assert drill.right + drill.wrong["idle"] == 100


def test_whoever_forgets_the_decodes_cuts_the_prompt_by_the_whole_budget():
    for seed in SEEDS:
        drill = drills.chunk_steps(seed)
        budget, steps = drill.given["budget"], drill.wrong["whole_budget"]
        assert (steps - 1) * budget < drill.given["prompt"] <= steps * budget
        assert drill.given["left"] == budget - drill.given["decoding"]


def test_whoever_takes_another_time_or_another_number_of_tokens_gets_another_tpot():
    for seed in SEEDS:
        drill = drills.tpot(seed)
        given = drill.given
        assert drill.wrong["with_ttft"] * given["tokens"] == pytest.approx(given["whole"])
        rest = drill.wrong["all_tokens"] * given["tokens"]
        assert rest + given["ttft"] == pytest.approx(given["whole"])


def test_gigabytes_over_terabytes_a_second_are_milliseconds():
    for seed in SEEDS:
        drill = drills.weights_read(seed)
        milliseconds = drill.given["gigabytes"] / drill.given["bandwidth"]
        assert drill.right == pytest.approx(milliseconds, rel=1e-3)
        assert drill.wrong["per_second"] == pytest.approx(1_000 / drill.right)
        assert drill.wrong["bits"] == pytest.approx(8 * drill.right)
        assert drill.tolerance == pytest.approx(0.03 * drill.right)
        weights = MODELS[drill.given["model"]].parameters * drill.given["bits"] / 8
        assert drill.given["gigabytes"] * 1e9 == pytest.approx(weights, rel=0.02)


def test_filled_and_empty_slots_of_the_last_block_make_a_block():
    for seed in SEEDS:
        drill = drills.last_block(seed)
        assert drill.right + drill.wrong["filled"] == drill.given["size"]
        assert drill.wrong["blocks"] == drill.given["blocks"]


def test_a_round_yields_its_run_of_accepted_tokens_and_one_more():
    for seed in SEEDS:
        drill = drills.tokens_per_round(seed)
        share, proposed = drill.given["share"], drill.given["proposed"]
        assert drill.right == pytest.approx(sum(share**run for run in range(proposed + 1)))
        assert drill.wrong["without_bonus"] == pytest.approx(drill.right - 1)
        assert drill.wrong["linear"] == pytest.approx(share * proposed)
        assert drill.wrong["one_more"] == pytest.approx(share * proposed + 1)
