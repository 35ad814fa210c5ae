"""Runs of the simulation, kept: the same setup gives the same run, so it is computed once."""

from collections import OrderedDict
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from functools import lru_cache
from itertools import islice
from threading import Lock
from typing import Any, Generic, TypeVar

from sim import engine, metrics
from sim.kv import lru
from sim.request import Request
from sim.studies import caches, clinic, replicas, tenants, tree_server
from sim.studies.sweep import Point
from sim.views import slots, stalls
from sim.workload import Chats, Workload
from sim.workload.prompts import Prompt
from ui.results import apart

KEPT = 64  # of what is shown step by step, shared by all readers
KEPT_TOKENS = 8_000_000  # of all whole runs in memory, about 80 MB
KEPT_SUMMARIES = 512  # these are light

Key = TypeVar("Key")
Progress = Callable[[int, int], object]  # (done, in all)
Figures = tuple[metrics.Summary, metrics.RequestTimes]


@lru_cache(maxsize=KEPT)
def requests(workload: Workload) -> tuple[Request, ...]:
    """The same objects each time, which makes comparing setups fast."""
    return workload.requests()


Value = TypeVar("Value")


class Kept(Generic[Value]):
    """Results by setup, `most` of them by weight; those that nobody asked for longest go first."""

    def __init__(self, most: int, weight: Callable[[Value], int]):
        self._most, self._weight = most, weight
        self._values: OrderedDict[engine.Setup, Value] = OrderedDict()
        self._total = 0
        self._lock = Lock()

    def get(self, setup: engine.Setup) -> Value | None:
        with self._lock:
            value = self._values.pop(setup, None)
            if value is not None:
                self._values[setup] = value
            return value

    def put(self, setup: engine.Setup, value: Value) -> None:
        with self._lock:
            before = self._values.pop(setup, None)
            self._total += self._weight(value) - (0 if before is None else self._weight(before))
            self._values[setup] = value
            while self._total > self._most and len(self._values) > 1:
                self._total -= self._weight(self._values.popitem(last=False)[1])

    def cache_clear(self) -> None:
        with self._lock:
            self._values.clear()
            self._total = 0


_runs = Kept[engine.Run](KEPT_TOKENS, lambda run: len(run.token_seconds))
_figures = Kept[Figures](KEPT_SUMMARIES, lambda figures: 1)


def run(setup: engine.Setup) -> engine.Run:
    found = _runs.get(setup)
    if found is None:
        ((found, _),) = _outcomes([setup])
    return found


def summary(setup: engine.Setup) -> metrics.Summary:
    ((found, _),) = _figures_of([setup])
    return found


def summaries(setups: Mapping[Key, engine.Setup]) -> dict[Key, metrics.Summary]:
    return {point.value: point.summary for point in sweep(setups)}


def sweep(
    setups: Mapping[Any, engine.Setup], progress: Progress | None = None
) -> tuple[Point, ...]:
    """A point for each value; `progress` is called now and then while they are computed."""
    figures = _figures_of(list(setups.values()), progress)
    return tuple(Point(value, own) for value, (own, _) in zip(setups, figures, strict=True))


def goodputs(
    setups: Mapping[Key, engine.Setup], ttft_seconds: float, tpot_seconds: float
) -> dict[Key, metrics.Goodput]:
    figures = _figures_of(list(setups.values()))
    return {
        key: metrics.goodput(latencies, ttft_seconds, tpot_seconds)
        for key, (_, latencies) in zip(setups, figures, strict=True)
    }


def _figures_of(setups: Sequence[engine.Setup], progress: Progress | None = None) -> list[Figures]:
    found = {place: own for place, setup in enumerate(setups) if (own := _figures.get(setup))}
    missing = [place for place in range(len(setups)) if place not in found]
    outcomes = _outcomes([setups[place] for place in missing], progress)
    found |= {place: own for place, (_, own) in zip(missing, outcomes, strict=True)}
    return [found[place] for place in range(len(setups))]


