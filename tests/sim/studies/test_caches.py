"""Hashed blocks against the radix tree: each finds more than the other on a workload of its own."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.errors import SimError
from sim.request import Request
from sim.studies import caches


@given(shared=st.integers(1, 200), block_size=st.sampled_from([1, 16, 32, 64, 128]))
def test_blocks_find_whole_blocks_and_the_tree_finds_every_token(shared, block_size):
    requests = caches.beginning_alike(shared, 20, 3)
    whole = shared // block_size * block_size
    assert caches.found_in_blocks(requests, 4_000, block_size) == (0, whole, whole)
    assert caches.found_in_tree(requests, 4_000) == (0, shared, shared)


def test_the_last_token_of_a_prompt_is_computed_even_if_all_of_it_is_known():
    requests = caches.beginning_alike(32, 0, 3)
    assert caches.found_in_tree(requests, 4_000) == (0, 31, 31)
    assert caches.found_in_blocks(requests, 4_000, 16) == (0, 16, 16)


def test_what_is_computed_twice_is_given_back():
    alike = caches.beginning_alike(30, 0, 5)
    needs_every_slot = Request(9, 9.0, 32, 1)
    assert caches.found_in_tree((*alike, needs_every_slot), 33) == (0, 29, 29, 29, 29, 0)


def test_blocks_larger_than_the_prompt_find_nothing():
    requests = caches.beginning_alike(220, 20, 2)
    assert caches.found_in_blocks(requests, 4_000, 784) == (0, 0)


def test_with_little_room_the_tree_loses_a_document_whole_and_blocks_lose_its_tail():
    requests = caches.document_between_others(600, 20, 90, 6)
    in_tree = caches.found_in_tree(requests, 660)
    in_blocks = caches.found_in_blocks(requests, 660, 16)
    assert sum(in_tree) == 0
    assert all(0 < found < 600 for found in in_blocks[2::2])
    assert caches.hit_rate(requests, in_blocks) > 0.6


def test_questions_and_what_comes_between_them_are_one_line():
    requests = caches.document_between_others(600, 20, 90, 2)
    assert [(r.id, r.arrival_seconds, r.prompt_tokens) for r in requests] == [
        *((0, 0, 620), (1, 1, 90), (2, 2, 620), (3, 3, 90))
    ]


def test_with_room_both_find_the_document_every_time():
    requests = caches.document_between_others(600, 20, 90, 6)
    assert caches.found_in_tree(requests, 900)[2::2] == (600,) * 5
    assert caches.found_in_blocks(requests, 900, 16)[2::2] == (592,) * 5


@given(slots=st.integers(130, 400), rounds=st.integers(1, 5))
def test_a_tight_cache_never_finds_more_than_there_is(slots, rounds):
    requests = caches.document_between_others(100, 10, 40, rounds)
    for found in (
        caches.found_in_tree(requests, slots),
        caches.found_in_blocks(requests, slots, 8),
    ):
        assert len(found) == len(requests)
        assert all(one <= 100 for one in found[::2])
        assert all(one == 0 for one in found[1::2])


@pytest.mark.parametrize(
    "find", [caches.found_in_tree, lambda requests, n: caches.found_in_blocks(requests, n, 4)]
)
def test_a_request_that_does_not_fit_is_an_error(find):
    with pytest.raises(SimError) as error:
        find(caches.beginning_alike(30, 20, 1), 24)
    assert error.value.code == "slots_too_few"
