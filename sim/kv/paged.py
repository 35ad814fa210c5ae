"""Paged KV memory with prefix caching: a request owns blocks, wherever they happen to lie.

The block table maps a request's n-th block to a physical block, as a page table maps virtual
pages to frames.  A full block is known by the hash of everything up to its end, so a request whose
prompt begins the same way can share it.  A block nobody uses stays in the free queue *with* its
content until somebody needs the room: the order of the free queue is the order of eviction.

Source: Kwon et al. 2023 (PagedAttention), sections 4.1 to 4.3; details as in vLLM V1 0.11
(`vllm/v1/core/block_pool.py`, `kv_cache_manager.py`).
"""

from collections import OrderedDict
from collections.abc import Hashable
from collections.abc import Sequence as Row
from dataclasses import dataclass

from sim.errors import require
from sim.events import BlockFull, Event, Evicted
from sim.kv.counted import CountedBlocks
from sim.kv.pool import num_kv_blocks
from sim.request import Sequence
from sim.specs import Gpu, Model


@dataclass(frozen=True)
class Paged:
    """Settings of a block pool.  Block 0 is never given out, so `num_blocks - 1` are usable.

    Raises:
        SimError: `too_few_blocks`, `block_size_below_one`.
    """

    num_blocks: int
    block_size: int = 16
    prefix_caching: bool = True

    def __post_init__(self) -> None:
        require(self.num_blocks >= 2, "too_few_blocks", num_blocks=self.num_blocks)
        require(self.block_size >= 1, "block_size_below_one", block_size=self.block_size)

    @classmethod
    def for_tokens(
        cls, num_tokens: int, block_size: int = 16, prefix_caching: bool = True
    ) -> "Paged":
        """A pool with room for `num_tokens`, rounded up to whole blocks."""
        return cls(-(-num_tokens // block_size) + 1, block_size, prefix_caching)

    @classmethod
    def beside(
        cls,
        model: Model,
        gpu: Gpu,
        block_size: int = 16,
        prefix_caching: bool = True,
        *,
        tensor_parallel: int = 1,
        memory_utilization: float = 0.9,
    ) -> "Paged":
        """The pool that is left on each GPU beside the weights; see `num_kv_blocks`."""
        blocks = num_kv_blocks(
            model,
            gpu,
            block_size=block_size,
            tensor_parallel=tensor_parallel,
            memory_utilization=memory_utilization,
        )
        return cls(blocks, block_size, prefix_caching)

    def open(self) -> "PagedMemory":
        return PagedMemory(self)

    def counted(self) -> CountedBlocks:
        """The same pool for a run that nobody looks at step by step."""
        return CountedBlocks(self.num_blocks - 1, self.block_size, self.prefix_caching)


class PagedMemory:
    """The pool while it is in use.  `events` collects what happened since it was last cleared."""

    def __init__(self, settings: Paged):
        self.block_size = settings.block_size
        self.prefix_caching = settings.prefix_caching
        self.num_usable_blocks = settings.num_blocks - 1
        self.block_tables: dict[int, list[int]] = {}  # request id -> physical blocks, in order
        self.ref_counts = [0] * settings.num_blocks  # [num_blocks]
        self.free_queue: OrderedDict[int, None] = OrderedDict.fromkeys(
            range(1, settings.num_blocks)
        )
        self.events: list[Event] = []
        self._chain: dict[tuple[int, Hashable], int] = {}  # (parent hash, content) -> hash
        self._hashes: dict[int, list[int]] = {}  # request id -> hash of each of its full blocks
        self._num_registered: dict[int, int] = {}  # request id -> full blocks found by hash
        self._blocks_of_hash: dict[int, list[int]] = {}  # several when computed separately
        self._hash_of_block: dict[int, int] = {}

    # -- looking ----------------------------------------------------------------------------

    @property
    def num_free_blocks(self) -> int:
        return len(self.free_queue)

    @property
    def num_used_blocks(self) -> int:
        return self.num_usable_blocks - len(self.free_queue)

    @property
    def usage(self) -> float:
        """Share of usable blocks that some request holds; cached but unused blocks are free."""
        return self.num_used_blocks / self.num_usable_blocks

    def num_blocks_for(self, num_tokens: int) -> int:
        return -(-num_tokens // self.block_size)

    def can_ever_hold(self, num_tokens: int) -> bool:
        return self.num_blocks_for(num_tokens) <= self.num_usable_blocks

    def num_missing_blocks(self, sequence: Sequence, num_tokens: int, hits: Row[int] = ()) -> int:
        """Blocks that must leave the free queue before the sequence can own `num_tokens` slots.

        A hit block that nobody uses lies in the free queue too, so it counts.
        """
        held = len(self.block_tables.get(sequence.id, ()))
        fresh = max(0, self.num_blocks_for(num_tokens) - held - len(hits))
        return fresh + sum(self.ref_counts[block] == 0 for block in hits) if hits else fresh

    def can_be_found(self, block: int) -> bool:
        """Whether it is full and known by its hash, in use or not."""
        return block in self._hash_of_block

    def match_prefix(self, sequence: Sequence) -> list[int]:
        """The cached blocks the sequence begins with, up to the first miss.

        At least one token is always left to compute, since its logits are needed.
        """
        hits: list[int] = []
        if self.prefix_caching:
            for index in range((sequence.num_tokens - 1) // self.block_size):
                blocks = self._blocks_of_hash.get(self._block_hash(sequence, index))
                if not blocks:
                    break
                hits.append(blocks[0])
        return hits

    # -- owning -----------------------------------------------------------------------------

    def reserve(self, sequence: Sequence, num_tokens: int, hits: Row[int] = ()) -> bool:
        """Own slots for `num_tokens` tokens in all; False, and nothing changed, if room lacks."""
        table = self.block_tables.get(sequence.id)
        if table is not None and num_tokens <= len(table) * self.block_size:
            return True
        if self.num_missing_blocks(sequence, num_tokens, hits) > len(self.free_queue):
            return False
        if table is None:
            table = self.block_tables[sequence.id] = []
            self._num_registered[sequence.id] = len(hits)
        for block in hits:
            self.ref_counts[block] += 1
            self.free_queue.pop(block, None)
        table.extend(hits)
        for _ in range(self.num_blocks_for(num_tokens) - len(table)):
            table.append(self._take_free_block())
        return True

    def allocate(self, sequence: Sequence, num_tokens: int, hits: Row[int] = ()) -> bool:
        """`reserve` for tokens computed in this step; blocks they fill can be found at once, but
        not those that only proposals would fill."""
        if not self.reserve(sequence, num_tokens, hits):
            return False
        full = min(num_tokens, sequence.num_tokens) // self.block_size
        if full > self._num_registered[sequence.id]:
            self._register(sequence, full)
        return True

    def free(self, sequence: Sequence) -> None:
        """Give the blocks back, the last one first, so that a tail is evicted before its prefix."""
        for block in reversed(self.block_tables.pop(sequence.id, [])):
            self.ref_counts[block] -= 1
            if self.ref_counts[block] == 0:
                self.free_queue[block] = None
        self._num_registered.pop(sequence.id, None)
        if sequence.is_finished:
            self._hashes.pop(sequence.id, None)

    def drop(self, sequence: Sequence, num_tokens: int) -> None:
        """Give back the blocks beyond those that the first tokens fill, and forget what stood in
        them; they are taken first, before anything that can still be found."""
        table = self.block_tables[sequence.id]
        num_kept = min(num_tokens // self.block_size, len(table))
        for block in table[num_kept:]:
            self.ref_counts[block] -= 1
            if self.ref_counts[block] == 0:
                self._forget(block)
                self.free_queue[block] = None
                self.free_queue.move_to_end(block, last=False)
        del table[num_kept:]
        self._num_registered[sequence.id] = min(self._num_registered[sequence.id], num_kept)

    # -- inside -----------------------------------------------------------------------------

    def _take_free_block(self) -> int:
        block, _ = self.free_queue.popitem(last=False)
        self._forget(block)
        self.ref_counts[block] = 1
        return block

    def _forget(self, block: int) -> None:
        """Nobody finds the block by what stands in it any more."""
        key = self._hash_of_block.pop(block, None)
        if key is None:
            return
        self._blocks_of_hash[key].remove(block)
        if not self._blocks_of_hash[key]:
            del self._blocks_of_hash[key]
        self.events.append(Evicted(block))

    def _register(self, sequence: Sequence, num_full_blocks: int) -> None:
        table = self.block_tables[sequence.id]
        for index in range(self._num_registered[sequence.id], num_full_blocks):
            block = table[index]
            self.events.append(BlockFull(sequence.id, block))
            if self.prefix_caching:
                key = self._block_hash(sequence, index)
                self._blocks_of_hash.setdefault(key, []).append(block)
                self._hash_of_block[block] = key
        self._num_registered[sequence.id] = num_full_blocks

    def _block_hash(self, sequence: Sequence, index: int) -> int:
        """The chained hash of block `index`: one number per (parent, content), so never a clash."""
        hashes = self._hashes.setdefault(sequence.id, [])
        while len(hashes) <= index:
            parent = hashes[-1] if hashes else -1
            content = sequence.request.block_content(len(hashes), self.block_size)
            hashes.append(self._chain.setdefault((parent, content), len(self._chain)))
        return hashes[index]
