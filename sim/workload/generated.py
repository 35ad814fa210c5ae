"""Who asks, when, and for how much: generated traffic.

Arrivals and lengths are small frozen settings that are drawn from a seeded generator; the same
`Workload` gives the same requests.  All lengths are in tokens, all times in seconds.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from sim.errors import require
from sim.request import Request, Segment

Z99 = 2.3263478740408408  # the 99th percentile of a standard normal
LOWEST_CV, HIGHEST_CV = 0.01, 100.0  # of gamma gaps; beyond, they are even, or nearly all 0


# -- when -------------------------------------------------------------------------------------


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


# -- how much ---------------------------------------------------------------------------------


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


@dataclass(frozen=True)
class SharedPrefix:
    """Every prompt begins with one of `num_groups` common texts of `tokens` tokens, by turns.

    The text comes on top of the drawn prompt length.
    """

    tokens: int
    num_groups: int = 1

    def __post_init__(self) -> None:
        require(self.tokens >= 1, "length_below_one", value=self.tokens)
        require(self.num_groups >= 1, "groups_below_one", value=self.num_groups)

    def of(self, index: int) -> tuple[Segment, ...]:
        return (Segment(f"prefix-{index % self.num_groups}", self.tokens),)


# -- together ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Workload:
    """Settings of a generated workload.  Arrivals and the two lengths have independent streams,
    so turning one knob leaves the other draws as they were.

    Raises:
        SimError: `num_requests_below_one`, `seed_negative`.
    """

    num_requests: int
    arrivals: Arrivals
    prompt: Lengths
    output: Lengths
    prefix: SharedPrefix | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        require(self.num_requests >= 1, "num_requests_below_one", value=self.num_requests)
        require(self.seed >= 0, "seed_negative", value=self.seed)

    def requests(self) -> tuple[Request, ...]:
        streams = [np.random.default_rng([self.seed, stream]) for stream in range(3)]
        drawn = (self.arrivals, self.prompt, self.output)
        columns = [
            what.draw(self.num_requests, rng) for what, rng in zip(drawn, streams, strict=True)
        ]
        return tuple(
            self._request(index, float(arrival), int(prompt), int(output))
            for index, (arrival, prompt, output) in enumerate(zip(*columns, strict=True))
        )

    def _request(self, index: int, arrival: float, prompt: int, output: int) -> Request:
        if self.prefix is None:
            return Request(index, arrival, prompt, output)
        return Request(index, arrival, prompt + self.prefix.tokens, output, self.prefix.of(index))


def of_lengths(
    output_tokens: Sequence[int], prompt_tokens: int | Sequence[int] = 16
) -> tuple[Request, ...]:
    """A handful of requests by hand, all there at 0; prompts of one length, or one length each."""
    if isinstance(prompt_tokens, int):
        prompt_tokens = [prompt_tokens] * len(output_tokens)
    pairs = zip(prompt_tokens, output_tokens, strict=True)
    return tuple(Request(index, 0.0, *lengths) for index, lengths in enumerate(pairs))


@dataclass(frozen=True)
class Chats:
    """Conversations, `at_a_time` of them going on: each turn repeats all that was said before.

    Whose turn is next is drawn, as is how far each is at first; a conversation that is over makes
    way for a new one.  All begin with the same `system_tokens`.

    Raises:
        SimError: `num_requests_below_one`, `at_a_time_below_one`, `num_turns_below_one`.
    """

    num_requests: int
    at_a_time: int
    num_turns: int
    system_tokens: int
    ask_tokens: int
    answer_tokens: int
    seed: int = 0

    def __post_init__(self) -> None:
        require(self.num_requests >= 1, "num_requests_below_one", value=self.num_requests)
        require(self.at_a_time >= 1, "at_a_time_below_one", value=self.at_a_time)
        require(self.num_turns >= 1, "num_turns_below_one", value=self.num_turns)

    def requests(self) -> tuple[Request, ...]:
        """In the order in which they come, one per second."""
        rng = np.random.default_rng(self.seed)
        talks = list(range(self.at_a_time))  # the conversation on each seat
        turns = rng.integers(self.num_turns, size=self.at_a_time).tolist()  # how far it is
        made = []
        for index, seat in enumerate(rng.integers(self.at_a_time, size=self.num_requests).tolist()):
            made.append(self._request(index, talks[seat], turns[seat]))
            turns[seat] += 1
            if turns[seat] == self.num_turns:
                talks[seat], turns[seat] = max(talks) + 1, 0
        return tuple(made)

    def _request(self, index: int, talk: int, turn: int) -> Request:
        spoken = self.ask_tokens + self.answer_tokens
        segments = [Segment(f"talk-{talk}-{number}", spoken) for number in range(turn + 1)]
        prompt = self.system_tokens + turn * spoken + self.ask_tokens
        prefix = (Segment("system", self.system_tokens), *segments)
        return Request(index, float(index), prompt, self.answer_tokens, prefix)


def evenly(
    num_requests: int, within_seconds: float, prompt_tokens: int, first_id: int = 0
) -> tuple[Request, ...]:
    """Requests of one output token at even distances, none of them at either end."""
    gap = within_seconds / (num_requests + 1)
    return tuple(
        Request(first_id + index, gap * (index + 1), prompt_tokens, output_tokens=1)
        for index in range(num_requests)
    )


def on_ticks(requests: Iterable[Request], tick_seconds: float) -> tuple[Request, ...]:
    """The same requests with arrivals moved up to whole ticks: one column of a picture each."""
    require(tick_seconds > 0, "tick_not_positive", value=tick_seconds)
    return tuple(
        replace(
            request,
            arrival_seconds=math.ceil(request.arrival_seconds / tick_seconds) * tick_seconds,
        )
        for request in requests
    )


def scaled(requests: Iterable[Request], speed: float) -> tuple[Request, ...]:
    """The same requests arriving `speed` times as fast."""
    require(speed > 0, "rate_not_positive", value=speed)
    if speed == 1:
        return tuple(requests)
    return tuple(
        replace(request, arrival_seconds=request.arrival_seconds / speed) for request in requests
    )


def with_giant(requests: Iterable[Request], prompt_tokens: int) -> tuple[Request, ...]:
    """The same requests, but the one in the middle of the line brings a prompt of its own size."""
    line = tuple(requests)
    middle = len(line) // 2
    giant = replace(line[middle], prompt_tokens=prompt_tokens, prefix=())
    return (*line[:middle], giant, *line[middle + 1 :])
