"""Admit by a guess, retract who has written least."""

import math

import pytest
from hypothesis import given

from sim.engine import Setup, run_by_steps
from sim.errors import SimError
from sim.events import Admitted, Preempted
from sim.kv import Paged
from sim.scheduler import Chunked, Estimating
from sim.scheduler.estimating import NewTokenRatio
from tests.sim.helpers import PLENTY, SECOND, events_of, request, run, scheduled
from tests.sim.strategies import estimating, setups

SIX_BLOCKS = Paged(num_blocks=1 + 6, block_size=4)
PAIR = [request(0, 4, 9), request(1, 8, 8, arrival=1.0)]
BOLD = Estimating(conservativeness=0)  # expects nothing more of those who decode


def running(all_steps):
    return [step.running for step in all_steps]


# -- the ratio -------------------------------------------------------------------------------


def test_the_ratio_falls_from_0_7_to_0_098_in_600_steps_and_stays_there():
    ratio = NewTokenRatio(conservativeness=1)
    assert ratio.now == 0.7
    ratio.decay()
    assert ratio.now == pytest.approx(0.7 - (0.7 - 0.098) / 600)
    for _ in range(700):
        ratio.decay()
    assert ratio.now == pytest.approx(0.098)
    ratio.reset()
    assert ratio.now == 0.7


def test_nobody_is_expected_to_take_more_than_all():
    assert NewTokenRatio(conservativeness=2).now == 1


def test_after_a_retraction_it_is_what_was_written_and_20_steps_more_over_what_is_allowed():
    ratio = NewTokenRatio(conservativeness=1)
    ratio.estimate(written=30, allowed=199, num_answers=2)
    assert ratio.now == (30 + 2 * 20) / 200
    ratio.estimate(written=30, allowed=40, num_answers=2)
    assert ratio.now == 1


def test_a_run_leaves_nothing_behind_for_the_next():
    policy = Estimating()
    requests = [request(i, 8, 8, arrival=i) for i in range(6)]
    first, second = (run(requests, policy, SIX_BLOCKS) for _ in range(2))
    assert first == second
    assert policy.ratio.now == 0.7


# -- who is admitted -------------------------------------------------------------------------


def test_newcomers_count_in_full_and_those_who_decode_by_the_ratio():
    """10 blocks of 4.  Each has 8 + 12 tokens in the end: 5 blocks; now 2.  In the first step a
    third would need 5 beside 3 + 3 that are promised, of 6 that are free.  Later 11 or fewer tokens
    are to come of each of the two, and at ratio 0 none count: 5 of the 4 that are free are
    still too many."""
    memory = Paged(num_blocks=1 + 10, block_size=4)
    requests = [request(i, 8, 12) for i in range(3)]
    assert running(run(requests, BOLD, memory))[:2] == [(0, 1), (0, 1)]
    larger = Paged(num_blocks=1 + 11, block_size=4)
    assert running(run(requests, BOLD, larger))[:2] == [(0, 1), (0, 1, 2)]
    assert running(run(requests, Estimating(), larger))[:2] == [(0, 1), (0, 1)]


def test_nobody_is_expected_to_write_more_than_4096_tokens():
    memory = Paged(num_blocks=1 + 2_100, block_size=4)
    first, second = request(0, 8, 4), request(1, 8, 4)
    all_steps = run([first, second], Estimating(max_new_tokens=100_000), memory)
    assert all_steps[0].running == (0, 1)  # 2 x (8 + 4,096) tokens are 2,052 blocks


def test_the_rest_of_a_prompt_that_is_being_read_is_known_to_come():
    """17 tokens are 5 blocks, of which it has 1: 4 are promised, and 2 more are not to be had."""
    requests = [request(0, 16, 1), request(1, 4, 1)]
    policy = Estimating(long_prefill_token_threshold=4)
    assert running(run(requests, policy, SIX_BLOCKS))[:2] == [(0,), (0,)]
    assert running(run(requests, policy, Paged(1 + 7, block_size=4)))[0] == (0, 1)


def test_with_each_step_that_goes_well_less_is_expected():
    """At ratio 1 the other waits to the end: 202 blocks of 203 are taken or promised.  It takes 4,
    so the ratio has to fall by 3 blocks of some 200; it falls by 0.86 in 600 steps."""
    requests = [request(0, 8, 800), request(1, 8, 8, arrival=1.0)]
    memory = Paged(num_blocks=1 + 203, block_size=4)
    all_steps = run(requests, Estimating(conservativeness=2), memory)
    (joined,) = [step.index for step in all_steps if Admitted(1, 0, False) in step.events]
    assert 8 < joined < 14


def test_a_server_that_was_idle_expects_as_much_as_in_the_beginning():
    """As above with blocks of 64: after 600 steps of the first the third would be let in."""
    memory = Paged(num_blocks=1 + 12, block_size=64)
    others = [request(i, 128, 192, arrival=2_000.0) for i in (1, 2, 3)]
    all_steps = run([request(0, 4, 700), *others], Estimating(), memory)
    second = next(step for step in all_steps if step.start_seconds == 2_001)
    assert second.running == (1, 2)
    bold = run(others, BOLD, memory)
    assert bold[1].running == (1, 2, 3)


# -- who gives way ---------------------------------------------------------------------------


