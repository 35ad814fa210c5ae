"""Seconds for a batch: the roofline, and a simpler clock for teaching.

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
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np

from sim.errors import require
from sim.scheduler.batch import Load
from sim.specs import Efficiency, Gpu, Model


class StepTime(NamedTuple):
    """How long a step takes, and the two times of which the longer one counts (all in seconds).

    Arrays, [num_steps], for a stretch of steps; where all of them agree, one number.
    """

    seconds: Any
    memory_seconds: Any
    compute_seconds: Any

    @property
    def memory_bound(self) -> Any:
        return self.memory_seconds >= self.compute_seconds


class Clock(Protocol):
    """Anything that can time a step."""

    def step_time(self, load: Load) -> StepTime: ...


@dataclass(frozen=True)
class Roofline:
    """`model` on `gpu`; `efficiency` replaces the GPU's own."""

    model: Model
    gpu: Gpu
    efficiency: Efficiency | None = None

    @property
    def used_efficiency(self) -> Efficiency:
        return self.efficiency or self.gpu.efficiency

    @cached_property
    def bytes_per_second(self) -> float:
        return self.gpu.bandwidth * self.used_efficiency.bandwidth

    @cached_property
    def flops_per_second(self) -> float:
        return self.gpu.peak_flops * self.used_efficiency.flops

    @cached_property
    def _always_read(self) -> float:
        """Parameters that every step reads, whatever its tokens: all but the experts."""
        return self.model.attention_parameters + self.model.head_parameters

    @cached_property
    def _expert_parameters(self) -> int:
        return self.model.expert_parameters

    def weight_bytes(self, num_tokens: int) -> float:
        """Bytes of weights that `num_tokens` tokens read once; the input embedding is not read.

        Of a mixture of experts, only the experts that some token chose: with n experts of which
        each token takes k, n * (1 - (1 - k/n)^T) are expected.
        """
        model = self.model
        untouched = (1 - model.active_experts / model.experts) ** num_tokens
        experts_read = model.experts * (1 - untouched)
        return (self._always_read + experts_read * self._expert_parameters) * model.weight_bytes

    @property
    def decode_floor_seconds(self) -> float:
        """The least a step can take: reading the weights once."""
        return self.weight_bytes(1) / self.bytes_per_second

    @cached_property
    def _kv_bytes_per_token(self) -> float:
        return self.model.kv_bytes_per_token

    def bytes_moved(self, load: Load) -> Any:
        return self.weight_bytes(load.num_tokens) + self._kv_bytes_per_token * load.kv_tokens

    @cached_property
    def _flops_per_unit(self) -> tuple[int, int, int]:
        """FLOPs of a token, of an attended pair, of a sampled token."""
        model = self.model
        return (
            2 * model.active_parameters,
            4 * model.layers * model.q_heads * model.head_dim,
            2 * model.head_parameters,
        )

    def flops(self, load: Load) -> Any:
        token, pair, sample = self._flops_per_unit
        return token * load.num_tokens + pair * load.attended + sample * load.num_sampled

    def step_time(self, load: Load) -> StepTime:
        memory_seconds = self.bytes_moved(load) / self.bytes_per_second
        compute_seconds = self.flops(load) / self.flops_per_second
        longer = _longer(memory_seconds, compute_seconds)
        return StepTime(
            longer + self.used_efficiency.fixed_seconds, memory_seconds, compute_seconds
        )


@dataclass(frozen=True)
class SimpleClock:
    """Two numbers instead of a machine, for teaching.

    A step takes `decode_seconds_per_step`, since the weights must be read once; unless it carries
    so many prompt tokens that computing them at `prefill_tokens_per_second` takes longer.

    Raises:
        SimError: `speed_not_positive`.
    """

    prefill_tokens_per_second: float
    decode_seconds_per_step: float

    def __post_init__(self) -> None:
        for value in (self.prefill_tokens_per_second, self.decode_seconds_per_step):
            require(value > 0, "speed_not_positive", value=value)

    @classmethod
    def of_milliseconds(cls, prefill_tokens_per_second: float, decode_ms: float) -> "SimpleClock":
        return cls(prefill_tokens_per_second, decode_ms / 1000)

    def step_time(self, load: Load) -> StepTime:
        memory_seconds = self.decode_seconds_per_step
        compute_seconds = load.prompt_tokens / self.prefill_tokens_per_second
        return StepTime(_longer(memory_seconds, compute_seconds), memory_seconds, compute_seconds)


def _longer(one: Any, other: Any) -> Any:
    """The larger of two numbers, or of each pair where arrays are given; the same float64."""
    return np.maximum(one, other) if isinstance(other, np.ndarray) else max(one, other)
