"""One model on several GPUs: split it, line it up, copy it; or part prefill from decode.

tensor     every GPU holds a slice of each layer; two all-reduces a layer put the slices together
pipeline   every GPU holds some of the layers; the batch goes through in as many parts
replicas   every GPU holds the whole model, and serves its share of the requests

A token passes all layers in any case.  Only tensor parallelism lets several GPUs work on the same
token; a pipeline adds hops, and gains because its GPUs work on different parts of the batch.

No number here is calibrated.  A hop takes what the smallest all-reduce of the link takes and the
time to send the activations; stages are equal; nothing overlaps.

Source: Shoeybi et al. 2019 (tensor), Huang et al. 2019 (pipeline), Zhong et al. 2024 (DistServe).
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from sim.cost.roofline import Roofline
from sim.kv.pool import Division
from sim.scheduler import Load
from sim.specs import BF16_BYTES, Gpu, Model

Way = Literal["tensor", "pipeline", "replicas"]
WAYS: tuple[Way, ...] = ("tensor", "pipeline", "replicas")


@dataclass(frozen=True)
class Spread:
    """`model` on `num_gpus` of one kind."""

    model: Model
    gpu: Gpu
    num_gpus: int
    way: Way

    @cached_property
    def clock(self) -> Roofline:
        return Roofline(
            self.model, self.gpu, tensor_parallel=self.num_gpus if self.way == "tensor" else 1
        )

    @cached_property
    def pool_tokens(self) -> int:
        """How many tokens of KV fit on all of them together; 0 if the model does not."""
        degree = self.num_gpus if self.way == "tensor" else 1
        division = Division(self.model, self.gpu, tensor_parallel=degree)
        if self.way == "pipeline":
            weights = self.model.memory_bytes
            kv_bytes = self.num_gpus * (division.free_bytes + weights) - weights
            return max(0, int(kv_bytes // self.model.kv_bytes_per_token))
        return division.pool_tokens * self.num_gpus // degree if division.fits else 0

    def itl_seconds(self, batch: int, context: int) -> float:
        """Between two tokens of a request, with `batch` of them decoding in all."""
        part = batch if self.way == "tensor" else -(-batch // self.num_gpus)
        seconds = float(self.clock.step_time(Load.decode(part, part * context)).seconds)
        if self.way == "pipeline":
            seconds += (self.num_gpus - 1) * self._hop_seconds(part)
        return seconds

    def tokens_per_second(self, batch: int, context: int) -> float:
        return batch / self.itl_seconds(batch, context)

    def _hop_seconds(self, num_tokens: int) -> float:
        """From one stage to the next, which has host work of its own."""
        link = self.gpu.link
        sent = num_tokens * self.model.hidden * BF16_BYTES / link.bandwidth
        return self.clock.used_efficiency.fixed_seconds + link.all_reduce_seconds + sent


@dataclass(frozen=True)
class Parted:
    """Two GPUs of which one only prefills and one only decodes, against two that do both.

    A request brings `prompt_tokens` and gets `output_tokens`; `batch` decode at a time on a GPU.
    Where both are done, a step carries at most `chunk` prompt tokens beside the decodes.
    """

    clock: Roofline
    prompt_tokens: int
    output_tokens: int
    batch: int
    chunk: int = 512

    @property
    def prefill_seconds(self) -> float:
        load = Load.of_rows([self.prompt_tokens], [self.prompt_tokens], num_sampled=1)
        return float(self.clock.step_time(load).seconds)

    @property
    def quiet_itl_seconds(self) -> float:
        """A decode step with no prefill beside it."""
        return float(self.clock.step_time(self._decodes).seconds)

    @property
    def mixed_itl_seconds(self) -> float:
        """A decode step with the last chunk of a prompt beside it."""
        chunk = min(self.chunk, self.prompt_tokens)
        prefill = Load.of_rows([chunk], [self.prompt_tokens], num_sampled=1)
        return float(self.clock.step_time(self._decodes.beside(prefill)).seconds)

    @property
    def decode_seconds(self) -> float:
        """What a request needs of a GPU that decodes `batch` at a time."""
        return self.output_tokens * self.quiet_itl_seconds / self.batch

    @property
    def together_per_second(self) -> float:
        """Requests, both GPUs doing both."""
        return 2 / (self.prefill_seconds + self.decode_seconds)

    @property
    def apart_per_second(self) -> float:
        """Requests, one GPU for each: the slower half sets the pace.  Never more than together, as
        long as the batch is the same."""
        return 1 / max(self.prefill_seconds, self.decode_seconds)

    def with_gaps_as_long(self, most: int) -> "Parted":
        """The GPU that only decodes takes as many as it can, up to `most`, in steps that are no
        longer than the mixed ones here: what even gaps may be spent on."""
        fitting = (replace(self, batch=batch) for batch in range(most, self.batch, -1))
        limit = self.mixed_itl_seconds
        return next((one for one in fitting if one.quiet_itl_seconds <= limit), self)

    @property
    def transfer_seconds(self) -> float:
        """To send the KV of a prompt from one to the other."""
        kv_bytes = self.prompt_tokens * self.clock.model.kv_bytes_per_token
        return self.clock.gpu.link.all_reduce_seconds + kv_bytes / self.clock.gpu.link.bandwidth

    @property
    def _decodes(self) -> Load:
        context = self.prompt_tokens + self.output_tokens // 2
        return Load.decode(self.batch, self.batch * context)
