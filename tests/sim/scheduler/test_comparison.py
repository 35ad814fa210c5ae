"""What the batching chapter claims: the same requests, the same slots, two policies."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sim.engine import Run, Setup, simulate
from sim.metrics import summarize
from sim.request import Request
from sim.scheduler import Chunked, Continuous, Policy, Static
from tests.sim.helpers import PLENTY, SECOND, request

REQUESTS = st.lists(st.tuples(st.integers(0, 12), st.integers(1, 12)), min_size=1, max_size=14).map(
    lambda drawn: tuple(
        request(i, 3, output, arrival=float(arrival))
        for i, (arrival, output) in enumerate(sorted(drawn, key=lambda pair: pair[0]))
    )
)


def serve(requests: tuple[Request, ...], policy: Policy) -> Run:
    return simulate(Setup(requests, policy, PLENTY, SECOND))


def last_tokens(run: Run) -> np.ndarray:
    return np.array([record.token_seconds[-1] for record in run.records])


@given(REQUESTS, st.integers(1, 5))
def test_on_equal_steps_nobody_finishes_later_than_in_a_static_batch(requests, num_slots):
    """Steps of one length, arrivals on whole steps, room for every slot, prompts beside decodes.

    By induction over the static batches: when one starts, everybody before it is done, so its
    members have started under continuous batching by then.  And whenever that is busy, somebody
    who has arrived is not done, so the static server is busy, too.
    """
    static, mixed = serve(requests, Static(num_slots)), serve(requests, Chunked(num_slots))
    assert np.all(last_tokens(mixed) <= last_tokens(static))
    before, after = summarize(static), summarize(mixed)
    assert after.num_steps <= before.num_steps
    assert after.slot_utilization >= before.slot_utilization
    assert after.duration_seconds <= before.duration_seconds


@given(REQUESTS, st.integers(1, 5))
def test_prefill_only_steps_cost_at_most_one_step_per_admission(requests, num_slots):
    """Continuous batching without chunks stops the decodes in each step that admits somebody."""
    mixed, whole = serve(requests, Chunked(num_slots)), serve(requests, Continuous(num_slots))
    prefills = int(np.sum(whole.series.prefill_tokens > 0))
    assert len(whole.series.end_seconds) <= len(mixed.series.end_seconds) + prefills


def test_prefill_only_steps_can_lose_to_a_static_batch():
    """One long answer beside nine of one token: it waits for each of their prefills."""
    requests = (request(0, 3, 10), *(request(i, 3, 1) for i in range(1, 10)))
    steps = {
        policy: summarize(serve(requests, policy)).num_steps
        for policy in (Static(2), Continuous(2), Chunked(2))
    }
    assert list(steps.values()) == [14, 18, 10]


def test_off_the_beat_continuous_can_end_later_by_part_of_a_step():
    """Free early, it starts on the third guest at once, and the fourth comes in mid-step."""
    guests = ((0.5, 2), (1.0, 1), (3.0, 1), (3.5, 1))
    requests = tuple(request(i, 3, output, arrival) for i, (arrival, output) in enumerate(guests))
    assert max(last_tokens(serve(requests, Static(2)))) == 4.5
    assert max(last_tokens(serve(requests, Chunked(2)))) == 5.0


def test_the_seeds_example_ends_at_once_for_those_who_are_done():
    requests = (request(0, 16, 10), request(1, 16, 100), request(2, 16, 30))
    for policy in (Static(3), Continuous(3), Chunked(3)):
        assert last_tokens(serve(requests, policy)).tolist() == [10, 100, 30]
    waiting = (*requests, request(3, 16, 50))
    assert last_tokens(serve(waiting, Static(3)))[3] == 150
    assert last_tokens(serve(waiting, Continuous(3)))[3] == 60
