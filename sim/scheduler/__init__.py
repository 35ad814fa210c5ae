"""Who goes next.

    static       one batch at a time, until its longest answer is done
    dynamic      the same, but wait a little to fill the batch
    continuous   choose anew every step; prompts whole, and before decodes
    chunked      choose anew every step; prompts in pieces beside decodes (vLLM V1)

Every policy is a frozen dataclass and answers the same few verbs: `next_batch`, `group_batch` (the
same for requests that decode side by side, see `decoding`), `leaving`.
"""

from sim.scheduler.batch import Admission, Batch, Load, Policy, Work
from sim.scheduler.chunked import Chunked
from sim.scheduler.continuous import Continuous
from sim.scheduler.decoding import Decoding
from sim.scheduler.static import Dynamic, Static

__all__ = [
    "Admission",
    "Batch",
    "Chunked",
    "Continuous",
    "Decoding",
    "Dynamic",
    "Load",
    "Policy",
    "Static",
    "Work",
]