def test_who_has_written_least_is_retracted_and_its_output_is_dropped():
    """Request 0 has 4 + 6 tokens when request 1 needs a fourth block for its 8 + 5."""
    all_steps = run(PAIR, BOLD, SIX_BLOCKS)
    assert [scheduled(step) for step in all_steps[:2]] == [{0: 4}, {0: 1, 1: 8}]
    (gone,) = events_of(all_steps, Preempted)
    assert gone == Preempted(1, lost_tokens=12)
    assert gone in all_steps[6].events
    back = next(step for step in all_steps if Admitted(1, 8, True) in step.events)
    assert scheduled(back) == {1: 5}  # the prompt was found again, the output was not


def test_vllm_finds_the_output_again():
    all_steps = run(PAIR, Chunked(), SIX_BLOCKS)
    assert events_of(all_steps, Preempted) == [Preempted(1, lost_tokens=12)]
    assert Admitted(1, 12, True) in events_of(all_steps, Admitted)


def test_of_equal_outputs_the_longest_prompt_gives_way_though_another_is_newer():
    """After 6 steps: 4 + 6, 8 + 5 and 4 + 5 tokens, which need 3 + 4 + 3 blocks of 9."""
    requests = [request(0, 4, 16), request(1, 8, 8, 1.0), request(2, 4, 8, 1.0)]
    memory = Paged(num_blocks=1 + 9, block_size=4)
    retracted = events_of(run(requests, BOLD, memory)[:7], Preempted)
    newest = events_of(run(requests, Chunked(), memory)[:7], Preempted)
    assert [event.request_id for event in retracted] == [1]
    assert [event.request_id for event in newest] == [2]


def test_of_equals_the_newest_gives_way():
    requests = [request(0, 4, 16), request(1, 8, 8, 1.0), request(2, 8, 8, 1.0)]
    retracted = events_of(run(requests, BOLD, Paged(1 + 10, block_size=4))[:7], Preempted)
    assert [event.request_id for event in retracted] == [2]


def test_after_a_retraction_more_is_expected():
    """Request 0 has 6 of 12 tokens, so (6 + 20) / 13 is cut to 1: its 5 further tokens are 2 blocks
    beside the 2 that request 2 takes, of 3 that are free; a step later 4 tokens are 1 block."""
    requests = [request(0, 4, 12), request(1, 8, 8, 1.0), request(2, 4, 4, 2.0)]
    all_steps = run(requests, BOLD, SIX_BLOCKS)
    assert events_of(all_steps[6:7], Preempted) == [Preempted(1, 12)]
    assert running(all_steps)[6:9] == [(0,), (0,), (0, 2)]


def test_what_is_allowed_is_what_is_written_and_what_may_still_come():
    """Request 0 has written 34 of 60 when the other gives way, so the ratio is (34 + 20) / 61: of
    the 26 tokens that may still come 23 are expected, 6 blocks and not 7."""
    requests = (request(0, 4, 60), request(1, 8, 60, arrival=1.0))
    memory = Paged(1 + 20, block_size=4)
    assert scheduled(run(list(requests), BOLD, memory)[34]) == {0: 1}
    told = run_by_steps(Setup(requests, BOLD, memory, SECOND))
    assert told.pauses[1][0][0] == 34
    assert (told.series.kv_promised[33:36] * 20).tolist() == [0, 6, 6]


def test_of_a_prompt_only_the_next_chunk_is_asked_for():
    """6 + 5 blocks in the end, of 9; but request 1 reads 2 tokens a step beside request 0, which
    has written its 7 before it comes to the 18th."""
    requests = [request(0, 15, 7), request(1, 18, 2, arrival=1.0)]
    policy = Estimating(max_num_batched_tokens=3, conservativeness=0)
    all_steps = run(requests, policy, Paged(1 + 9, block_size=4))
    assert events_of(all_steps, Preempted) == []
    assert any(len(step.work) == 2 for step in all_steps)


def test_who_was_retracted_queues_behind_those_who_wait():
    requests = [request(0, 4, 12), request(1, 8, 8, arrival=1.0), request(2, 16, 2, arrival=2.0)]
    all_steps = run(requests, BOLD, SIX_BLOCKS)
    assert all_steps[6].waiting == (2, 1)
    assert run(requests, Chunked(), SIX_BLOCKS)[6].waiting == (1, 2)


@pytest.mark.parametrize("value", [-1, math.inf, math.nan])
def test_a_conservativeness_that_is_no_factor_is_an_error(value):
    with pytest.raises(SimError) as error:
        Estimating(conservativeness=value)
    assert error.value.code == "conservativeness_negative"


def written_before(all_steps):
    """For each step: how many tokens each request had written when the step began."""
    written: dict[int, int] = {}
    for step in all_steps:
        yield step, dict(written)
        for work in step.work:
            written[work.request_id] = written.get(work.request_id, 0) + work.sampled


@given(setups(estimating()))
def test_the_victims_have_least_output_and_somebody_stays(setup):
    all_steps = run(list(setup.requests), setup.policy, setup.memory)
    for step, written in written_before(all_steps):
        victims = [event.request_id for event in events_of([step], Preempted)]
        if victims:
            assert step.running
            stayed = min(written.get(who, 0) for who in step.running)
            assert max(written.get(who, 0) for who in victims) <= stayed
            assert events_of([step], Admitted) == []


@given(setups(estimating()))
def test_with_plenty_of_memory_the_steps_are_those_of_vllm(setup):
    policy = setup.policy
    plain = Chunked(
        policy.max_num_seqs, policy.max_num_batched_tokens, max_model_len=policy.max_model_len
    )
    requests = list(setup.requests)
    assert list(map(scheduled, run(requests, policy, PLENTY))) == list(
        map(scheduled, run(requests, plain, PLENTY))
    )
