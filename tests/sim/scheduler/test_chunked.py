"""One step of vLLM V1, worked out by hand."""

import pytest

from sim.errors import SimError
from sim.events import Admitted, FirstToken, PoolFull, Preempted
from sim.kv import Paged
from sim.scheduler import Chunked
from tests.sim.helpers import events_of, request, run, scheduled


def shares(all_steps) -> list[dict[int, int]]:
    return [scheduled(step) for step in all_steps]


# -- the prefix cache ------------------------------------------------------------------------


@pytest.mark.parametrize(("prompt", "hit", "computed"), [(16, 12, 4), (17, 16, 1)])
def test_a_fully_cached_prompt_still_computes_its_last_block(prompt, hit, computed):
    first, again = (request(i, prompt, 2, arrival=5.0 * i, shared=prompt) for i in range(2))
    all_steps = run([first, again], Chunked())
    assert shares(all_steps)[2] == {1: computed}
    assert Admitted(1, hit, resumed=False) in all_steps[2].events


def test_two_equal_prompts_admitted_in_one_step_share():
    all_steps = run([request(i, 16, 2, shared=16) for i in range(2)], Chunked())
    assert shares(all_steps)[0] == {0: 16, 1: 4}
    tables = all_steps[0].block_tables
    assert tables[0][:3] == tables[1][:3]
    assert tables[0][3] != tables[1][3]  # no de-duplication: both keep their last block


# -- the budget ------------------------------------------------------------------------------


def test_256_decodes_in_a_budget_of_512_leave_256():
    decoding = [request(i, 1, 9) for i in range(256)]
    prompt = request(256, 1000, 2, arrival=0.5)
    all_steps = run([*decoding, prompt], Chunked(257, 512))
    assert shares(all_steps)[1] == dict.fromkeys(range(256), 1) | {256: 256}


def test_a_long_prompt_goes_in_chunks_and_its_last_chunk_yields_the_first_token():
    all_steps = run([request(0, 20, 3)], Chunked(max_num_batched_tokens=8))
    assert shares(all_steps) == [{0: 8}, {0: 8}, {0: 4}, {0: 1}, {0: 1}]
    assert [step.index for step in all_steps if FirstToken(0) in step.events] == [2]
    assert all_steps[-1].finished == (0,)


def test_running_requests_come_before_waiting_ones():
    requests = [request(0, 12, 4), request(1, 12, 4)]
    all_steps = run(requests, Chunked(max_num_batched_tokens=8))
    assert shares(all_steps)[:4] == [{0: 8}, {0: 4, 1: 4}, {0: 1, 1: 7}, {0: 1, 1: 1}]


def test_while_a_prompt_takes_the_whole_budget_nobody_is_admitted():
    requests = [request(0, 20, 2), request(1, 1, 9)]
    narrow = run(requests, Chunked(max_num_batched_tokens=5))
    assert shares(narrow)[:5] == [{0: 5}] * 4 + [{0: 1, 1: 1}]
    capped = Chunked(max_num_batched_tokens=6, long_prefill_token_threshold=5)
    assert shares(run(requests, capped))[:4] == [{0: 5, 1: 1}] * 4


def test_the_threshold_caps_what_one_prompt_takes_of_a_step():
    requests = [request(0, 20, 2), request(1, 20, 2)]
    all_steps = run(requests, Chunked(max_num_batched_tokens=32, long_prefill_token_threshold=8))
    assert shares(all_steps)[:3] == [{0: 8, 1: 8}, {0: 8, 1: 8}, {0: 4, 1: 4}]


def test_no_more_than_max_num_seqs_run():
    all_steps = run([request(i, 4, 3) for i in range(5)], Chunked(max_num_seqs=2))
    assert [step.running for step in all_steps] == [(0, 1)] * 3 + [(2, 3)] * 3 + [(4,)] * 3
    assert all_steps[0].waiting == (2, 3, 4)


def test_a_finished_request_is_replaced_in_the_very_next_step():
    requests = [request(0, 4, 1), request(1, 4, 9), request(2, 4, 9)]
    all_steps = run(requests, Chunked(max_num_seqs=2))
    assert [step.running for step in all_steps[:2]] == [(0, 1), (1, 2)]


# -- whole prompts ---------------------------------------------------------------------------


def test_without_chunks_a_prompt_that_does_not_fit_the_rest_is_overtaken():
    requests = [request(0, 6, 3), request(1, 8, 3), request(2, 3, 3), request(3, 7, 3)]
    policy = Chunked(max_num_batched_tokens=10, chunked_prefill=False)
    all_steps = run(requests, policy)
    assert shares(all_steps)[0] == {0: 6, 2: 3}
    assert all_steps[0].waiting == (3, 1)  # the last one set aside goes first
    assert shares(all_steps)[1] == {0: 1, 2: 1, 3: 7}
    assert all_steps[1].waiting == (1,)


def test_without_chunks_the_threshold_is_what_must_fit():
    """The cap comes first: a prompt of 30 asks for 4 tokens and is not set aside."""
    policy = Chunked(
        max_num_batched_tokens=10, chunked_prefill=False, long_prefill_token_threshold=4
    )
    all_steps = run([request(0, 6, 2), request(1, 30, 2)], policy)
    assert shares(all_steps)[:3] == [{0: 4, 1: 4}, {0: 2, 1: 4}, {0: 1, 1: 4}]


def test_without_chunks_a_prompt_longer_than_the_budget_waits_forever():
    with pytest.raises(SimError) as error:
        run([request(0, 11, 1)], Chunked(max_num_batched_tokens=10, chunked_prefill=False))
    assert error.value.code == "no_progress"
    assert error.value.values["request_id"] == 0


