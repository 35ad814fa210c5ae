"""Contiguous KV memory: one unbroken run of slots per request, reserved before it starts.

How long an answer will be nobody knows, and a run cannot grow once its neighbour is taken; so room
is kept for the longest that may come.  Three kinds of waste follow: slots that are reserved for
later tokens, slots that no token will ever use (internal), and free slots in holes too small for
whoever asks (external).  `paged` removes the last, and all but a block's rest of the others.

A slot holds the K and V of one token; towards the engine it is a block of size 1, and a request's
block table is a range.  Since a request never grows out of its run, nobody is ever preempted.

Source: Kwon et al. 2023 (PagedAttention), section 3.1.  What is reserved follows the baselines of
its section 6.1 (Orca Max, Pow2, Oracle), but the power of two is taken of prompt + answer.
"""

from collections.abc import Sequence as Row
from dataclasses import dataclass
from typing import Literal, get_args

from sim.errors import require
from sim.events import Compacted, Event
from sim.request import Sequence
from sim.specs import Gpu

Reservation = Literal["model_limit", "power_of_two", "exact"]
Fit = Literal["first", "best"]


@dataclass(frozen=True)
class Contiguous:
    """Settings of `num_slots` slots in a row.

    `reservation`: what a request of n tokens (prompt + answer) gets: the model's limit, the next
    power of two, or n, as if somebody knew it.  `fit`: the lowest hole that is large enough, or
    the smallest.  With `compacts` all runs are pushed together when only the holes are too small;
    the copying takes no time here.  A request longer than `max_model_len` is never held.

    Raises:
        SimError: `too_few_slots`, `max_model_len_below_one`, `unknown_reservation`, `unknown_fit`.
    """

    num_slots: int
    reservation: Reservation = "model_limit"
    fit: Fit = "first"
    max_model_len: int = 2048
    compacts: bool = False

    def __post_init__(self) -> None:
        require(self.num_slots >= 1, "too_few_slots", num_slots=self.num_slots)
        require(self.max_model_len >= 1, "max_model_len_below_one", value=self.max_model_len)
        known = self.reservation in get_args(Reservation)
        require(known, "unknown_reservation", value=self.reservation)
        require(self.fit in get_args(Fit), "unknown_fit", value=self.fit)

    def num_slots_for(self, num_tokens: int) -> int:
        """What is reserved for a request of so many tokens, prompt + answer."""
        return {
            "model_limit": self.max_model_len,
            "power_of_two": min(1 << (num_tokens - 1).bit_length(), self.max_model_len),
            "exact": num_tokens,
        }[self.reservation]

    def open(self) -> "ContiguousMemory":
        return ContiguousMemory(self)

    @property
    def block_size(self) -> int:
        """A slot holds one token."""
        return 1

    def counted(self) -> "ContiguousMemory":
        """There is little to count: one range per request."""
        return ContiguousMemory(self)


@dataclass(frozen=True)
class Waste:
    """What all slots are at one moment; the four add up to `num_slots`.

    used: tokens that are there; later: reserved for tokens that will come; internal: reserved
    beyond what the request will ever use; free: not reserved.
    """

    used: int
    later: int
    internal: int
    free: int


