"""Who asks, when, for how much.

arrivals   when: evenly, independently, in bursts
lengths    how much: fixed, uniform, lognormal
generated  traffic drawn from both, by a seed; conversations
prompts    who says what: whatever begins alike is shared
traces     who asked: recorded traffic, from a file
           (trace_json: whose rows are JSON; trace_rows: what all have in common)
"""

from sim.workload.arrivals import (
    Arrivals,
    BurstArrivals,
    ConstantArrivals,
    GammaArrivals,
    PoissonArrivals,
)
from sim.workload.generated import (
    Chats,
    SharedPrefix,
    Workload,
    evenly,
    of_lengths,
    on_ticks,
    scaled,
    with_giant,
)
from sim.workload.lengths import (
    FixedLength,
    Lengths,
    LognormalLength,
    OneInMany,
    UniformLength,
)

__all__ = [
    "Arrivals",
    "BurstArrivals",
    "Chats",
    "ConstantArrivals",
    "FixedLength",
    "GammaArrivals",
    "Lengths",
    "LognormalLength",
    "OneInMany",
    "PoissonArrivals",
    "SharedPrefix",
    "UniformLength",
    "Workload",
    "evenly",
    "of_lengths",
    "on_ticks",
    "scaled",
    "with_giant",
]
