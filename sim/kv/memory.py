"""What every KV memory must be able to answer, and how the settings of one open it."""

from collections.abc import Mapping
from collections.abc import Sequence as Row
from typing import Protocol

from sim.events import Event
from sim.request import Sequence


class Memory(Protocol):
    """The verbs that a policy uses.  `hits` are blocks found by `match_prefix`."""

    block_size: int
    num_usable_blocks: int

    @property
    def num_free_blocks(self) -> int: ...

    @property
    def num_used_blocks(self) -> int: ...

    def num_blocks_for(self, num_tokens: int) -> int: ...

    def can_ever_hold(self, num_tokens: int) -> bool: ...

    def match_prefix(self, sequence: Sequence) -> list[int]: ...

    def num_missing_blocks(
        self, sequence: Sequence, num_tokens: int, hits: Row[int] = ()
    ) -> int: ...

    def reserve(self, sequence: Sequence, num_tokens: int, hits: Row[int] = ()) -> bool: ...

    def allocate(self, sequence: Sequence, num_tokens: int, hits: Row[int] = ()) -> bool: ...

    def free(self, sequence: Sequence) -> None: ...


class OpenMemory(Memory, Protocol):
    """A memory whose every block can be looked at; `events` is what happened since last cleared."""

    events: list[Event]

    @property
    def block_tables(self) -> Mapping[int, Row[int]]: ...

    def drop(self, sequence: Sequence, num_tokens: int) -> None:
        """Give back what lies beyond the first tokens, so that nobody finds it any more."""
        ...


class CountedMemory(Memory, Protocol):
    """A memory that only counts, for the fast path.  `grows`: requests take blocks as they go."""

    grows: bool

    def take(self, num_blocks: int) -> None:
        """Blocks for requests that all grow at once; they must be free."""
        ...

    def share(self, sequence: Sequence, num_tokens: int) -> None:
        """Others may find what the first tokens have in common with theirs."""
        ...


class MemorySettings(Protocol):
    """Settings of a memory, frozen."""

    @property
    def block_size(self) -> int: ...

    def open(self) -> OpenMemory: ...

    def counted(self) -> CountedMemory: ...
