"""How much of a prompt a model with windows finds in the prefix cache.

A layer with full attention needs every block of the prefix.  A layer with a window only looks at
the last w - 1 tokens before the first one it computes, so blocks further back may be gone.  A hit
has to suit both.  Source: vLLM 0.29, `v1/core/single_type_kv_cache_manager.py`
(`find_longest_cache_hit`).
"""

from collections.abc import Sequence as Row


def window_blocks(window: int, block_size: int) -> int:
    """How many blocks before a hit's end a layer with a window needs."""
    return -(-(window - 1) // block_size)


def longest_hit(full: Row[bool], windowed: Row[bool], window: int, block_size: int) -> int:
    """How many first blocks of a prompt need not be computed.

    full, windowed: whether each block is cached, for the layers of either kind.
    """
    found = next((index for index, cached in enumerate(full) if not cached), len(full))
    needed = window_blocks(window, block_size)
    while found and not all(windowed[max(0, found - needed) : found]):
        found -= 1
    return found