class ContiguousMemory:
    """The slots while they are in use."""

    block_size = 1
    grows = False

    def __init__(self, settings: Contiguous):
        self.settings = settings
        self.num_usable_blocks = settings.num_slots
        self.block_tables: dict[int, range] = {}  # request id -> its slots
        self.events: list[Event] = []
        self._sequences: dict[int, Sequence] = {}  # request id -> who holds the slots
        self._num_free = settings.num_slots

    # -- looking ----------------------------------------------------------------------------

    @property
    def num_free_blocks(self) -> int:
        return self._num_free

    @property
    def num_used_blocks(self) -> int:
        return self.num_usable_blocks - self._num_free

    @property
    def usage(self) -> float:
        """Share of slots that are reserved, whether or not a token is there."""
        return self.num_used_blocks / self.num_usable_blocks

    def num_blocks_for(self, num_tokens: int) -> int:
        return self.settings.num_slots_for(num_tokens)

    def can_ever_hold(self, num_tokens: int) -> bool:
        is_short_enough = num_tokens <= self.settings.max_model_len
        return is_short_enough and self.num_blocks_for(num_tokens) <= self.num_usable_blocks

    def num_missing_blocks(self, sequence: Sequence, num_tokens: int, hits: Row[int] = ()) -> int:
        """All or nothing: whoever holds slots lacks none."""
        if sequence.id in self.block_tables:
            return 0
        return self.num_blocks_for(sequence.max_tokens)

    def match_prefix(self, sequence: Sequence) -> list[int]:
        """Nothing: a run belongs to one request."""
        return []

    def holes(self) -> list[range]:
        """The free runs of slots, lowest first."""
        holes, start = [], 0
        for held in sorted(self.block_tables.values(), key=lambda held: held.start):
            if start < held.start:
                holes.append(range(start, held.start))
            start = held.stop
        if start < self.num_usable_blocks:
            holes.append(range(start, self.num_usable_blocks))
        return holes

    def hole_for(self, num_slots: int) -> range | None:
        """The hole that a run of so many slots would go to; None if no single one is enough."""
        fitting = [hole for hole in self.holes() if len(hole) >= num_slots]
        if self.settings.fit == "best":
            return min(fitting, key=len, default=None)  # of equals the lowest
        return fitting[0] if fitting else None

    def waste(self) -> Waste:
        used = sum(who.num_tokens for who in self._sequences.values())
        ever_used = sum(who.max_tokens for who in self._sequences.values())
        return Waste(used, ever_used - used, self.num_used_blocks - ever_used, self.num_free_blocks)

    def external_waste(self, num_slots: int) -> int:
        """Free slots that are no use to a run of `num_slots`: they lie in holes too small."""
        return sum(len(hole) for hole in self.holes() if len(hole) < num_slots)

    @property
    def fragmentation(self) -> float:
        """1 - largest hole / all free slots: 0 when what is free is one piece, or nothing is."""
        holes = [len(hole) for hole in self.holes()]
        return 1 - max(holes) / sum(holes) if holes else 0.0

    # -- owning -----------------------------------------------------------------------------

    def reserve(self, sequence: Sequence, num_tokens: int, hits: Row[int] = ()) -> bool:
        """Own a run for the request's whole life; False, and nothing changed, if no hole fits."""
        held = self.block_tables.get(sequence.id)
        if held is not None:
            return num_tokens <= len(held)
        if not self.can_ever_hold(sequence.max_tokens):
            return False
        num_slots = self.num_blocks_for(sequence.max_tokens)
        hole = self.hole_for(num_slots)
        if hole is None and self.settings.compacts and num_slots <= self._num_free:
            self.events.append(Compacted(self.compact()))
            hole = self.hole_for(num_slots)
        if hole is None:
            return False
        self.block_tables[sequence.id] = hole[:num_slots]
        self._sequences[sequence.id] = sequence
        self._num_free -= num_slots
        return True

    def allocate(self, sequence: Sequence, num_tokens: int, hits: Row[int] = ()) -> bool:
        """As `reserve`: room for every token is there from the start."""
        return self.reserve(sequence, num_tokens, hits)

    def free(self, sequence: Sequence) -> None:
        self._num_free += len(self.block_tables.pop(sequence.id, ()))
        self._sequences.pop(sequence.id, None)

    def drop(self, sequence: Sequence, num_tokens: int) -> None:
        """Nothing: a run is given back whole."""

    def take(self, num_blocks: int) -> None:
        """For requests that all grow at once: they have their slots already."""

    def share(self, sequence: Sequence, num_tokens: int) -> None:
        """Nothing: a run belongs to one request."""

    def compact(self) -> int:
        """Push all runs together, in their order, so that the free slots are one hole.

        Returns the slots that had to be copied: the tokens of every request that moved.
        """
        num_copied = start = 0
        for who, held in sorted(self.block_tables.items(), key=lambda item: item[1].start):
            if start < held.start:
                self.block_tables[who] = range(start, start + len(held))
                num_copied += self._sequences[who].num_tokens
            start += len(held)
        return num_copied


def copy_seconds(num_bytes: float, gpu: Gpu) -> float:
    """What moving KV within a GPU takes at best: each byte is read once and written once."""
    return 2 * num_bytes / gpu.bandwidth
