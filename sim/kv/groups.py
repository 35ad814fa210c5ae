"""How vLLM puts layers that remember differently into one pool of equal blocks.

Layers of one kind need the same blocks for a request, so they could share a block table; layers
with a window need fewer.  The manager cuts the layers into groups of equally many, all of one kind,
and gives each group a block table of its own.  A block then holds `block_size` tokens in all layers
of *one* group, and every group draws from the same pool:

    layers per group   the least number of layers of a kind, or the largest where they are close
    groups             each kind's layers / layers per group, rounded up (the rest is padding)
    block bytes        layers per group * block_size * 2 H_kv d b

A state is one block a request, so blocks are made long enough (in tokens) for it to fit.

With one kind of layer there is one group, and this is the plain pool of `paged`.  Source: vLLM
0.29, `v1/core/kv_cache_utils.py` (groups, blocks of a request, what is logged).
"""

from dataclasses import dataclass
from functools import cached_property

from sim.specs import Model

CLOSE = 1.5  # kinds whose layers differ by less are padded to the larger number


@dataclass(frozen=True)
class Groups:
    """The groups of `model`, what one GPU holds of it, with blocks of at least `block_size`."""

    model: Model
    least_block_size: int = 16

    @cached_property
    def layers_per_group(self) -> int:
        numbers = self.model.layers_of.values()
        return max(numbers) if max(numbers) < CLOSE * min(numbers) else min(numbers)

    @cached_property
    def num_groups(self) -> int:
        return sum(-(-num // self.layers_per_group) for num in self.model.layers_of.values())

    @cached_property
    def _bytes_per_token_and_layer(self) -> float:
        heads, each = self.model.heads, self.model.kv_element_bytes
        return max(kind.kv_numbers(heads) for kind in self.model.layers_of) * each

    @cached_property
    def block_size(self) -> int:
        """Tokens of a block."""
        state = max(kind.state_numbers for kind in self.model.layers_of)
        needed = state * self.model.kv_element_bytes / self._bytes_per_token_and_layer
        size = self.least_block_size
        return max(size, size * int(-(-needed // size)))

    @cached_property
    def block_bytes(self) -> float:
        """A block in all layers of its group."""
        return self.layers_per_group * self.block_size * self._bytes_per_token_and_layer

    def blocks_for(self, tokens: int, chunk: int) -> int:
        """The most blocks that a request of `tokens` holds at a time, computed `chunk` at a time.

        A window keeps what its next chunk looks at, and one block more, since it begins anywhere.
        """
        held = 0
        for kind, num in self.model.layers_of.items():
            groups = -(-num // self.layers_per_group)
            if kind.state_numbers:
                held += groups
            elif kind.window < tokens:
                kept = min(int(kind.window) - 1 + chunk, tokens)
                held += groups * (-(-kept // self.block_size) + 1)
            else:
                held += groups * -(-tokens // self.block_size)
        return held
