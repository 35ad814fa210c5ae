"""What a step computes, added up by hand."""

import pytest

from sim.request import Sequence
from sim.scheduler import Batch, Load
from tests.sim.helpers import sequence

PROMPT, CHUNK, DECODE = Load.of_rows([4], [4], 1), Load.of_rows([3], [8], 0), Load.decode(2, 30)


def test_a_prompt_attends_to_half_of_itself():
    assert Load(num_tokens=4, kv_tokens=4, attended=8, num_sampled=1, prompt_tokens=4) == PROMPT


def test_a_chunk_attends_to_what_is_there_and_to_half_of_itself():
    assert Load(3, 8, attended=3 * 5 + 4.5, num_sampled=0, prompt_tokens=3) == CHUNK


def test_a_decode_is_a_row_of_one_token_and_of_no_prompt():
    assert Load(2, 30, attended=29, num_sampled=2, prompt_tokens=0) == DECODE
    assert Load.of_rows([1, 1], [10, 20], 2) == DECODE


def test_a_whole_prompt_of_one_token_is_a_prompt():
    assert Load.of_rows([1, 1], [1, 2], 2).prompt_tokens == 1


def test_side_by_side_everything_adds_up():
    both = Load(7, 12, attended=27.5, num_sampled=1, prompt_tokens=7)
    assert PROMPT.beside(CHUNK) == both
    assert both.beside(DECODE) == Load(9, 42, 56.5, 3, 7)


# -- a batch ----------------------------------------------------------------------------------


def part_way(prompt: int, computed: int, written: int) -> Sequence:
    who = sequence(0, prompt, output=9)
    who.num_computed_tokens = computed
    for _ in range(written):
        who.append_token()
    return who


@pytest.mark.parametrize(
    ("who", "num_tokens", "num_decode"),
    [
        (part_way(4, 0, 0), 4, 0),
        (part_way(9, 5, 0), 3, 0),
        (part_way(9, 5, 0), 4, 0),
        (part_way(9, 5, 0), 2, 0),
        (part_way(9, 8, 0), 1, 0),
        (part_way(1, 0, 0), 1, 0),
        (part_way(4, 4, 1), 1, 1),
        (part_way(4, 0, 3), 7, 0),
        (part_way(4, 2, 3), 1, 0),
    ],
    ids=[
        "prompt",
        "chunk",
        "last chunk",
        "of two",
        "last token",
        "of one",
        "decode",
        "again",
        "in pieces",
    ],
)
def test_a_batch_adds_up_what_its_rows_are(who, num_tokens, num_decode):
    batch = Batch()
    batch.add(who, num_tokens)
    context = who.num_computed_tokens + num_tokens
    assert batch.load() == Load.of_rows([num_tokens], [context], int(context == who.num_tokens))
    assert batch.num_decode_tokens == num_decode


@pytest.mark.parametrize("num_proposed", [1, 3])
def test_proposals_are_decodes_and_each_of_them_is_sampled(num_proposed):
    batch = Batch()
    batch.add(part_way(4, 4, 1), 1 + num_proposed)
    assert (batch.num_sampled, batch.num_decode_tokens) == (1 + num_proposed, 1 + num_proposed)
    assert batch.prompt_tokens == 0
