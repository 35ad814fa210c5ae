"""Who owns which KV memory.

    paged    own blocks, wherever they lie; full blocks can be shared

Every memory answers the same verbs: `match_prefix`, `reserve`, `allocate`, `free`.
"""

from sim.kv.paged import Paged, PagedMemory, num_kv_blocks

__all__ = ["Paged", "PagedMemory", "num_kv_blocks"]
