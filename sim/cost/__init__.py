"""How long a step takes, and what changes that.

clock     what a clock is, and the simplest one, for teaching
roofline  seconds of a step: bytes to move against arithmetic to do; kernels launched one by one
phases    the work of a prefill and of a decode, and where the bottleneck changes
launches  how a step reaches the GPU: kernel by kernel, as a graph, prepared ahead
formats   the same model in fewer bytes: memory, decoding, prefill
parallel  one model on several GPUs: split, in line, copied, parted
"""

from sim.cost.clock import Clock, SimpleClock, StepTime
from sim.cost.roofline import (
    KERNELS_PER_LAYER,
    LAUNCH_MICROSECONDS,
    Breakdown,
    Eager,
    Part,
    Roofline,
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
