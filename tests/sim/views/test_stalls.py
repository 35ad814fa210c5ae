"""What a prefill costs those who decode beside it, by hand and against a server without it."""

import numpy as np
import pytest

from sim import metrics
from sim.cost import Roofline, SimpleClock, StepTime
from sim.engine import Setup, simulate, steps
from sim.errors import SimError
from sim.kv import Paged
from sim.scheduler import Chunked
from sim.specs import GPUS, MODELS
from sim.views import stalls
from tests.sim.helpers import PLENTY, request

TEN_A_SECOND = SimpleClock(prefill_tokens_per_second=10.0, decode_seconds_per_step=1.0)
GPU = Roofline(MODELS["Llama-3.1-8B"], GPUS["H100 SXM"])
CHATS = (request(0, 100, 40), request(1, 200, 40))
LONG = request(2, 4000, 3, arrival=0.05)


def test_a_step_with_forty_prompt_tokens_takes_four_seconds_and_its_decode_alone_one():
    requests = (request(0, 5, 4), request(1, 40, 1, arrival=0.5))
    first, mixed, *rest = steps(Setup(requests, Chunked(), PLENTY, TEN_A_SECOND))
    assert stalls.seconds_alone(first, TEN_A_SECOND) == 0  # nobody decodes yet
    assert (mixed.seconds, stalls.seconds_alone(mixed, TEN_A_SECOND)) == (4.0, 1.0)
    assert [stalls.seconds_alone(step, TEN_A_SECOND) for step in rest] == [1.0, 1.0]


class SecondsPerToken:
    """A clock on which every token takes a second."""

    def step_time(self, load):
        return StepTime(float(load.num_tokens), 0.0, float(load.num_tokens))


def test_alone_the_decodes_are_computed_and_nothing_else():
    requests = (request(0, 1, 9), request(1, 1, 9), request(2, 50, 2, arrival=1.0))
    setup = Setup(requests, Chunked(max_num_batched_tokens=12), PLENTY, SecondsPerToken())
    mixed = [step for step in steps(setup) if step.num_tokens == 12]
    assert len(mixed) == 5
    assert [stalls.seconds_alone(step, setup.clock) for step in mixed] == [2.0] * 5


@pytest.mark.parametrize("budget", [256, 8192])
def test_alone_is_what_the_step_takes_on_a_server_where_the_prompt_never_came(budget):
    memory, policy = Paged(2000), Chunked(max_num_batched_tokens=budget)
    quiet = list(steps(Setup(CHATS, policy, memory, GPU)))
    busy = list(steps(Setup((*CHATS, LONG), policy, memory, GPU)))
    mixed = [
        (step, same)
        for step, same in zip(busy, quiet, strict=False)
        if any(work.request_id == LONG.id and work.is_prefill for work in step.work)
    ]
    assert mixed
    for step, same in mixed:
        alone = stalls.seconds_alone(step, GPU)
        assert alone == pytest.approx(same.seconds)
        assert alone < step.seconds


def test_the_tokens_of_a_moment_are_those_of_the_next_step_that_begins():
    setup = Setup((*CHATS, LONG), Chunked(max_num_batched_tokens=512), Paged(2000), GPU)
    run, looked_at = simulate(setup), list(steps(setup))
    for step in looked_at:
        decode = sum(work.num_tokens for work in step.work if not work.is_prefill)
        wanted = (decode, step.num_tokens - decode)
        assert stalls.tokens_at(run, step.start_seconds) == wanted
    assert stalls.tokens_at(run, LONG.arrival_seconds) == (2, 510)  # decodes first
    with pytest.raises(SimError) as failed:
        stalls.tokens_at(run, looked_at[-1].end_seconds)
    assert failed.value.code == "after_the_end"


def test_short_and_long_prompts_are_told_apart_and_nobody_is_lost():
    run = simulate(Setup((*CHATS, LONG), Chunked(), Paged(2000), GPU))
    short, long = stalls.by_prompt(run, longest_short=200)
    first, second, third = run.records
    assert len(short.ttft) == 2
    assert len(short.itl) == 2 * 39
    assert long.ttft.mean == metrics.ttft(third)
    assert long.itl.values.tolist() == sorted(metrics.itl(third))
    both = np.concatenate([metrics.itl(first), metrics.itl(second)])
    assert short.itl.max == np.max(both)
    whole = metrics.summarize(run)
    assert len(short.itl) + len(long.itl) == len(whole.itl)


def test_nobody_has_no_latency():
    run = simulate(Setup(CHATS, Chunked(), Paged(2000), GPU))
    _, long = stalls.by_prompt(run, longest_short=200)
    assert np.isnan([long.ttft.mean, long.itl.p99]).all()


def test_a_change_of_ttft_is_that_of_the_means_at_each_load_for_short_and_long_apart():
    def served(load, budget):
        requests = (*CHATS, request(2, 4000, 3, arrival=0.05 / load))
        run = simulate(Setup(requests, Chunked(max_num_batched_tokens=budget), Paged(2000), GPU))
        return stalls.by_prompt(run, longest_short=200)

    before, after = ({load: served(load, budget) for load in (1.0, 2.0)} for budget in (8192, 256))
    change = stalls.TtftChange.between(before, after)
    assert change.loads == (1, 2)
    for index, load in enumerate(change.loads):
        short, long = before[load]
        assert short.ttft.mean + change.short[index] == pytest.approx(after[load][0].ttft.mean)
        assert long.ttft.mean + change.long[index] == pytest.approx(after[load][1].ttft.mean)
    assert min(change.long) > 0  # chunks this small come later


def test_series_agree_where_all_of_them_are_later_or_all_sooner_by_enough_to_tell():
    series = [[0.3, 0.1, -0.2, 0.3, -0.1], [0.2, 0.4, -0.3, -0.3, 0.2]]
    assert stalls.agreed(series, 0.15) == (1, 0, -1, 0, 0)
    assert stalls.agreed(series, 0.05) == (1, 1, -1, 0, 0)
