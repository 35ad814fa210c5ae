"""The hash chain of a prompt: a block is known by its tokens and by everything before them.

    h_i = H(h_(i-1), tokens of block i)      full blocks only

So equal hashes mean equal beginnings, and a lookup is one step per block.  It also means that one
other token changes every hash after it.  `paged` numbers its hashes, since it only has to tell them
apart; here they are real ones, to be looked at.

Source: vLLM V1 0.11, `vllm/v1/core/kv_cache_utils.py` (`hash_block_tokens`, SHA-256).
"""

from collections.abc import Hashable
from collections.abc import Sequence as Row
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from itertools import takewhile
from typing import Literal

from sim.errors import require

Tokens = tuple[Hashable, ...]

# What becomes of a block: found; the last one of a prompt that is cached whole; a rest that fills
# no block; its tokens are cached, but after another beginning; its tokens are cached nowhere.
Fate = Literal["hit", "last", "rest", "other_beginning", "other_tokens"]


@dataclass(frozen=True)
class ChainBlock:
    """`hash`: hexadecimal; None for the rest that fills no block."""

    tokens: Tokens
    hash: str | None


def chain(tokens: Row[Hashable], block_size: int) -> tuple[ChainBlock, ...]:
    """The blocks of a prompt in order.

    Raises:
        SimError: `block_size_below_one`.
    """
    require(block_size >= 1, "block_size_below_one", block_size=block_size)
    blocks: list[ChainBlock] = []
    parent = ""
    for start in range(0, len(tokens), block_size):
        content = tuple(tokens[start : start + block_size])
        if len(content) < block_size:
            blocks.append(ChainBlock(content, None))
        else:
            parent = sha256(repr((parent, content)).encode()).hexdigest()
            blocks.append(ChainBlock(content, parent))
    return tuple(blocks)


@dataclass(frozen=True)
class Lookup:
    """A prompt that is looked up in a cache, which holds the full blocks of another one."""

    asked: tuple[ChainBlock, ...]
    cached: tuple[ChainBlock, ...]

    @cached_property
    def num_found(self) -> int:
        """Blocks that need not be computed: up to the first whose hash is not there, and never the
        one with the last token, whose logits are needed."""
        known = {block.hash for block in self.cached if block.hash}
        return sum(1 for _ in takewhile(lambda block: block.hash in known, self.asked[:-1]))

    @property
    def hit_tokens(self) -> int:
        return sum(len(block.tokens) for block in self.asked[: self.num_found])

    @property
    def computed_tokens(self) -> int:
        return sum(len(block.tokens) for block in self.asked[self.num_found :])

    @cached_property
    def fates(self) -> tuple[Fate, ...]:
        """Why each block is found or not."""
        full = [block for block in self.cached if block.hash]
        hashes, contents = {block.hash for block in full}, {block.tokens for block in full}

        def fate(index: int, block: ChainBlock) -> Fate:
            if block.hash is None:
                return "rest"
            if block.hash in hashes:
                return "hit" if index < self.num_found else "last"
            return "other_beginning" if block.tokens in contents else "other_tokens"

        return tuple(fate(index, block) for index, block in enumerate(self.asked))
