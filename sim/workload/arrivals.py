"""When requests come: evenly, independently, in bursts.  All times in seconds from 0."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from sim.errors import require

LOWEST_CV, HIGHEST_CV = 0.01, 100.0  # of gamma gaps; beyond, they are even, or nearly all 0


class Arrivals(Protocol):
    def draw(self, num_requests: int, rng: np.random.Generator) -> np.ndarray:
        """Arrival times in ascending order, [num_requests], in seconds from 0."""
        ...


@dataclass(frozen=True)
class ConstantArrivals:
    """One request every 1 / rate seconds, the first at 0."""

    rate: float  # requests per second

    def __post_init__(self) -> None:
        require(self.rate > 0, "rate_not_positive", value=self.rate)

    def draw(self, num_requests: int, rng: np.random.Generator) -> np.ndarray:
        return np.arange(num_requests) / self.rate


@dataclass(frozen=True)
class PoissonArrivals:
    """Independent users: exponential gaps with mean 1 / rate; the first gap starts at 0."""

    rate: float

    def __post_init__(self) -> None:
        require(self.rate > 0, "rate_not_positive", value=self.rate)

    def draw(self, num_requests: int, rng: np.random.Generator) -> np.ndarray:
        return np.cumsum(rng.exponential(1 / self.rate, num_requests))


@dataclass(frozen=True)
class GammaArrivals:
    """Traffic burstier or more even than independent users: gamma gaps with mean 1 / rate.

    `cv` is the coefficient of variation of the gaps, standard deviation over mean: 1 is Poisson,
    above 1 requests come in clumps with pauses between, toward 0 they come evenly.  The shape of
    the gamma distribution is 1 / cv^2, which `vllm bench serve` calls `--burstiness`.

    Raises:
        SimError: `rate_not_positive`, `cv_out_of_range`.
    """

    rate: float
    cv: float

    def __post_init__(self) -> None:
        require(self.rate > 0, "rate_not_positive", value=self.rate)
        require(
            LOWEST_CV <= self.cv <= HIGHEST_CV,
            "cv_out_of_range",
            value=self.cv,
            lowest=LOWEST_CV,
            highest=HIGHEST_CV,
        )

    def draw(self, num_requests: int, rng: np.random.Generator) -> np.ndarray:
        shape = 1 / self.cv**2
        return np.cumsum(rng.gamma(shape, 1 / (self.rate * shape), num_requests))


@dataclass(frozen=True)
class BurstArrivals:
    """`size` requests at once, then nothing for `every_seconds`; the first burst at 0."""

    size: int
    every_seconds: float = 0.0

    def __post_init__(self) -> None:
        require(self.size >= 1, "burst_below_one", value=self.size)
        require(self.every_seconds >= 0, "burst_gap_negative", value=self.every_seconds)

    @classmethod
    def at_rate(cls, rate: float, size: int) -> "BurstArrivals":
        """Bursts of `size` that come to `rate` requests per second on average."""
        require(rate > 0, "rate_not_positive", value=rate)
        return cls(size, size / rate)

    def draw(self, num_requests: int, rng: np.random.Generator) -> np.ndarray:
        return np.arange(num_requests) // self.size * self.every_seconds
