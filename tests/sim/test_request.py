"""A request, its contents by block, and how far it has come."""

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.errors import SimError
from sim.request import Request, Segment, Sequence


@pytest.mark.parametrize(
    ("arguments", "code", "value"),
    [
        ((7, 0.0, 0, 1), "prompt_tokens_below_one", 0),
        ((7, 0.0, 1, 0), "output_tokens_below_one", 0),
        ((7, -0.5, 1, 1), "arrival_negative", -0.5),
        ((7, math.inf, 1, 1), "arrival_negative", math.inf),
        ((7, 0.0, 3, 1, (Segment("a", 2), Segment("b", 3))), "prefix_longer_than_request", 5),
    ],
)
def test_an_impossible_request_is_an_error_that_names_it(arguments, code, value):
    with pytest.raises(SimError) as error:
        Request(*arguments)
    assert error.value.code == code
    assert error.value.values == {"request_id": 7, "value": value}


def test_an_arrival_that_is_not_a_number_is_an_error():
    with pytest.raises(SimError, match="arrival_negative"):
        Request(0, math.nan, 1, 1)


def test_a_segment_has_at_least_one_token():
    with pytest.raises(SimError, match="segment_empty"):
        Segment("a", 0)


def test_blocks_inside_a_common_prefix_are_equal_and_later_ones_are_not():
    prefix = (Segment("system prompt", 10),)
    one, other = Request(1, 0.0, 20, 5, prefix), Request(2, 0.0, 20, 5, prefix)
    same = [one.block_content(i, 4) == other.block_content(i, 4) for i in range(6)]
    assert same == [True, True, False, False, False, False]  # block 2 holds tokens 8 to 11


def test_two_segments_may_meet_inside_a_block():
    ab = (Segment("a", 3), Segment("b", 5))
    ac = (Segment("a", 3), Segment("c", 5))
    one, same, other = (Request(i, 0.0, 8, 1, prefix) for i, prefix in enumerate((ab, ab, ac)))
    assert one.block_content(0, 4) == same.block_content(0, 4) != other.block_content(0, 4)


def test_a_block_is_made_of_its_pieces_of_each_text_and_then_of_its_own_tokens():
    """Three tokens of a, five of b, and the request's own from the ninth on."""
    who = Request(7, 0.0, 10, 4, (Segment("a", 3), Segment("b", 5)))
    assert who.block_content(0, 4) == (("a", 0, 3), ("b", 0, 1))
    assert who.block_content(1, 4) == (("b", 1, 5),)
    assert who.block_content(2, 4) == ((7, 8, 12),)
    assert who.block_content(1, 6) == (("b", 3, 5), (7, 8, 12))


def test_a_prefix_may_be_all_of_a_request_and_its_answer():
    assert Request(0, 0.0, 3, 2, (Segment("chat", 5),)).named_tokens == 5


def test_without_a_prefix_nothing_is_common():
    one, other = Request(1, 0.0, 8, 1), Request(2, 0.0, 8, 1)
    assert one.block_content(0, 4) != other.block_content(0, 4)


@given(
    shared=st.integers(1, 40),
    own=st.integers(0, 40),
    block_size=st.integers(1, 9),
    cuts=st.lists(st.integers(1, 39), max_size=3),
)
def test_two_requests_share_exactly_the_full_blocks_of_their_common_prefix(
    shared, own, block_size, cuts
):
    edges = [0, *sorted({cut for cut in cuts if cut < shared}), shared]
    prefix = tuple(Segment(f"part-{start}", end - start) for start, end in pairwise(edges))
    one, other = (Request(i, 0.0, shared + own, 1, prefix) for i in (1, 2))
    for index in range((shared + own) // block_size):
        equal = one.block_content(index, block_size) == other.block_content(index, block_size)
        assert equal == ((index + 1) * block_size <= shared)


def test_a_sequence_is_done_when_prompt_and_answer_are_there():
    sequence = Sequence(Request(0, 0.0, 3, 2))
    assert not sequence.is_finished
    assert sequence.num_missing_tokens == 3
    sequence.num_computed_tokens = 3
    sequence.append_token()
    assert sequence.is_decoding
    assert not sequence.is_finished
    sequence.num_computed_tokens = 4
    sequence.append_token()
    assert sequence.is_finished


def test_the_model_length_cuts_an_answer_short():
    sequence = Sequence(Request(0, 0.0, 3, 100), max_model_len=5)
    for _ in range(2):
        assert not sequence.is_finished
        sequence.append_token()
    assert sequence.is_finished


def test_a_prompt_as_long_as_the_model_has_still_said_nothing():
    assert not Sequence(Request(0, 0.0, 5, 3), max_model_len=5).is_finished


def test_preemption_forgets_what_was_computed_and_keeps_what_was_said():
    sequence = Sequence(Request(0, 0.0, 3, 9))
    sequence.num_computed_tokens = 3
    sequence.append_token()
    assert sequence.preempt() == 3
    assert (sequence.num_computed_tokens, sequence.num_tokens) == (0, 4)
    assert (sequence.num_output_tokens, sequence.num_preemptions) == (1, 1)
    assert not sequence.is_decoding  # prompt and answer so far are computed again
