"""Requests come and leave: whose blocks are counted, queued and evicted."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.errors import SimError
from sim.request import Request, Segment
from sim.views.visits import Kind, num_found, walk

S = (Segment("S", 8),)
A, B, LONG = Request(0, 0.0, 12, 2, S), Request(1, 0.0, 11, 2, S), Request(2, 0.0, 24, 1)
KINDS: tuple[Kind, ...] = ("comes", "answers", "leaves")
ALONE = [(kind, 0) for kind in KINDS]


def after(*order, num_blocks=8):
    return walk((A, B, LONG), order, num_blocks, 4)[-1]


def users(move):
    return {block.id: block.users for block in move.blocks if block.users}


def test_a_shared_block_counts_everybody_who_uses_it():
    assert users(after(("comes", 0), ("comes", 1))) == {1: (0, 1), 2: (0, 1), 3: (0,), 4: (1,)}
    assert users(after(("comes", 0), ("comes", 1), ("leaves", 0))) == {1: (1,), 2: (1,), 4: (1,)}


def test_who_comes_second_finds_the_beginning_and_takes_the_rest_from_the_head():
    move = after(("comes", 0), ("comes", 1))
    assert (move.found, move.taken, move.queue) == ((1, 2), (4,), (5, 6, 7, 8))


def test_blocks_are_given_back_last_one_first_and_keep_what_lies_in_them():
    move = after(("comes", 0), ("leaves", 0))
    assert move.queue == (4, 5, 6, 7, 8, 3, 2, 1)
    assert [block.content for block in move.blocks[:3]] == [("S", 0), ("S", 1), (0, 2)]
    assert all(block.is_findable for block in move.blocks[:3])


def test_an_answer_that_fills_its_block_takes_another():
    assert after(("comes", 0), ("answers", 0)).taken == (4,)
    assert after(("comes", 1), ("answers", 1)).taken == ()  # 11 + 1 tokens are computed


def test_the_tail_is_evicted_before_its_beginning():
    order: list[tuple[Kind, int]] = [*ALONE, ("comes", 2)]
    assert after(*order, num_blocks=7).evicted == ((0, 2), ("S", 1))
    back = walk((A, B, LONG), [*order, ("leaves", 2), ("comes", 1)], 7, 4)
    assert back[-2].evicted == ()  # told once
    assert (num_found(back, 0), num_found(back, 1)) == (0, 1)


def test_whoever_does_not_fit_is_an_error_that_names_them():
    with pytest.raises(SimError, match="pool_too_small") as error:
        after(("comes", 0), ("comes", 2))
    assert error.value.values["request_id"] == 2


@given(st.integers(8, 14), st.permutations([0, 1, 2]))
def test_a_block_is_in_the_queue_exactly_while_nobody_uses_it(num_blocks, who):
    order = [(kind, one) for one in who for kind in KINDS]
    before = tuple(range(1, num_blocks + 1))
    for move in walk((A, B, LONG), order, num_blocks, 4):
        assert sorted(move.queue) == sorted(block.id for block in move.blocks if not block.users)
        taken_from = [block for block in before if block not in move.found]
        assert list(move.taken) == taken_from[: len(move.taken)]
        before = move.queue
