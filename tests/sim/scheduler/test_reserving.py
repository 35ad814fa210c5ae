"""Reserve ahead: room to the end, or the queue."""

import pytest
from hypothesis import given

from sim.errors import SimError
from sim.events import Admitted, PoolFull, Preempted
from sim.kv import Paged
from sim.scheduler import Chunked, Estimating, Reserving
from tests.sim.helpers import PLENTY, events_of, request, run, scheduled
from tests.sim.strategies import reserving, setups

SIX_BLOCKS = Paged(num_blocks=1 + 6, block_size=4)


def test_a_prompt_that_fits_now_waits_if_the_answers_would_not():
    """Each takes 2 blocks now and 4 in the end: the second would need blocks 5 to 8."""
    requests = [request(0, 8, 8), request(1, 8, 8)]
    all_steps = run(requests, Reserving(), SIX_BLOCKS)
    assert scheduled(run(requests, Chunked(), SIX_BLOCKS)[0]) == {0: 8, 1: 8}
    assert [step.running for step in all_steps] == [(0,)] * 8 + [(1,)] * 8
    assert all_steps[1].waiting == (1,)
    assert events_of(all_steps[:1], PoolFull) == [PoolFull(1, needed_blocks=4 + 2, free_blocks=4)]


def test_what_fits_to_the_end_is_admitted_together():
    memory = Paged(num_blocks=1 + 8, block_size=4)
    all_steps = run([request(0, 8, 8), request(1, 8, 8)], Reserving(), memory)
    assert [step.running for step in all_steps] == [(0, 1)] * 8


def test_blocks_are_taken_when_a_token_needs_one_and_not_before():
    all_steps = run([request(0, 8, 8)], Reserving(), SIX_BLOCKS)
    used = [step.num_usable_blocks - step.num_free_blocks for step in all_steps]
    assert used == [2] + [3] * 4 + [4] * 3


def test_what_the_client_allows_counts_and_not_what_is_written():
    memory = Paged(num_blocks=1 + 8, block_size=4)
    requests = [request(0, 8, 4), request(1, 8, 4)]  # 12 tokens in the end, 3 blocks each
    assert scheduled(run(requests, Reserving(max_new_tokens=8), memory)[0]) == {0: 8, 1: 8}
    assert scheduled(run(requests, Reserving(max_new_tokens=9), memory)[0]) == {0: 8}


def test_who_is_allowed_more_than_the_pool_runs_alone():
    all_steps = run([request(i, 8, 2) for i in range(3)], Reserving(max_new_tokens=99), SIX_BLOCKS)
    assert [step.running for step in all_steps] == [(0,)] * 2 + [(1,)] * 2 + [(2,)] * 2


def test_shared_blocks_are_promised_once():
    """Two blocks are in common: the second needs only two more in the end, 4 + 2 of 6."""
    requests = [request(0, 12, 4, shared=12), request(1, 12, 4, shared=12)]
    all_steps = run(requests, Reserving(), SIX_BLOCKS)
    assert events_of(all_steps[:1], Admitted) == [Admitted(0, 0, False), Admitted(1, 8, False)]


def test_a_negative_limit_is_an_error():
    with pytest.raises(SimError) as error:
        Reserving(max_new_tokens=-1)
    assert error.value.code == "max_new_tokens_negative"


@pytest.mark.parametrize("policy", [Reserving, Estimating])
def test_what_no_server_with_chunks_may_have_is_an_error_here_too(policy):
    with pytest.raises(SimError, match="max_num_seqs_below_one"):
        policy(max_num_seqs=0)
    with pytest.raises(SimError, match="max_new_tokens_negative"):
        policy(max_new_tokens=-1)


@given(setups(reserving()))
def test_nobody_is_ever_preempted(setup):
    assert events_of(run(list(setup.requests), setup.policy, setup.memory), Preempted) == []


@given(setups(reserving()))
def test_with_plenty_of_memory_the_steps_are_those_of_vllm(setup):
    policy = setup.policy
    plain = Chunked(
        policy.max_num_seqs, policy.max_num_batched_tokens, max_model_len=policy.max_model_len
    )
    requests = list(setup.requests)
    assert list(map(scheduled, run(requests, policy, PLENTY))) == list(
        map(scheduled, run(requests, plain, PLENTY))
    )
