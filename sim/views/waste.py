"""What KV memory holds while requests queue for it, as shares of all of it.

Four shares that add up to 1: tokens; room kept for tokens that will come; room taken that will
never be used (internal); and what is free and yet no use to whoever is first in line (external).
A run whose requests all come at once is averaged over the time in which somebody waits: from its
beginning until the last one is let in, or back in.  If nobody ever waits, over the whole run.

Source: Kwon et al. 2023 (PagedAttention), section 3.1 and figure 2.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from sim.engine import Record, Run, Step
from sim.events import Admitted, Compacted, Preempted
from sim.kv import Contiguous


@dataclass(frozen=True)
class Shares:
    """Of KV memory, over time; `num_running`: requests that have memory, on average."""

    filled: float
    later: float
    internal: float
    external: float
    num_running: float


def shares(run: Run) -> Shares:
    """A prompt counts whole from its admission on, so of policies that compute it in one step."""
    memory = run.setup.memory
    returns = [resumed for pauses in run.pauses.values() for _, resumed in pauses]
    end = max([float(np.nanmax(run.scheduled_seconds)), *returns])
    end = end or float(run.series.end_seconds[-1])
    slots = memory.counted().num_usable_blocks * memory.block_size
    totals = np.zeros(4)  # slot-seconds filled, for later, never used; request-seconds
    for record in run.records:
        if not record.rejected:
            totals += _held(record, run, end)
    filled, later, internal, running = (totals / [*[slots * end] * 3, end]).tolist()
    return Shares(filled, later, internal, 1 - filled - later - internal, running)


def slots_per_request(shares: Shares, num_slots: int) -> float:
    """Slots that a running request holds and does not use, on average."""
    return (shares.later + shares.internal) * num_slots / shares.num_running


def expected_slots(block_size: int) -> float:
    """The same in theory, if every rest of a last block is equally likely."""
    return (block_size - 1) / 2


def table_entries(tokens: int, block_size: int) -> int:
    """Blocks that the table of so many tokens lists."""
    return -(-tokens // block_size)


def shared_tokens(prefix_tokens: int, block_size: int) -> int:
    """How much of a common beginning is found again: whole blocks only."""
    return prefix_tokens // block_size * block_size


@dataclass(frozen=True)
class Losses:
    """What preemptions cost, in tokens: `found` came back from the prefix cache."""

    num_preemptions: int
    lost_tokens: int
    found_tokens: int

    @property
    def again_tokens(self) -> int:
        """Computed a second time."""
        return self.lost_tokens - self.found_tokens


def losses(steps: Iterable[Step]) -> Losses:
    happened = [event for step in steps for event in step.events]
    lost = [event.lost_tokens for event in happened if isinstance(event, Preempted)]
    found = [e.hit_tokens for e in happened if isinstance(e, Admitted) and e.resumed]
    return Losses(len(lost), sum(lost), sum(found))


def copied_tokens(steps: Iterable[Step]) -> int:
    """Moved by compaction, over a whole run."""
    happened = (event for step in steps for event in step.events)
    return sum(event.num_tokens for event in happened if isinstance(event, Compacted))


# -- inside -----------------------------------------------------------------------------------


def _held(record: Record, run: Run, end: float) -> np.ndarray:
    """What one request adds to the totals until `end`."""
    memory, request = run.setup.memory, record.request
    edges = np.concatenate([[record.scheduled_seconds], record.token_seconds])
    seconds = np.diff(np.minimum(edges, end))  # with one token more in each
    for preempted, resumed in record.pauses:
        gap = np.searchsorted(edges, preempted, side="right") - 1
        seconds[gap] -= min(resumed, end) - min(preempted, end)
    tokens = request.prompt_tokens + np.arange(len(seconds))
    if isinstance(memory, Contiguous):
        held = np.full(len(tokens), memory.num_slots_for(request.total_tokens))
    else:
        held = -(-tokens // memory.block_size) * memory.block_size
    ever = np.minimum(held, request.total_tokens)
    parts = (tokens, ever - tokens, held - ever, np.ones(len(tokens)))
    return np.array([float(seconds @ part) for part in parts])
