"""Two machines and a queue between them: who waits for whom, and what a graph changes."""

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.cost import Eager, Roofline, launches
from sim.cost.launches import AHEAD, CPU, GPU, ONE_BY_ONE, REPLAY, LaunchWork, Way
from sim.cost.phases import decode, prefill
from sim.specs import GPUS, MODELS

SMALL = Eager(Roofline(MODELS["Llama-3.2-1B"], GPUS["H100 SXM"]))
LARGE = Eager(Roofline(MODELS["Qwen3-14B"], GPUS["H100 SXM"]))
WAYS = (ONE_BY_ONE, REPLAY, AHEAD, Way(ahead=True))

tick = st.integers(0, 40)  # whole numbers, so that sums are exact
works = st.builds(LaunchWork, st.integers(1, 12), st.integers(1, 40), tick, tick, tick)


def on(place, spans):
    return [span for span in spans if span.place == place]


def times(place, spans):
    return [(span.start_seconds, span.end_seconds) for span in on(place, spans)]


# -- the timeline ---------------------------------------------------------------------------------


def test_one_by_one_a_short_kernel_waits_for_its_launch():
    spans = launches.spans(LaunchWork(3, 2, 10, 10), ONE_BY_ONE)
    assert times(CPU, spans) == [
        (0, 10),
        (10, 20),
        (20, 30),
    ]
    assert times(GPU, spans) == [
        (10, 12),
        (20, 22),
        (30, 32),
    ]


def test_one_by_one_long_kernels_queue_and_launches_are_hidden():
    spans = launches.spans(LaunchWork(3, 10, 2, 2), ONE_BY_ONE)
    assert times(GPU, spans) == [
        (2, 12),
        (12, 22),
        (22, 32),
    ]


def test_a_replay_is_one_launch_and_then_kernels_without_a_gap():
    spans = launches.spans(LaunchWork(3, 2, 10, 10), REPLAY)
    assert [(s.kernel, s.start_seconds, s.end_seconds) for s in on(CPU, spans)] == [(0, 0, 10)]
    assert times(GPU, spans) == [
        (10, 12),
        (12, 14),
        (14, 16),
    ]


def test_ahead_the_next_step_is_prepared_while_this_one_runs():
    spans = launches.spans(LaunchWork(1, 10, 1, 1, host_seconds=4), AHEAD, num_steps=3)
    prepared = [(s.start_seconds, s.end_seconds) for s in spans if s.kind == "prepare"]
    run = times(GPU, spans)
    assert prepared == [(0, 4), (5, 9), (15, 19)]  # the third waits until the first is done
    assert run == [(5, 15), (15, 25), (25, 35)]


@given(works, st.sampled_from(WAYS), st.integers(1, 6))
def test_each_machine_does_one_thing_at_a_time_and_no_kernel_runs_before_its_launch(
    work, way, num_steps
):
    spans = launches.spans(work, way, num_steps)
    for place in (CPU, GPU):
        for one, other in pairwise(on(place, spans)):
            assert one.end_seconds <= other.start_seconds
    launched = {(s.step, s.kernel): s.end_seconds for s in spans if s.kind == "launch"}
    for span in on(GPU, spans):
        assert span.start_seconds >= launched[span.step, 0 if way.graph else span.kernel]
    assert len(on(GPU, spans)) == num_steps * work.num_kernels


@given(works, st.sampled_from(WAYS))
def test_the_formulas_give_the_pace_that_the_timeline_settles_into(work, way):
    done = {
        s.step: s.end_seconds for s in launches.spans(work, way, num_steps=24) if s.place == GPU
    }
    assert done[23] - done[11] == pytest.approx(12 * launches.step_seconds(work, way), rel=1e-9)


@given(works)
def test_the_formula_of_the_clock_is_off_by_less_than_a_launch_and_a_kernel(work):
    clock = max(work.num_kernels * work.launch_seconds, work.gpu_seconds) + work.host_seconds
    drawn = launches.step_seconds(work, ONE_BY_ONE)
    assert clock <= drawn <= clock + work.launch_seconds + work.kernel_seconds


