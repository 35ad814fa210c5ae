"""Continuous batching chooses anew every step: prefill only if anybody can be admitted."""

import pytest

from sim.errors import SimError
from sim.events import Admitted, PoolFull, Preempted
from sim.kv import Paged
from sim.scheduler import Continuous
from tests.sim.helpers import events_of, request, run, scheduled


def test_a_finished_request_leaves_at_once_and_the_next_takes_its_place():
    requests = [request(0, 4, 2), request(1, 4, 5), request(2, 4, 3)]
    all_steps = run(requests, Continuous(max_num_seqs=2))
    assert [step.running for step in all_steps] == [
        *[(0, 1), (0, 1)],
        *[(1, 2), (1, 2), (1, 2)],
        (1,),
    ]


def test_a_step_that_can_admit_is_prefill_only_and_the_others_wait():
    requests = [request(0, 4, 5), request(1, 6, 5, arrival=1.5)]
    all_steps = run(requests, Continuous())
    assert [scheduled(step) for step in all_steps[:4]] == [{0: 4}, {0: 1}, {1: 6}, {0: 1, 1: 1}]


def test_a_prompt_is_computed_whole():
    all_steps = run([request(0, 100, 2)], Continuous(max_num_batched_tokens=10))
    assert [scheduled(step) for step in all_steps] == [{0: 100}, {0: 1}]


def test_prompts_share_a_step_up_to_the_budget():
    requests = [request(i, 6, 2) for i in range(3)]
    all_steps = run(requests, Continuous(max_num_batched_tokens=12))
    assert [scheduled(step) for step in all_steps[:3]] == [
        {0: 6, 1: 6},
        {2: 6},
        {0: 1, 1: 1, 2: 1},
    ]


def test_a_cached_prefix_is_not_computed_again():
    requests = [request(0, 17, 2, shared=17), request(1, 17, 2, arrival=0.5, shared=17)]
    all_steps = run(requests, Continuous())
    assert scheduled(all_steps[1]) == {1: 1}
    assert events_of(all_steps, Admitted)[1] == Admitted(1, 16, resumed=False)


def test_the_newest_is_preempted_and_comes_back_before_those_who_wait():
    memory = Paged(num_blocks=1 + 4, block_size=4, prefix_caching=False)
    requests = [request(0, 8, 5), request(1, 8, 5), request(2, 4, 1)]
    all_steps = run(requests, Continuous(max_num_seqs=2), memory)
    assert events_of(all_steps, Preempted) == [Preempted(1, lost_tokens=8)]
    assert events_of(all_steps, PoolFull)[0] == PoolFull(0, needed_blocks=1, free_blocks=0)
    assert [event.request_id for event in events_of(all_steps, Admitted)] == [0, 1, 1, 2]
    resumed = next(step for step in all_steps if Admitted(1, 0, True) in step.events)
    assert scheduled(resumed)[1] == 9  # the generated token is computed again, too


def test_nobody_is_preempted_for_a_waiting_request():
    memory = Paged(num_blocks=1 + 3, block_size=4)
    all_steps = run([request(0, 8, 4), request(1, 8, 4)], Continuous(), memory)
    assert events_of(all_steps, Preempted) == []
    assert events_of(all_steps[:1], PoolFull) == [PoolFull(1, needed_blocks=2, free_blocks=1)]


def test_one_slot_and_a_budget_of_one_token_serve_one_after_the_other():
    all_steps = run([request(0, 3, 2), request(1, 3, 1)], Continuous(1, 1))
    assert [scheduled(step) for step in all_steps] == [{0: 3}, {0: 1}, {1: 3}]


@pytest.mark.parametrize(
    ("settings", "code"),
    [((0,), "max_num_seqs_below_one"), ((1, 0), "max_num_batched_tokens_below_one")],
)
def test_impossible_settings_are_errors(settings, code):
    with pytest.raises(SimError, match=code):
        Continuous(*settings)
