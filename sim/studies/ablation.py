"""From a naive server to a modern one, one mechanism at a time, on the same requests.

naive      requests in fixed batches, room for the longest answer, nothing shared
batching   continuous batching: who is done leaves at once, who waits joins
paging     KV memory in blocks, taken when a token needs one
cache      blocks that hold the same beginning are found again
chunks     long prompts in pieces, beside the others' decoding

Each rung keeps those below it; the later ones need the earlier ones anyway (a block that can be
found again has to be a block).  So what a rung gains is what it gains *there*.
"""

from dataclasses import dataclass

import numpy as np

from sim.cost import Clock
from sim.engine import Run, Setup
from sim.kv import Contiguous, MemorySettings, Paged
from sim.request import Request
from sim.scheduler import Chunked, Continuous, Policy, Static
from sim.views import waste

RUNGS = ("naive", "batching", "paging", "cache", "chunks")


@dataclass(frozen=True)
class Ladder:
    """What the rungs have in common.  `max_model_len`: what contiguous memory has to reserve."""

    clock: Clock
    num_slots: int
    max_model_len: int = 4_096
    max_num_seqs: int = 256
    max_num_batched_tokens: int = 2_048

    def setup(self, rung: str, requests: tuple[Request, ...]) -> Setup:
        """The server with every mechanism up to `rung`."""
        height = RUNGS.index(rung)
        return Setup(requests, self._policy(height), self._memory(height), self.clock)

    def _policy(self, height: int) -> Policy:
        if height < RUNGS.index("batching"):
            return Static(self.max_num_seqs, self.max_model_len)
        if height < RUNGS.index("chunks"):
            return Continuous(self.max_num_seqs, self.max_num_batched_tokens, self.max_model_len)
        return Chunked(
            self.max_num_seqs, self.max_num_batched_tokens, max_model_len=self.max_model_len
        )

    def _memory(self, height: int) -> MemorySettings:
        if height < RUNGS.index("paging"):
            return Contiguous(self.num_slots, max_model_len=self.max_model_len)
        cached = height >= RUNGS.index("cache")
        return Paged.for_tokens(self.num_slots, prefix_caching=cached)


def wasted_share(run: Run) -> float:
    """Of the KV memory that is held: the share that holds no token anybody still needs.

    Over the time in which somebody waits, as `waste.shares`.  Blocks that several requests share
    are held once; what a block wastes is the rest of a request's last one, which nobody shares.
    0 where nothing was held in that time.
    """
    shares = waste.shares(run)
    held = _held_share(run)
    if not held:
        return 0.0
    if isinstance(run.setup.memory, Contiguous):
        return 1 - shares.filled / held
    return (shares.later + shares.internal) / held


def _held_share(run: Run) -> float:
    """KV memory that requests hold, of all of it, on average over the same time."""
    returns = [resumed for pauses in run.pauses.values() for _, resumed in pauses]
    end = max([float(np.nanmax(run.scheduled_seconds)), *returns])
    series = run.series
    end = end or float(series.end_seconds[-1])
    seconds = np.minimum(series.end_seconds, end) - np.minimum(series.start_seconds, end)
    return float(seconds @ series.kv_usage) / end
