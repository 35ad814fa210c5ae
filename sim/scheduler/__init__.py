"""Who goes next.

    static       one batch at a time, until its longest answer is done
    dynamic      the same, but wait a little to fill the batch
    continuous   choose anew every step; prompts whole, and before decodes
    chunked      choose anew every step; prompts in pieces beside decodes (vLLM V1)
    reserving    the same, but whoever is admitted has room to the end (TensorRT-LLM)
    estimating   the same, but admit by a guess, and retract who has written least (SGLang)

Every policy is a frozen dataclass and answers the same few verbs (`policy`): `open`, `next_batch`,
`group_batch` (the same for requests that decode side by side, see `decoding`), `leaving`.  What it
decides in a step, and who is preempted for it, is a `batch`; what that asks of the GPU a `load`.
"""

from sim.scheduler.batch import Admission, Batch, Work
from sim.scheduler.chunked import Chunked
from sim.scheduler.continuous import Continuous
from sim.scheduler.decoding import Decoding
from sim.scheduler.estimating import Estimating
from sim.scheduler.load import Load
from sim.scheduler.policy import Policy
from sim.scheduler.reserving import Reserving
from sim.scheduler.static import Dynamic, Static

__all__ = [
    "Admission",
    "Batch",
    "Chunked",
    "Continuous",
    "Decoding",
    "Dynamic",
    "Estimating",
    "Load",
    "Policy",
    "Reserving",
    "Static",
    "Work",
]
