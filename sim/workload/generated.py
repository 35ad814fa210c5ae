"""Who asks, when, and for how much: generated traffic.

Arrivals and lengths are small frozen settings that are drawn from a seeded generator; the same
`Workload` gives the same requests.  All lengths are in tokens, all times in seconds.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sim.errors import require
from sim.request import Request, Segment
from sim.workload.arrivals import Arrivals
from sim.workload.lengths import Lengths


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
