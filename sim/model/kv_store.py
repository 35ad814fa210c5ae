"""Where the K and V of one sequence are kept: in one run of slots, or in blocks.

The model only writes the K and V of new tokens and reads those of all tokens so far; it cannot tell
which store it uses.  `memory` (in `kv`) decides who owns which blocks, this holds what is in them.
"""

from collections.abc import Sequence as Row
from typing import Protocol

import numpy as np

from sim.errors import require
from sim.specs import Model

Array = np.ndarray


class KvStore(Protocol):
    """`num_tokens` have K and V in every layer.  To forget the last ones, lower it."""

    num_tokens: int

    def write(self, layer: int, keys: Array, values: Array) -> None:
        """Keep K and V [num_new, kv_heads, head_dim] of the tokens after `num_tokens`.

        Raises:
            SimError: `kv_store_full`.
        """
        ...

    def read(self, layer: int, num_tokens: int) -> tuple[Array, Array]:
        """K and V of the first `num_tokens`, each [num_tokens, kv_heads, head_dim]."""
        ...


class ContiguousStore:
    """One run of slots, as long as the sequence may ever become."""

    def __init__(self, model: Model, max_tokens: int):
        self.num_tokens = 0
        self.slots = np.zeros(
            (model.layers, 2, max_tokens, model.kv_heads, model.head_dim), np.float32
        )

    def write(self, layer: int, keys: Array, values: Array) -> None:
        end = self.num_tokens + len(keys)
        _require_room(end, self.slots.shape[2])
        self.slots[layer, :, self.num_tokens : end] = keys, values

    def read(self, layer: int, num_tokens: int) -> tuple[Array, Array]:
        keys, values = self.slots[layer, :, :num_tokens]
        return keys, values


class BlockPool:
    """The slots of all blocks of a server, shared by its sequences."""

    def __init__(self, model: Model, num_blocks: int, block_size: int):
        self.block_size = block_size
        self.slots = np.zeros(
            (model.layers, 2, num_blocks * block_size, model.kv_heads, model.head_dim), np.float32
        )


class PagedStore:
    """Blocks of a pool, in the order of a block table such as `PagedMemory` hands out.

    The table is looked up at every use, so it may grow between two steps.  `num_tokens` above zero:
    the first blocks were filled by somebody else (a cached prefix).
    """

    def __init__(self, pool: BlockPool, block_table: Row[int], num_tokens: int = 0):
        self.num_tokens = num_tokens
        self._pool = pool
        self._block_table = block_table

    def write(self, layer: int, keys: Array, values: Array) -> None:
        end = self.num_tokens + len(keys)
        new = self._slots(end)[self.num_tokens :]  # [num_new]
        self._pool.slots[layer, 0, new] = keys
        self._pool.slots[layer, 1, new] = values

    def read(self, layer: int, num_tokens: int) -> tuple[Array, Array]:
        slots = self._slots(num_tokens)
        return self._pool.slots[layer, 0, slots], self._pool.slots[layer, 1, slots]

    def _slots(self, num_tokens: int) -> Array:
        """Position in the sequence -> slot in the pool."""
        size = self._pool.block_size
        _require_room(num_tokens, len(self._block_table) * size)
        positions = np.arange(num_tokens)
        return np.asarray(self._block_table)[positions // size] * size + positions % size


def _require_room(num_tokens: int, room: int) -> None:
    require(num_tokens <= room, "kv_store_full", num_tokens=num_tokens, room=room)
