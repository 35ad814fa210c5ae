"""The life of a request: told in order, without gaps."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given

from sim import metrics
from sim.engine import Record, simulate
from sim.request import Request
from sim.views.lives import spans
from tests.sim.strategies import setups


@given(setups())
def test_the_life_of_a_request_is_told_without_gaps(setup):
    run = simulate(setup)
    for one in metrics.served(run):
        told = spans(one)
        assert told[0].start_seconds == one.request.arrival_seconds
        assert told[-1].end_seconds == one.token_seconds[-1]
        for span, following in pairwise(told):
            assert span.end_seconds == following.start_seconds
            assert span.kind != following.kind or span.kind == "preempted"
        assert sum(span.end_seconds - span.start_seconds for span in told) == pytest.approx(
            metrics.e2e(one)
        )
        assert sum(span.kind == "preempted" for span in told) == len(one.pauses)


def test_a_preempted_life_by_hand():
    one = Record(
        Request(0, 0.5, 10, 3), 1.0, np.array([3.0, 4.0, 9.0]), ((2.0, 2.5), (4.0, 7.0)), 0, False
    )
    assert [(s.kind, s.start_seconds, s.end_seconds) for s in spans(one)] == [
        ("queue", 0.5, 1.0),
        ("prefill", 1.0, 2.0),
        ("preempted", 2.0, 2.5),
        ("prefill", 2.5, 3.0),
        ("decode", 3.0, 4.0),
        ("preempted", 4.0, 7.0),
        ("decode", 7.0, 9.0),
    ]


def test_whoever_is_served_at_once_was_in_no_queue_and_one_token_is_no_decode():
    one = Record(Request(0, 0.5, 10, 1), 0.5, np.array([3.0]), (), 0, False)
    assert [(s.kind, s.start_seconds, s.end_seconds) for s in spans(one)] == [("prefill", 0.5, 3.0)]


def test_a_rejected_request_has_no_life():
    assert spans(Record(Request(0, 0.0, 10, 1), None, np.zeros(0), (), 0, True)) == []
