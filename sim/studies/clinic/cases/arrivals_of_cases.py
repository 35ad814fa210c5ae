"""Who asks the sick servers, when, for how much."""

from dataclasses import replace

import numpy as np

from sim.request import Request, Segment
from sim.workload import LognormalLength, PoissonArrivals, Workload

TOOLS_TOKENS, TURN_TOKENS, TURN_OUTPUT = 4_000, 900, 60


def ramp(requests: tuple[Request, ...], low: float, high: float) -> tuple[Request, ...]:
    """Requests of rate 1 per second, made to come at `low` per second at first and `high` at last.

    With N(t) = low t + (high - low) t^2 / 2T requests until t, and T = 2n / (low + high).
    """
    number = np.array([request.arrival_seconds for request in requests])
    whole = 2 * number[-1] / (low + high)
    growth = (high - low) / whole
    times = (np.sqrt(low**2 + 2 * growth * number) - low) / growth
    return tuple(
        replace(request, arrival_seconds=at)
        for request, at in zip(requests, times.tolist(), strict=True)
    )


def chats(
    num_requests: int, rate: float, prompt: int, output: int, seed: int
) -> tuple[Request, ...]:
    return Workload(
        num_requests,
        PoissonArrivals(rate),
        LognormalLength(prompt, 3 * prompt),
        LognormalLength(output, 3 * output),
        seed=seed,
    ).requests()


def with_documents(
    requests: tuple[Request, ...], every: int, shortest: int, longest: int, seed: int
) -> tuple[Request, ...]:
    """One in `every` brings a document of any length between the two."""
    rng = np.random.default_rng([seed, every])
    first = int(rng.integers(every))
    lengths = rng.integers(shortest, longest + 1, len(requests)).tolist()
    return tuple(
        replace(request, prompt_tokens=length) if number % every == first else request
        for number, (request, length) in enumerate(zip(requests, lengths, strict=True))
    )


def with_a_rush(
    requests: tuple[Request, ...], first: int, number: int, seconds: float
) -> tuple[Request, ...]:
    """So many requests from the first of them on come within seconds; the others as before."""
    start = requests[first].arrival_seconds
    rush = np.linspace(start, start + seconds, number).tolist()
    moved = [
        replace(request, arrival_seconds=rush[place - first])
        if first <= place < first + number
        else request
        for place, request in enumerate(requests)
    ]
    gap = requests[first + number].arrival_seconds - rush[-1] - (rush[1] - rush[0])
    return tuple(
        replace(request, arrival_seconds=request.arrival_seconds - gap)
        if place >= first + number
        else request
        for place, request in enumerate(moved)
    )


def on_prefixes(
    num_requests: int, rate: float, num_texts: int, tokens: int, seed: int
) -> tuple[Request, ...]:
    """Questions about one of so many texts, drawn anew for each."""
    rng = np.random.default_rng([seed, num_texts])
    arrivals = np.cumsum(rng.exponential(1 / rate, num_requests)).tolist()
    texts = rng.integers(0, num_texts, num_requests).tolist()
    return tuple(
        Request(who, at, tokens + 64, 150, (Segment(f"text-{text}", tokens),))
        for who, (at, text) in enumerate(zip(arrivals, texts, strict=True))
    )


def agents(num_agents: int, num_turns: int, gap_seconds: float, seed: int) -> tuple[Request, ...]:
    """Agents with the same tools.  Each turn sends along what every turn before has brought; it
    comes so long after the one before, on average."""
    rng = np.random.default_rng([seed, num_agents])
    starts = rng.uniform(0, num_turns * gap_seconds / 2, (num_agents, 1))
    gaps = rng.uniform(0.5, 1.5, (num_agents, num_turns)) * gap_seconds
    times = starts + np.cumsum(gaps, axis=1)
    tools = Segment("tools", TOOLS_TOKENS)
    turns = []
    for agent in range(num_agents):
        for turn in range(num_turns):
            history = [Segment(f"turn-{agent}-{past}", TURN_TOKENS) for past in range(turn + 1)]
            turns.append((float(times[agent, turn]), (tools, *history)))
    turns.sort(key=lambda one: one[0])
    return tuple(
        Request(who, at, sum(part.num_tokens for part in prefix) + 1, TURN_OUTPUT, prefix)
        for who, (at, prefix) in enumerate(turns)
    )
