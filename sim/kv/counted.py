"""The block pool without block numbers: as many free, as many held, the same prefixes found.

What `paged` does block by block is mostly the same for all blocks.  Two requests can only share
what stands in segments that both name, and a request finds its own text again only after it was
preempted.  So only such blocks get a name here; all others are nameless, and the free queue holds
them as counts, in the very order in which `paged` would give them out.
"""

from collections import OrderedDict
from collections.abc import Hashable
from collections.abc import Sequence as Row

from sim.request import Segment, Sequence, shared_content


class CountedBlocks:
    """Answers like `PagedMemory`, for runs that nobody looks at step by step."""

    grows = True

    def __init__(self, num_usable_blocks: int, block_size: int, prefix_caching: bool):
        self.block_size = block_size
        self.prefix_caching = prefix_caching
        self.num_usable_blocks, self.num_free_blocks = num_usable_blocks, 0
        self._num_reserved: dict[int, int] = {}  # request id -> blocks, taken ahead of need
        self._named: dict[int, list[int]] = {}  # request id -> its first blocks, if they have names
        self._queue: OrderedDict[int, int] = OrderedDict()  # name -> 1; -number -> nameless blocks
        self._ref_counts: list[int] = []  # [names]
        self._keys: list[Hashable] = []  # [names] what stands in the block and before it
        self._blocks_of: dict[Hashable, list[int]] = {}  # several when computed separately
        self._chain: dict[tuple[Hashable, Hashable], int] = {}  # (parent, content) -> key
        self._shared_keys: dict[tuple[Segment, ...], list[int]] = {}
        self._num_runs = 0
        self._put_back(num_usable_blocks)

    # -- looking ----------------------------------------------------------------------------

    @property
    def num_used_blocks(self) -> int:
        return self.num_usable_blocks - self.num_free_blocks

    def num_blocks_for(self, num_tokens: int) -> int:
        return -(-num_tokens // self.block_size)

    def can_ever_hold(self, num_tokens: int) -> bool:
        return self.num_blocks_for(num_tokens) <= self.num_usable_blocks

    def num_held(self, sequence: Sequence) -> int:
        """Blocks of a sequence: it has room for what it has computed, and what it reserved."""
        computed = -(-sequence.num_computed_tokens // self.block_size)
        return max(computed, self._num_reserved.get(sequence.id, 0))

    def num_missing_blocks(self, sequence: Sequence, num_tokens: int, hits: Row[int] = ()) -> int:
        missing = -(-num_tokens // self.block_size) - self.num_held(sequence) - len(hits)
        unused = sum(self._ref_counts[block] == 0 for block in hits) if hits else 0
        return max(0, missing) + unused

    def match_prefix(self, sequence: Sequence) -> list[int]:
        hits: list[int] = []
        if self._blocks_of:
            for index in range((sequence.num_tokens - 1) // self.block_size):
                blocks = self._blocks_of.get(self._key(sequence, index))
                if not blocks:
                    break
                hits.append(blocks[0])
        return hits

    # -- owning -----------------------------------------------------------------------------

    def reserve(self, sequence: Sequence, num_tokens: int, hits: Row[int] = ()) -> bool:
        if not self._obtain(sequence, num_tokens, hits):
            return False
        self._num_reserved[sequence.id] = self.num_blocks_for(num_tokens)
        return True

    def allocate(self, sequence: Sequence, num_tokens: int, hits: Row[int] = ()) -> bool:
        """The blocks count as the sequence's when the tokens count as computed."""
        if not self._obtain(sequence, num_tokens, hits):
            return False
        self.share(sequence, num_tokens)
        return True

    def share(self, sequence: Sequence, num_tokens: int) -> None:
        """Others may find what the first tokens have in common with theirs."""
        if self.prefix_caching and sequence.request.prefix:
            num_shared = len(self._keys_of(sequence.request.prefix))
            self._name(sequence, min(num_tokens // self.block_size, num_shared))

    def take(self, num_blocks: int) -> None:
        """Blocks for requests that all grow at once; they must be free."""
        self.num_free_blocks -= num_blocks
        while num_blocks > 0:
            name, size = next(iter(self._queue.items()))
            if size > num_blocks:
                self._queue[name] = size - num_blocks
            else:
                del self._queue[name]
                if name >= 0:
                    self._forget(name)
            num_blocks -= size

    def free(self, sequence: Sequence) -> None:
        if self.prefix_caching and not sequence.is_finished:  # it will look for them later
            self._name(sequence, sequence.num_computed_tokens // self.block_size)
        named = self._named.pop(sequence.id, [])
        self._put_back(self.num_held(sequence) - len(named))
        self._num_reserved.pop(sequence.id, None)
        for block in reversed(named):
            self._ref_counts[block] -= 1
            if self._ref_counts[block] == 0:
                self._queue[block] = 1
                self.num_free_blocks += 1

    # -- inside -----------------------------------------------------------------------------

    def _obtain(self, sequence: Sequence, num_tokens: int, hits: Row[int]) -> bool:
        missing = self.num_missing_blocks(sequence, num_tokens, hits)
        if missing > self.num_free_blocks:
            return False
        for block in hits:
            if self._ref_counts[block] == 0:
                del self._queue[block]
                self.num_free_blocks -= 1
                missing -= 1
            self._ref_counts[block] += 1
        if hits:
            self._named[sequence.id] = list(hits)
        self.take(missing)
        return True

    def _put_back(self, num_blocks: int) -> None:
        """Nameless blocks, to the end of the queue."""
        if num_blocks == 0:
            return
        self.num_free_blocks += num_blocks
        last = next(reversed(self._queue), 0)
        if last < 0:
            self._queue[last] += num_blocks
        else:
            self._num_runs += 1
            self._queue[-self._num_runs] = num_blocks

    def _name(self, sequence: Sequence, num_full_blocks: int) -> None:
        """Make the sequence's first full blocks known by what stands in them."""
        named = self._named.setdefault(sequence.id, [])
        for index in range(len(named), num_full_blocks):
            block, key = len(self._keys), self._key(sequence, index)
            self._keys.append(key)
            self._ref_counts.append(1)
            self._blocks_of.setdefault(key, []).append(block)
            named.append(block)

    def _forget(self, block: int) -> None:
        blocks = self._blocks_of[self._keys[block]]
        blocks.remove(block)
        if not blocks:
            del self._blocks_of[self._keys[block]]

    def _key(self, sequence: Sequence, index: int) -> Hashable:
        """Equal for two blocks only if all tokens up to their ends are."""
        shared = self._keys_of(sequence.request.prefix)
        return shared[index] if index < len(shared) else (sequence.id, index)

    def _keys_of(self, prefix: tuple[Segment, ...]) -> list[int]:
        """A key for each block that lies wholly in the shared segments."""
        if prefix not in self._shared_keys:
            keys: list[int] = []
            num_tokens = sum(segment.num_tokens for segment in prefix)
            for end in range(self.block_size, num_tokens + 1, self.block_size):
                content = shared_content(prefix, end - self.block_size, end)
                parent = keys[-1] if keys else -1
                keys.append(self._chain.setdefault((parent, content), len(self._chain)))
            self._shared_keys[prefix] = keys
        return self._shared_keys[prefix]
