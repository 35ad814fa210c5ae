"""How long a step takes, and what changes that.

roofline  bytes to move against arithmetic to do; a simpler clock for teaching
phases    prefill and decode: two shapes of work, and where the bottleneck changes
launches  how a step reaches the GPU: kernel by kernel, as a graph, prepared ahead
formats   the same model in fewer bytes: memory, decoding, prefill
parallel  one model on several GPUs: split, in line, copied, parted
"""

from sim.cost.roofline import (
    KERNELS_PER_LAYER,
    LAUNCH_MICROSECONDS,
    Breakdown,
    Clock,
    Eager,
    Part,
    Roofline,
    SimpleClock,
    StepTime,
)

__all__ = [
    "KERNELS_PER_LAYER",
    "LAUNCH_MICROSECONDS",
    "Breakdown",
    "Clock",
    "Eager",
    "Part",
    "Roofline",
    "SimpleClock",
    "StepTime",
]
