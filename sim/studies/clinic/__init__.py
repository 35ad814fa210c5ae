"""Simulated sick servers, and how to find out what ails them.

deployment     a server as whoever runs it sees it: flags, replicas, traffic
adapters       its batch where adapters have slots of their own
clients        what lies between a user and the engine
moving_fleets  who gets a request where servers come later
panel          what its panel shows, and three questions
signs          what else stands there
windows        what it draws over time
cases          twenty of them, with what cures them and what only seems to

The metrics of a reader's own server are read in `ui.subjects.clinic`.
"""

from sim.studies.clinic.cases import CASES, GROUPS, THRESHOLDS, Case
from sim.studies.clinic.deployment import Change, Deployment, changed
from sim.studies.clinic.panel import Panel, Readings, Slo, Thresholds, answers, read
from sim.studies.clinic.signs import Signs
from sim.studies.clinic.windows import OverTime, around_full

__all__ = [
    "CASES",
    "GROUPS",
    "THRESHOLDS",
    "Case",
    "Change",
    "Deployment",
    "OverTime",
    "Panel",
    "Readings",
    "Signs",
    "Slo",
    "Thresholds",
    "answers",
    "around_full",
    "changed",
    "read",
]
