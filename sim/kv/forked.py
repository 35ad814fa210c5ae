"""Forked sequences: several answers to one prompt share its blocks until they differ.

What `paged` lacks: its shared blocks are always full and never written again, so whoever forks must
give each answer a last block of its own.  Here a block that is not full may be shared, too, and is
copied at the first write while somebody else still points at it: copy-on-write.

Source: Kwon et al. 2023 (PagedAttention), section 4.4; vLLM V0.  vLLM V1 has no such thing.
"""

from collections import deque

from sim.errors import require
from sim.events import CopiedOnWrite, Forked, ForkEvent


class ForkedMemory:
    """A pool of blocks with reference counts; blocks count from 0."""

    def __init__(self, num_blocks: int, block_size: int):
        self.block_size = block_size
        self.block_tables: dict[int, list[int]] = {}  # sequence id -> blocks
        self.num_tokens: dict[int, int] = {}  # of each sequence
        self.ref_counts = [0] * num_blocks  # [num_blocks]
        self.free_blocks = deque(range(num_blocks))
        self.events: list[ForkEvent] = []

    @property
    def num_used_blocks(self) -> int:
        return len(self.ref_counts) - len(self.free_blocks)

    @property
    def num_listed_blocks(self) -> int:
        """Entries of all tables: what it would take if nothing were shared."""
        return sum(map(len, self.block_tables.values()))

    def start(self, sequence: int, num_tokens: int) -> None:
        """Blocks for a prompt.

        Raises:
            SimError: `no_free_block`.
        """
        num_blocks = -(-num_tokens // self.block_size)
        self.block_tables[sequence] = [self._take() for _ in range(num_blocks)]
        self.num_tokens[sequence] = num_tokens

    def fork(self, parent: int, child: int) -> None:
        """The child begins with everything the parent has, and nothing is copied."""
        self.block_tables[child] = list(self.block_tables[parent])
        self.num_tokens[child] = self.num_tokens[parent]
        for block in self.block_tables[child]:
            self.ref_counts[block] += 1
        self.events.append(Forked(parent, child))

    def append(self, sequence: int) -> None:
        """Write one token: in a new block if the last is full, in a copy if that is shared.

        Raises:
            SimError: `no_free_block`.
        """
        table, used = self.block_tables[sequence], self.num_tokens[sequence] % self.block_size
        if used == 0:
            table.append(self._take())
        elif self.ref_counts[table[-1]] > 1:
            shared, table[-1] = table[-1], self._take()
            self.ref_counts[shared] -= 1
            self.events.append(CopiedOnWrite(sequence, shared, table[-1], used))
        self.num_tokens[sequence] += 1

    def free(self, sequence: int) -> None:
        """The sequence is gone; its blocks are free where it was the last to point at them."""
        for block in self.block_tables.pop(sequence):
            self.ref_counts[block] -= 1
            if self.ref_counts[block] == 0:
                self.free_blocks.append(block)
        del self.num_tokens[sequence]

    def _take(self) -> int:
        require(bool(self.free_blocks), "no_free_block", num_blocks=len(self.ref_counts))
        block = self.free_blocks.popleft()
        self.ref_counts[block] = 1
        return block
