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

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol

from sim.errors import require
from sim.scheduler.batch import Rows
from sim.specs import Efficiency, Gpu, Model


class StepTime(NamedTuple):
    """How long a step takes, and the two times of which the longer one counts (all in seconds)."""

    seconds: float
    memory_seconds: float
    compute_seconds: float

    @property
    def memory_bound(self) -> bool:
        return self.memory_seconds >= self.compute_seconds


class Clock(Protocol):
    """Anything that can time a step."""

    def step_time(self, rows: Rows) -> StepTime: ...


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

    def weight_bytes(self, num_tokens: int) -> float:
        """Bytes of weights that `num_tokens` tokens read once; the input embedding is not read.

        Of a mixture of experts, only the experts that some token chose: with n experts of which
        each token takes k, n * (1 - (1 - k/n)^T) are expected.
        """
        model = self.model
        untouched = (1 - model.active_experts / model.experts) ** num_tokens
        experts_read = model.experts * (1 - untouched)
        read = model.attention_parameters + experts_read * model.expert_parameters
        return (read + model.head_parameters) * model.weight_bytes

    @property
    def decode_floor_seconds(self) -> float:
        """The least a step can take: reading the weights once."""
        return self.weight_bytes(1) / self.bytes_per_second

    def bytes_moved(self, rows: Rows) -> float:
        kv_bytes = self.model.kv_bytes_per_token * sum(rows.contexts)
        return self.weight_bytes(sum(rows.tokens)) + kv_bytes

    def flops(self, rows: Rows) -> float:
        model = self.model
        attended = sum(q * (2 * c - q) for q, c in _pairs(rows)) / 2
        return (
            2 * model.active_parameters * sum(rows.tokens)
            + 4 * model.layers * model.q_heads * model.head_dim * attended
            + 2 * model.head_parameters * rows.num_sampled
        )

    def step_time(self, rows: Rows) -> StepTime:
        memory_seconds = self.bytes_moved(rows) / self.bytes_per_second
        compute_seconds = self.flops(rows) / self.flops_per_second
        longer = max(memory_seconds, compute_seconds)
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

    def step_time(self, rows: Rows) -> StepTime:
        prompt_tokens = sum(
            q for q, c in _pairs(rows) if q > 1 or c == 1
        )  # a row of one token decodes, unless it is the whole context
        memory_seconds = self.decode_seconds_per_step
        compute_seconds = prompt_tokens / self.prefill_tokens_per_second
        return StepTime(max(memory_seconds, compute_seconds), memory_seconds, compute_seconds)


def _pairs(rows: Rows) -> Iterable[tuple[int, int]]:
    """(tokens, context) of each row."""
    return zip(rows.tokens, rows.contexts, strict=True)
