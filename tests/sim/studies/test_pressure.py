"""Three answers to full memory: the same requests, and the same tokens in the end."""

import numpy as np
import pytest

from sim import workload
from sim.cost import SimpleClock
from sim.engine import run_by_steps, simulate, steps
from sim.kv import Paged
from sim.scheduler import Chunked, Estimating, Reserving
from sim.studies.pressure import ANSWERS, Comparison, computed_again, interrupted_seconds
from sim.views.waste import losses

REQUESTS = workload.Workload(
    24,
    workload.PoissonArrivals(12),
    workload.UniformLength(20, 120),
    workload.UniformLength(20, 120),
    workload.SharedPrefix(32),
).requests()
SERVER = Comparison(SimpleClock(8_000, 0.02), pool_tokens=768, conservativeness=0.1)


def test_only_the_answer_to_pressure_differs():
    setups = [SERVER.setup(answer, REQUESTS) for answer in ANSWERS]
    assert [type(setup.policy) for setup in setups] == [Chunked, Estimating, Reserving]
    assert len({(setup.memory, setup.clock) for setup in setups}) == 1
    paused = Comparison(SERVER.clock, 768, max_utilization=True).setup("tensorrt", REQUESTS)
    assert paused.policy == setups[0].policy


@pytest.mark.parametrize("answer", ANSWERS)
def test_every_token_comes_out_and_what_is_lost_is_computed_again(answer):
    setup = SERVER.setup(answer, REQUESTS)
    run = simulate(setup)
    assert run.num_tokens.tolist() == [request.output_tokens for request in REQUESTS]
    assert computed_again(run) == losses(steps(setup)).again_tokens
    assert len(interrupted_seconds(run)) == run.num_preemptions
    assert np.all(run.series.kv_usage + run.series.kv_promised * (answer == "tensorrt") <= 1)


def test_all_but_the_one_that_reserves_interrupt_somebody_here():
    lost = {answer: simulate(SERVER.setup(answer, REQUESTS)) for answer in ANSWERS}
    assert [run.num_preemptions > 0 for run in lost.values()] == [True, True, False]
    assert computed_again(lost["tensorrt"]) == 0


def test_vllm_promises_nothing_on_either_path():
    setup = SERVER.setup("vllm", REQUESTS)
    for run in (simulate(setup), run_by_steps(setup)):
        assert not run.series.kv_promised.any()
        assert len(run.series.kv_promised) == len(run.series.kv_usage)


def test_a_promise_is_what_the_answers_may_still_take():
    (alone,) = workload.of_lengths([9], prompt_tokens=16)  # 25 tokens: 2 blocks of 16
    run = simulate(Comparison(SERVER.clock, 64).setup("tensorrt", (alone,)))
    assert (run.series.kv_usage * 4).tolist() == [1] + [2] * 8
    assert (run.series.kv_promised * 4).tolist() == [1] + [0] * 8
    allowed = simulate(Comparison(SERVER.clock, 64, max_new_tokens=40).setup("tensorrt", (alone,)))
    assert (allowed.series.kv_promised * 4).tolist() == [3] + [2] * 8  # 56 tokens: 4 blocks


def test_where_there_is_plenty_all_three_are_the_same():
    roomy = Comparison(SERVER.clock, pool_tokens=100_000, max_new_tokens=512)
    runs = [simulate(roomy.setup(answer, REQUESTS)) for answer in ANSWERS]
    for run in runs[1:]:
        assert np.array_equal(run.token_seconds, runs[0].token_seconds)


def test_the_pool_is_the_one_that_was_asked_for():
    assert SERVER.setup("vllm", REQUESTS).memory == Paged.for_tokens(768)
