"""The loop: its clock, its events, and what holds at every step of any run."""

from collections import Counter
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given

from sim.engine import Setup, Step, simulate, steps
from sim.errors import SimError
from sim.events import (
    Admitted,
    Arrived,
    Event,
    Evicted,
    Finished,
    FirstToken,
    PoolFull,
    Preempted,
    Rejected,
    Released,
)
from sim.kv import Paged, PagedMemory
from sim.request import Request
from sim.scheduler import Chunked, Continuous, Static
from tests.sim.helpers import PLENTY, SECOND, Opened, events_of, request, run, scheduled
from tests.sim.strategies import LONGEST, chunked, setups

# -- the clock -------------------------------------------------------------------------------


def test_a_step_sees_those_who_came_no_later_than_its_start():
    requests = [request(0, 4, 5), request(1, 4, 5, arrival=1.0), request(2, 4, 5, arrival=1.001)]
    all_steps = run(requests, Chunked())
    assert all_steps[1].start_seconds == 1.0
    assert all_steps[1].running == (0, 1)
    assert all_steps[2].running == (0, 1, 2)


def test_an_idle_server_jumps_to_the_next_arrival():
    all_steps = run([request(0, 4, 1, arrival=2.5), request(1, 4, 1, arrival=9.25)], Chunked())
    assert [(s.start_seconds, s.end_seconds) for s in all_steps] == [(2.5, 3.5), (9.25, 10.25)]


def test_tokens_are_stamped_at_the_end_of_the_step():
    record = simulate(Setup((request(0, 4, 3, arrival=2.0),), Chunked(), PLENTY, SECOND)).records[0]
    assert record.scheduled_seconds == 2.0
    assert record.token_seconds.tolist() == [3.0, 4.0, 5.0]


def test_requests_may_be_given_in_any_order():
    requests = (request(7, 4, 2, arrival=5.0), request(3, 4, 2, arrival=0.0))
    result = simulate(Setup(requests, Chunked(), PLENTY, SECOND))
    assert [record.request.id for record in result.records] == [7, 3]
    assert [record.token_seconds[-1] for record in result.records] == [7.0, 2.0]


def test_those_who_finish_together_free_their_blocks_in_running_order():
    memory = Opened(1 + 6, 4, prefix_caching=False)
    run([request(0, 4, 1), request(1, 8, 1), request(2, 4, 1)], Chunked(), memory)
    assert list(Opened.last.free_queue)[-4:] == [1, 3, 2, 4]


# -- events ----------------------------------------------------------------------------------


def test_the_events_of_a_short_life_in_order():
    (first, second) = run([request(0, 3, 2)], Chunked())
    assert first.events == (Arrived(0), Admitted(0, 0, resumed=False), FirstToken(0))
    kinds = [type(event).__name__ for event in second.events]
    assert kinds == ["BlockFull", "Finished", "Released"]
    assert Finished(0, 2) in second.events
    assert Released((0,)) in second.events


def test_arrivals_while_a_step_runs_are_told_by_the_next_step():
    all_steps = run([request(0, 4, 3), request(1, 4, 1, arrival=0.5)], Chunked())
    assert Arrived(1) in all_steps[1].events


def test_an_evicted_block_is_told():
    memory = Paged(1 + 3, 4)
    all_steps = run([request(0, 12, 1), request(1, 4, 1, arrival=3.0)], Chunked(), Paged(1 + 4, 4))
    assert events_of(all_steps, Evicted) == []  # the fourth block was never used
    tight = run([request(0, 11, 1), request(1, 4, 1, arrival=3.0)], Chunked(), memory)
    assert events_of(tight, Evicted) == []  # the third was never full
    reused = run([request(0, 11, 1), request(1, 7, 1, arrival=3.0)], Chunked(), memory)
    assert events_of(reused, Evicted) == [Evicted(2)]


# -- what cannot be served -------------------------------------------------------------------


def test_a_request_that_can_never_fit_is_rejected_on_arrival_and_the_rest_is_served():
    memory = Paged(1 + 5, 4)
    requests = [request(0, 16, 5), request(1, 16, 4), request(2, 4, 2)]
    all_steps = run(requests, Chunked(), memory)
    assert events_of(all_steps, Rejected) == [Rejected(0, needed_blocks=6, usable_blocks=5)]
    result = simulate(Setup(tuple(requests), Chunked(), memory, SECOND))
    assert [record.rejected for record in result.records] == [True, False, False]
    assert [len(record.token_seconds) for record in result.records] == [0, 4, 2]


def test_a_prompt_as_long_as_the_model_is_rejected():
    setup = Setup((request(0, 16, 1), request(1, 15, 9)), Chunked(max_model_len=16), PLENTY, SECOND)
    assert [record.rejected for record in simulate(setup).records] == [True, False]