def _outcomes(
    setups: Sequence[engine.Setup], progress: Progress | None = None
) -> Iterator[tuple[engine.Run, Figures]]:
    """Run after run, computed and kept.

    Raises:
        SimError: as `_computed`.
    """
    num_done = 0
    with closing(_computed(setups)) as computed:
        for outcome in computed:
            if outcome is not None:
                run, summary = outcome
                figures = summary, metrics.RequestTimes.of(run)
                _runs.put(setups[num_done], run)
                _figures.put(setups[num_done], figures)
                num_done += 1
                if progress is not None:
                    progress(num_done, len(setups))
                yield run, figures


def _computed(setups: Sequence[engine.Setup]) -> Generator[apart.Outcome | None]:
    """Run after run; what takes long is computed apart, with None while there is nothing new.

    Raises:
        SimError: as `engine.simulate` and `apart.each`.
    """
    patience = apart.Patience()
    for place, setup in enumerate(setups):
        try:
            run = engine.simulate(setup, patience)
        except apart.OutOfPatience:
            yield from apart.each(setups[place:])
            return
        yield run, metrics.summarize(run)


@lru_cache(maxsize=KEPT)
def steps(setup: engine.Setup) -> tuple[engine.Step, ...]:
    """Every step, to be looked at.  For runs that are shown step by step, not for long ones."""
    return tuple(engine.steps(setup))


@lru_cache(maxsize=KEPT)
def step(setup: engine.Setup, number: int) -> engine.Step:
    """The `number`-th step, counted from 1; the last one if the run is shorter."""
    steps = list(islice(engine.steps(setup), number))
    return steps[-1]


@lru_cache(maxsize=KEPT)
def grid(setup: engine.Setup, tick_seconds: float) -> slots.SlotGrid:
    return slots.slot_grid(setup, tick_seconds)


@lru_cache(maxsize=KEPT_SUMMARIES)
def by_prompt(setup: engine.Setup, longest_short: int) -> tuple[stalls.Latencies, stalls.Latencies]:
    """TTFT and ITL of the requests with short prompts, and of those with long ones."""
    return stalls.by_prompt(run(setup), longest_short)


@lru_cache(maxsize=KEPT)
def tree(prompts: tuple[Prompt, ...], num_slots: int, order: str) -> tree_server.Served:
    """Every step of a server with a radix tree."""
    return tree_server.serve(prompts, num_slots, order)


@lru_cache(maxsize=KEPT_SUMMARIES)
def tree_hits(prompts: tuple[Prompt, ...], num_slots: int, order: str) -> int:
    """Prompt tokens that such a server finds."""
    return tree_server.serve(prompts, num_slots, order).num_hit_tokens


def tree_hits_by_order(
    prompts: tuple[Prompt, ...], slots: Sequence[int], orders: Sequence[str]
) -> dict[str, dict[int, int]]:
    """Order of the queue -> number of slots -> prompt tokens found."""
    return {order: {room: tree_hits(prompts, room, order) for room in slots} for order in orders}


def fleet(setup: engine.Setup, num_replicas: int, rule: str) -> replicas.Fleet:
    """The setup's requests on several servers that are all set up so."""
    targets = replicas.route(setup.requests, num_replicas, rule)
    return _fleet(setup, targets, num_replicas)


@lru_cache(maxsize=KEPT_SUMMARIES)
def _fleet(setup: engine.Setup, targets: tuple[int, ...], num_replicas: int) -> replicas.Fleet:
    parts = replicas.parts(setup, targets, num_replicas)
    summaries = [outcome[1] for outcome in _computed(parts) if outcome is not None]
    return replicas.together(parts, summaries, num_replicas)


def fleets(
    setups: Mapping[int, engine.Setup], rules: Sequence[str]
) -> dict[str, dict[int, replicas.Fleet]]:
    """Rule of the router -> number of servers -> the fleet; each setup holds what all get."""
    return {
        rule: {size: fleet(setup, size, rule) for size, setup in setups.items()} for rule in rules
    }


