"""Anything that can time a step, and the simplest clock for teaching."""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from sim.errors import require
from sim.scheduler import Load


class StepTime(NamedTuple):
    """How long a step takes, and how long all its bytes and all its arithmetic take (in seconds).

    `seconds` is no less than the longer of these two: each kernel takes the longer of its own, one
    after the other, and a fixed rest and all-reduces come on top.
    Arrays, [num_steps], for a stretch of steps; where all of them agree, one number.
    """

    seconds: Any
    memory_seconds: Any
    compute_seconds: Any

    @property
    def memory_bound(self) -> Any:
        return self.memory_seconds >= self.compute_seconds


class Clock(Protocol):
    """Anything that can time a step."""

    def step_time(self, load: Load) -> StepTime: ...


@dataclass(frozen=True)
class SimpleClock:
    """Two numbers instead of a machine, for teaching.

    A step takes `decode_seconds_per_step`, since the weights must be read once; unless it carries
    so many prompt tokens that computing them at `prefill_tokens_per_second` takes longer.

    Raises:
        SimError: `speed_not_positive`, `speed_infinite`.
    """

    prefill_tokens_per_second: float
    decode_seconds_per_step: float

    def __post_init__(self) -> None:
        for value in (self.prefill_tokens_per_second, self.decode_seconds_per_step):
            require(value > 0, "speed_not_positive", value=value)
            require(value < math.inf, "speed_infinite", value=value)

    @classmethod
    def of_milliseconds(cls, prefill_tokens_per_second: float, decode_ms: float) -> "SimpleClock":
        return cls(prefill_tokens_per_second, decode_ms / 1000)

    def step_time(self, load: Load) -> StepTime:
        memory_seconds = self.decode_seconds_per_step
        compute_seconds = load.prompt_tokens / self.prefill_tokens_per_second
        return StepTime(longer(memory_seconds, compute_seconds), memory_seconds, compute_seconds)


def longer(one: Any, other: Any) -> Any:
    """The larger of two numbers, or of each pair where arrays are given; the same float64."""
    return np.maximum(one, other) if isinstance(other, np.ndarray) else max(one, other)
