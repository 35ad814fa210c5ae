"""The fast path against the loop: the same run, to the last bit."""

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.cost import Roofline, SimpleClock
from sim.engine import Run, Setup, Users, run_by_steps, simulate
from sim.errors import SimError
from sim.kv import Contiguous, Paged
from sim.scheduler import Chunked, Continuous, Dynamic, Policy, Static
from sim.specs import GPUS, MODELS
from sim.workload import GammaArrivals, LognormalLength, SharedPrefix, Workload
from sim.workload.prompts import Prompt, as_requests
from tests.sim.helpers import PLENTY, SECOND, request
from tests.sim.strategies import chunked, estimating, reserving, setups

USERS = st.one_of(
    st.none(), st.builds(Users, st.integers(1, 4), st.sampled_from([0.0, 0.0, 0.05, 3.0]))
)


def same(fast: Run, slow: Run) -> None:
    for name in slow.series.__dataclass_fields__:
        ours, theirs = getattr(fast.series, name), getattr(slow.series, name)
        assert np.array_equal(ours, theirs), (name, ours, theirs)
        assert ours.dtype == theirs.dtype or not len(ours), name
    for ours, theirs in zip(fast.records, slow.records, strict=True):
        assert np.array_equal(ours.token_seconds, theirs.token_seconds), ours.request
        nothing = np.array(None)
        assert replace(ours, token_seconds=nothing) == replace(theirs, token_seconds=nothing)
    assert fast.num_preemptions == slow.num_preemptions


POLICIES = {
    "static": st.builds(Static, st.integers(1, 6)),
    "dynamic": st.builds(Dynamic, st.integers(1, 6), window_seconds=st.sampled_from([0.0, 0.4])),
    "continuous": st.builds(Continuous, st.integers(1, 6), st.integers(1, 80)),
    "chunked, plain": st.builds(
        Chunked,
        st.integers(1, 6),
        st.integers(1, 80),
        reserve_full_length=st.booleans(),
        max_model_len=st.sampled_from([None, 40]),
    ),
    "chunked, all settings": chunked(),
    "reserving": reserving(),  # these two take no groups
    "estimating": estimating(),
}


@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)
@given(data=st.data(), users=USERS, reject=st.booleans())
def test_the_fast_path_gives_the_same_run_to_the_last_bit(policy, data, users, reject):
    setup = replace(data.draw(setups(policy)), users=users, reject_impossible=reject)
    try:
        slow = run_by_steps(setup)
    except SimError as error:
        with pytest.raises(SimError, match=re.escape(str(error))):
            simulate(setup)
    else:
        same(simulate(setup), slow)


def test_answers_that_others_find_while_they_are_written_are_found_on_both_paths():
    story = tuple(range(40))
    turns = (Prompt(story[:8], story[8:40]), Prompt(story[:24], (7,)), Prompt(story[:32], (9,)))
    setup = Setup(as_requests(turns, gap_seconds=9.0), Chunked(), PLENTY, SECOND)
    run = simulate(setup)
    assert run.hit_tokens.tolist() == [0, 16, 24]  # as far as it is written
    same(run, run_by_steps(setup))


def a_busy_hour(memory: Paged, policy: Policy) -> Setup:
    """Long answers, documents that share their beginning, and a queue: every path is walked."""
    asked = Workload(
        150,
        GammaArrivals(4.0, cv=2.0),
        LognormalLength(300, 2000),
        LognormalLength(90, 500),
        SharedPrefix(100, num_groups=3),
        seed=1,
    ).requests()
    clock = Roofline(MODELS["Llama-3.1-8B"], GPUS["RTX 4090"])
    return Setup(asked, policy, memory, clock)


@pytest.mark.parametrize("prefix_caching", [False, True])
@pytest.mark.parametrize("num_blocks", [220, 2588])
@pytest.mark.parametrize(
    "policy",
    [
        Chunked(24, 256),
        Chunked(24, 256, reserve_full_length=True),
        Chunked(24, 40, long_prefill_token_threshold=32),
        Chunked(24, 2000, chunked_prefill=False),
        Chunked(24, 16),
        Continuous(24),
        Static(8),
    ],
    ids=["chunked", "full length", "threshold", "unchunked", "starved", "continuous", "static"],
)
def test_a_long_run_is_the_same_too(policy, num_blocks, prefix_caching):
    setup = a_busy_hour(Paged(num_blocks, 16, prefix_caching), policy)
    same(simulate(setup), run_by_steps(setup))


def test_who_comes_exactly_when_a_step_of_a_stretch_begins_is_in_that_step():
    setup = Setup((request(0, 4, 60), request(1, 4, 60, arrival=30.0)), Chunked(), PLENTY, SECOND)
    run = simulate(setup)
    assert run.scheduled_seconds[1] == 30.0
    same(run, run_by_steps(setup))


def test_prompts_of_one_token_and_of_two_take_their_time_on_both_paths():
    """Two seconds for each token of a prompt, one for a step of decodes."""
    clock = SimpleClock(prefill_tokens_per_second=0.5, decode_seconds_per_step=1.0)
    setup = Setup((request(0, 1, 4), request(1, 2, 2, arrival=2.5)), Chunked(), PLENTY, clock)
    run = simulate(setup)
    assert [record.token_seconds.tolist() for record in run.records] == [[2, 3, 7, 8], [7, 8]]
    same(run, run_by_steps(setup))


def test_those_who_are_set_aside_change_places_in_every_step():
    asked = (
        request(0, 32, 17),
        request(1, 100, 1, arrival=0.2),
        request(2, 100, 1, arrival=0.3),
        request(3, 100, 1, arrival=0.4),
    )
    for output in (16, 17):
        setup = Setup(
            (request(0, 32, output), *asked[1:]),
            Chunked(64, 64, chunked_prefill=False, long_prefill_token_threshold=64),
            PLENTY,
            SECOND,
        )
        same(simulate(setup), run_by_steps(setup))


@pytest.mark.parametrize("policy", [Static(4), Continuous(4), Chunked(4, 50)])
@pytest.mark.parametrize("reservation", ["exact", "power_of_two"])
def test_contiguous_memory_is_held_from_the_start(policy, reservation):
    asked = tuple(request(who, 8 + who, 3 + 5 * (who % 7), arrival=who / 2) for who in range(12))
    setup = Setup(asked, policy, Contiguous(200, reservation, max_model_len=64), SECOND)
    same(simulate(setup), run_by_steps(setup))


def test_of_two_copies_of_a_block_the_older_one_is_found():
    """A and B compute the same text side by side; C keeps the copy that it finds from eviction."""
    asked = (
        request(0, 9, 1, shared=8),
        request(1, 9, 12, shared=8),
        request(2, 9, 1, arrival=2.0, shared=8),
        request(3, 8, 6, arrival=3.0),
        request(4, 9, 1, arrival=30.0, shared=8),
    )
    for num_blocks in range(7, 14):
        setup = Setup(asked, Chunked(4, 64), Paged(num_blocks, 4), SECOND)
        same(simulate(setup), run_by_steps(setup))


def test_the_long_runs_preempt_and_find_shared_prefixes():
    run = simulate(a_busy_hour(Paged(220), Chunked(24, 256)))
    assert run.num_preemptions > 20
    assert run.hit_tokens.max() >= 96
