"""KV during a run: it grows with every token and goes with the request."""

import numpy as np

from sim import engine, scheduler, workload
from sim.cost import SimpleClock
from sim.kv import Paged
from sim.request import Request
from sim.views.growth import growth

CLOCK = SimpleClock.of_milliseconds(1_000, 10)


def grown(*requests: Request, blocks: int = 1024, policy: scheduler.Policy | None = None):
    setup = engine.Setup(requests, policy or scheduler.Chunked(8, 64), Paged(blocks), CLOCK)
    steps = tuple(engine.steps(setup))
    return steps, growth(steps, 16)


def test_two_requests_by_hand():
    _, kept = grown(*workload.of_lengths((4, 2), (5, 7)))
    assert kept.request_ids == (0, 1)
    assert kept.tokens.tolist() == [[5, 6, 7, 8], [7, 8, 0, 0]]
    assert kept.active_tokens.tolist() == [12, 14, 7, 8]
    assert kept.num_active.tolist() == [2, 2, 1, 1]
    assert (kept.longest_tokens, kept.peak_tokens, kept.peak_guess_tokens) == (8, 14, 16)


def test_a_single_token_is_there_too():
    _, kept = grown(*workload.of_lengths((3,), 1))
    assert kept.tokens.tolist() == [[1, 2, 3]]
    assert kept.num_active.tolist() == [1, 1, 1]


def test_while_nobody_comes_or_goes_it_grows_by_one_for_each_that_decodes():
    _, kept = grown(*workload.of_lengths((30, 30, 30), 10))
    assert np.diff(kept.active_tokens).tolist() == [3] * (len(kept.active_tokens) - 1)


def test_blocks_hold_the_tokens_and_less_than_one_block_more_for_each_request():
    _, kept = grown(*workload.of_lengths((40, 13, 29), (5, 30, 17)))
    spare = kept.held_tokens - kept.active_tokens
    assert (spare >= 0).all()
    assert (spare < 16 * kept.num_active).all()


def test_what_the_pool_counts_is_what_is_held():
    steps, kept = grown(*workload.of_lengths((40, 13, 29), (5, 30, 17)))
    usage = np.array([step.kv_usage for step in steps])
    assert np.allclose(usage * steps[0].num_usable_blocks * 16, kept.held_tokens)


def test_who_waits_for_the_prefill_of_another_keeps_what_he_has():
    late = Request(1, 0.011, prompt_tokens=30, output_tokens=2)
    steps, kept = grown(Request(0, 0.0, 5, 6), late, policy=scheduler.Continuous(2))
    (column,) = [at for at, step in enumerate(steps) if 0 not in [w.request_id for w in step.work]]
    assert steps[column].running == (0, 1)
    assert kept.tokens[0, column] == kept.tokens[0, column - 1] > 0


def test_a_preempted_request_keeps_nothing_until_it_is_back():
    steps, kept = grown(*workload.of_lengths((40, 40), 16), blocks=6)
    away = [column for column, step in enumerate(steps) if 1 in step.waiting]
    assert away
    assert (kept.tokens[1, away] == 0).all()
