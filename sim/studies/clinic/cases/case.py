"""One sick server before traffic, and what may be turned on it."""

from collections.abc import Callable
from dataclasses import dataclass

from sim.studies.clinic.deployment import Change, Deployment
from sim.studies.clinic.panel import Slo

MORE_MEMORY = Change("gpu_memory_utilization", 0.95)
FP8_KV = Change("kv_cache_dtype", "fp8")
FP8_WEIGHTS = Change("quantization", "fp8")
MORE_SLOTS = Change("max_num_seqs", 512)
LARGER_STEPS = Change("max_num_batched_tokens", 8_192)
TWO_REPLICAS = Change("num_replicas", 2)


@dataclass(frozen=True)
class Case:
    """One sick server; `chapter` is where its cure is explained, by the start of the page's name.

    `symptoms` are the answers to the three questions of `panel`.  Each of `cures` alone keeps the
    promise; `trades` help with something and keep not all of it, or turn users away; `lures` only
    seem to help.  `twin` is the case with the same complaint and another cause.  `sources` are
    reports of the incident; the seed draws the traffic.
    """

    code: str
    build: Callable[[int], Deployment]
    slo: Slo
    symptoms: tuple[str, str, str]
    cures: tuple[Change, ...]
    lures: tuple[Change, ...]
    twin: str
    chapter: str
    sources: tuple[str, ...]
    trades: tuple[Change, ...] = ()

    @property
    def offers(self) -> tuple[Change, ...]:
        """Everything that may be turned, in an order that gives nothing away."""
        every = (*self.cures, *self.trades, *self.lures)
        return tuple(sorted(every, key=lambda one: (one.flag, str(one.value))))


def issue(repository: str, number: int) -> str:
    return f"https://github.com/{repository}/issues/{number}"


def pull(repository: str, number: int) -> str:
    return f"https://github.com/{repository}/pull/{number}"
