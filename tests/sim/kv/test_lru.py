"""The block cache of a whole trace: leading hits only, the oldest go first, Mooncake's figures."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.errors import SimError
from sim.kv.lru import (
    MOONCAKE_HIT_RATES,
    MOONCAKE_LIMIT,
    block_ids,
    hit_rates,
    lru_hit_rate,
)
from sim.request import Request, Segment

TRACE = Path(__file__).parents[4] / "shared" / "traces" / "mooncake_conversation_trace.jsonl"
REQUESTS = st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=6), min_size=1, max_size=12)


@pytest.fixture(scope="module")
def conversations():
    if not TRACE.exists():
        pytest.skip(f"no {TRACE.name} beside this checkout")
    return [json.loads(line)["hash_ids"] for line in TRACE.read_text().splitlines()]


# Published: 36.6 %, and 4.5, 11.0, 21.1, 32.6, 35.5 %.
@pytest.mark.parametrize(
    ("capacity", "percent"),
    [
        (None, 36.64),
        (1_000, 4.45),
        (5_000, 11.18),
        (10_000, 21.16),
        (30_000, 32.57),
        (50_000, 35.46),
    ],
)
def test_the_published_conversations_hit_as_often_as_published(conversations, capacity, percent):
    rate = lru_hit_rate(conversations, capacity)
    assert round(100 * rate, 2) == percent


def test_the_rates_are_those_of_the_paper_to_a_fifth_of_a_percentage_point(conversations):
    for capacity, rate in MOONCAKE_HIT_RATES.items():
        assert lru_hit_rate(conversations, capacity) == pytest.approx(rate, abs=2e-3)
    assert round(lru_hit_rate(conversations), 3) == MOONCAKE_LIMIT


def test_all_published_conversations_begin_with_the_same_block(conversations):
    assert {blocks[0] for blocks in conversations} == {0}


def test_the_published_conversations_are_all_there(conversations):
    assert len(conversations) == 12_031


def test_a_block_after_a_miss_does_not_count():
    assert lru_hit_rate([[1, 2, 3], [1, 9, 3]]) == 1 / 6


def test_the_oldest_block_goes_first():
    assert lru_hit_rate([[1], [2], [1], [3], [1]], capacity=2) == 2 / 5
    assert lru_hit_rate([[1], [2], [3], [1]], capacity=2) == 0


def test_a_prompts_end_goes_before_its_beginning():
    assert lru_hit_rate([[1, 2, 3], [1, 2]], capacity=2) == 2 / 5
    assert lru_hit_rate([[1, 2, 3], [9], [1, 2]], capacity=3) == 2 / 6


@given(REQUESTS)
def test_a_larger_cache_never_hits_less(requests):
    rates = [lru_hit_rate(requests, capacity) for capacity in (*range(11), None)]
    assert rates == sorted(rates)
    assert rates[0] == 0
    assert rates[-2] == rates[-1]  # ten different blocks all fit


def test_full_blocks_of_prompts_are_numbered_and_equal_ones_alike():
    text = (Segment("text", 10),)
    asked = [Request(0, 0.0, 13, 5, text), Request(1, 0.0, 12, 5, text), Request(2, 0.0, 3, 1)]
    assert block_ids(asked, 4) == [[0, 1, 2], [0, 1, 3], []]


def test_capacities_are_in_tokens():
    text = (Segment("text", 8),)
    asked = [Request(who, 0.0, 8, 1, text) for who in range(2)]
    assert hit_rates(asked, 4, [None, 8, 7, 3]) == [0.5, 0.5, 0.25, 0]


@pytest.mark.parametrize(
    ("code", "requests", "capacity"),
    [("no_blocks", [], 3), ("no_blocks", [[]], 3), ("capacity_negative", [[1]], -1)],
)
def test_what_cannot_be_counted_is_refused(code, requests, capacity):
    with pytest.raises(SimError) as error:
        lru_hit_rate(requests, capacity)
    assert error.value.code == code
