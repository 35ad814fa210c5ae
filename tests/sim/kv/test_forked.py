"""Copy-on-write: forks share blocks until they differ, and nothing is ever written twice."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.errors import SimError
from sim.events import CopiedOnWrite, Forked
from sim.kv.forked import ForkedMemory


def prompt(num_tokens: int, num_blocks: int = 20) -> ForkedMemory:
    memory = ForkedMemory(num_blocks, block_size=4)
    memory.start(0, num_tokens)
    return memory


def test_a_fork_points_at_the_same_blocks_and_copies_nothing():
    memory = prompt(10)
    memory.fork(0, 1)
    assert memory.block_tables == {0: [0, 1, 2], 1: [0, 1, 2]}
    assert memory.ref_counts[:4] == [2, 2, 2, 0]
    assert memory.num_used_blocks == 3
    assert memory.events == [Forked(0, 1)]


def test_the_first_to_write_gets_a_copy_of_the_block_that_is_not_full():
    memory = prompt(10)
    memory.fork(0, 1)
    memory.append(0)
    assert memory.block_tables == {0: [0, 1, 3], 1: [0, 1, 2]}
    assert memory.events[1:] == [CopiedOnWrite(0, shared_block=2, own_block=3, num_tokens=2)]
    assert memory.ref_counts[:4] == [2, 2, 1, 1]


def test_the_last_to_write_keeps_the_block_and_copies_nothing():
    memory = prompt(10)
    memory.fork(0, 1)
    memory.append(0)
    memory.events.clear()
    memory.append(1)
    assert memory.block_tables[1] == [0, 1, 2]
    assert memory.events == []


def test_a_full_block_is_never_copied():
    memory = prompt(8)
    for child in (1, 2):
        memory.fork(0, child)
    for sequence in (0, 1, 2):
        memory.append(sequence)
    assert not [event for event in memory.events if isinstance(event, CopiedOnWrite)]
    assert memory.block_tables == {0: [0, 1, 2], 1: [0, 1, 3], 2: [0, 1, 4]}


def test_what_is_written_fills_the_block_before_the_next_one_is_taken():
    memory = prompt(6)
    for _ in range(3):
        memory.append(0)
    assert memory.num_tokens[0] == 9
    assert memory.block_tables[0] == [0, 1, 2]  # the last of them holds one token


def test_a_block_is_free_when_nobody_points_at_it_any_more():
    memory = prompt(8, num_blocks=4)
    memory.fork(0, 1)
    memory.append(1)
    memory.free(0)
    assert list(memory.free_blocks) == [3]
    memory.free(1)
    assert sorted(memory.free_blocks) == [0, 1, 2, 3]
    assert memory.num_used_blocks == 0


def test_an_empty_pool_is_told():
    memory = prompt(8, num_blocks=2)
    with pytest.raises(SimError, match="no_free_block"):
        memory.append(0)


@given(st.lists(st.tuples(st.sampled_from(["fork", "append", "free"]), st.integers(0, 9))))
def test_every_block_is_counted_as_often_as_it_is_listed_and_writers_own_theirs(moves):
    memory = prompt(6, num_blocks=400)
    born = 0
    for kind, which in moves:
        alive = sorted(memory.block_tables)
        if not alive:
            break
        who = alive[which % len(alive)]
        if kind == "fork":
            born += 1
            memory.fork(who, born)
        elif kind == "append":
            memory.append(who)
            assert memory.ref_counts[memory.block_tables[who][-1]] == 1  # nobody else sees it
        else:
            memory.free(who)
        listed = [block for table in memory.block_tables.values() for block in table]
        assert [listed.count(block) for block in range(400)] == memory.ref_counts
        assert not set(listed) & set(memory.free_blocks)
        for sequence, table in memory.block_tables.items():
            assert len(table) == -(-memory.num_tokens[sequence] // 4)
