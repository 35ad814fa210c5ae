"""Sick servers: flags and traffic (`deployment`), what their panel shows (`panel`), twelve of them
(`cases`)."""

from sim.clinic.cases import CASES, THRESHOLDS, Case, drawn, number_of
from sim.clinic.deployment import Change, Deployment, changed
from sim.clinic.panel import OverTime, Panel, Readings, Slo, Thresholds, answers, around_full, read

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
