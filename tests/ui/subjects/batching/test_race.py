"""The figure of home is the run itself: what travels to the browser adds up to it."""

import json
from itertools import pairwise

import numpy as np
import pytest

from sim import scheduler, workload
from sim.cost import SimpleClock
from sim.engine import Setup
from sim.kv import Paged
from ui.subjects.batching import race

TICK_SECONDS = 1 / 64
OUTPUTS = (10, 100, 30, 50, 20, 40, 60, 15, 25)


def setup_of(policy):
    clock = SimpleClock(prefill_tokens_per_second=20_000, decode_seconds_per_step=TICK_SECONDS)
    requests = workload.of_lengths(OUTPUTS, prompt_tokens=16)
    return Setup(requests, policy, Paged(num_blocks=1024), clock)


@pytest.fixture(scope="module")
def both():
    setups = {
        "static": setup_of(scheduler.Static(3)),
        "continuous": setup_of(scheduler.Continuous(3)),
    }
    return race.lanes(setups, TICK_SECONDS)


def test_stretches_follow_each_other_and_give_back_the_grid(both):
    for lane in both:
        for slot, stretches in enumerate(race.stretches(lane.grid)):
            assert stretches[0][0] == 0
            assert stretches[-1][1] == len(lane.grid.steps)
            assert all(one[1] == other[0] for one, other in pairwise(stretches))
            states, owners = lane.grid.cells[slot], lane.grid.owners[slot]
            for start, end, state, owner in stretches:
                assert np.all(states[start:end] == state)
                assert np.all(owners[start:end] == owner)


def test_each_request_is_done_when_its_last_token_is_written(both):
    static, _ = race.payload(both, "")["lanes"]
    done = {who: tick for tick, who in static["done"]}
    assert [done[who] for who in range(3)] == list(OUTPUTS[:3])


def test_all_are_done_under_both_and_continuous_batching_is_done_first(both):
    static, continuous = race.payload(both, "")["lanes"]
    for lane in (static, continuous):
        assert sorted(who for _, who in lane["done"]) == list(range(len(OUTPUTS)))
        assert max(tick for tick, _ in lane["done"]) == lane["ticks"]
    assert continuous["ticks"] < static["ticks"]


def test_only_static_batching_holds_the_slot_of_who_is_done(both):
    payload = race.payload(both, "")
    held = [state["name"] for state in payload["states"]].index("held")
    shares = [
        sum(end - start for slot in lane["slots"] for start, end, state, _ in slot if state == held)
        for lane in payload["lanes"]
    ]
    assert shares[0] > 0
    assert shares[1] == 0


def test_it_is_light(both):
    assert len(json.dumps(race.payload(both, ""))) < 5_000
