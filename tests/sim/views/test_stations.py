"""One request's stations: one after the other, around the engine's own clock."""

from itertools import pairwise

import numpy as np
import pytest

from sim.cost import Roofline
from sim.engine import Setup, simulate, steps
from sim.kv import Paged
from sim.request import Request
from sim.scheduler import Chunked
from sim.specs import GPUS, MODELS
from sim.views import stations
from sim.views.stations import HostTimes

CLOCK = Roofline(MODELS["Llama-3.1-8B"], GPUS["H100 SXM"])
HOST = HostTimes()
NEIGHBOUR = Request(0, 0.0, prompt_tokens=200, output_tokens=60)


def served(request: Request, host: HostTimes = HOST, budget: int = 8192) -> Setup:
    requests = (NEIGHBOUR, stations.tokenized(request, host))
    return Setup(requests, Chunked(8, budget), Paged(num_blocks=4096), CLOCK)


def follow(request: Request, budget: int = 8192) -> stations.Journey:
    return stations.journey(request, steps(served(request, budget=budget)), HOST)


ASKS = [Request(1, 0.02, prompt, output) for prompt in (1, 300, 5000) for output in (1, 2, 9)]
every_ask = pytest.mark.parametrize("ask", ASKS, ids=str)


@every_ask
def test_the_first_token_takes_all_stations_without_a_gap(ask):
    journey = follow(ask)
    first = [one for one in journey.stations if one.token == 1]
    kinds = [one.kind for one in first]
    assert kinds == ["tokenize", "queue", "prefill", "sample", "detokenize"]
    assert first[0].start_seconds == ask.arrival_seconds
    for one, after in pairwise(first):
        assert one.end_seconds == after.start_seconds
    assert sum(one.seconds for one in first) == pytest.approx(journey.ttft)


@every_ask
def test_every_further_token_takes_one_decode_step_and_the_first_none(ask):
    decodes = [one.token for one in follow(ask).stations if one.kind == "decode"]
    assert decodes == list(range(2, ask.output_tokens + 1))


@every_ask
def test_tokens_are_sampled_when_the_engine_says_and_seen_a_little_later(ask):
    journey = follow(ask)
    record = simulate(served(ask)).records[1]
    sampled = [one.end_seconds for one in journey.stations if one.kind == "sample"]
    assert sampled == record.token_seconds.tolist()
    assert np.subtract(journey.seen_seconds, sampled) == pytest.approx(HOST.detokenize_seconds)


def test_the_gpu_does_not_wait_for_the_text():
    journey = follow(Request(1, 0.02, 300, 3))
    first = next(one for one in journey.stations if one.kind == "detokenize")
    second = next(one for one in journey.stations if one.kind == "decode")
    assert second.start_seconds == first.start_seconds < first.end_seconds


def test_a_prompt_beyond_the_budget_is_prefilled_in_pieces_and_sampled_once():
    kinds = [one.kind for one in follow(Request(1, 0.02, 1000, 1), budget=400).stations]
    assert kinds == ["tokenize", "queue", *["prefill"] * 3, "sample", "detokenize"]


def test_others_have_the_gpu_while_it_waits_and_are_not_followed_afterwards():
    journey = follow(Request(1, 0.02, 300, 3))
    queue = next(one for one in journey.stations if one.kind == "queue")
    assert journey.others[0].start_seconds == journey.request.arrival_seconds
    assert journey.others[-1].end_seconds == queue.end_seconds
    assert {(one.request_id, one.kind, one.token) for one in journey.others} == {(0, "decode", 0)}


def test_whoever_comes_during_a_prefill_waits_for_the_rest_of_it():
    journey = follow(Request(1, 0.001, 300, 1))
    assert (journey.others[0].start_seconds, journey.others[0].kind) == (0.001, "prefill")


def test_on_an_idle_server_nobody_queues():
    alone = Request(1, 0.5, 300, 2)
    setup = Setup((stations.tokenized(alone, HOST),), Chunked(8), Paged(64), CLOCK)
    journey = stations.journey(alone, steps(setup), HOST)
    assert journey.others == ()
    assert journey.seconds_of("queue") == 0
    assert journey.seconds_of("tokenize") == pytest.approx(HOST.tokenize(300))


def test_a_longer_prompt_takes_longer_to_tokenize():
    assert HOST.tokenize(2000) - HOST.tokenize(1000) == pytest.approx(
        1000 * HOST.tokenize_seconds_per_token
    )
