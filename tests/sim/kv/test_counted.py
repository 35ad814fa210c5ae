"""The pool in counts against the pool in blocks, move by move."""

from hypothesis import given
from hypothesis import strategies as st

from sim.kv import Paged
from sim.request import Sequence
from tests.sim.helpers import request

LENGTHS = st.sampled_from([7, 8, 13])  # around the ends of blocks
MOVES = st.lists(
    st.tuples(
        st.sampled_from(["comes", "comes", "computes", "gives way", "leaves"]),
        LENGTHS,  # tokens of a prompt
        LENGTHS,  # of which so many are common
        st.integers(0, 5),  # whose turn it is
    ),
    min_size=12,
    max_size=40,
)


@given(MOVES, st.integers(3, 24), st.sampled_from([2, 4]), st.booleans())
def test_as_many_are_free_and_found_and_missing_as_in_the_pool_of_blocks(
    moves, num_blocks, block_size, caching
):
    settings = Paged(num_blocks, block_size, caching)
    blocks, counts = settings.open(), settings.counted()
    outside: list[Sequence] = []
    inside: list[Sequence] = []

    def compute(who: Sequence, hits: list[int], found: list[int]) -> bool:
        """Eight tokens more, or up to the next one of the answer."""
        upto = min(who.num_tokens, who.num_computed_tokens + len(hits) * block_size + 8)
        missing = blocks.num_missing_blocks(who, upto, hits)
        assert counts.num_missing_blocks(who, upto, found) == missing
        fits = blocks.allocate(who, upto, hits)
        assert counts.allocate(who, upto, found) == fits
        if fits:
            who.num_computed_tokens = upto
            if upto == who.num_tokens:
                who.append_token()
        return fits

    for number, (move, prompt, shared, turn) in enumerate(moves):
        if move == "comes":
            outside.append(Sequence(request(number, prompt, 9, shared=min(shared, prompt))))
            who = outside.pop(turn % len(outside))
            hits, found = blocks.match_prefix(who), counts.match_prefix(who)
            assert len(hits) == len(found)
            (inside if compute(who, hits, found) else outside).append(who)
        elif inside:
            who = inside[turn % len(inside)]
            if who.is_finished or move != "computes" or not compute(who, [], []):
                inside.remove(who)
                blocks.free(who)
                counts.free(who)
                if move != "leaves" and not who.is_finished:
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
