"""Open and closed loops: who sends when."""

import pytest

from sim import metrics
from sim.engine import Setup, Users, simulate, steps
from sim.errors import SimError
from sim.kv import Paged
from sim.scheduler import Chunked, Static
from tests.sim.helpers import PLENTY, SECOND, request


def test_in_a_closed_loop_a_user_asks_again_when_the_answer_has_come_and_was_read():
    asked = tuple(request(who, 4, 5, arrival=100.0 * who) for who in range(3))
    run = simulate(Setup(asked, Chunked(), PLENTY, SECOND, users=Users(1, think_seconds=2.5)))
    assert [sent.arrival_seconds for sent in run.requests] == [0.0, 7.5, 15.0]
    assert [record.token_seconds[-1] for record in run.records] == [5.0, 12.5, 20.0]


def test_no_more_requests_are_on_the_way_than_there_are_users():
    asked = tuple(request(who, 4, 3 + who % 5) for who in range(40))
    setup = Setup(asked, Chunked(2), PLENTY, SECOND, users=Users(5))
    here = [len(step.running) + len(step.waiting) for step in steps(setup)]
    assert max(here) == 5
    assert simulate(setup).num_tokens.tolist() == [who.output_tokens for who in asked]


@pytest.mark.parametrize("think", [0.0, 4.0])
def test_users_share_their_time_between_waiting_and_thinking(think):
    """The interactive law: users = throughput x (response time + think time)."""
    asked = tuple(request(who, 4, 10) for who in range(2000))
    run = simulate(Setup(asked, Chunked(4), PLENTY, SECOND, users=Users(6, think)))
    summary = metrics.summarize(run)
    users = summary.requests_per_second * (summary.e2e.mean + think)
    assert users == pytest.approx(6, rel=0.01)


def test_a_refused_request_frees_its_user():
    asked = (request(0, 4, 2), request(1, 90, 90), request(2, 4, 2))
    run = simulate(Setup(asked, Chunked(), Paged(9, 4), SECOND, users=Users(1, 1.0)))
    assert [record.rejected for record in run.records] == [False, True, False]
    assert run.requests[2].arrival_seconds == 4.0  # refused at 3.0


def test_a_user_of_a_static_batch_has_the_answer_before_the_batch_is_over():
    asked = (request(0, 4, 2), request(1, 4, 9), request(2, 4, 2))
    run = simulate(Setup(asked, Static(2), PLENTY, SECOND, users=Users(2)))
    assert run.requests[2].arrival_seconds == 2.0
    assert run.scheduled_seconds[2] == 9.0


@pytest.mark.parametrize(
    ("users", "code"),
    [
        ((0,), "num_users_below_one"),
        ((1, -1.0), "think_time_negative"),
        ((1, float("inf")), "think_time_negative"),
        ((1, float("nan")), "think_time_negative"),
    ],
)
def test_impossible_users_are_an_error(users, code):
    with pytest.raises(SimError, match=code):
        Users(*users)
