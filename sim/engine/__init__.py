"""The loop: schedule, time, advance.

speculation  decode steps that carry proposals, accepted by lot
setup        everything a run depends on
inbox        who comes when: an open or a closed loop
steps        the loop itself, step by step, to look at
run          what is kept of a whole run
fast         the whole run at once, with the same results
simulation   a run between two steps, and how it moves on
plain        its hot loop, written out
ledger       its notes, until they are a run
server       a server before its traffic, put together from names and numbers
"""

from sim.engine.fast import simulate
from sim.engine.run import Record, Run, StepSeries, Watch, run_by_steps
from sim.engine.setup import Setup, Users
from sim.engine.speculation import Speculation, Tally
from sim.engine.steps import Step, StepWork, advance, steps

__all__ = [
    "Record",
    "Run",
    "Setup",
    "Speculation",
    "Step",
    "StepSeries",
    "StepWork",
    "Tally",
    "Users",
    "Watch",
    "advance",
    "run_by_steps",
    "simulate",
    "steps",
]
