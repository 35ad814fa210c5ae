"""The pool in counts against the pool in blocks, move by move."""

from hypothesis import given
from hypothesis import strategies as st

from sim.kv import Paged
from sim.request import Sequence
from tests.sim.helpers import request

MOVES = st.lists(
    st.tuples(
        st.sampled_from(["comes", "comes", "writes", "gives way", "leaves"]),
        st.integers(1, 20),  # tokens of a prompt
        st.integers(0, 20),  # of which so many are common
        st.integers(0, 5),  # whose turn it is
    ),
    min_size=1,
    max_size=40,
)


@given(MOVES, st.integers(3, 14), st.integers(1, 5), st.booleans())
def test_as_many_are_free_and_found_and_missing_as_in_the_pool_of_blocks(
    moves, num_blocks, block_size, caching
):
    settings = Paged(num_blocks, block_size, caching)
    blocks, counts = settings.open(), settings.counted()
    outside: list[Sequence] = []
    inside: list[Sequence] = []
    for number, (move, prompt, shared, turn) in enumerate(moves):
        if move == "comes":
            outside.append(Sequence(request(number, prompt, 9, shared=min(shared, prompt))))
        if move == "comes" or (move == "writes" and not inside and outside):
            who = outside.pop(turn % len(outside))
            hits, found = blocks.match_prefix(who), counts.match_prefix(who)
            assert len(hits) == len(found)
            missing = blocks.num_missing_blocks(who, who.num_tokens, hits)
            assert counts.num_missing_blocks(who, who.num_tokens, found) == missing
            fits = blocks.allocate(who, who.num_tokens, hits)
            assert counts.allocate(who, who.num_tokens, found) == fits
            who.num_computed_tokens = who.num_tokens if fits else 0
            (inside if fits else outside).append(who)
        elif inside:
            who = inside[turn % len(inside)]
            if move == "writes":
                who.append_token()
                fits = blocks.allocate(who, who.num_tokens)
                assert counts.allocate(who, who.num_tokens) == fits
                who.num_computed_tokens += fits
            if move != "writes" or not fits:
                inside.remove(who)
                blocks.free(who)
                counts.free(who)
                if move != "leaves":
                    who.preempt()
                    outside.append(who)
        assert counts.num_free_blocks == blocks.num_free_blocks
        assert counts.num_used_blocks == blocks.num_used_blocks
        assert [counts.num_held(who) for who in inside] == [
            len(blocks.block_tables[who.id]) for who in inside
        ]


def test_what_is_reserved_is_held_from_the_start_and_given_back_whole():
    counts = Paged(1 + 9, 4).counted()
    who = Sequence(request(0, 5, 9))
    assert counts.reserve(who, 14)
    who.num_computed_tokens = 5
    assert (counts.num_held(who), counts.num_free_blocks) == (4, 5)
    assert not counts.reserve(Sequence(request(1, 5, 16)), 21)
    assert counts.num_free_blocks == 5
    counts.free(who)
    assert counts.num_free_blocks == 9
