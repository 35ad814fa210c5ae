"""Seconds for a batch: the roofline.

A step reads the weights once and the KV of every scheduled request's context, and multiplies every
token with every linear layer.  Whichever takes longer, moving bytes or doing arithmetic, sets the
pace; a fixed rest (host work) comes on top.

    bytes   = weight bytes + kv_bytes_per_token * sum(context)
    flops   = 2 * linear parameters * tokens
            + 4 * layers * q_heads * head_dim * sum(q * (context - q / 2))
            + 2 * hidden * vocab * sampled
    seconds = max(bytes / (bandwidth * e_bw), flops / (peak * e_fl)) + fixed

with q the tokens of a request in this step and `context` its length afterwards.  Source: Williams
et al. 2009 (roofline); the efficiencies are fitted to measured runs for two GPUs, see `sim.specs`.

Linear layers of 8 bit compute at the GPU's 8-bit peak where it has one; dequantized ones compute
at `dequantization` of the bf16 speed.  Attention and head stay in bf16, whatever the KV format.

Under tensor parallelism every number above is that of one GPU, and each layer ends its two halves
with an all-reduce of tokens * hidden bf16 activations.  Nothing overlaps it, so it is added to
`seconds`.  As a ring on n GPUs, with the link of `sim.specs`:

    all_reduce = 2 * layers * (latency + 2 (n - 1) / n * 2 * tokens * hidden / link bandwidth)

Left out: the gathering of logits, and what kernels lose on smaller matrices.

Without CUDA graphs the CPU launches every kernel by itself (`Eager`).

Neither formats nor tensor parallelism are calibrated, and this model cannot reproduce what has
been reported of worse kernels and links: AWQ at half the decode speed of fp16 at batch 256
(AutoAWQ issue 106), a W4A16 path 8 times slower (pytorch/ao issue 3496), FP8 KV with fewer
tokens/s (sglang pull request 19990), no gain from 4 GPUs (vLLM issue 1873), or a loss against 2
(FastChat issue 2746).
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from sim.cost.clock import StepTime, longer
from sim.errors import require
from sim.scheduler import Load
from sim.specs import BF16, BF16_BYTES, Efficiency, Gpu, Model

KERNELS_PER_LAYER = 12
LAUNCH_MICROSECONDS = 20


class Part(NamedTuple):
    """What one kind of work computes and moves in a step, and how long either takes alone."""

    flops: float
    bytes_moved: float
    compute_seconds: float
    memory_seconds: float

    @property
    def intensity(self) -> float:
        """FLOPs for each byte."""
        return self.flops / self.bytes_moved

    @property
    def memory_bound(self) -> bool:
        return self.memory_seconds >= self.compute_seconds

    def beside(self, other: "Part") -> "Part":
        """Both together, as `Roofline.step_time` takes them."""
        return Part(*(one + two for one, two in zip(self, other, strict=True)))


class Breakdown(NamedTuple):
    """A step in two: tokens times weights (linear layers and head), and attention over KV."""

    weights: Part
    attention: Part

    @property
    def whole(self) -> Part:
        return self.weights.beside(self.attention)


@dataclass(frozen=True)
class Roofline:
    """`model` on `tensor_parallel` times `gpu`; `efficiency` replaces the GPU's own.

    Bytes and FLOPs are those of one GPU.

    Raises:
        SimError: as `Model.shard`.
    """

    model: Model
    gpu: Gpu
    efficiency: Efficiency | None = None
    tensor_parallel: int = 1

    def __post_init__(self) -> None:
        self.model.shard(self.tensor_parallel)  # raises where it cannot be split

    @cached_property
    def used_efficiency(self) -> Efficiency:
        return self.efficiency or self.gpu.efficiency

    @property
    def calibrated(self) -> bool:
        """Whether efficiencies fitted on this GPU are used for what they were fitted on."""
        own = self.efficiency is None and self.gpu.efficiency.calibrated
        in_bf16 = self.model.weights == BF16 and self.model.kv_element_bytes == BF16_BYTES
        return own and in_bf16 and self.tensor_parallel == 1

    @cached_property
    def shard(self) -> Model:
        """The part of the model that one GPU holds."""
        return self.model.shard(self.tensor_parallel)

    # -- memory -----------------------------------------------------------------------------

    @cached_property
    def bytes_per_second(self) -> float:
        return self.gpu.bandwidth * self.used_efficiency.bandwidth

    @cached_property
    def _bytes_always_read(self) -> float:
        """Weights that every step reads, whatever its tokens: all but the experts."""
        attention = self.shard.attention_parameters * self.shard.weights.bytes_per_parameter
        return attention + self.shard.head_parameters * BF16_BYTES

    @cached_property
    def _bytes_per_expert(self) -> float:
        return self.shard.expert_parameters * self.shard.weights.bytes_per_parameter

    def weight_bytes(self, num_tokens: int) -> float:
        """Bytes of weights that `num_tokens` tokens read once; the input embedding is not read.

        Of a mixture of experts, only the experts that some token chose: with n experts of which
        each token takes k, n * (1 - (1 - k/n)^T) are expected.
        """
        model = self.model
        if model.experts == 1:
            return self._bytes_always_read + self._bytes_per_expert
        untouched = (1 - model.active_experts / model.experts) ** num_tokens
        return self._bytes_always_read + model.experts * (1 - untouched) * self._bytes_per_expert

    @property
    def decode_floor_seconds(self) -> float:
        """The least a step can take: reading the weights once."""
        return self.weight_bytes(1) / self.bytes_per_second

    @cached_property
    def _kv_bytes_per_token(self) -> float:
        return self.shard.kv_bytes_per_token

    def bytes_moved(self, load: Load) -> Any:
        return self.weight_bytes(load.num_tokens) + self._kv_bytes_per_token * load.kv_tokens

    # -- compute ----------------------------------------------------------------------------

    @cached_property
    def flops_per_second(self) -> float:
        """In bf16."""
        return self.gpu.peak_flops * self.used_efficiency.flops

    @cached_property
    def linear_speedup(self) -> float:
        """How many times as fast as in bf16 the linear layers compute."""
        weights = self.model.weights
        native = self.gpu.speedup(weights.arithmetic)
        if weights.weight_only or native is None:
            return self.used_efficiency.dequantization
        return native

    @cached_property
    def _flops_per_unit(self) -> tuple[int, int, int]:
        """FLOPs of a token, of an attended pair, of a sampled token."""
        shard = self.shard
        return (
            2 * shard.active_parameters,
            4 * shard.layers * shard.q_heads * shard.head_dim,
            2 * shard.head_parameters,
        )

    @cached_property
    def _bf16_flops_per_unit(self) -> tuple[float, int, int]:
        """The FLOPs that would take as long in bf16."""
        token, pair, sample = self._flops_per_unit
        return token / self.linear_speedup, pair, sample

    def flops(self, load: Load) -> Any:
        return _total(self._flops_per_unit, load)

    # -- both -------------------------------------------------------------------------------

    @property
    def ridge(self) -> float:
        """FLOP per byte at which bf16 arithmetic takes as long as moving the bytes."""
        return self.flops_per_second / self.bytes_per_second

    def breakdown(self, load: Load) -> Breakdown:
        """FLOPs, bytes and seconds of one step, by what the tokens are multiplied with."""
        with_weights = load._replace(kv_tokens=0, attended=0)
        with_kv = load._replace(num_tokens=0, num_sampled=0)
        weight_bytes = self.weight_bytes(load.num_tokens)
        kv_bytes = self._kv_bytes_per_token * load.kv_tokens
        return Breakdown(self._part(with_weights, weight_bytes), self._part(with_kv, kv_bytes))

    def _part(self, load: Load, bytes_moved: Any) -> Part:
        return Part(
            self.flops(load),
            bytes_moved,
            _total(self._bf16_flops_per_unit, load) / self.flops_per_second,
            bytes_moved / self.bytes_per_second,
        )

    @cached_property
    def _all_reduces(self) -> tuple[float, float]:
        """Seconds of a step's all-reduces: at least, and for each token."""
        if self.tensor_parallel == 1:
            return 0.0, 0.0
        num, link = 2 * self.model.layers, self.gpu.link
        sent = 2 * (self.tensor_parallel - 1) / self.tensor_parallel  # times what is added up
        per_token = sent * self.model.hidden * BF16_BYTES / link.bandwidth
        return num * link.all_reduce_seconds, num * per_token

    @cached_property
    def _fixed_seconds(self) -> float:
        return self.used_efficiency.fixed_seconds

    def all_reduce_seconds(self, num_tokens: int) -> float:
        """How long the GPUs only add up each other's results in a step; 0 on one GPU."""
        least, per_token = self._all_reduces
        return least + per_token * num_tokens

    def step_time(self, load: Load) -> StepTime:
        memory_seconds = self.bytes_moved(load) / self.bytes_per_second
        compute_seconds = _total(self._bf16_flops_per_unit, load) / self.flops_per_second
        rest = self._fixed_seconds
        if self.tensor_parallel > 1:
            rest += self.all_reduce_seconds(load.num_tokens)
        return StepTime(
            longer(memory_seconds, compute_seconds) + rest, memory_seconds, compute_seconds
        )


@dataclass(frozen=True)
class Eager:
    """The same machine without CUDA graphs: the CPU launches every kernel of every step.

    Launches run ahead of the GPU.  So they are not added to its work, they bound it:

        kernels = layers * kernels_per_layer
        seconds = max(roofline, kernels * launch_seconds) + fixed

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
        time = self.roofline.step_time(load)
        working = longer(time.memory_seconds, time.compute_seconds)
        waiting = longer(0.0, self.launching_seconds - working)  # the GPU for the CPU
        return time._replace(seconds=time.seconds + waiting)


def _total(per_unit: tuple[float, int, int], load: Load) -> Any:
    token, pair, sample = per_unit
    return token * load.num_tokens + pair * load.attended + sample * load.num_sampled