@pytest.mark.parametrize("policy", [Static(2), Continuous(2), Chunked(2, 8)])
@pytest.mark.parametrize("later", [(), (request(1, 4, 2, arrival=500.0),)])
def test_without_the_check_it_waits_forever_and_that_is_a_named_error(policy, later):
    memory = Paged(1 + 3, 4)
    requests = (request(0, 8, 9), *later)
    setup = Setup(requests, policy, memory, SECOND, reject_impossible=False)
    with pytest.raises(SimError) as error:
        list(steps(setup))
    assert error.value.code == "no_progress"
    assert error.value.values["request_id"] == 0
    with pytest.raises(SimError, match="no_progress"):
        simulate(setup)


@pytest.mark.parametrize("policy", [Continuous(2), Chunked(2, 8)])
def test_who_preempts_itself_is_named_at_once_and_not_when_the_next_one_comes(policy):
    requests = (request(0, 8, 9), request(1, 4, 2, arrival=500.0))
    setup = Setup(requests, policy, Paged(1 + 3, 4), SECOND, reject_impossible=False)
    with pytest.raises(SimError) as error:
        simulate(setup)
    assert error.value.values == {"request_id": 0, "num_tokens": 13, "seconds": 5.0}


@pytest.mark.parametrize(
    ("requests", "code"),
    [((), "no_requests"), ((request(1, 1, 1), request(1, 2, 2)), "duplicate_request_id")],
)
def test_an_impossible_setup_is_an_error(requests, code):
    with pytest.raises(SimError, match=code):
        Setup(requests, Chunked(), PLENTY, SECOND)


# -- at every step of any run ----------------------------------------------------------------


def watched(setup: Setup):
    """(step, the pool as it is while the step runs) for every step of a run."""
    assert isinstance(setup.memory, Opened)
    for step in steps(setup):
        yield step, Opened.last


def most_tokens(setup: Setup, request: Request) -> int:
    """The tokens this request can write before it meets the model length."""
    limit = setup.policy.max_model_len
    room = request.output_tokens if limit is None else limit - request.prompt_tokens
    return min(request.output_tokens, room)


