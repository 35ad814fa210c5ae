"""Real prompts as requests: exactly what begins alike is shared, answers included."""

from hypothesis import given
from hypothesis import strategies as st

from sim.kv import Paged
from sim.request import Sequence
from sim.workload.prompts import Prompt, as_requests, num_common

TEXTS = st.lists(st.integers(0, 1), min_size=1, max_size=12).map(tuple)
PROMPTS = st.lists(st.builds(Prompt, TEXTS, TEXTS), min_size=1, max_size=6)


@given(PROMPTS, st.sampled_from([1, 2, 3, 4]))
def test_blocks_are_equal_exactly_where_everything_up_to_their_end_is(prompts, block_size):
    requests = as_requests(prompts)
    for one, first in zip(prompts, requests, strict=True):
        for other, second in zip(prompts, requests, strict=True):
            num_common_blocks = num_common(one.spoken, other.spoken) // block_size
            most = min(first.total_tokens, second.total_tokens) // block_size
            equal = [
                first.block_content(index, block_size) == second.block_content(index, block_size)
                for index in range(most)
            ]
            if first.id != second.id:
                assert equal[:num_common_blocks] == [True] * num_common_blocks
                assert all(not same for same in equal[num_common_blocks : num_common_blocks + 1])


@given(PROMPTS)
def test_a_request_is_as_long_as_its_text(prompts):
    for prompt, request in zip(prompts, as_requests(prompts), strict=True):
        assert request.prompt_tokens == len(prompt.tokens)
        assert request.output_tokens == len(prompt.answer)


def test_requests_come_one_every_gap():
    prompts = [Prompt((1, 2), (3,))] * 3
    arrivals = [request.arrival_seconds for request in as_requests(prompts, gap_seconds=0.5)]
    assert arrivals == [0, 0.5, 1]
    assert {request.arrival_seconds for request in as_requests(prompts)} == {0}


def test_the_next_turn_of_a_chat_finds_the_question_and_the_answer_before_it():
    ask, answer, again = tuple(range(8)), tuple(range(8, 16)), (20, 21)
    first, second = as_requests([Prompt(ask, answer), Prompt(ask + answer + again, (1,))])
    memory = Paged(num_blocks=20, block_size=4).open()
    asking = Sequence(first)
    for _ in answer:
        asking.append_token()
    memory.allocate(asking, 15)  # the last token written is never computed
    assert len(memory.match_prefix(Sequence(second))) == 15 // 4


def test_a_text_that_nobody_shares_has_no_segments():
    assert [
        request.prefix for request in as_requests([Prompt((1,), (2,)), Prompt((3,), (4,))])
    ] == [
        (),
        (),
    ]
