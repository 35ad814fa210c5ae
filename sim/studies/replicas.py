"""Several servers behind a router: each has a prefix cache of its own, so who goes where matters.

Turn by turn (`round_robin`) every server sees every prefix, and has to compute and keep them all.
A prefix that stays on one server (`affinity`) keeps its hits, but a popular one makes that server
hot; `balanced` lets it move on when its server has too much on its hands.

Source: SGLang's router, policies `round_robin`, `random` and `cache_aware` (which leaves the server
with the longest match when loads lie more than `BALANCE_DIFFERENCE` requests and a factor of
`BALANCE_RATIO` apart); https://github.com/sgl-project/sglang/issues/2114.
"""

from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sim.engine import Setup
from sim.errors import require
from sim.metrics import Distribution, Summary
from sim.request import Request, Segment

RULES = ("round_robin", "random", "affinity", "balanced")

BALANCE_DIFFERENCE = 4  # requests; SGLang's 64 are for far busier servers
BALANCE_RATIO = 1.5

REQUESTS_EACH, RATE_EACH = 50, 4.0  # for each replica: requests, and requests per second
PREFIXES_EACH, PREFIX_TOKENS, QUESTION_TOKENS, OUTPUT_TOKENS = 12, 1_500, 64, 300


def route(
    requests: Sequence[Request],
    num_replicas: int,
    rule: str,
    window_seconds: float = 2.0,
    seed: int = 0,
) -> tuple[int, ...]:
    """The replica of each request, [num_requests], in order of arrival.

    The router does not see into the servers: as a server's load it counts what it has sent there in
    the last `window_seconds`.

    Raises:
        SimError: `replicas_below_one`, `rule_unknown`.
    """
    require(rule in RULES, "rule_unknown", value=rule)
    require(num_replicas >= 1, "replicas_below_one", value=num_replicas)
    if rule == "round_robin":
        return tuple(number % num_replicas for number in range(len(requests)))
    if rule == "random":
        rng = np.random.default_rng(seed)
        return tuple(rng.integers(0, num_replicas, len(requests)).tolist())
    router = _Affinity(num_replicas, window_seconds, is_balanced=rule == "balanced")
    return tuple(router.send(request) for request in requests)


def parts(setup: Setup, targets: Sequence[int], num_replicas: int) -> tuple[Setup, ...]:
    """One setup for each replica, with the requests that were sent there; empty ones left out."""
    shares: list[list[Request]] = [[] for _ in range(num_replicas)]
    for request, target in zip(setup.requests, targets, strict=True):
        shares[target].append(request)
    return tuple(replace(setup, requests=tuple(share)) for share in shares if share)


def traffic(num_replicas: int, popular_share: float, seed: int = 0) -> tuple[Request, ...]:
    """Users grow with the replicas: so many requests, and so many prefixes, for each of them.

    `popular_share` of all requests begin with one and the same prefix, the others with any of the
    rest.
    """
    rng = np.random.default_rng(seed)
    number = REQUESTS_EACH * num_replicas
    arrivals = np.cumsum(rng.exponential(1 / (RATE_EACH * num_replicas), number))
    is_popular = rng.random(number) < popular_share
    others = rng.integers(1, PREFIXES_EACH * num_replicas + 1, number)
    texts = [Segment(f"prefix-{text}", PREFIX_TOKENS) for text in np.where(is_popular, 0, others)]
    return tuple(
        Request(who, arrival, PREFIX_TOKENS + QUESTION_TOKENS, OUTPUT_TOKENS, (text,))
        for who, (arrival, text) in enumerate(zip(arrivals.tolist(), texts, strict=True))
    )


@dataclass(frozen=True)
class Fleet:
    """All replicas together.  TTFT in seconds."""

    hit_rate: float  # of all prompt tokens
    ttft: Distribution
    shares: tuple[float, ...]  # of the requests, by replica, the largest first

    @property
    def imbalance(self) -> float:
        """The busiest replica's requests over the mean; 1 is even."""
        return self.shares[0] * len(self.shares)


def together(parts: Sequence[Setup], summaries: Sequence[Summary], num_replicas: int) -> Fleet:
    """What the replicas' runs come to."""
    tokens = [sum(request.prompt_tokens for request in part.requests) for part in parts]
    hits = [one.prefix_hit_rate * own for one, own in zip(summaries, tokens, strict=True)]
    counts = sorted((len(part.requests) for part in parts), reverse=True)
    counts += [0] * (num_replicas - len(counts))
    return Fleet(
        sum(hits) / sum(tokens),
        Distribution.of(np.concatenate([one.ttft.values for one in summaries])),
        tuple(count / sum(counts) for count in counts),
    )


# -- inside -----------------------------------------------------------------------------------


class _Affinity:
    """A router that remembers to which server it has sent each prefix."""

    def __init__(self, num_replicas: int, window_seconds: float, is_balanced: bool):
        self.num_replicas, self.is_balanced = num_replicas, is_balanced
        self.window_seconds = window_seconds
        self.recent: deque[tuple[float, int]] = deque()  # (arrival, replica)
        self.loads: Counter[int] = Counter()  # replica -> requests of late
        self.totals: Counter[int] = Counter()  # and ever
        self.homes: dict[object, int] = {}

    def send(self, request: Request) -> int:
        while self.recent and self.recent[0][0] < request.arrival_seconds - self.window_seconds:
            self.loads[self.recent.popleft()[1]] -= 1
        prefix = request.prefix[:1]
        idlest = min(range(self.num_replicas), key=lambda one: (self.loads[one], self.totals[one]))
        home = self.homes.setdefault(prefix, idlest)
        if self.is_balanced and self._is_hot(home, idlest):
            home = self.homes[prefix] = idlest
        self.recent.append((request.arrival_seconds, home))
        self.loads[home] += 1
        self.totals[home] += 1
        return home

    def _is_hot(self, home: int, idlest: int) -> bool:
        most, least = self.loads[home], self.loads[idlest]
        return most > least + BALANCE_DIFFERENCE and most > least * BALANCE_RATIO
