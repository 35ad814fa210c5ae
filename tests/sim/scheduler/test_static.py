"""Static batching holds everything to the end; dynamic batching only waits before it starts."""

import pytest

from sim.cost import Roofline, SimpleClock
from sim.engine import Setup, simulate
from sim.errors import SimError
from sim.events import Admitted, Finished, PoolFull, Released
from sim.kv import Paged
from sim.metrics import summarize
from sim.scheduler import Dynamic, Load, Static
from sim.specs import GPUS, IDEAL, MODELS
from tests.sim.helpers import PLENTY, SECOND, events_of, request, run, scheduled

A, B, C = request(0, 16, 10), request(1, 16, 100), request(2, 16, 30)


def test_three_answers_of_10_100_and_30_tokens_use_46_7_percent_of_the_slots():
    summary = summarize(simulate(Setup((A, B, C), Static(3), PLENTY, SECOND)))
    assert summary.num_steps == 100  # the prefill step yields the first token
    assert summary.slot_utilization == pytest.approx(140 / 300)


def test_a_finished_row_keeps_slot_and_memory_until_the_longest_answer_is_done():
    all_steps = run([A, B, C], Static(3))
    assert all(step.running == (0, 1, 2) for step in all_steps)
    held = {step.num_free_blocks for step in all_steps}
    assert held == {PLENTY.num_blocks - 1 - (7 + 29 + 12)}  # prompt + answer in blocks of 4
    assert [step.index for step in all_steps if step.finished] == [9, 29, 99]
    assert events_of(all_steps, Released) == [Released((0, 1, 2))]
    assert events_of(all_steps[:10], Finished) == [Finished(0, 10)]


def test_finished_rows_generate_nothing():
    all_steps = run([A, B, C], Static(3))
    assert scheduled(all_steps[0]) == {0: 16, 1: 16, 2: 16}
    assert scheduled(all_steps[9]) == {0: 1, 1: 1, 2: 1}
    assert scheduled(all_steps[10]) == {1: 1, 2: 1}
    assert scheduled(all_steps[30]) == {1: 1}


def test_the_next_batch_waits_for_the_whole_batch_before_it():
    late = request(3, 16, 5, arrival=1.0)
    all_steps = run([A, B, C, late], Static(3))
    assert all_steps[100].running == (3,)
    assert all_steps[100].start_seconds == 100.0


def test_an_idle_server_takes_who_is_there_and_does_not_wait_to_fill():
    all_steps = run([request(0, 4, 3), request(1, 4, 3, arrival=0.5)], Static(8))
    assert [step.running for step in all_steps] == [(0,)] * 3 + [(1,)] * 3


def test_whoever_finds_no_room_for_its_whole_life_is_named_and_waits():
    """Six tokens each, a block of four more: 2 of 3 blocks are gone when the second asks for 2."""
    all_steps = run([request(0, 4, 2), request(1, 4, 2)], Static(2), Paged(1 + 3, 4))
    assert [step.running for step in all_steps] == [(0,)] * 2 + [(1,)] * 2
    assert events_of(all_steps, PoolFull) == [PoolFull(1, needed_blocks=2, free_blocks=1)]


def test_prefill_is_padded_to_the_longest_prompt():
    short, long = request(0, 3, 2), request(1, 50, 2)
    clock = SimpleClock(prefill_tokens_per_second=10, decode_seconds_per_step=1)
    first = run([short, long], Static(2), clock=clock)[0]
    assert first.seconds == pytest.approx(2 * 50 / 10)


def test_every_step_costs_the_full_width():
    """A batch of one long and seven short answers costs what eight long ones cost."""
    clock = Roofline(MODELS["Llama-2-7B"], GPUS["RTX A6000"], IDEAL)
    mixed = [request(i, 16, 40 if i == 0 else 1) for i in range(8)]
    equal = [request(i, 16, 40) for i in range(8)]
    times = [
        [step.end_seconds for step in run(requests, Static(8), clock=clock)]
        for requests in (mixed, equal)
    ]
    assert times[0] == times[1]


def test_every_row_reads_the_context_of_the_longest():
    clock = Roofline(MODELS["Llama-2-7B"], GPUS["RTX A6000"], IDEAL)
    batch = [request(0, 10, 2), request(1, 30, 2), request(2, 20, 4)]
    all_steps = run(batch, Static(3), clock=clock)
    rows = [
        Load.of_rows([30] * 3, [30] * 3, 3),
        *(Load.of_rows([1] * 3, [30 + k] * 3, 3) for k in (1, 2, 3)),
    ]
    assert [step.time for step in all_steps] == [clock.step_time(row) for row in rows]


def test_a_batch_is_cut_where_memory_ends():
    memory = Paged(num_blocks=1 + 6, block_size=4)  # two requests of 12 tokens, not three
    all_steps = run([request(i, 8, 4) for i in range(3)], Static(3), memory)
    assert [step.running for step in all_steps] == [(0, 1)] * 4 + [(2,)] * 4


def test_a_shared_prefix_is_computed_again_by_everybody():
    requests = [request(i, 16, 2, shared=16) for i in range(2)]
    admitted = events_of(run(requests, Static(2)), Admitted)
    assert [event.hit_tokens for event in admitted] == [0, 0]


def test_dynamic_starts_when_the_window_has_passed():
    all_steps = run([request(0, 4, 2, 1.0), request(1, 4, 2, 2.0)], Dynamic(8, window_seconds=3))
    assert all_steps[0].start_seconds == 4.0  # three seconds after the first came
    assert all_steps[0].running == (0, 1)


def test_dynamic_starts_at_once_when_the_batch_is_full():
    requests = [request(i, 4, 2, arrival=0.25 * i) for i in range(4)]
    all_steps = run(requests, Dynamic(4, window_seconds=100))
    assert all_steps[0].start_seconds == 0.75
    assert all_steps[0].running == (0, 1, 2, 3)


def test_dynamic_is_not_continuous_nobody_joins_on_the_way():
    requests = [request(0, 4, 20), request(1, 4, 2), request(2, 4, 2, arrival=3.0)]
    all_steps = run(requests, Dynamic(2, window_seconds=1))
    assert all(step.running == (0, 1) for step in all_steps[:20])
    assert all_steps[20].running == (2,)


def test_dynamic_without_a_window_is_static():
    requests = [request(i, 4, 1 + i % 5, arrival=i / 2) for i in range(12)]
    assert [step.running for step in run(requests, Dynamic(3, window_seconds=0))] == [
        step.running for step in run(requests, Static(3))
    ]


@pytest.mark.parametrize(
    ("policy", "arguments", "code"),
    [(Static, (0,), "max_num_seqs_below_one"), (Dynamic, (2, None, -1.0), "window_negative")],
)
def test_impossible_settings_are_errors(policy, arguments, code):
    with pytest.raises(SimError, match=code):
        policy(*arguments)
