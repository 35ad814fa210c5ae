"""What the panel shows, against the steps of the run, one by one."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from sim import engine, workload
from sim.kv import Contiguous
from sim.scheduler import Load
from sim.studies import clinic
from sim.studies.clinic import Deployment, Slo
from sim.studies.clinic.windows import NUM_WINDOWS, OverTime, around_full
from tests.sim.helpers import request

SLO = Slo(1, 1)


def read(server: Deployment) -> clinic.Panel:
    return clinic.read(server, [engine.simulate(setup) for setup in server.setups()], SLO)


def over_time(kv: Sequence[float], generation_rate: Sequence[float]) -> OverTime:
    """Of somebody whose other series do not matter."""
    some = read(Deployment(workload.of_lengths([4]))).over_time
    return replace(some, kv=np.array(kv), generation_rate=np.array(generation_rate))


def test_the_hit_rate_is_one_of_tokens():
    asked = (request(0, 200, 4, shared=160), request(1, 200, 4, arrival=9.0, shared=160))
    assert read(Deployment(asked)).hit_rate == 160 / 400
    assert read(Deployment(asked, prefix_caching=False)).hit_rate == 0


def test_utilization_is_the_sum_over_the_steps_of_long_prompts_and_their_answers():
    server = Deployment(workload.of_lengths([200, 100], 15_000), gpu="H100 SXM")
    (setup,) = server.setups()
    clock, reached = server.roofline, server.roofline.used_efficiency
    memory = compute = working = busy = 0.0
    for step in engine.steps(setup):
        tokens, contexts = ([work[at] for work in step.work] for at in (1, 2))
        time = clock.step_time(Load.of_rows(tokens, contexts, sum(w.sampled for w in step.work)))
        memory += time.memory_seconds
        compute += time.compute_seconds
        working += max(time.memory_seconds, time.compute_seconds)
        busy += step.seconds
    here = read(server)
    assert here.readings.bandwidth == pytest.approx(memory * reached.bandwidth / busy, rel=0.01)
    assert here.readings.compute == pytest.approx(compute * reached.flops / busy, rel=0.02)
    assert here.gpu_busy == pytest.approx(working / busy, rel=0.02)


def test_shortly_before_kv_is_full_are_four_windows():
    kv, rate = [0.1, 0.5, 0.6, 0.7, 0.9, 0.97, 1.0, 0.5], [90, 1, 2, 3, 6, 50, 70, 8]
    assert around_full(over_time(kv, rate)) == (3, 60)
    assert around_full(over_time([0.1, 1.0, 0.2], [5, 6, 7])) == (5, 6)


def test_where_kv_is_full_never_or_from_the_start_there_is_no_before():
    for kv in ([0.1, 0.9], [0.97, 0.1]):
        assert all(math.isnan(each) for each in around_full(over_time(kv, [5, 6])))


def test_the_windows_are_of_one_length_from_the_start_to_the_end():
    server = Deployment(workload.of_lengths([30, 60], 100))
    (setup,) = server.setups()
    run, times = engine.simulate(setup), read(server).over_time
    end = float(run.series.end_seconds[-1])
    assert times.end_seconds == pytest.approx(end * np.arange(1, NUM_WINDOWS + 1) / NUM_WINDOWS)
    assert times.generation_rate.mean() == pytest.approx(90 / end)
    assert times.prompt_rate.mean() == pytest.approx(200 / end)


def test_a_contiguous_pool_has_the_bytes_of_the_paged_one():
    paged = Deployment(workload.of_lengths([4]))
    contiguous = replace(paged, paged=False)
    assert isinstance(contiguous.memory, Contiguous)
    assert contiguous.pool_tokens == paged.pool_tokens == 16 * paged.memory.open().num_usable_blocks


def test_a_limit_counts_from_its_own_value_on_and_equal_shares_are_compute():
    at = clinic.Readings(ttft_p99=1, itl_p99=1, kv=0.9, bandwidth=0.3, compute=0.3)
    assert clinic.answers(at, SLO, clinic.Thresholds(kv=0.9, busy=0.3)) == (
        *("neither", "full", "compute"),
    )


def test_the_longest_prompt_with_the_promise_has_it_too():
    asked = (request(0, 200, 4), request(1, 201, 4, arrival=9.0))
    server = Deployment(asked)
    (setup,) = server.setups()
    here = clinic.read(server, [engine.simulate(setup)], Slo(1, 1, longest_prompt=200))
    assert len(here.ttft) == 1
