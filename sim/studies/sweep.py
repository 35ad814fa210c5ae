"""One knob turned through many values: the same server again and again, with a summary of each run.

A knob is a function (setup, value) -> setup.  `field` makes one of a field's name, `arrival_rate`
is one, and any other function at the top of a module will do: knobs travel to other processes.

    with ProcessPoolExecutor() as executor:
        points = sweep(setup, arrival_rate, [1, 2, 4, 8], executor)

The rule of the knee is ours: the last point before the mean TTFT has more than doubled.  The time
in the system of M/M/1 doubles at half the capacity, where Kleinrock 1979 ("Power and deterministic
rules of thumb") puts the best trade of throughput for latency.
"""

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from concurrent.futures import Executor, Future, as_completed
from contextlib import closing
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any

from sim.engine import Setup, simulate
from sim.errors import require
from sim.metrics import Goodput, Summary, summarize
from sim.workload import scaled

Knob = Callable[[Setup, Any], Setup]


@dataclass(frozen=True)
class Point:
    """A value of the knob, and the run that it gave."""

    value: Any
    summary: Summary


def sweep(
    setup: Setup,
    knob: Knob,
    values: Iterable[Any],
    executor: Executor | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> tuple[Point, ...]:
    """Run the setup once per value; points in the order of the values.

    Any `concurrent.futures` executor spreads the runs (a process pool here, on a cluster the
    executor of its client); without one they run here, one after the other.  `progress(done,
    total)` is called in this thread after each run, in whatever order they end.

    Raises:
        what the knob or the run of a value raises, with a note that names the value; runs that
        have not begun by then are cancelled.
    """
    settings = list(values)
    points: dict[int, Point] = {}
    with closing(_results(setup, knob, settings, executor)) as results:
        for index, result in results:
            try:
                points[index] = result()
            except Exception as error:
                error.add_note(f"in the sweep, at the value {settings[index]!r}")
                raise
            if progress is not None:
                progress(len(points), len(settings))
    return tuple(points[index] for index in range(len(settings)))


def setups(setup: Setup, knob: Knob, values: Iterable[Any]) -> dict[Any, Setup]:
    """What a sweep would run: value -> setup."""
    return {value: knob(setup, value) for value in values}


def _results(
    setup: Setup, knob: Knob, settings: list[Any], executor: Executor | None
) -> Generator[tuple[int, Callable[[], Point]], None, None]:
    """(place, how to get the point), as the points come."""
    if executor is None:
        for index, value in enumerate(settings):
            yield index, partial(_point, setup, knob, value)
        return
    places: dict[Future[Point], int] = {}
    try:
        for index, value in enumerate(settings):
            places[executor.submit(_point, setup, knob, value)] = index
        for future in as_completed(places):
            yield places[future], future.result
    finally:
        for future in places:
            future.cancel()


def _point(setup: Setup, knob: Knob, value: Any) -> Point:
    return Point(value, summarize(simulate(knob(setup, value))))


# -- knobs ------------------------------------------------------------------------------------


def field(path: str) -> Knob:
    """The knob that sets one field, named by its path: `field("policy.max_num_seqs")`.

    Raises (the knob):
        SimError: `unknown_field`.
    """
    return partial(_with_field, path=path)


def _with_field(what: Any, value: Any, path: str) -> Any:
    name, _, rest = path.partition(".")
    known = [one.name for one in fields(what)] if is_dataclass(what) else []
    require(name in known, "unknown_field", name=name, known=known)
    return replace(what, **{name: _with_field(getattr(what, name), value, rest) if rest else value})


def arrival_rate(setup: Setup, requests_per_second: float) -> Setup:
    """The same requests in the same pattern, `requests_per_second` of them on average.

    Raises:
        SimError: `rate_not_positive`, `no_gaps` when all requests come at once.
    """
    times = [request.arrival_seconds for request in setup.requests]
    span = max(times) - min(times)
    require(span > 0, "no_gaps", num_requests=len(times))
    rate = (len(times) - 1) / span
    return replace(setup, requests=scaled(setup.requests, requests_per_second / rate))


# -- the knee ---------------------------------------------------------------------------------


def mean_ttft(summary: Summary) -> float:
    return summary.ttft.mean


def knee(
    points: Sequence[Point], latency: Callable[[Summary], float] = mean_ttft, times: float = 2.0
) -> Point | None:
    """The last point, with the load going up, whose latency is at most `times` that of the first.

    The first point stands for the unloaded server.  None when no point goes beyond: the knee, if
    any, lies outside the sweep.

    Raises:
        SimError: `no_points`.
    """
    require(len(points) > 0, "no_points")
    limit = times * latency(points[0].summary)
    for before, point in pairwise(points):
        if latency(point.summary) > limit:
            return before
    return None


# -- Little's law -----------------------------------------------------------------------------


def stay(summary: Summary) -> float:
    """Mean seconds that a request is served, from its first step to its last token."""
    return summary.e2e.mean - summary.queue_time.mean


def num_inside(rate: float, summary: Summary) -> float:
    """How many requests are served at a time when `rate` come per second and all are kept up with.

    Little 1961: L = lambda * W, whatever the arrivals and the order.  Above the number of slots it
    says how many would be needed, if a step took no longer with them.
    """
    return rate * stay(summary)


# -- the most that arrives in time -------------------------------------------------------------


def most_goodput(goodputs: Mapping[Any, Goodput]) -> Any:
    """The value at which most requests per second are served in time; the first of equal ones."""
    return max(goodputs, key=lambda value: goodputs[value].requests_per_second)


# -- where two servers change places ----------------------------------------------------------
