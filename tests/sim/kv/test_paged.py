"""The block pool: hits, sharing, the order of eviction."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.errors import SimError
from sim.events import BlockFull, Evicted
from sim.kv import Paged, PagedMemory, num_kv_blocks
from sim.kv.pool import Division
from sim.request import Sequence
from sim.specs import GPUS, MODELS
from tests.sim.helpers import sequence


def pool(num_usable: int, **settings) -> PagedMemory:
    return Paged(num_usable + 1, block_size=4, **settings).open()


def take(memory: PagedMemory, who: Sequence, num_tokens: int | None = None) -> list[int]:
    """Admit a sequence as the scheduler does; returns its hit blocks."""
    hits = memory.match_prefix(who)
    assert memory.allocate(who, num_tokens or who.num_tokens, hits)
    return hits


def test_block_0_is_never_given_out():
    memory = pool(3)
    take(memory, sequence(1, 12))
    assert memory.block_tables[1] == [1, 2, 3]
    assert memory.num_free_blocks == 0
    assert memory.usage == 1.0


def test_the_last_block_of_a_request_is_partly_empty():
    memory = pool(9)
    take(memory, sequence(1, 13))
    assert len(memory.block_tables[1]) == 4


def test_when_room_lacks_nothing_changes():
    memory = pool(3)
    take(memory, sequence(1, 8))
    before = (list(memory.free_queue), list(memory.ref_counts), dict(memory.block_tables))
    assert not memory.allocate(sequence(2, 8), 8)
    assert before == (list(memory.free_queue), memory.ref_counts, memory.block_tables)


@pytest.mark.parametrize(
    ("prompt", "hit_tokens"), [(16, 12), (17, 16), (4, 0), (5, 4), (15, 12), (20, 16)]
)
def test_a_cached_prompt_leaves_at_least_one_token_to_compute(prompt, hit_tokens):
    """All of it is cached; exactly k blocks recompute the whole last block."""
    memory = pool(20)
    first = sequence(1, prompt, shared=prompt)
    take(memory, first)
    memory.free(first)
    hits = memory.match_prefix(sequence(2, prompt, shared=prompt))
    assert 4 * len(hits) == hit_tokens


def test_a_match_ends_at_the_first_miss():
    memory = pool(20)
    take(memory, sequence(1, 24, shared=10))
    assert memory.match_prefix(sequence(2, 24, shared=10)) == [1, 2]


def test_a_shared_block_counts_its_owners():
    memory = pool(20)
    one, other = sequence(1, 9, shared=8), sequence(2, 9, shared=8)
    take(memory, one)
    take(memory, other)
    assert memory.block_tables == {1: [1, 2, 3], 2: [1, 2, 4]}
    assert [memory.ref_counts[block] for block in (1, 2, 3, 4)] == [2, 2, 1, 1]
    memory.free(one)
    assert memory.num_used_blocks == 3  # 1 and 2 are still held by the other
    assert list(memory.free_queue)[-1] == 3


def test_the_tail_is_freed_first_and_so_evicted_first():
    memory = pool(5)
    one = sequence(1, 12)
    take(memory, one)
    memory.free(one)
    assert list(memory.free_queue) == [4, 5, 3, 2, 1]


def test_eviction_takes_the_head_of_the_free_queue_and_forgets_its_content():
    memory = pool(3)
    one = sequence(1, 12, shared=12)
    take(memory, one)
    memory.free(one)
    memory.events.clear()
    take(memory, sequence(2, 4))
    assert memory.block_tables[2] == [3]  # the tail of the first request
    assert [event for event in memory.events if isinstance(event, Evicted)] == [Evicted(3)]
    assert memory.match_prefix(sequence(3, 13, shared=13)) == [1, 2]


def test_a_hit_makes_a_block_young_again():
    memory = pool(4)
    old, young = sequence(1, 4, shared=4), sequence(2, 4)
    for who in (old, young):
        take(memory, who)
        memory.free(who)
    assert list(memory.free_queue) == [3, 4, 1, 2]
    again = sequence(3, 5, shared=4)
    assert take(memory, again) == [1]
    memory.free(again)
    assert list(memory.free_queue) == [4, 2, 3, 1]


def test_a_hit_that_lies_in_the_free_queue_counts_as_needed():
    """Two blocks are free and both are hits: a third block is not there."""
    memory = pool(3)
    one = sequence(1, 8, shared=8)
    take(memory, one)
    memory.free(one)
    take(memory, sequence(2, 1))  # takes the block that was never used
    asking = sequence(3, 9, shared=8)
    hits = memory.match_prefix(asking)
    assert hits == [1, 2]
    assert memory.num_missing_blocks(asking, 9, hits) == 3 > memory.num_free_blocks
    assert not memory.allocate(asking, 9, hits)


def test_a_hit_that_somebody_holds_needs_nothing():
    memory = pool(3)
    take(memory, sequence(1, 8, shared=8))
    asking = sequence(2, 9, shared=8)
    assert memory.num_missing_blocks(asking, 9, memory.match_prefix(asking)) == 1
    take(memory, asking)
    assert memory.num_free_blocks == 0


def test_a_block_can_be_found_as_soon_as_it_is_scheduled():
    memory = pool(20)
    take(memory, sequence(1, 16, shared=16), num_tokens=10)
    assert memory.match_prefix(sequence(2, 16, shared=16)) == [1, 2]  # 8 of the 10 tokens


def test_equal_blocks_computed_apart_are_both_kept_and_the_first_is_found():
    memory = pool(20)
    one, other = sequence(1, 8, shared=8), sequence(2, 8, shared=8)
    assert take(memory, one) == []
    assert take(memory, other) == [1]  # the last block is computed again
    assert memory.block_tables[2] == [1, 3]
    assert memory.match_prefix(sequence(3, 9, shared=8)) == [1, 2]


def test_when_the_first_of_two_equal_blocks_is_evicted_the_second_is_found():
    memory = pool(3)
    one, other = sequence(1, 8, shared=8), sequence(2, 8, shared=8)
    take(memory, one)
    take(memory, other)
    memory.free(one)  # block 2 goes, 1 is shared
    take(memory, sequence(4, 4))
    assert memory.block_tables[4] == [2]
    assert memory.match_prefix(sequence(3, 9, shared=8)) == [1, 3]


def test_a_preempted_request_finds_its_own_blocks_again_generated_ones_too():
    memory = pool(6)
    who = sequence(1, 6, output=9)
    take(memory, who)
    who.num_computed_tokens = 6
    for _ in range(3):
        who.append_token()
    assert memory.allocate(who, 9)
    table = list(memory.block_tables[1])
    who.preempt()
    memory.free(who)
    assert memory.match_prefix(who) == table[:2]


def test_a_pool_beside_the_weights_is_as_large_as_all_its_settings_say():
    model, gpu = MODELS["Llama-3.1-70B"], GPUS["H100 SXM"]
    pool = Paged.beside(model, gpu, 32, False, tensor_parallel=4, memory_utilization=0.8)
    blocks = num_kv_blocks(model, gpu, block_size=32, tensor_parallel=4, memory_utilization=0.8)
    assert pool == Paged(blocks, block_size=32, prefix_caching=False)
    usual = num_kv_blocks(MODELS["Llama-3.1-8B"], gpu, block_size=16, memory_utilization=0.9)
    assert Paged.beside(MODELS["Llama-3.1-8B"], gpu) == Paged(usual, 16, prefix_caching=True)


def test_two_blocks_are_a_pool_and_one_is_none():
    model, gpu = MODELS["Llama-3.2-1B"], GPUS["L4"]

    def beside(num_blocks: float) -> int:
        taken = Division(model, gpu).overhead_bytes + model.memory_bytes
        pool = num_blocks * 16 * model.kv_bytes_per_token
        small = replace(gpu, memory_bytes=taken + pool)
        return num_kv_blocks(model, small, memory_utilization=1.0)

    assert beside(2.5) == 2
    with pytest.raises(SimError, match="model_does_not_fit"):
        beside(1.5)


def test_what_is_dropped_is_not_found_and_is_taken_first():
    memory = pool(6)
    who = sequence(1, 6, output=9)
    take(memory, who)
    for _ in range(8):
        who.append_token()
    assert memory.allocate(who, 14)
    memory.drop(who, 6)  # all but the block that the prompt fills
    assert memory.block_tables[1] == [1]
    assert list(memory.free_queue)[:3] == [4, 3, 2]
    memory.free(who)
    assert memory.match_prefix(who) == [1]
    take(memory, sequence(2, 20))  # five other blocks
    assert memory.match_prefix(who) == [1]


def test_what_was_dropped_is_found_once_it_is_computed_again():
    memory = pool(6)
    who = sequence(1, 12, shared=12)
    take(memory, who)
    memory.drop(who, 4)
    assert memory.match_prefix(sequence(2, 13, shared=12)) == [1]
    assert memory.allocate(who, 12)
    assert memory.match_prefix(sequence(2, 13, shared=12)) == memory.block_tables[1]


def test_what_somebody_else_uses_is_not_dropped():
    memory = pool(6)
    one, other = (sequence(i, 12, shared=12) for i in (1, 2))
    take(memory, one)
    take(memory, other)
    memory.drop(one, 0)
    assert memory.match_prefix(sequence(3, 12, shared=12)) == [1, 2]
    assert memory.num_used_blocks == 3


def test_without_prefix_caching_nothing_is_found():
    memory = pool(9, prefix_caching=False)
    one = sequence(1, 8, shared=8)
    take(memory, one)
    memory.free(one)
    assert memory.match_prefix(sequence(2, 9, shared=8)) == []
    take(memory, sequence(3, 36))
    assert not [event for event in memory.events if isinstance(event, Evicted)]


def test_a_full_block_is_told_once():
    memory = pool(9)
    who = sequence(1, 6, output=9)
    take(memory, who)
    told = [event for event in memory.events if isinstance(event, BlockFull)]
    assert told == [BlockFull(1, 1)]
    who.append_token()
    who.append_token()
    memory.events.clear()
    memory.allocate(who, 7)
    assert memory.events == []
    memory.allocate(who, 8)
    assert memory.events == [BlockFull(1, 2)]


@pytest.mark.parametrize(
    ("settings", "code"), [((1, 4), "too_few_blocks"), ((9, 0), "block_size_below_one")]
)
def test_an_impossible_pool_is_an_error(settings, code):
    with pytest.raises(SimError, match=code):
        Paged(*settings)


class Plain:
    """The same rules in the slowest and plainest way: lists, and no hash but the tokens."""

    def __init__(self, num_blocks: int, block_size: int):
        self.block_size, self.free = block_size, list(range(1, num_blocks))
        self.tables: dict[int, list[int]] = {}
        self.texts: list[tuple[int, tuple]] = []  # (block, everything up to its end), oldest first

    def text(self, who: Sequence, index: int) -> tuple:
        return tuple(who.request.block_content(i, self.block_size) for i in range(index + 1))

    def holders(self, block: int) -> int:
        return sum(block in table for table in self.tables.values())

    def hits(self, who: Sequence) -> list[int]:
        found: list[int] = []
        for index in range((who.num_tokens - 1) // self.block_size):
            blocks = [block for block, text in self.texts if text == self.text(who, index)]
            if not blocks:
                break
            found.append(blocks[0])
        return found

    def admit(self, who: Sequence) -> bool:
        hits = self.hits(who)
        fresh = -(-who.num_tokens // self.block_size) - len(hits)
        if fresh + sum(block in self.free for block in hits) > len(self.free):
            return False
        self.free = [block for block in self.free if block not in hits]
        new, self.free = self.free[:fresh], self.free[fresh:]
        self.texts = [(block, text) for block, text in self.texts if block not in new]
        self.tables[who.id] = hits + new
        for index in range(len(hits), who.num_tokens // self.block_size):
            self.texts.append((self.tables[who.id][index], self.text(who, index)))
        return True

    def leave(self, who: Sequence) -> None:
        for block in reversed(self.tables.pop(who.id)):
            if not self.holders(block):
                self.free.append(block)


MOVES = st.lists(
    st.tuples(st.booleans(), st.integers(1, 24), st.integers(0, 24), st.integers(0, 5)),
    min_size=1,
    max_size=40,
)


@given(MOVES, st.integers(2, 14), st.integers(1, 5))
def test_the_pool_agrees_with_the_plainest_one_move_by_move(moves, num_blocks, block_size):
    memory, plain = Paged(num_blocks, block_size).open(), Plain(num_blocks, block_size)
    inside: list[Sequence] = []
    for number, (enter, prompt, shared, which) in enumerate(moves):
        if enter or not inside:
            who = sequence(number, prompt, shared=min(shared, prompt))
            hits = memory.match_prefix(who)
            assert hits == plain.hits(who)
            admitted = memory.allocate(who, who.num_tokens, hits)
            assert admitted == plain.admit(who)
            if admitted:
                inside.append(who)
        else:
            who = inside.pop(which % len(inside))
            memory.free(who)
            plain.leave(who)
        assert list(memory.free_queue) == plain.free
        assert memory.block_tables == plain.tables
        for block in range(1, num_blocks):
            assert memory.ref_counts[block] == plain.holders(block)
