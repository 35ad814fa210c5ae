"""How often a block cache hits: no memory to serve from, only the count over a whole trace.

A block that is found counts only if everything before it was found, too.  After each request all
its blocks are the newest, its beginning last of all, and the oldest go until `capacity` are left:
a prompt's end goes before its beginning, as vLLM gives blocks back.

Source: vLLM docs/design/prefix_caching.md; Qin et al. 2025 (Mooncake), section 4: hit rates by
cache size, over the published trace.
"""

from collections import OrderedDict
from collections.abc import Hashable, Iterable
from collections.abc import Sequence as Row
from itertools import takewhile

from sim.errors import require
from sim.request import Request

# What Mooncake found over its conversation trace: blocks in the cache -> hit rate.  With room for
# everything: 36.6 %.  Held against the trace itself in tests/sim/kv/test_lru.py.
MOONCAKE_BLOCK_TOKENS = 512
MOONCAKE_HIT_RATES = {1_000: 0.045, 5_000: 0.110, 10_000: 0.211, 30_000: 0.326, 50_000: 0.355}
MOONCAKE_LIMIT = 0.366


def block_ids(requests: Iterable[Request], block_size: int) -> list[list[int]]:
    """The full blocks of each prompt as numbers; equal numbers for equal blocks."""
    numbers: dict[Hashable, int] = {}
    return [
        [
            numbers.setdefault(request.block_content(index, block_size), len(numbers))
            for index in range(request.prompt_tokens // block_size)
        ]
        for request in requests
    ]


def hit_rates(
    requests: Iterable[Request], block_size: int, capacities: Row[int | None]
) -> list[float]:
    """`lru_hit_rate` of the same requests with room for so many tokens each; None: for all."""
    blocks = block_ids(requests, block_size)
    return [
        lru_hit_rate(blocks, None if tokens is None else tokens // block_size)
        for tokens in capacities
    ]


def lru_hit_rate(requests: Iterable[Row[Hashable]], capacity: int | None = None) -> float:
    """Share of all blocks that were found; a request is the ids of its blocks, from its start.

    Equal ids mean equal blocks after equal blocks.  `capacity` in blocks; None keeps everything.

    Raises:
        SimError: `capacity_negative`, `no_blocks`.
    """
    require(capacity is None or capacity >= 0, "capacity_negative", value=capacity)
    cache: OrderedDict[Hashable, None] = OrderedDict()  # oldest first
    num_blocks = num_hits = 0
    for blocks in requests:
        num_blocks += len(blocks)
        num_hits += sum(1 for _ in takewhile(cache.__contains__, blocks))
        for block in reversed(blocks):
            cache[block] = None
            cache.move_to_end(block)
        while capacity is not None and len(cache) > capacity:
            cache.popitem(last=False)
    require(num_blocks >= 1, "no_blocks")
    return num_hits / num_blocks
