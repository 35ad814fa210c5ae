"""Shares of memory over time, held against the same counted step by step."""

import pytest

from sim.engine import Setup, simulate, steps
from sim.events import Admitted, Compacted, Preempted
from sim.kv import Contiguous, Paged
from sim.scheduler import Chunked
from sim.views.occupancy import FILLED, INTERNAL, LATER, occupancy
from sim.views.waste import (
    copied_tokens,
    expected_slots,
    losses,
    shared_tokens,
    shares,
    slots_per_request,
    table_entries,
)
from sim.workload import BurstArrivals, LognormalLength, Workload
from tests.sim.helpers import SECOND, request

CHATS = Workload(40, BurstArrivals(40), LognormalLength(12, 50, 60), LognormalLength(16, 70, 60))
MEMORIES = [
    Contiguous(500, "model_limit", max_model_len=128),
    Contiguous(500, "power_of_two", max_model_len=128),
    Contiguous(500, "exact", "best", max_model_len=128),
    *(Paged.for_tokens(500, size, prefix_caching=False) for size in (1, 4, 32)),
]


def setup_on(memory):
    return Setup(CHATS.requests(), Chunked(256, 10_000), memory, SECOND)


@pytest.mark.parametrize("memory", MEMORIES, ids=str)
def test_shares_are_what_counting_every_slot_at_every_step_gives(memory):
    setup = setup_on(memory)
    found, all_steps = shares(simulate(setup)), list(steps(setup))
    seen = occupancy(setup, all_steps)
    until = max(
        row
        for row, step in enumerate(all_steps)
        if any(isinstance(event, Admitted) for event in step.events)
    )  # steps of a second each, up to the one that begins with the last admission
    slots = seen.states.shape[1]
    for part, state in ((found.filled, FILLED), (found.later, LATER), (found.internal, INTERNAL)):
        assert part == pytest.approx(seen.count(state)[:until].mean() / slots)
    assert found.external == pytest.approx(seen.num_free[:until].mean() / slots)
    running = [len(table) for table in seen.tables[:until]]
    assert found.num_running == pytest.approx(sum(running) / until)


def test_the_paged_runs_above_are_preempted():
    assert all(simulate(setup_on(memory)).num_preemptions for memory in MEMORIES[3:5])


def test_the_four_shares_are_all_of_memory():
    for memory in MEMORIES:
        found = shares(simulate(setup_on(memory)))
        whole = found.filled + found.later + found.internal + found.external
        assert whole == pytest.approx(1)
        assert min(found.filled, found.later, found.internal, found.external) >= -1e-12


def test_when_nobody_ever_waits_the_whole_run_counts():
    run = simulate(Setup((request(0, 4, 4),), Chunked(4), Paged.for_tokens(80, 8), SECOND))
    found = shares(run)
    assert found.num_running == pytest.approx(1)
    assert found.filled == pytest.approx((4 + 5 + 6 + 7) / 4 / 80)


def test_exact_blocks_of_one_waste_nothing():
    found = shares(simulate(setup_on(MEMORIES[3])))
    assert (found.later, found.internal) == pytest.approx((0, 0), abs=1e-12)
    assert slots_per_request(found, 500) == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("size", [4, 32])
def test_about_half_a_block_of_each_request_is_empty(size):
    found = shares(simulate(setup_on(Paged.for_tokens(500, size, prefix_caching=False))))
    assert slots_per_request(found, 500) == pytest.approx(expected_slots(size), rel=0.2)


def test_tables_and_prefixes_come_in_whole_blocks():
    assert [table_entries(2_048, size) for size in (1, 16, 256)] == [2_048, 128, 8]
    assert table_entries(17, 16) == 2
    assert [shared_tokens(100, size) for size in (1, 16, 64, 128)] == [100, 96, 64, 0]


def test_losses_are_the_sums_of_what_the_steps_tell():
    requests = (request(0, 10, 20), request(1, 6, 18, 1), request(2, 14, 12, 2))
    all_steps = list(steps(Setup(requests, Chunked(8), Paged(13, 4), SECOND)))
    found = losses(all_steps)
    events = [event for step in all_steps for event in step.events]
    lost = [event.lost_tokens for event in events if isinstance(event, Preempted)]
    back = [event.hit_tokens for event in events if isinstance(event, Admitted) and event.resumed]
    assert (found.num_preemptions, found.lost_tokens) == (len(lost), sum(lost)) == (2, 38)
    assert found.found_tokens == sum(back) == 16
    assert found.again_tokens == 22


def test_compaction_is_told_by_its_steps():
    short, long = (3, 1), (2, 6)  # two short ones leave holes of 4 between the long ones
    requests = (
        *(request(who, *size) for who, size in enumerate((short, long, short, long))),
        request(4, 2, 5, arrival=2),
    )
    memory = Contiguous(24, "exact", compacts=True, max_model_len=24)
    all_steps = list(steps(Setup(requests, Chunked(8), memory, SECOND)))
    told = [e for step in all_steps for e in step.events if isinstance(e, Compacted)]
    assert len(told) == 1
    assert copied_tokens(all_steps) == told[0].num_tokens == 2 * (2 + 2)
    plain = Contiguous(24, "exact", max_model_len=24)
    assert copied_tokens(steps(Setup(requests, Chunked(8), plain, SECOND))) == 0
