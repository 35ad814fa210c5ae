"""Small servers for tests: a clock on which every step takes one second, and a pool in the open."""

from dataclasses import dataclass
from typing import ClassVar, TypeVar

from sim.cost import Clock, SimpleClock
from sim.engine import Setup, Step, steps
from sim.kv import MemorySettings, Paged, PagedMemory
from sim.request import Request, Segment, Sequence
from sim.scheduler import Policy

SECOND = SimpleClock(prefill_tokens_per_second=1e12, decode_seconds_per_step=1.0)
Kind = TypeVar("Kind")

PLENTY = Paged(num_blocks=2000, block_size=4)


@dataclass(frozen=True)
class Opened(Paged):
    """A pool that a test can look into while the engine uses it."""

    last: ClassVar[PagedMemory] = Paged(2).open()

    def open(self) -> PagedMemory:
        Opened.last = super().open()
        return Opened.last


def request(
    id: int, prompt: int, output: int, arrival: float = 0.0, shared: int = 0, text: str = "text"
) -> Request:
    """A request whose first `shared` prompt tokens are those of every other of the same text."""
    prefix = (Segment(text, shared),) if shared else ()
    return Request(id, arrival, prompt, output, prefix)


def sequence(id: int, prompt: int, output: int = 1, shared: int = 0) -> Sequence:
    return Sequence(request(id, prompt, output, shared=shared))


def run(
    requests: list[Request], policy: Policy, memory: MemorySettings = PLENTY, clock: Clock = SECOND
) -> list[Step]:
    return list(steps(Setup(tuple(requests), policy, memory, clock)))


def scheduled(step: Step) -> dict[int, int]:
    """Tokens of each request in a step, in the scheduler's order."""
    return {work.request_id: work.num_tokens for work in step.work}


def events_of(all_steps: list[Step], kind: type[Kind]) -> list[Kind]:
    return [event for step in all_steps for event in step.events if isinstance(event, kind)]