@given(setups())
def test_everybody_is_rejected_or_gets_exactly_the_tokens_asked_for(setup):
    result = simulate(setup)
    usable = setup.memory.num_blocks - 1
    for record in result.records:
        num_tokens = len(record.token_seconds)
        if record.rejected:
            assert num_tokens == 0
            answer = most_tokens(setup, record.request)
            needed = -(-(record.request.prompt_tokens + answer) // setup.memory.block_size)
            assert needed > usable or answer <= 0
        else:
            assert num_tokens == most_tokens(setup, record.request)
            assert np.all(np.diff(record.token_seconds) > 0)
            assert record.scheduled_seconds is not None
            assert record.request.arrival_seconds <= record.scheduled_seconds
            assert record.scheduled_seconds < record.token_seconds[0]


def hold_blocks_together(step: Step, memory: PagedMemory) -> None:
    held = Counter(block for table in memory.block_tables.values() for block in table)
    assert set(step.block_tables) == set(step.running) == set(memory.block_tables)
    assert len(held) + step.num_free_blocks == step.num_usable_blocks
    assert not held.keys() & memory.free_queue.keys()
    assert 0 not in held
    assert 0 not in memory.free_queue
    for block, count in enumerate(memory.ref_counts):
        assert count == held[block]
    for table in memory.block_tables.values():
        assert len(set(table)) == len(table)


@given(setups())
def test_no_block_is_lost_and_every_owner_is_counted(setup):
    for step, memory in watched(setup):
        hold_blocks_together(step, memory)
    memory = Opened.last
    assert not memory.block_tables
    assert sorted(memory.free_queue) == list(range(1, setup.memory.num_blocks))
    assert set(memory.ref_counts) == {0}


@given(setups())
def test_every_request_owns_room_for_the_tokens_it_has_computed(setup):
    for step, memory in watched(setup):
        for work in step.work:
            slots = len(memory.block_tables[work.request_id]) * setup.memory.block_size
            assert slots >= work.context


@given(setups())
def test_two_requests_share_a_block_only_where_their_texts_are_equal(setup):
    texts = {request.id: request for request in setup.requests}
    size = setup.memory.block_size
    for step in steps(setup):
        owners: dict[int, set] = {}
        for who, table in step.block_tables.items():
            for index, block in enumerate(table):
                owners.setdefault(block, set()).add((index, who))
        for shared in (users for users in owners.values() if len(users) > 1):
            assert len({index for index, _ in shared}) == 1
            assert len({texts[who].block_content(index, size) for index, who in shared}) == 1


@given(setups())
def test_no_step_is_wider_or_longer_than_allowed(setup):
    budget = getattr(setup.policy, "max_num_batched_tokens", None)
    for step in steps(setup):
        assert 1 <= len(step.work) <= len(step.running) <= setup.policy.max_num_seqs
        assert all(work.num_tokens >= 1 for work in step.work)
        alone = isinstance(setup.policy, Continuous) and len(step.work) == 1
        if budget is not None and step.work[0].is_prefill and not alone:
            assert step.num_tokens <= budget


@given(setups())
def test_nobody_runs_and_waits_at_once_and_nobody_is_forgotten(setup):
    inside: set[int] = set()
    for step in steps(setup):
        inside |= {event.request_id for event in step.events if isinstance(event, Arrived)}
        assert sorted(step.running + step.waiting) == sorted(inside)
        for event in step.events:
            if isinstance(event, Released):
                inside -= set(event.request_ids)
    assert not inside


@given(setups())
def test_steps_follow_each_other_in_time(setup):
    all_steps = list(steps(setup))
    assert [step.index for step in all_steps] == list(range(len(all_steps)))
    for step, following in pairwise(all_steps):
        assert step.start_seconds < step.end_seconds <= following.start_seconds


@given(setups())
def test_a_refusal_always_asks_for_more_than_there_is(setup):
    for step in steps(setup):
        for event in step.events:
            if isinstance(event, PoolFull):
                assert event.needed_blocks > event.free_blocks


@given(setups())
def test_the_same_setup_gives_the_same_run(setup):
    assert list(steps(setup)) == list(steps(setup))


def was_preempted(events: tuple[Event, ...], who: int) -> bool:
    return any(isinstance(event, Preempted) and event.request_id == who for event in events)


def was_resumed(events: tuple[Event, ...], who: int) -> bool:
    return any(
        isinstance(event, Admitted) and event.request_id == who and event.resumed
        for event in events
    )


@given(setups())
def test_steps_and_simulate_tell_the_same_story(setup):
    all_steps, result = list(steps(setup)), simulate(setup)
    series = result.series
    assert series.start_seconds.tolist() == [s.start_seconds for s in all_steps]
    assert series.end_seconds.tolist() == [s.end_seconds for s in all_steps]
    assert series.num_running.tolist() == [len(s.running) for s in all_steps]
    assert series.num_waiting.tolist() == [len(s.waiting) for s in all_steps]
    assert series.kv_usage == pytest.approx([s.kv_usage for s in all_steps])
    assert result.num_preemptions == len(events_of(all_steps, Preempted))
    for record in result.records:
        who = record.request.id
        stamped = [
            step.end_seconds
            for step in all_steps
            for work in step.work
            if work.request_id == who and work.sampled
        ]
        assert record.token_seconds.tolist() == stamped
        left, back = (
            [step.start_seconds for step in all_steps if happened(step.events, who)]
            for happened in (was_preempted, was_resumed)
        )
        assert record.pauses == tuple(zip(left, back, strict=True))
        computed = sum(scheduled(step).get(who, 0) for step in all_steps)
        lost = sum(e.lost_tokens for e in events_of(all_steps, Preempted) if e.request_id == who)
        hits = sum(e.hit_tokens for e in events_of(all_steps, Admitted) if e.request_id == who)
        if not record.rejected:  # every token but the last is computed once, or lost and found
            assert computed + hits - lost == record.request.prompt_tokens + len(stamped) - 1


@given(setups(chunked()))
def test_with_chunks_nobody_is_overtaken_on_the_way_in(setup):
    assume(setup.policy.chunked_prefill)
    admitted = [e.request_id for e in events_of(list(steps(setup)), Admitted) if not e.resumed]
    assert admitted == sorted(admitted)  # ids are in order of arrival


@given(setups(chunked()))
def test_nobody_is_admitted_in_a_step_that_preempts_and_the_victims_are_the_last(setup):
    before: tuple[int, ...] = ()
    for step in steps(setup):
        victims = [e.request_id for e in step.events if isinstance(e, Preempted)]
        if victims:
            assert step.running == before[: len(before) - len(victims)]
            assert list(step.waiting[: len(victims)]) == victims[::-1]
            assert not any(isinstance(event, Admitted) for event in step.events)
        before = tuple(who for who in step.running if who not in step.finished)


@given(setups(chunked()))
def test_everybody_who_runs_takes_part_in_every_chunked_step(setup):
    """Nobody asks for more than when those behind were admitted: the budget reaches the last."""
    for step in steps(setup):
        assert tuple(work.request_id for work in step.work) == step.running


@given(setups(chunked()))
def test_full_length_reservation_never_admits_a_prompt_it_cannot_hold(setup):
    policy = replace(setup.policy, reserve_full_length=True)
    lengths = {request.id: request.prompt_tokens for request in setup.requests}
    for step in steps(replace(setup, policy=policy)):
        admitted = [event.request_id for event in step.events if isinstance(event, Admitted)]
        for who in admitted[-1:]:  # nobody took blocks after the last one
            blocks = step.num_free_blocks + len(step.block_tables[who])
            assert blocks * setup.memory.block_size >= lengths[who]


@given(setups())
def test_without_the_check_every_run_still_ends(setup):
    """Either everybody is served, or the one who blocks the line is named."""
    unchecked = replace(setup, reject_impossible=False)
    try:
        result = simulate(unchecked)
    except SimError as error:
        outcome = error.code
    else:
        outcome = "served"
        longest = setup.policy.max_model_len or LONGEST
        for record in result.records:
            too_long = record.request.prompt_tokens >= longest
            assert record.rejected == too_long == (len(record.token_seconds) == 0)
    assert outcome in ("served", "no_progress")
