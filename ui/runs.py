"""Runs of the simulation, kept: the same setup gives the same run, so it is computed once."""

from functools import lru_cache
from itertools import islice

from sim import engine, metrics, slots

KEPT = 64  # runs in memory, shared by all readers


@lru_cache(maxsize=KEPT)
def run(setup: engine.Setup) -> engine.Run:
    return engine.simulate(setup)


@lru_cache(maxsize=KEPT)
def summary(setup: engine.Setup) -> metrics.Summary:
    return metrics.summarize(run(setup))


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
