"""What a text says of a server, and how surely.

A percentile from the buckets of a histogram lies between two bounds; one that a client measured is
exact; one that nobody measured is None, never 0.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

FEW = 100  # observations; of fewer than that the p99 is the longest one

Span = Literal["start", "between", "run"]  # since the server started, between two texts, a run


@dataclass(frozen=True)
class Interval:
    """Where a value lies: above `low` and at most `high`, or exactly there if they are equal."""

    low: float
    high: float  # infinity where nothing limits it
    observations: float | None = None
    mean: float | None = None

    @classmethod
    def exactly(cls, value: float, observations: float | None = None) -> "Interval":
        return cls(value, value, observations)

    @property
    def is_exact(self) -> bool:
        return self.low == self.high

    @property
    def is_anywhere(self) -> bool:
        return self.low == 0 and self.high == math.inf

    @property
    def is_of_few(self) -> bool:
        return self.observations is not None and self.observations < FEW

    def exceeds(self, limit: float) -> bool | None:
        """None: the limit lies within, so it cannot be told."""
        if self.high <= limit:
            return False
        if self.is_exact or self.low >= limit:
            return True
        return None


@dataclass(frozen=True)
class GpuReading:
    """Shares of wall-clock time, None where they are not exported."""

    bandwidth: float | None
    compute: float | None


@dataclass(frozen=True)
class Note:
    """Something to say of how a text was read: a code with values, worded in `brought_notes`."""

    code: str
    values: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Brought:
    """What a text says; None where it says nothing.

    Latencies and counters are of the whole `span`, gauges (`kv`, `running`, `waiting`) of its last
    moment.  `itl_is_tpot`: the gap is a mean over each request.
    """

    source: str  # whose numbers these are, a name
    span: Span
    engine: str = "vLLM"  # whose names to list where something is missing
    ttft: Interval | None = None
    itl: Interval | None = None
    itl_is_tpot: bool = False
    queue: Interval | None = None
    kv: tuple[float, ...] = ()  # of each engine
    kv_before: tuple[float, ...] = ()  # in the earlier text
    running: float | None = None
    waiting: float | None = None
    deferred: float | None = None  # of those waiting: not for room
    preemptions: float | None = None
    preemptions_since_start: float | None = None
    hit_rate: float | None = None
    gpus: tuple[GpuReading, ...] = ()
    completed: float | None = None
    failed: float | None = None
    notes: tuple[Note, ...] = ()

    @property
    def share_failed(self) -> float:
        if not self.failed:
            return 0.0
        return self.failed / (self.failed + (self.completed or 0.0))


def number(value: object) -> float | None:
    """A finite number that is not negative; None for everything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if isinstance(value, int) and value.bit_length() > 1000:
        return None
    return float(value) if 0 <= value < math.inf else None
