"""The whole server as the workbench runs it, for the claims of chapter 4 and of the workbench."""

import numpy as np

from sim import engine, metrics
from sim.cost import Roofline
from sim.views import lives
from tests.pages.rehearsal import open_page
from ui.results import runs

BENCH = open_page("17_workbench")


def explore(**values):
    """The one run of the whole server with its knobs at these values."""
    (setup,) = BENCH.setups("explore", **values)
    return runs.run(setup)


def summary(**values):
    return runs.summary(explore(**values).setup)


def preset(name):
    return BENCH.play("explore").presets[name]


def machine(setup: engine.Setup) -> Roofline:
    assert isinstance(setup.clock, Roofline)
    return setup.clock


def step_seconds(run):
    return run.series.end_seconds - run.series.start_seconds


def spans(run, kind):
    return [
        span for record in metrics.served(run) for span in lives.spans(record) if span.kind == kind
    ]


def ttfts(run):
    return np.array([metrics.ttft(record) for record in metrics.served(run)])


def both_loops(**values):
    """(output length -> summary) of the open and of the closed loop."""
    lengths = BENCH.constants["LOOP_OUTPUTS"]
    played = BENCH.play("loops", **values)
    opened = [setup for setup in played.setups if setup.users is None]
    closed = [setup for setup in played.setups if setup.users]
    return [
        dict(zip(lengths, map(runs.summary, setups), strict=True)) for setups in (opened, closed)
    ]
