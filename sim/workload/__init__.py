"""Who asks, when, for how much.

generated  traffic drawn from distributions, by a seed
prompts    who says what: whatever begins alike is shared
traces     who asked: recorded traffic, from a file
"""

from sim.workload.generated import (
    Arrivals,
    BurstArrivals,
    Chats,
    ConstantArrivals,
    FixedLength,
    GammaArrivals,
    Lengths,
    LognormalLength,
    OneInMany,
    PoissonArrivals,
    SharedPrefix,
    UniformLength,
    Workload,
    evenly,
    of_lengths,
    on_ticks,
    scaled,
    with_giant,
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
