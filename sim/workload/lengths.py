"""How long prompts and answers are, in tokens."""

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from sim.errors import require

Z99 = 2.3263478740408408  # the 99th percentile of a standard normal


class Lengths(Protocol):
    def draw(self, num_requests: int, rng: np.random.Generator) -> np.ndarray:
        """Token counts of at least 1, [num_requests] int."""
        ...


@dataclass(frozen=True)
class FixedLength:
    tokens: int

    def __post_init__(self) -> None:
        require(self.tokens >= 1, "length_below_one", value=self.tokens)

    def draw(self, num_requests: int, rng: np.random.Generator) -> np.ndarray:
        return np.full(num_requests, self.tokens)


@dataclass(frozen=True)
class UniformLength:
    """Every length from `low` to `high`, both included, equally often.

    `vllm bench serve --random-range-ratio r` draws its random lengths so, r below and above the
    mean.

    Raises:
        SimError: `length_below_one`, `length_range_empty`.
    """

    low: int
    high: int

    def __post_init__(self) -> None:
        require(self.low >= 1, "length_below_one", value=self.low)
        require(self.low <= self.high, "length_range_empty", low=self.low, high=self.high)

    def draw(self, num_requests: int, rng: np.random.Generator) -> np.ndarray:
        return rng.integers(self.low, self.high, num_requests, endpoint=True)


@dataclass(frozen=True)
class LognormalLength:
    """Most are short, a few are long: lognormal with the given mean and 99th percentile.

    With p99 / mean = r the shape is s = z - sqrt(z^2 - 2 ln r), z = 2.326; no lognormal has a
    larger r than exp(z^2 / 2) = 14.97.  Values are rounded and cut off at `longest`.

    Raises:
        SimError: `length_below_one`, `p99_out_of_range`.
    """

    mean: float
    p99: float
    longest: int = 131_072

    def __post_init__(self) -> None:
        require(self.mean >= 1, "length_below_one", value=self.mean)
        require(
            self.mean <= self.p99 <= self.mean * math.exp(Z99**2 / 2),
            "p99_out_of_range",
            mean=self.mean,
            p99=self.p99,
            largest=self.mean * math.exp(Z99**2 / 2),
        )

    @classmethod
    def with_spread(cls, mean: float, spread: float) -> "LognormalLength":
        """By the ratio of p99 to the mean; a spread of 1 makes all lengths equal."""
        return cls(mean, mean * spread)

    @property
    def shape(self) -> float:
        """Standard deviation of the logarithm."""
        return Z99 - math.sqrt(max(0.0, Z99**2 - 2 * math.log(self.p99 / self.mean)))

    def draw(self, num_requests: int, rng: np.random.Generator) -> np.ndarray:
        location = math.log(self.mean) - self.shape**2 / 2
        drawn = rng.lognormal(location, self.shape, num_requests)
        return np.clip(np.rint(drawn), 1, self.longest).astype(int)


@dataclass(frozen=True)
class OneInMany:
    """Every `every`-th request has `rare` tokens, all others `usual`: chats and now and then a
    document.

    Raises:
        SimError: `length_below_one`, `every_below_one`.
    """

    usual: int
    rare: int
    every: int

    def __post_init__(self) -> None:
        for tokens in (self.usual, self.rare):
            require(tokens >= 1, "length_below_one", value=tokens)
        require(self.every >= 1, "every_below_one", value=self.every)

    def draw(self, num_requests: int, rng: np.random.Generator) -> np.ndarray:
        is_rare = np.arange(1, num_requests + 1) % self.every == 0
        return np.where(is_rare, self.rare, self.usual)