# -- memory ----------------------------------------------------------------------------------


def test_the_first_that_finds_no_memory_blocks_the_line():
    """Request 2 would fit, but nobody overtakes."""
    memory = Paged(num_blocks=1 + 6, block_size=4)
    requests = [request(0, 16, 2), request(1, 12, 2), request(2, 4, 2)]
    all_steps = run(requests, Chunked(), memory)
    assert all_steps[0].running == (0,)
    assert all_steps[0].waiting == (1, 2)
    assert events_of(all_steps[:1], PoolFull) == [PoolFull(1, needed_blocks=3, free_blocks=2)]
    assert events_of(all_steps, Preempted) == []


def test_the_last_admitted_is_preempted_and_resumes_in_front_of_those_who_wait():
    memory = Paged(num_blocks=1 + 6, block_size=4, prefix_caching=False)
    requests = [request(i, 8, 5) for i in range(3)]  # 2 blocks each, and a third to decode
    all_steps = run([*requests, request(3, 4, 1)], Chunked(max_num_seqs=3), memory)
    assert shares(all_steps)[:2] == [{0: 8, 1: 8, 2: 8}, {0: 1, 1: 1}]
    assert all_steps[1].running == (0, 1)
    assert all_steps[1].waiting == (2, 3)
    assert events_of(all_steps, Preempted) == [Preempted(2, lost_tokens=8)]
    admitted = [(e.request_id, e.resumed) for e in events_of(all_steps, Admitted)]
    assert admitted == [(0, False), (1, False), (2, False), (2, True), (3, False)]
    resumed = next(step for step in all_steps if Admitted(2, 0, True) in step.events)
    assert scheduled(resumed)[2] == 9  # prompt and the token it had generated


def test_several_victims_stand_in_the_queue_as_they_were_admitted():
    memory = Paged(num_blocks=1 + 7, block_size=4, prefix_caching=False)
    requests = [request(0, 19, 9), request(1, 1, 9), request(2, 1, 9), request(3, 1, 1, 1.0)]
    all_steps = run(requests, Chunked(max_num_seqs=3), memory)
    victims = [step for step in all_steps if any(isinstance(e, Preempted) for e in step.events)]
    assert victims
    assert events_of(victims, Preempted)[:1] == [Preempted(2, lost_tokens=2)]
    assert all(list(step.waiting) == sorted(step.waiting) for step in all_steps)


def test_nobody_is_admitted_in_a_step_that_preempted():
    """The victim leaves room for the small one behind it; it still has to wait a step."""
    memory = Paged(num_blocks=1 + 6, block_size=4, prefix_caching=False)
    requests = [*(request(i, 8, 5) for i in range(3)), request(3, 1, 1)]
    all_steps = run(requests, Chunked(max_num_seqs=4), memory)
    step = next(s for s in all_steps if any(isinstance(e, Preempted) for e in s.events))
    assert not [event for event in step.events if isinstance(event, Admitted)]


def test_a_victim_finds_its_own_blocks_in_the_cache():
    memory = Paged(num_blocks=1 + 8, block_size=4)
    requests = [request(0, 8, 9), request(1, 12, 9), request(2, 8, 9)]
    all_steps = run(requests, Chunked(), memory)
    resumed = [event for event in events_of(all_steps, Admitted) if event.resumed]
    assert resumed
    assert resumed[0].hit_tokens > 0


def test_full_length_reservation_admits_only_what_fits_whole():
    """A prompt of 5 blocks; 4 are free.  A first chunk of 8 tokens would fit."""
    memory = Paged(num_blocks=1 + 6, block_size=4)
    requests = [request(0, 8, 9), request(1, 17, 2)]
    eager = run(requests, Chunked(max_num_batched_tokens=16), memory)
    careful = run(requests, Chunked(max_num_batched_tokens=16, reserve_full_length=True), memory)
    assert shares(eager)[0] == {0: 8, 1: 8}
    assert shares(careful)[0] == {0: 8}
    assert events_of(eager, Preempted) != []
    assert events_of(careful, Preempted) == []


def test_a_refusal_says_how_many_blocks_the_full_length_needs():
    memory = Paged(num_blocks=1 + 6, block_size=4)
    policy = Chunked(max_num_batched_tokens=16, reserve_full_length=True)
    first = run([request(0, 8, 9), request(1, 17, 2)], policy, memory)[0]
    assert events_of([first], PoolFull) == [PoolFull(1, needed_blocks=5, free_blocks=4)]


def test_a_refusal_does_not_count_blocks_that_can_be_shared():
    memory = Paged(num_blocks=1 + 5, block_size=4)
    requests = [request(0, 13, 3, shared=12), request(1, 17, 2, arrival=0.5, shared=12)]
    refused = events_of(run(requests, Chunked(), memory), PoolFull)
    assert refused[0] == PoolFull(1, needed_blocks=2, free_blocks=1)


def test_the_model_length_ends_an_answer():
    all_steps = run([request(0, 10, 50)], Chunked(max_model_len=16))
    assert all_steps[-1].finished == (0,)
    assert len(all_steps) == 6


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ((0,), "max_num_seqs_below_one"),
        ((1, 0), "max_num_batched_tokens_below_one"),
        ((1, 1, True, -1), "threshold_negative"),
    ],
)
def test_impossible_settings_are_errors(settings, code):
    with pytest.raises(SimError, match=code):
        Chunked(*settings)
