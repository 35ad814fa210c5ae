"""Who sits where: the picture of the batching chapter, tick by tick."""

import numpy as np
import pytest
from hypothesis import given

from sim.cost import SimpleClock
from sim.engine import Setup, simulate, steps
from sim.kv import Paged
from sim.metrics import summarize
from sim.scheduler import Continuous, Dynamic, Static
from sim.views.slots import DECODE, EMPTY, HELD, PREFILL, STALLED, lay_out, slot_grid
from sim.workload import FixedLength, LognormalLength, PoissonArrivals, Workload, on_ticks
from tests.sim.helpers import PLENTY, SECOND, request
from tests.sim.strategies import setups

LETTERS = {EMPTY: ".", PREFILL: "P", DECODE: "D", HELD: "h", STALLED: "s"}


def picture(requests, policy, memory: Paged = PLENTY) -> list[str]:
    grid = slot_grid(Setup(tuple(requests), policy, memory, SECOND), 1.0)
    return ["".join(LETTERS[cell] for cell in row) for row in grid.cells]


def owners(requests, policy) -> list[list[int]]:
    return slot_grid(Setup(tuple(requests), policy, PLENTY, SECOND), 1.0).owners.tolist()


def test_a_static_batch_holds_finished_rows_to_the_end():
    requests = [request(0, 4, 2), request(1, 4, 4), request(2, 4, 1)]
    assert picture(requests, Static(3)) == ["PDhh", "PDDD", "Phhh"]


def test_a_continuous_batch_reuses_a_slot_in_the_next_step_and_stalls_while_it_prefills():
    requests = [request(0, 4, 2), request(1, 4, 4), request(2, 4, 2)]
    assert picture(requests, Continuous(2)) == ["PDPD.", "PDsDD"]
    assert owners(requests, Continuous(2)) == [[0, 0, 2, 2, -1], [1] * 5]


def test_who_stays_keeps_its_slot_and_who_joins_takes_the_lowest_empty_one():
    requests = [request(0, 4, 3), request(1, 4, 1), request(2, 4, 1), request(3, 4, 3)]
    assert owners(requests, Continuous(3)) == [[0, 0, 0, 0], [1, 3, 3, 3], [2, -1, -1, -1]]


def test_a_tick_without_a_step_is_empty_and_counts_in_no_share():
    requests = [request(0, 4, 1), request(1, 4, 1, arrival=3.0)]
    grid = slot_grid(Setup(tuple(requests), Static(1), PLENTY, SECOND), 1.0)
    assert [step is not None for step in grid.steps] == [True, False, False, True]
    assert grid.busy.tolist() == [True, False, False, True]
    assert grid.num_steps == 2
    assert grid.owners.tolist() == [[0, -1, -1, 1]]
    assert grid.utilization.tolist() == [1.0] * 4
    assert grid.shares == {"free": 0, "prefill": 1, "decode": 0, "held": 0, "stalled": 0}


def test_the_waiting_of_a_dynamic_batch_is_drawn_too():
    requests = [request(0, 4, 2)]
    assert picture(requests, Dynamic(2, window_seconds=2.0)) == ["..PD", "...."]


def test_the_utilization_under_the_picture_is_that_of_the_summary():
    setup = Setup(
        (request(0, 16, 10), request(1, 16, 100), request(2, 16, 30)), Static(3), PLENTY, SECOND
    )
    grid = slot_grid(setup, 1.0)
    assert grid.utilization[9] == 1.0
    assert grid.utilization[-1] == pytest.approx(140 / 300)
    assert grid.utilization[-1] == summarize(simulate(setup)).slot_utilization
    assert grid.generated[-1] == 140
    assert grid.share(HELD) == pytest.approx(160 / 300)


@given(setups())
def test_every_run_can_be_drawn(setup):
    all_steps = list(steps(setup))
    if not all_steps:
        return
    tick = max(step.seconds for step in all_steps)  # columns are steps, at least
    columns = [step for step in lay_out(all_steps, setup.policy.max_num_seqs, tick).steps if step]
    assert columns == all_steps


@given(setups())
def test_nobody_sits_in_two_slots_and_everybody_who_runs_sits(setup):
    all_steps = list(steps(setup))
    if not all_steps:
        return
    grid = lay_out(all_steps, setup.policy.max_num_seqs, tick_seconds=1e9)
    for column, step in enumerate(all_steps):
        sitting = [who for who in grid.owners[:, column].tolist() if who >= 0]
        assert sorted(sitting) == sorted(step.running)
        assert np.all((grid.cells[:, column] == EMPTY) == (grid.owners[:, column] < 0))


@pytest.mark.parametrize("policy", [Static(3), Dynamic(3, window_seconds=0.25), Continuous(3)])
def test_on_ticks_of_a_power_of_two_every_step_falls_on_its_column(policy):
    tick = 1 / 64
    work = Workload(80, PoissonArrivals(9.0), FixedLength(16), LognormalLength(20, 80), seed=3)
    clock = SimpleClock(prefill_tokens_per_second=1e9, decode_seconds_per_step=tick)
    setup = Setup(on_ticks(work.requests(), tick), policy, PLENTY, clock)
    for column, step in enumerate(slot_grid(setup, tick).steps):
        assert step is None or step.start_seconds == column * tick
