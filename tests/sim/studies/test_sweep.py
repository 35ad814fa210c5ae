"""A sweep gives the same points wherever its runs are computed; the knee of a known queue."""

import multiprocessing
import pickle
import sys
import types
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

from sim import workload
from sim.cost import Roofline, SimpleClock
from sim.engine import Setup, Users, simulate
from sim.errors import SimError
from sim.kv import Paged
from sim.metrics import Goodput, summarize
from sim.scheduler import Chunked
from sim.specs import GPUS, MODELS
from sim.studies.sweep import (
    Point,
    arrival_rate,
    field,
    knee,
    most_goodput,
    num_inside,
    setups,
    sweep,
)
from sim.workload import FixedLength, LognormalLength, PoissonArrivals, Workload
from tests.sim.helpers import PLENTY, SECOND, request

REQUESTS = Workload(60, PoissonArrivals(4.0), FixedLength(200), LognormalLength(40, 120)).requests()
POLICY = Chunked(16, 512)
CLOCK = Roofline(MODELS["Llama-3.1-8B"], GPUS["L4"])
CHAT = Setup(REQUESTS, POLICY, Paged(2000), CLOCK)


def numbers(points: tuple[Point, ...]) -> list:
    """Everything in the points, without arrays."""
    return [
        (
            point.value,
            [getattr(v, "values", np.array(v)).tolist() for v in vars(point.summary).values()],
        )
        for point in points
    ]


# -- Little's law -------------------------------------------------------------------------------


@pytest.mark.parametrize("rate", [0.5, 2.0, 6.0, 20.0])
def test_arrivals_times_the_stay_are_the_requests_inside(rate):
    run = simulate(replace(CHAT, requests=arrival_rate(CHAT, rate).requests))
    summary = summarize(run)
    inside = sum(record.token_seconds[-1] - record.scheduled_seconds for record in run.records)
    served_rate = summary.requests_per_second
    assert num_inside(served_rate, summary) == pytest.approx(inside / summary.duration_seconds)
    assert num_inside(served_rate, summary) <= POLICY.max_num_seqs


# -- wherever -----------------------------------------------------------------------------------


def test_a_process_pool_gives_the_same_points_in_the_order_of_the_values(monkeypatch):
    """In fresh processes, which know nothing but what is sent to them."""
    values = [8, 0.5, 4, 2]
    reports: list[tuple[int, int]] = []
    # They would import this process's main module, which may be a page that a test has run.
    monkeypatch.setitem(sys.modules, "__main__", types.ModuleType("__main__"))
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(2, mp_context=context) as executor:
        spread = sweep(CHAT, arrival_rate, values, executor, lambda *report: reports.append(report))
        limits = sweep(CHAT, field("policy.max_num_seqs"), [1, 16], executor)
        with pytest.raises(SimError, match="max_num_seqs_below_one") as failed:
            sweep(CHAT, field("policy.max_num_seqs"), [3, 0, 5], executor)
    assert numbers(spread) == numbers(sweep(CHAT, arrival_rate, values))
    assert [point.value for point in spread] == values
    assert reports == [(1, 4), (2, 4), (3, 4), (4, 4)]
    assert limits[0].summary.ttft.mean > limits[1].summary.ttft.mean
    assert failed.value.code == "max_num_seqs_below_one"
    assert failed.value.__notes__ == ["in the sweep, at the value 0"]


class LastFirst(Executor):
    """Runs what it was given only when the last value has come, and that one first."""

    def __init__(self, num_values: int):
        self.num_values = num_values
        self.given: list = []

    def submit(self, function, /, *arguments, **named):
        self.given.append((Future(), function, arguments))
        if len(self.given) == self.num_values:
            for future, run, values in reversed(self.given):
                future.set_result(run(*values))
        return self.given[-1][0]


def test_points_keep_their_order_when_runs_end_in_another():
    values = [1, 2, 3]
    points = sweep(CHAT, field("policy.max_num_seqs"), values, LastFirst(3))
    assert [point.value for point in points] == values
    assert numbers(points) == numbers(sweep(CHAT, field("policy.max_num_seqs"), values))


def test_a_sweep_is_its_runs():
    (point,) = sweep(CHAT, field("policy.max_num_seqs"), [3])
    alone = summarize(simulate(replace(CHAT, policy=replace(POLICY, max_num_seqs=3))))
    assert numbers((point,)) == numbers((Point(3, alone),))


def test_the_setups_of_a_sweep_are_those_that_it_runs():
    knob = field("policy.max_num_seqs")
    behind = setups(CHAT, knob, [1, 3])
    again = tuple(Point(value, summarize(simulate(setup))) for value, setup in behind.items())
    assert numbers(again) == numbers(sweep(CHAT, knob, [1, 3]))


def test_a_sweep_over_nothing_is_empty():
    assert sweep(CHAT, arrival_rate, []) == ()


@pytest.mark.parametrize("executor", [None, ThreadPoolExecutor(1)])
def test_an_error_says_at_which_value(executor):
    done: list[int] = []
    with pytest.raises(SimError, match="rate_not_positive") as failed:
        sweep(CHAT, arrival_rate, [4, -1, 2], executor, lambda number, _: done.append(number))
    assert failed.value.__notes__ == ["in the sweep, at the value -1"]
    assert done == [1]


