"""The same model in fewer bytes: what memory, decoding and prefill make of it.

Weights and KV are stored in formats of their own.  Fewer bytes of weights leave more of the GPU to
KV and make a decode step shorter while reading sets the pace.  Where computing does, a weight-only
format has nothing to give: it is multiplied in bf16, after being dequantized (`roofline`).
"""

from dataclasses import dataclass, replace
from functools import cached_property

from sim.cost import phases
from sim.cost.roofline import Roofline
from sim.kv import Paged
from sim.kv.sizes import BLOCK_SIZE, Division
from sim.specs import BF16, Gpu, Model


@dataclass(frozen=True)
class StoredModel:
    """`published` on `gpu`, in a format of `WEIGHT_FORMATS` and one of `KV_FORMATS`.

    Raises:
        SimError: `format_unknown`, when first asked for anything.
    """

    published: Model
    gpu: Gpu
    weights: str = BF16.name
    kv: str = BF16.name

    @cached_property
    def model(self) -> Model:
        return self.published.in_format(self.weights, self.kv)

    @cached_property
    def clock(self) -> Roofline:
        return Roofline(self.model, self.gpu)

    @property
    def as_published(self) -> "StoredModel":
        return replace(self, weights=BF16.name, kv=BF16.name)

    @property
    def name(self) -> str:
        """ "int4", or "int4 + fp8 KV" where KV is stored differently too."""
        return self.weights if self.kv == BF16.name else f"{self.weights} + {self.kv} KV"

    @property
    def runs_weight_only(self) -> bool:
        """Whether the weights are dequantized first: by nature, or since this GPU cannot else."""
        native = self.gpu.speedup(self.model.weights.arithmetic)
        return self.model.weights.weight_only or native is None

    # -- memory -----------------------------------------------------------------------------

    @cached_property
    def division(self) -> Division:
        return Division(self.model, self.gpu)

    @cached_property
    def pool_tokens(self) -> int:
        """What the KV pool holds; 0 where not even the weights fit."""
        return self.division.pool_tokens if self.division.fits else 0

    def num_requests(self, context: int) -> int:
        """How many requests of `context` tokens fit beside the weights."""
        return self.pool_tokens // context

    def pool(self) -> Paged:
        """The memory of a server.

        Raises:
            SimError: `model_does_not_fit`.
        """
        return Paged.beside(self.model, self.gpu, BLOCK_SIZE)

    # -- time -------------------------------------------------------------------------------

    def decode_seconds(self, batch: int, context: int) -> float:
        return float(self.clock.step_time(phases.decode(batch, context)).seconds)

    def decode_bytes(self, batch: int, context: int) -> float:
        return float(self.clock.bytes_moved(phases.decode(batch, context)))

    def prefill_seconds(self, prompt_tokens: int) -> float:
        return float(self.clock.step_time(phases.prefill(prompt_tokens)).seconds)

    def decode_gain(self, batch: int, context: int) -> float:
        """How many times as fast as the published model a decode step is."""
        published = self.as_published.decode_seconds(batch, context)
        return published / self.decode_seconds(batch, context)

    def decode_share(self, batch: int, context: int) -> float:
        """The bytes of a decode step, of those of the published model."""
        return self.decode_bytes(batch, context) / self.as_published.decode_bytes(batch, context)

    def prefill_gain(self, prompt_tokens: int) -> float:
        published = self.as_published.prefill_seconds(prompt_tokens)
        return published / self.prefill_seconds(prompt_tokens)

    def first_batch_that_loses(self, context: int, most: int) -> int | None:
        """The smallest batch whose step is longer than as published; None up to `most`."""
        batches = range(1, most + 1)
        return next((batch for batch in batches if self.decode_gain(batch, context) < 1), None)
