"""Prefill beside decodes, in words: who computes how much, and what that changes for whom."""

from sim import engine, scheduler, workload
from sim.cost import SimpleClock
from sim.engine import Setup
from sim.kv import Paged
from sim.request import Request
from sim.views import stalls
from ui.subjects.batching import stall_notes


def shares(requests, budget):
    clock = SimpleClock(1_000, 0.01)
    setup = Setup(requests, scheduler.Chunked(8, budget), Paged(1_000), clock)
    prompts = {one.id: one.prompt_tokens for one in requests}
    return [
        stall_notes.shares(step, stalls.seconds_alone(step, clock), prompts)
        for step in engine.steps(setup)
    ]


def test_a_shared_step_says_who_computes_how_much_and_how_long_it_would_take_without(read):
    requests = (*workload.of_lengths((4, 4), 8), Request(2, 0.005, 100, 2))
    read("en")
    assert shares(requests, 64) == [
        "Prefill: A 8, B 8. First token: A and B. 16.0 ms.",
        "Prefill: C 62 (62 of 100). Decode: A and B. 62.0 ms instead of 10.0 ms.",
        "Prefill: C 38. First token: C. Decode: A and B. 38.0 ms instead of 10.0 ms.",
        "Decode: A, B and C. Done: A, B and C. 10.0 ms.",
    ]
    read("zh")
    assert shares(requests, 64)[1] == (
        "预填充：C 62（62 / 100）；解码：A、B；62.0 ms，本来 10.0 ms。"
    )


def test_the_last_piece_of_a_prompt_is_one_number(read):
    requests = (*workload.of_lengths((4,), 8), Request(1, 0.005, 100, 2))
    read("en")
    assert shares(requests, 512)[1].startswith("Prefill: B 100. First token: B. Decode: A.")


def test_where_all_series_agree_is_a_predicate(read):
    read("en")
    assert stall_notes.where_all_agree((2, 6), (0, 0)) == "not the same way at any load"
    twice = stall_notes.where_all_agree((2, 6, 15.5), (1, 1, -1))
    assert twice == "later at 2 to 6 requests per second, sooner at 15.5 requests per second"
    read("zh")
    assert stall_notes.where_all_agree((2, 15.5), (0, -1)) == "在每秒 15.5 个请求时更早"


def test_a_difference_of_moments_is_later_or_sooner(read):
    read("en")
    assert stall_notes.later_or_sooner(-0.0806) == "80.6 ms sooner"
    assert stall_notes.later_or_sooner(1.5) == "1.50 s later"
    read("zh")
    assert stall_notes.later_or_sooner(-0.0806) == "早 80.6 ms"
