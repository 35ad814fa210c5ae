"""The hash chain: equal up to the first difference, and never again after it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.errors import SimError
from sim.kv import Paged
from sim.kv.chain import Lookup, chain
from sim.request import Sequence
from sim.workload.prompts import Prompt, as_requests, num_common

TEXTS = st.lists(st.integers(0, 1), min_size=1, max_size=24).map(tuple)
SIZES = st.sampled_from([1, 2, 3, 4, 8])


def hashes(tokens, block_size=4):
    return [block.hash for block in chain(tokens, block_size)]


def lookup(asked, cached, block_size=4):
    return Lookup(chain(asked, block_size), chain(cached, block_size))


@given(TEXTS, TEXTS, SIZES)
def test_hashes_are_equal_exactly_up_to_the_first_block_that_differs(one, other, block_size):
    num_alike = num_common(one, other) // block_size
    pairs = zip(hashes(one, block_size), hashes(other, block_size), strict=False)
    full = [(mine, theirs) for mine, theirs in pairs if mine and theirs]
    assert [mine == theirs for mine, theirs in full] == [
        index < num_alike for index in range(len(full))
    ]


@given(TEXTS, TEXTS, SIZES)
def test_the_lookup_finds_what_the_paged_memory_finds(cached, asked, block_size):
    first, second = as_requests([Prompt(cached, (7,)), Prompt(asked, (8,))])
    memory = Paged(num_blocks=60, block_size=block_size).open()
    memory.allocate(Sequence(first), len(cached))
    assert lookup(asked, cached, block_size).num_found == len(memory.match_prefix(Sequence(second)))


def test_a_fully_cached_prompt_of_whole_blocks_computes_its_last_block():
    text = tuple(range(16))
    again, longer = lookup(text, text), lookup((*text, 99), text)
    assert (again.hit_tokens, again.computed_tokens) == (12, 4)
    assert again.fates == ("hit", "hit", "hit", "last")
    assert (longer.hit_tokens, longer.computed_tokens) == (16, 1)
    assert longer.fates == ("hit", "hit", "hit", "hit", "rest")


def test_one_other_token_leaves_all_later_tokens_and_no_later_hash():
    text = tuple(range(16))
    changed = (99, *text[1:])
    found = lookup((*changed, 50), text)
    assert found.fates == ("other_tokens", *["other_beginning"] * 3, "rest")
    assert found.num_found == 0
    assert [block.tokens for block in found.asked[1:4]] == [b.tokens for b in found.cached[1:]]


def test_what_is_shifted_by_a_whole_block_is_not_found_either():
    text = tuple(range(16))
    assert lookup((9, 9, 9, 9, *text, 1), text).fates == (
        "other_tokens",
        *["other_beginning"] * 4,
        "rest",
    )


def test_the_rest_of_a_prompt_has_no_hash():
    assert hashes((1, 2, 3)) == [None]
    assert [h is None for h in hashes(tuple(range(9)))] == [False, False, True]


def test_a_block_holds_at_least_one_token():
    with pytest.raises(SimError, match="block_size_below_one"):
        chain((1, 2), 0)
