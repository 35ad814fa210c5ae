"""Who gets a request where servers come later, or where the router knows only how it was.

`replicas.route` has the rules of a fleet that stands; here are two that move.

Sources: vLLM project, aibrix issue 646 (least requests by metrics that were polled: several
requests went to the same server); llm-d-autoscaling issue 1433 (a pod needs 110 s to be ready, 52 s
with the weights on its node).
"""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from sim.engine import Run
from sim.request import Request

SENT_WITHIN = 8.0  # seconds: what a router counts as a server's load


def least_loaded(
    requests: Sequence[Request], num_replicas: int, age_seconds: float
) -> tuple[int, ...]:
    """The replica of each request, [num_requests], in order of arrival.

    It is the one to which the fewest were sent of late (then, ever), as counted at the last look; a
    router looks every `age_seconds`, or at each request if that is 0.
    """
    sent: list[tuple[float, int]] = []
    looked, seen = -1.0, [(0, 0, who) for who in range(num_replicas)]
    targets = []
    for request in requests:
        now = request.arrival_seconds
        if now >= looked + age_seconds:
            looked = now if age_seconds == 0 else now - now % age_seconds
            known = [(at, who) for at, who in sent if at <= looked]
            ever = Counter(who for _, who in known)
            late = Counter(who for at, who in known if at >= looked - SENT_WITHIN)
            seen = [(late[who], ever[who], who) for who in range(num_replicas)]
        target = min(seen)[-1]
        sent.append((now, target))
        targets.append(target)
    return tuple(targets)


def asked_at(runs: Sequence[Run], waiting: int) -> float | None:
    """When so many requests wait on one server for the first time: the autoscaler asks for more."""
    moments = [
        float(run.series.start_seconds[np.argmax(run.series.num_waiting >= waiting)])
        for run in runs
        if (run.series.num_waiting >= waiting).any()
    ]
    return min(moments, default=None)


def growing(
    requests: Sequence[Request], few: int, many: int, ready_seconds: float
) -> tuple[int, ...]:
    """By turns: among `few`, and from `ready_seconds` on among `many`.  Who waits stays there."""
    return tuple(
        number % (few if request.arrival_seconds < ready_seconds else many)
        for number, request in enumerate(requests)
    )
