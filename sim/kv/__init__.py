"""Who owns which KV memory.

    contiguous    one run of slots per request, reserved before it starts
    paged         own blocks, wherever they lie; full blocks can be shared
    forked        sequences that share blocks until they differ: copy-on-write
    radix         cached prefixes as a tree, shared to the token
    chain         the hash of a block, chained to those before it
    lru           how often a cache of blocks would hit
    groups        blocks of a model whose layers remember differently
    hits          what such a model finds in the prefix cache
    pool          how a server divides the memory of its GPUs
    sizes         how many bytes KV takes: the formulas

The first two are memories to serve from.  Every memory answers the same verbs (`memory`):
`match_prefix`, `reserve`, `allocate`, `free`; `counted` answers them for the fast path, where
blocks are only counted.
"""

from sim.kv.contiguous import Contiguous, ContiguousMemory
from sim.kv.memory import CountedMemory, Memory, MemorySettings, OpenMemory
from sim.kv.paged import Paged, PagedMemory
from sim.kv.pool import num_kv_blocks
from sim.kv.radix import RadixTree

__all__ = [
    "Contiguous",
    "ContiguousMemory",
    "CountedMemory",
    "Memory",
    "MemorySettings",
    "OpenMemory",
    "Paged",
    "PagedMemory",
    "RadixTree",
    "num_kv_blocks",
]
