"""Messages of a stream, and what tools report of them."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim import metrics
from sim.engine import Record
from sim.errors import SimError
from sim.request import Request
from sim.views import streaming


def record(token_seconds, sent: float = 0.0) -> Record:
    request = Request(0, sent, 10, len(token_seconds))
    return Record(request, sent, np.array(token_seconds, dtype=float), (), 0, rejected=False)


EVEN = record(np.arange(4.0, 25.0), sent=1.0)  # 21 tokens: TTFT 3, then one per second


@pytest.mark.parametrize(
    ("interval", "sizes"),
    [(1, [1] * 21), (5, [1, 5, 5, 5, 5]), (8, [1, 8, 8, 4]), (20, [1, 20]), (99, [1, 20])],
)
def test_the_first_token_goes_at_once_then_every_few_and_the_rest_with_the_last(interval, sizes):
    answer = streaming.stream(EVEN, interval)
    assert answer.message_tokens.tolist() == sizes
    assert answer.message_seconds.tolist() == [3 + at for at in np.cumsum(sizes)]


gaps = st.lists(st.floats(0.001, 10), min_size=1, max_size=40)


@given(gaps, st.integers(1, 50))
def test_messages_change_neither_ttft_nor_e2e_nor_what_is_counted_in_tokens(between, interval):
    one = record(np.cumsum(between))
    answer = streaming.stream(one, interval)
    assert answer.num_tokens == len(between)
    assert answer.ttft == metrics.ttft(one)
    assert answer.e2e == metrics.e2e(one)
    assert streaming.over_all(answer) == pytest.approx(metrics.e2e(one) / len(between))
    assert streaming.after_first(answer) == pytest.approx(metrics.tpot(one), nan_ok=True)


@given(gaps)
def test_one_token_a_message_gives_every_itl(between):
    one = record(np.cumsum(between))
    assert streaming.gaps(streaming.stream(one)).tolist() == metrics.itl(one).tolist()


def test_five_at_a_time_makes_gaps_five_times_as_long_and_fewer():
    single, five = streaming.stream(EVEN), streaming.stream(EVEN, 5)
    assert streaming.mean_gap(five) == 5 * streaming.mean_gap(single)
    assert len(streaming.gaps(five)) == len(streaming.gaps(single)) / 5


def test_a_single_token_has_no_gap_but_a_time_over_all():
    answer = streaming.stream(record([2.0]))
    assert math.isnan(streaming.mean_gap(answer))
    assert math.isnan(streaming.after_first(answer))
    assert streaming.over_all(answer) == 2.0


def test_tools_give_three_numbers_under_three_names():
    reported = {
        (one.tool, one.metric): value
        for one, value in streaming.reported(streaming.stream(EVEN, 5))
    }
    assert reported == {
        ("vLLM bench", "TPOT"): 1.0,
        ("vLLM bench", "ITL"): 5.0,
        ("AIPerf", "ITL"): 1.0,
        ("AIPerf", "ICL"): 5.0,
        ("GuideLLM", "ITL"): 1.0,
        ("GuideLLM", "TPOT"): pytest.approx(23 / 21),
        ("LLMPerf", "ITL"): pytest.approx(23 / 21),
    }


def test_nothing_less_than_a_token_is_sent():
    with pytest.raises(SimError, match="interval_below_one"):
        streaming.stream(EVEN, 0)
