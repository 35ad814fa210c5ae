"""Everything a run depends on."""

from dataclasses import dataclass

from sim.cost import Clock
from sim.engine.speculation import Speculation
from sim.errors import require
from sim.kv import MemorySettings
from sim.request import Request
from sim.scheduler import Chunked, Continuous, Policy


@dataclass(frozen=True)
class Users:
    """A closed loop: so many people, each of whom asks again when the answer before has come.

    Raises:
        SimError: `num_users_below_one`, `think_time_negative`.
    """

    num_users: int
    think_seconds: float = 0.0

    def __post_init__(self) -> None:
        require(self.num_users >= 1, "num_users_below_one", value=self.num_users)
        require(
            0 <= self.think_seconds < float("inf"), "think_time_negative", value=self.think_seconds
        )


@dataclass(frozen=True)
class Setup:
    """The same setup gives the same run.

    `reject_impossible` refuses on arrival a request whose prompt + output can never fit the pool;
    switched off, it waits forever, as in engines without that check.  With `users` the loop is
    closed: the requests are sent in their order, each as soon as somebody is free, and their own
    arrival times do not count.  With `speculation` decode steps carry proposals; a batch that is
    fixed to its end (static) has no use for them.

    Raises:
        SimError: `no_requests`, `duplicate_request_id`, `speculation_needs_iterations`.
    """

    requests: tuple[Request, ...]
    policy: Policy
    memory: MemorySettings
    clock: Clock
    reject_impossible: bool = True
    users: Users | None = None
    speculation: Speculation | None = None

    def __post_init__(self) -> None:
        require(len(self.requests) >= 1, "no_requests")
        by_iterations = isinstance(self.policy, (Chunked, Continuous))
        require(self.speculation is None or by_iterations, "speculation_needs_iterations")
        ids = {request.id for request in self.requests}
        require(len(ids) == len(self.requests), "duplicate_request_id")