@given(works, st.sampled_from(WAYS), st.integers(1, 15))
def test_larger_pieces_take_as_long_end_as_before_and_do_not_overlap(work, way, each):
    found = launches.spans(work, way, num_steps=3)
    pieces = launches.merged(found, each)
    for place in (CPU, GPU):
        length = sum(s.end_seconds - s.start_seconds for s in on(place, pieces))
        assert length == sum(s.end_seconds - s.start_seconds for s in on(place, found))
        assert times(place, pieces)[-1][1] == times(place, found)[-1][1]
        for one, other in pairwise(on(place, pieces)):
            assert one.end_seconds <= other.start_seconds
    assert len(on(GPU, pieces)) == 3 * -(-work.num_kernels // each)


@given(works, st.sampled_from(WAYS))
def test_the_gpu_is_never_busier_than_always(work, way):
    assert 0 < launches.busy_share(work, way) <= 1 + 1e-9


def test_a_step_comes_from_the_roofline_in_equal_kernels():
    work = LaunchWork.of(SMALL, decode(4, 512))
    time = SMALL.roofline.step_time(decode(4, 512))
    assert work.num_kernels == 16 * 12
    assert work.gpu_seconds == pytest.approx(time.memory_seconds)
    assert work.host_seconds == 1e-3
    eager = SMALL.step_time(decode(4, 512)).seconds
    assert launches.step_seconds(work, ONE_BY_ONE) == pytest.approx(eager + work.kernel_seconds)


# -- when it matters ------------------------------------------------------------------------------


@pytest.mark.parametrize("context", [128, 2048])
def test_at_the_crossover_the_gpu_takes_as_long_as_the_launches(context):
    batch = launches.decode_crossover(SMALL, context)
    assert launches.launch_bound(SMALL, decode(batch - 1, context))
    assert not launches.launch_bound(SMALL, decode(batch, context))
    tokens = launches.prefill_crossover(SMALL)
    assert launches.launch_bound(SMALL, prefill(tokens - 1))
    assert not launches.launch_bound(SMALL, prefill(tokens))


def test_a_large_model_is_never_launch_bound():
    assert launches.decode_crossover(LARGE, 512) == launches.prefill_crossover(LARGE) == 1


# -- captured sizes -------------------------------------------------------------------------------


def test_vllm_captures_every_eighth_size_and_then_every_sixteenth():
    assert launches.captured_sizes(32) == (1, 2, 4, 8, 16, 24, 32)
    assert launches.captured_sizes(272)[-4:] == (240, 248, 256, 272)
    assert len(launches.captured_sizes(256)) == 35  # as logged by vLLM, pull request 11349
    assert len(launches.captured_sizes(512)) == 51


def test_a_batch_is_padded_to_the_next_size_and_beyond_the_largest_there_is_none():
    sizes = launches.captured_sizes(64)
    assert [launches.padded(batch, sizes) for batch in (1, 3, 9, 63, 64, 65)] == [
        *(1, 4, 16, 64, 64, None)
    ]


def test_padding_rows_are_computed_but_read_no_kv_and_are_not_sampled():
    load = launches.graph_load(41, 512, 48)
    real = decode(41, 512)
    assert (load.num_tokens, real.num_tokens) == (48, 41)
    assert (load.kv_tokens, load.num_sampled) == (real.kv_tokens, real.num_sampled)


def test_beyond_the_largest_size_a_step_takes_what_it_takes_one_by_one():
    sizes = launches.captured_sizes(64)
    inside, outside = (launches.captured_seconds(SMALL, batch, 512, sizes) for batch in (64, 65))
    eager = launches.step_seconds(LaunchWork.of(SMALL, decode(65, 512)), ONE_BY_ONE)
    assert outside == eager > 2 * inside


def test_what_is_done_for_a_whole_step_belongs_to_no_single_kernel():
    spans = launches.spans(LaunchWork(2, 3, 1, 1, host_seconds=4), REPLAY)
    assert [(span.kind, span.kernel) for span in spans] == [
        *(("prepare", 0), ("launch", 0)),
        *(("kernel", 1), ("kernel", 2)),
    ]


def test_the_first_kernels_of_a_step_are_not_prepared_for_and_no_more_than_there_are():
    work = LaunchWork(12, 2, 10, 10, host_seconds=4)
    assert work.first(5) == LaunchWork(5, 2, 10, 10)
    assert work.first(99) == LaunchWork(12, 2, 10, 10)


def test_three_short_kernels_are_faster_replayed_by_hand():
    """One by one 3 x 10 + 2, replayed 10 + 3 x 2."""
    work = LaunchWork(3, 2, 10, 10, host_seconds=4)
    assert launches.speedup(replace(work, host_seconds=0), ONE_BY_ONE, REPLAY) == 32 / 16
    assert launches.step_seconds(work, REPLAY) == 4 + 10 + 6
    assert launches.step_seconds(work, AHEAD) == 4 + 10  # the kernels run meanwhile


def test_one_request_beyond_the_largest_size_is_launched_one_by_one():
    sizes = launches.captured_sizes(64)
    assert launches.edge_seconds(SMALL, 512, sizes) == (
        launches.captured_seconds(SMALL, 64, 512, sizes),
        launches.captured_seconds(SMALL, 65, 512, sizes),
    )
    assert launches.padding(41, 48) == 7


def test_35_graphs_of_6_mebibytes_take_the_0_21_gib_that_was_reported():
    num_bytes = launches.graph_bytes(launches.captured_sizes(256), 6)
    assert num_bytes / 2**30 == pytest.approx(0.21, abs=0.005)
    assert launches.kv_tokens_lost(MODELS["Llama-3.2-1B"], num_bytes) == num_bytes / 32_768


def test_a_slider_in_milliseconds_gives_seconds():
    assert launches.in_seconds(2.5) == 0.0025
