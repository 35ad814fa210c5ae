"""How long a step takes, and what changes that.

clock     what a clock is, and the simplest one, for teaching
kernels   what one kind of work computes and moves, and how long it takes
roofline  seconds of a step: its kernels, each with bytes to move against arithmetic to do
eager     the same, launched kernel by kernel
phases    the work of a prefill and of a decode, and where the bottleneck changes
launches  how a step reaches the GPU: kernel by kernel, as a graph, prepared ahead
formats   the same model in fewer bytes: memory, decoding, prefill
published a step that others measured, to hold the assumed efficiencies against
parallel  one model on several GPUs: split, in line, copied, parted
"""

from sim.cost.clock import Clock, SimpleClock, StepTime
from sim.cost.eager import KERNELS_PER_LAYER, LAUNCH_MICROSECONDS, Eager
from sim.cost.kernels import Breakdown, Kernels, Part
from sim.cost.roofline import Roofline

__all__ = [
    "KERNELS_PER_LAYER",
    "LAUNCH_MICROSECONDS",
    "Breakdown",
    "Clock",
    "Eager",
    "Kernels",
    "Part",
    "Roofline",
    "SimpleClock",
    "StepTime",
]