class OnlyTheFirst(Executor):
    """Runs the first value it is given; the others wait."""

    def __init__(self):
        self.futures: list[Future] = []

    def submit(self, function, /, *arguments, **named):
        self.futures.append(Future())
        if len(self.futures) == 1:
            try:
                function(*arguments)
            except SimError as error:
                self.futures[0].set_exception(error)
        return self.futures[-1]


def test_after_an_error_runs_that_have_not_begun_are_cancelled():
    executor = OnlyTheFirst()
    with pytest.raises(SimError, match="max_num_seqs_below_one"):
        sweep(CHAT, field("policy.max_num_seqs"), [0, 1, 2], executor)
    assert [future.cancelled() for future in executor.futures] == [False, True, True]


def test_a_point_is_light_however_long_the_run():
    long = Setup(workload.of_lengths([2000] * 100), Chunked(100), PLENTY, SECOND)
    (point,) = sweep(long, field("memory.num_blocks"), [60_000])
    assert point.summary.output_tokens == 200_000
    assert len(pickle.dumps(point)) < 30_000


# -- knobs --------------------------------------------------------------------------------------


def test_a_field_is_named_by_its_path():
    assert field("memory.num_blocks")(CHAT, 99).memory == Paged(99)
    assert field("clock.gpu")(CHAT, GPUS["L40S"]).clock == Roofline(CLOCK.model, GPUS["L40S"])
    assert field("users")(CHAT, Users(3)).users == Users(3)
    assert field("reject_impossible")(CHAT, False).reject_impossible is False


@pytest.mark.parametrize(
    "path", ["", "speed", "policy.speed", "requests.0", "policy.max_num_seqs.x"]
)
def test_a_field_that_is_not_there_is_an_error(path):
    with pytest.raises(SimError, match="unknown_field"):
        field(path)(CHAT, 1)


@pytest.mark.parametrize("rate", [0.25, 3, 80.0])
def test_an_arrival_rate_stretches_the_gaps_and_changes_nothing_else(rate):
    moved = arrival_rate(CHAT, rate).requests
    times = np.array([one.arrival_seconds for one in moved])
    assert 1 / np.mean(np.diff(times)) == pytest.approx(rate)
    before = np.diff([one.arrival_seconds for one in CHAT.requests])
    assert np.diff(times) / np.mean(np.diff(times)) == pytest.approx(before / np.mean(before))
    assert [replace(one, arrival_seconds=0) for one in moved] == [
        replace(one, arrival_seconds=0) for one in CHAT.requests
    ]


def test_requests_that_all_come_at_once_have_no_rate():
    at_once = replace(CHAT, requests=workload.of_lengths([5, 5]))
    with pytest.raises(SimError, match="no_gaps"):
        arrival_rate(at_once, 2.0)


def test_the_most_goodput_is_by_requests_per_second_and_the_first_of_equal_ones():
    rates = {1: 0.9, 2: 1.6, 4: 1.6, 8: 0.3}
    goodputs = {value: Goodput(10, rate, rate / value) for value, rate in rates.items()}
    assert most_goodput(goodputs) == 2


# -- the knee -----------------------------------------------------------------------------------


def points_of(latencies: list[float]) -> list[Point]:
    summary = summarize(simulate(Setup((request(0, 8, 2),), Chunked(), PLENTY, SECOND)))
    ttft = type(summary.ttft)
    return [
        Point(load, replace(summary, ttft=ttft.of([latency])))
        for load, latency in enumerate(latencies)
    ]


@pytest.mark.parametrize(
    ("latencies", "at"),
    [
        ([1, 1.5, 2, 2.1, 9], 2),
        ([1, 3], 0),
        ([1, 1.9, 2.5, 1.9, 3], 1),  # once beyond, a dip does not count
        ([1, 1.1, 2], None),  # not reached
        ([1], None),
    ],
)
def test_the_knee_is_the_last_point_up_to_twice_the_first_latency(latencies, at):
    found = knee(points_of(latencies))
    assert (found and found.value) == at


def test_another_latency_and_another_factor():
    points = points_of([1, 2, 3, 4, 5])
    assert knee(points, times=3).value == 2  # type: ignore[union-attr]
    assert knee(points, lambda summary: summary.e2e.mean) is None  # the same at every point
    with pytest.raises(SimError, match="no_points"):
        knee([])


def test_the_knee_of_one_server_with_equal_jobs_is_at_two_thirds_of_its_capacity():
    """M/D/1: time in the system = s + rho s / (2 (1 - rho)), which is 2 s at rho = 2/3."""
    jobs = Workload(4000, PoissonArrivals(1.0), FixedLength(10), FixedLength(1), seed=3).requests()
    one_second = SimpleClock(prefill_tokens_per_second=10, decode_seconds_per_step=0.001)
    server = Setup(jobs, Chunked(1, 10), PLENTY, one_second)
    loads = [0.02, 0.3, 0.6, 0.7, 0.8]
    points = sweep(server, arrival_rate, loads)
    for point in points[1:]:
        waiting = point.value / (2 * (1 - point.value))
        assert point.summary.ttft.mean == pytest.approx(1 + waiting, rel=0.1)
    found = knee(points)
    assert found is not None
    assert found.value == 0.6
