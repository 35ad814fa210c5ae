"""Requests on their way to the server: in an open loop by the clock, in a closed loop by the users.

Open: requests come when they come, however slow the server is.  Closed: a user who waits for an
answer sends nothing, so a slow server sees fewer requests (Schroeder et al., NSDI 2006).
"""

import heapq
import math
from collections import deque
from dataclasses import replace

from sim.engine.setup import Setup
from sim.events import Event, Rejected, TooLong
from sim.kv import Memory
from sim.request import Request, Sequence


class Inbox:
    """Who has not come yet; truthy while somebody is on the way."""

    def __init__(self, setup: Setup):
        self.setup = setup
        self.users = setup.users
        if self.users is None:
            self._unsent = deque(sorted(setup.requests, key=lambda r: r.arrival_seconds))
        else:
            self._unsent = deque(setup.requests)
            self._ready_at = [0.0] * self.users.num_users  # a heap: when each free user asks

    def __bool__(self) -> bool:
        return bool(self._unsent)

    @property
    def next_seconds(self) -> float:
        """When the next request comes; infinity while all users wait, or when all have come."""
        if not self._unsent:
            return math.inf
        if self.users is None:
            return self._unsent[0].arrival_seconds
        return self._ready_at[0] if self._ready_at else math.inf

    def take(self) -> Request:
        """The next request, as it was sent."""
        request = self._unsent.popleft()
        if self.users is None:
            return request
        return replace(request, arrival_seconds=heapq.heappop(self._ready_at))

    def answered(self, seconds: float) -> None:
        """A request is finished, or was refused: its user is free."""
        if self.users is not None:
            heapq.heappush(self._ready_at, seconds + self.users.think_seconds)


def refusal(sequence: Sequence, setup: Setup, memory: Memory) -> Event | None:
    """Why the request is turned away on arrival; None if it may wait."""
    longest = setup.policy.max_model_len
    if longest is not None and sequence.num_tokens >= longest:
        return TooLong(sequence.id, sequence.num_tokens, longest)
    if setup.reject_impossible and not memory.can_ever_hold(sequence.max_tokens):
        needed = memory.num_blocks_for(sequence.max_tokens)
        return Rejected(sequence.id, needed, memory.num_usable_blocks)
    return None
