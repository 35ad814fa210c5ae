"""A server before its traffic: who goes next, with which memory, on which machine.

All that a `Setup` has but its requests, so one server can be sent many loads.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

from sim.cost import Clock
from sim.engine import Setup, Speculation, Users
from sim.kv import MemorySettings
from sim.request import Request
from sim.scheduler import Chunked, Continuous, Policy, Static

POLICIES = ("chunked", "continuous", "static")
WHOLE_PROMPTS = 10_000_000  # the budget without chunks: vLLM wants at least the model length

Key = TypeVar("Key")


@dataclass(frozen=True)
class Server:
    """`memory_utilization` is the share of the GPU's memory that the pool was computed with; None
    where the pool was stated."""

    policy: Policy
    memory: MemorySettings
    clock: Clock
    speculation: Speculation | None = None
    memory_utilization: float | None = None

    @property
    def schedules_as_vllm(self) -> bool:
        """Whether its rules are held to records of the real scheduler (`sim.replay`)."""
        return type(self.policy) is Chunked  # those that extend it have rules of their own

    @property
    def kv_tokens(self) -> int:
        """How many tokens its pool has room for."""
        pool = self.memory.open()
        return pool.num_usable_blocks * pool.block_size

    def serving(self, requests: tuple[Request, ...], users: Users | None = None) -> Setup:
        return Setup(
            requests,
            self.policy,
            self.memory,
            self.clock,
            users=users,
            speculation=self.speculation,
        )

    def serving_each(
        self, loads: Mapping[Key, tuple[Request, ...]], users: Users | None = None
    ) -> dict[Key, Setup]:
        """A setup for each of the loads."""
        return {key: self.serving(requests, users) for key, requests in loads.items()}


def policy_named(name: str, max_num_seqs: int, max_num_batched_tokens: int | None) -> Policy:
    """One of `POLICIES`; the budget counts for "chunked" alone: None leaves every prompt whole."""
    chunked = (
        Chunked(max_num_seqs, WHOLE_PROMPTS, chunked_prefill=False)
        if max_num_batched_tokens is None
        else Chunked(max_num_seqs, max_num_batched_tokens)
    )
    named: dict[str, Policy] = {
        "chunked": chunked,
        "continuous": Continuous(max_num_seqs),
        "static": Static(max_num_seqs),
    }
    return named[name]
