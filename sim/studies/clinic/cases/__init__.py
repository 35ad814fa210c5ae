"""Twenty sick servers: what the panel shows, what cures them, and what only seems to.

A case is a server before traffic that a seed draws; nothing about it is drawn by hand, so every
reading is one of a run.  The first three are those of the course; the others are patterns of
reported incidents, scaled to servers that run here within a second.

case               one of them, and what may be turned
arrivals_of_cases  who asks, when, for how much
of_the_course      its three cases
of_the_queue       first tokens are late
of_memory          KV that is not found again
of_slow_steps      every token is slow
of_a_fleet         several servers
"""

from sim.studies.clinic.cases import (
    of_a_fleet,
    of_memory,
    of_slow_steps,
    of_the_course,
    of_the_queue,
)
from sim.studies.clinic.cases.case import Case
from sim.studies.clinic.panel import Thresholds

__all__ = ["CASES", "GROUPS", "THRESHOLDS", "Case"]

THRESHOLDS = Thresholds()

GROUPS: dict[str, tuple[Case, ...]] = {
    "course": of_the_course.CASES,
    "queue": of_the_queue.CASES,
    "memory": of_memory.CASES,
    "steps": of_slow_steps.CASES,
    "fleet": of_a_fleet.CASES,
}
CASES = {case.code: case for group in GROUPS.values() for case in group}
