"""A GPU whose kernels the CPU launches one by one, without CUDA graphs."""

from dataclasses import dataclass
from functools import cached_property

from sim.cost.clock import StepTime, longer
from sim.cost.roofline import Roofline
from sim.errors import require
from sim.scheduler import Load

KERNELS_PER_LAYER = 12
LAUNCH_MICROSECONDS = 20


@dataclass(frozen=True)
class Eager:
    """The same machine without CUDA graphs: the CPU launches every kernel of every step.

    Launches run ahead of the GPU.  So they are not added to its work, they bound it:

        kernels = layers * kernels_per_layer
        seconds = max(work of the kernels, kernels * launch_seconds) + fixed

    With graphs a step is one launch, which is part of the fixed rest: that is `roofline` alone.
    Kernels per layer: norm, qkv, rotary, KV write, attention, output, norm, gate and up, SwiGLU,
    down, and one or two more, as vLLM fuses them; plain PyTorch has two to three times as many.

    `launch_seconds` is all that the CPU does for a kernel, Python and PyTorch included; the CUDA
    call alone takes 4 to 6 us (susun-blog.com, pegainfer 3, RTX 5070 Ti), a kernel from PyTorch
    began some 20 us after its call (NVIDIA developer blog on Nsight Systems, V100).  Neither number
    is calibrated.  Reported for a decode step of Llama-3.1-8B on an H100: 8.4 ms eager, 5.1 ms as a
    graph (cloudai.pt, "CUDA Graphs + torch.compile").  Here: 8.7 and 6.6 ms.

    Raises:
        SimError: `kernels_below_one`, `launch_time_negative`.
    """

    roofline: Roofline
    kernels_per_layer: int = KERNELS_PER_LAYER
    launch_seconds: float = LAUNCH_MICROSECONDS / 1e6

    def __post_init__(self) -> None:
        require(self.kernels_per_layer >= 1, "kernels_below_one", value=self.kernels_per_layer)
        require(self.launch_seconds >= 0, "launch_time_negative", value=self.launch_seconds)

    @classmethod
    def of_microseconds(cls, roofline: Roofline, kernels_per_layer: int, launch: float) -> "Eager":
        return cls(roofline, kernels_per_layer, launch / 1e6)

    @property
    def num_kernels(self) -> int:
        """In every step, whatever its batch."""
        return self.roofline.model.layers * self.kernels_per_layer

    @cached_property
    def launching_seconds(self) -> float:
        """What the CPU needs to launch one step."""
        return self.num_kernels * self.launch_seconds

    def step_time(self, load: Load) -> StepTime:
        time, working = self.roofline.step_time(load), self.roofline.kernel_seconds(load)
        waiting = longer(0.0, self.launching_seconds - working)  # the GPU for the CPU
        return time._replace(seconds=time.seconds + waiting)
