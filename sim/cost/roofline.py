"""Seconds for a batch: the sum of its kernels, each under its own roof.

A step reads the weights once and the KV of every scheduled request's context, and multiplies every
token with every linear layer.  In each kernel whichever takes longer, moving bytes or doing
arithmetic, sets the pace; a fixed rest (host work) comes on top.

    linear     bytes = layers' weights            flops = 2 * parameters * tokens
    experts    bytes = those that are touched     flops = 2 * chosen parameters * tokens
    attention  bytes = KV of sum(context)         flops = pair * sum(q * (context - q / 2))
    head       bytes = 2 * hidden * vocab         flops = 2 * hidden * vocab * sampled

    seconds = sum over kernels of max(bytes / (bandwidth * e_bw), flops / (peak * e_fl)) + fixed

with q the tokens of a request in this step and `context` its length afterwards; pair is
4 * layers * q_heads * head_dim for full attention (`sim.specs.attention`).  The efficiencies are
fitted to measured runs for two GPUs, see `sim.specs.gpus`.

A layer with a window looks at no more than w tokens back.  A load holds sums over its rows, so
windows are taken as full up to w for every row: too much where short and long rows mix.

Linear layers of 8 bit compute at the GPU's 8-bit peak where it has one; dequantized ones compute
at `dequantization` of the bf16 speed.  Attention and head stay in bf16, whatever the KV format.

Under tensor parallelism every number above is that of one GPU, and each layer ends its two halves
with an all-reduce of tokens * hidden bf16 activations.  Nothing overlaps it, so it is added to
`seconds`, with what NCCL reaches on the link (`Interconnect`):

    all_reduce = 2 * layers * (latency + 2 (n - 1) / n * 2 * tokens * hidden / reached bandwidth)

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
from typing import Any

import numpy as np

from sim.cost.clock import StepTime, longer
from sim.cost.kernels import Breakdown, Kernels, Part
from sim.scheduler import Load
from sim.specs import BF16_BYTES, FULL, Efficiency, Gpu, Model


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
        in_bf16 = self.model.weights.bytes_per_parameter == BF16_BYTES
        in_bf16 = in_bf16 and self.model.kv_element_bytes == BF16_BYTES
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
    def _head_bytes(self) -> float:
        return self.shard.head_parameters * BF16_BYTES

    def experts_touched(self, num_tokens: int) -> float:
        """How many experts of each layer `num_tokens` tokens choose, as expected; 0 if dense.

        With n experts of which each token takes k: n * (1 - (1 - k/n)^T).
        """
        model = self.model
        if model.experts == 1:
            return 0.0
        untouched = (1 - model.active_experts / model.experts) ** num_tokens
        return model.experts * (1 - untouched)

    def _linear_bytes(self) -> float:
        """Of the layers' weights, what every step reads whatever its tokens."""
        dense = self.shard.expert_bytes if self.model.experts == 1 else 0.0
        return self.shard.always_read_bytes + dense

    def weight_bytes(self, num_tokens: int) -> float:
        """Bytes of weights that `num_tokens` tokens read once; the input embedding is not read."""
        touched = self.experts_touched(num_tokens) * self.shard.expert_bytes
        return self._linear_bytes() + self._head_bytes + touched

    @property
    def decode_floor_seconds(self) -> float:
        """The least a step can take: reading the weights once."""
        return self.weight_bytes(1) / self.bytes_per_second

    def bytes_moved(self, load: Load) -> Any:
        return self.weight_bytes(load.num_tokens) + self._attention(load).bytes_moved

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
    def _flops_per_token(self) -> tuple[int, int]:
        """In the linear layers, and in the chosen experts."""
        shard = self.shard
        chosen = shard.active_experts * shard.expert_parameters
        if shard.experts == 1:
            return 2 * shard.active_parameters, 0
        return 2 * (shard.active_parameters - chosen), 2 * chosen

    def flops(self, load: Load) -> Any:
        linear, experts = self._flops_per_token
        head = 2 * self.shard.head_parameters * load.num_sampled
        return (linear + experts) * load.num_tokens + self._attention(load).flops + head

    # -- kernels ----------------------------------------------------------------------------

    @property
    def ridge(self) -> float:
        """FLOP per byte at which bf16 arithmetic takes as long as moving the bytes."""
        return self.flops_per_second / self.bytes_per_second

    def kernels(self, load: Load) -> Kernels:
        """FLOPs, bytes and seconds of one step, kernel by kernel."""
        linear, experts = self._flops_per_token
        touched = self.experts_touched(load.num_tokens) * self.shard.expert_bytes
        in_linear = self.shard.weights.experts_only
        return Kernels(
            self._part(
                linear * load.num_tokens,
                self._linear_bytes(),
                1 if in_linear else self.linear_speedup,
            ),
            self._part(experts * load.num_tokens, touched, self.linear_speedup),
            self._attention(load),
            self._part(2 * self.shard.head_parameters * load.num_sampled, self._head_bytes),
        )

    def breakdown(self, load: Load) -> Breakdown:
        """FLOPs, bytes and seconds of one step, by what the tokens are multiplied with."""
        linear, experts, attention, head = self.kernels(load)
        return Breakdown(linear.beside(experts).beside(head), attention)

    def _part(self, flops: Any, bytes_moved: Any, speedup: float = 1) -> Part:
        return Part(
            flops,
            bytes_moved,
            flops / speedup / self.flops_per_second,
            bytes_moved / self.bytes_per_second,
        )

    @cached_property
    def _attention_units(self) -> tuple[tuple[float, int, float, float], ...]:
        """Of each kind of layer, all its layers together: KV bytes of a token, FLOPs of a pair, its
        window, and the bytes of a state (read and written)."""
        shard, element = self.shard, self.shard.kv_element_bytes
        return tuple(
            (
                num * kind.kv_numbers(shard.heads) * element,
                num * kind.flops_per_pair(shard.heads),
                kind.window,
                2 * num * kind.state_numbers * element,
            )
            for kind, num in shard.layers_of.items()
        )

    def _attention(self, load: Load) -> Part:
        bytes_moved: Any = 0.0
        flops: Any = 0.0
        for kv_bytes, pair_flops, window, state_bytes in self._attention_units:
            context, attended = load.kv_tokens, load.attended
            decodes = load.num_tokens - load.prompt_tokens
            if window != FULL.window:
                context = _at_most(context, decodes * window + load.prompt_tokens)
                attended = _at_most(attended, load.num_tokens * window)
            bytes_moved = bytes_moved + kv_bytes * context + state_bytes * decodes
            flops = flops + pair_flops * attended
        return self._part(flops, bytes_moved)

    # -- several GPUs -----------------------------------------------------------------------

    @cached_property
    def _all_reduces(self) -> tuple[float, float]:
        """Seconds of a step's all-reduces: at least, and for each token."""
        if self.tensor_parallel == 1:
            return 0.0, 0.0
        num = 2 * self.model.layers
        least, per_byte = self.gpu.link.all_reduce(self.tensor_parallel)
        return num * least, num * per_byte * self.model.hidden * BF16_BYTES

    def all_reduce_seconds(self, num_tokens: int) -> float:
        """How long the GPUs only add up each other's results in a step; 0 on one GPU."""
        least, per_token = self._all_reduces
        return least + per_token * num_tokens

    # -- the step ---------------------------------------------------------------------------

    @cached_property
    def _plain(self) -> tuple[float, float, float, float, float, float, float, float] | None:
        """Seconds of each unit of work where a step has only three kernels: dense, all layers with
        full attention.  None where it has more."""
        if self.model.experts > 1 or self.shard.pattern != (FULL,):
            return None
        (linear, _), ((kv_bytes, pair_flops, _, _),) = self._flops_per_token, self._attention_units
        least, per_token = self._all_reduces
        return (
            self._linear_bytes() / self.bytes_per_second,
            linear / self.linear_speedup / self.flops_per_second,
            kv_bytes / self.bytes_per_second,
            pair_flops / self.flops_per_second,
            self._head_bytes / self.bytes_per_second,
            2 * self.shard.head_parameters / self.flops_per_second,
            self.used_efficiency.fixed_seconds + least,
            per_token,
        )

    def step_time(self, load: Load) -> StepTime:
        if self._plain is None:
            return self._step_time_of_kernels(load)
        weights, token, kv, pair, head, sample, rest, added = self._plain
        tokens = load.num_tokens
        linear_compute, head_compute = token * tokens, sample * load.num_sampled
        kv_memory, kv_compute = kv * load.kv_tokens, pair * load.attended
        seconds = weights if weights > linear_compute else linear_compute
        seconds += head if head > head_compute else head_compute
        seconds += rest + added * tokens
        return StepTime(
            longer(kv_memory, kv_compute) + seconds,
            kv_memory + (weights + head),
            kv_compute + (linear_compute + head_compute),
        )

    def _step_time_of_kernels(self, load: Load) -> StepTime:
        kernels = self.kernels(load)
        rest = self.used_efficiency.fixed_seconds + self.all_reduce_seconds(load.num_tokens)
        linear, experts, attention, head = kernels
        seconds = linear.seconds + experts.seconds + head.seconds + rest
        memory = linear.memory_seconds + experts.memory_seconds + head.memory_seconds
        compute = linear.compute_seconds + experts.compute_seconds + head.compute_seconds
        return StepTime(
            attention.seconds + seconds,
            attention.memory_seconds + memory,
            attention.compute_seconds + compute,
        )

    def kernel_seconds(self, load: Load) -> Any:
        """How long the GPU works on a step: all but the host's part and all-reduces."""
        return self.kernels(load).seconds


def _at_most(value: Any, most: float) -> Any:
    return np.minimum(value, most) if isinstance(value, np.ndarray) else min(value, most)
