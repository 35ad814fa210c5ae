"""Simulated sick servers, and how to find out what ails them.

deployment  a server as whoever runs it sees it: flags, replicas, traffic
panel       what its panel shows, and three questions
cases       twelve of them, with what cures them and what only seems to

The metrics of a reader's own server are read in `ui.subjects.clinic`.
"""

from sim.studies.clinic.cases import CASES, THRESHOLDS, Case, drawn, number_of
from sim.studies.clinic.deployment import Change, Deployment, changed
from sim.studies.clinic.panel import (
    OverTime,
    Panel,
    Readings,
    Slo,
    Thresholds,
    answers,
    around_full,
    read,
)

__all__ = [
    "CASES",
    "THRESHOLDS",
    "Case",
    "Change",
    "Deployment",
    "OverTime",
    "Panel",
    "Readings",
    "Slo",
    "Thresholds",
    "answers",
    "around_full",
    "changed",
    "drawn",
    "number_of",
    "read",
]