def traffic_of_fleets(sizes: Sequence[int], popular_share: float) -> dict[int, tuple[Request, ...]]:
    """Number of servers -> what they get."""
    return {size: fleet_traffic(size, popular_share) for size in sizes}


@lru_cache(maxsize=KEPT)
def fleet_traffic(num_replicas: int, popular_share: float) -> tuple[Request, ...]:
    """The same objects each time, as with `requests`."""
    return replicas.traffic(num_replicas, popular_share)


@lru_cache(maxsize=KEPT_SUMMARIES)
def found_in_tree(requests: tuple[Request, ...], num_slots: int) -> tuple[int, ...]:
    return caches.found_in_tree(requests, num_slots)


@lru_cache(maxsize=KEPT_SUMMARIES)
def found_in_blocks(
    requests: tuple[Request, ...], num_slots: int, block_size: int
) -> tuple[int, ...]:
    return caches.found_in_blocks(requests, num_slots, block_size)


def found_by_second(
    lengths: Sequence[int], own_tokens: int, num_slots: int, block_size: int
) -> tuple[list[int], list[int]]:
    """What the second of two prompts finds that begin with so many tokens alike: in hashed blocks,
    and in the tree; for each of the lengths."""
    pairs = [caches.beginning_alike(shared, own_tokens, 2) for shared in lengths]
    in_blocks = [found_in_blocks(pair, num_slots, block_size)[1] for pair in pairs]
    return in_blocks, [found_in_tree(pair, num_slots)[1] for pair in pairs]


def hit_rates_by_room(
    requests: tuple[Request, ...], slots: Sequence[int], block_size: int
) -> tuple[dict[int, float], dict[int, float]]:
    """Number of slots -> share of prompt tokens found: in hashed blocks, and in the tree."""
    in_blocks = {room: found_in_blocks(requests, room, block_size) for room in slots}
    in_tree = {room: found_in_tree(requests, room) for room in slots}
    return _rates(requests, in_blocks), _rates(requests, in_tree)


def _rates(requests: tuple[Request, ...], found: Mapping[int, Sequence[int]]) -> dict[int, float]:
    return {room: caches.hit_rate(requests, tokens) for room, tokens in found.items()}


def probed(setups: Mapping[Key, engine.Setup]) -> dict[Key, tenants.Probed]:
    """What a tenant's clock shows in each run of `tenants.Probe`."""
    return {key: tenants.Probed.of(run(setup)) for key, setup in setups.items()}


@lru_cache(maxsize=KEPT_SUMMARIES)
def lru_hit_rates(
    chats: Chats, block_size: int, capacities: tuple[int | None, ...]
) -> tuple[float, ...]:
    """How often a cache of blocks hits, for each capacity in tokens; None: room for everything."""
    return tuple(lru.hit_rates(chats.requests(), block_size, capacities))


@lru_cache(maxsize=KEPT_SUMMARIES)
def hit_rates_of(
    requests: tuple[Request, ...], block_size: int, capacities: tuple[int | None, ...]
) -> tuple[float, ...]:
    """The same of recorded requests."""
    return tuple(lru.hit_rates(requests, block_size, capacities))


@lru_cache(maxsize=KEPT)
def sick_server(code: str, seed: int, changes: tuple[clinic.Change, ...] = ()) -> clinic.Deployment:
    """The server of a case of the clinic, with some of its flags turned."""
    return clinic.changed(clinic.CASES[code].build(seed), changes)


@lru_cache(maxsize=KEPT)
def panel(code: str, seed: int, changes: tuple[clinic.Change, ...] = ()) -> clinic.Panel:
    """What is read off it."""
    server = sick_server(code, seed, changes)
    return clinic.read(server, [run(setup) for setup in server.setups()], clinic.CASES[code].slo)
