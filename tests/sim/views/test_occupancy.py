"""What every slot holds, held against the memories themselves."""

import numpy as np
import pytest

from sim.engine import Setup, steps
from sim.events import Evicted
from sim.kv import Contiguous, Paged
from sim.kv.contiguous import ContiguousMemory
from sim.scheduler import Chunked
from sim.views.occupancy import EXTERNAL, FILLED, FINDABLE, FREE, INTERNAL, LATER, NOBODY, occupancy
from tests.sim.helpers import SECOND, Opened, request

REQUESTS = (
    request(0, 8, 24),
    request(7, 20, 4, arrival=1),
    request(1, 2, 10, arrival=2),
    request(2, 16, 30, arrival=3),
    request(3, 12, 28, arrival=6),
)
MEMORIES = [
    Contiguous(100, "exact", "first", 64),
    Contiguous(130, "power_of_two", "best", 64),
    Contiguous(130, "model_limit", "first", 64),
    Contiguous(90, "exact", "first", 64, compacts=True),
    Paged.for_tokens(136, 8, prefix_caching=False),
    Paged.for_tokens(72, 4),
]


def seen(memory, requests=REQUESTS):
    setup = Setup(requests, Chunked(16), memory, SECOND)
    all_steps = list(steps(setup))
    return all_steps, occupancy(setup, all_steps)


@pytest.mark.parametrize("memory", MEMORIES, ids=str)
def test_every_slot_of_a_table_is_its_owners_and_no_other_is_taken(memory):
    all_steps, found = seen(memory)
    first = 1 if isinstance(memory, Paged) else 0
    for row, step in enumerate(all_steps):
        taken = np.flatnonzero(found.states[row] >= FILLED)
        wanted: dict[int, int] = {}
        for who, table in step.block_tables.items():
            assert found.tables[row][who] == tuple(block - first for block in table)
            for block in table:
                start = (block - first) * found.block_size
                wanted |= dict.fromkeys(range(start, start + found.block_size), who)
        assert {slot: found.owners[row, slot] for slot in taken} == wanted
        assert found.num_free[row] == step.num_free_blocks * found.block_size


@pytest.mark.parametrize("memory", MEMORIES, ids=str)
def test_a_request_fills_as_many_slots_as_it_has_tokens(memory):
    all_steps, found = seen(memory)
    for row, step in enumerate(all_steps):
        for work in step.work:
            own = found.states[row][found.owners[row] == work.request_id]
            assert (own == FILLED).sum() == work.context


@pytest.mark.parametrize("memory", MEMORIES, ids=str)
def test_whatever_is_not_owned_is_nobodys(memory):
    _, found = seen(memory)
    owned = np.isin(found.states, (FILLED, LATER, INTERNAL, FINDABLE))
    assert ((found.owners != NOBODY) == owned).all()


def test_room_that_no_token_will_ever_use_is_internal():
    _, found = seen(Contiguous(130, "model_limit", "first", 64), (request(0, 8, 24),))
    assert (found.count(INTERNAL) == 64 - 32).all()
    _, found = seen(Contiguous(130, "exact", "first", 64), (request(0, 8, 24),))
    assert (found.count(INTERNAL) == 0).all()


def test_free_slots_are_external_waste_while_the_head_of_the_queue_needs_more_than_any_hole():
    all_steps, found = seen(Contiguous(100, "exact", "first", 64))
    memory = ContiguousMemory(Contiguous(100))
    assert any(found.count(EXTERNAL) > 0)
    for row, step in enumerate(all_steps):
        if not step.waiting:
            assert found.count(EXTERNAL)[row] == 0
            continue
        memory.block_tables = {
            who: range(table[0], table[-1] + 1) for who, table in step.block_tables.items()
        }
        needed = found.waiting[row][0][1]
        assert found.count(EXTERNAL)[row] == memory.external_waste(needed)
        assert found.largest_hole[row] == max(map(len, memory.holes()), default=0)


def test_a_paged_pool_never_has_external_waste():
    for memory in MEMORIES[4:]:
        _, found = seen(memory)
        assert (found.count(EXTERNAL) == 0).all()


def test_a_paged_request_wastes_less_than_a_block():
    _, found = seen(MEMORIES[4])
    for row, table in enumerate(found.tables):
        for who in table:
            own = found.states[row][found.owners[row] == who]
            assert ((own == LATER) | (own == INTERNAL)).sum() < found.block_size


@pytest.mark.parametrize("num_blocks", [15, 19, 21])
def test_the_free_blocks_that_can_be_found_are_those_that_the_pool_would_find(num_blocks):
    setup = Setup(REQUESTS, Chunked(16), Opened(num_blocks, 4), SECOND)
    all_steps, known = [], []
    for step in steps(setup):
        pool = Opened.last
        all_steps.append(step)
        known.append({block - 1 for block in pool.free_queue if block in pool._hash_of_block})
    found = occupancy(setup, all_steps)
    assert any(isinstance(e, Evicted) for step in all_steps for e in step.events)
    assert any(known)
    for states, blocks in zip(found.states, known, strict=True):
        assert set((np.flatnonzero(states == FINDABLE) // 4).tolist()) == blocks


def test_a_free_block_that_can_be_found_is_room_like_any_other():
    """Five blocks: the first request leaves 1 and 2 full and 3 begun, the second takes 4."""
    _, found = seen(Paged.for_tokens(20, 4), (request(0, 8, 2), request(1, 3, 2, arrival=5)))
    assert found.count(FINDABLE).tolist() == [0, 0, 8, 8]
    assert found.largest_hole.tolist() == [12, 8, 12, 12]
    assert found.num_free.tolist() == [12, 8, 16, 16]


def test_the_filled_share_is_over_all_slots_that_were_taken():
    """Of the eight slots that are taken in each of two steps, five and then six hold a token."""
    _, found = seen(Paged.for_tokens(40, 8), (request(0, 5, 2),))
    assert found.filled_share == 11 / 16


def test_whoever_gave_way_in_the_middle_of_a_prompt_asks_for_all_of_it():
    """Beside a growing answer there is no room for a prompt of 40, computed seven by seven."""
    requests = (request(0, 8, 30), request(1, 40, 2))
    setup = Setup(requests, Chunked(16, 8), Paged.for_tokens(48, 4), SECOND)
    all_steps = list(steps(setup))
    assert any(step.waiting for step in all_steps[2:])
    found = occupancy(setup, all_steps)
    assert {asked for line in found.waiting for asked in line} == {(1, 40)}


def test_without_a_cache_nothing_that_is_free_can_be_found():
    _, found = seen(MEMORIES[4])
    assert (found.count(FINDABLE) == 0).all()
    assert set(np.unique(found.states[-1])) <= {FREE, FILLED, LATER, INTERNAL}


def test_whoever_waits_asks_for_a_whole_life_or_for_the_tokens_so_far():
    _, found = seen(Contiguous(100, "exact", "first", 64))
    assert {asked for line in found.waiting for asked in line} == {(2, 46), (3, 40)}
    all_steps, found = seen(MEMORIES[5])
    written = {each.id: each.prompt_tokens for each in REQUESTS}
    for step, line in zip(all_steps, found.waiting, strict=True):
        for who, slots in line:
            assert slots == -(-written[who] // 4) * 4
        for work in step.work:
            if work.sampled:
                written[work.request_id] = work.context + 1
