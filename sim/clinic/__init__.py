"""Sick servers: flags and traffic (`server`), what their panel shows (`panel`), twelve of them
(`cases`)."""

from sim.clinic.cases import CASES, THRESHOLDS, Case, drawn, number_of
from sim.clinic.panel import OverTime, Panel, Readings, Slo, Thresholds, answers, around_full, read
from sim.clinic.server import Change, Server, changed

__all__ = [
    "CASES",
    "THRESHOLDS",
    "Case",
    "Change",
    "OverTime",
    "Panel",
    "Readings",
    "Server",
    "Slo",
    "Thresholds",
    "answers",
    "around_full",
    "changed",
    "drawn",
    "number_of",
    "read",
]
