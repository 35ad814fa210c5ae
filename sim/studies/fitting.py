"""Will it fit?  A model on some GPUs, what the engines would log, and what would make it fit.

vLLM refuses to start where the pool does not hold one request of the longest length allowed
(`--max-model-len`), so that is what "fits" means here.

SGLang divides memory the other way round: a fraction of what is free before the weights are loaded
goes to weights and pool, and the rest is left for activations and graphs:

    tokens = (free * fraction - weights) / bytes of a token

Source: SGLang 0.5, `model_executor/model_runner.py` (profile_max_num_token).  Four H100 with
Qwen3-235B-A22B-FP8 and 0.93 logged 367,404 tokens (vLLM issue 21348); ours is 3 % more.  The 0.5
GiB of a CUDA context are assumed.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from sim.kv.pool import Division
from sim.specs import GIB, GPUS, MODELS, TENSOR_PARALLEL

SHARE = 0.92  # vLLM's default since 0.19
FRACTION = 0.88  # of SGLang; its default depends on the machine
CUDA_CONTEXT_BYTES = 0.5 * GIB
STEP = 256  # tokens by which a longest request is shortened
LIGHTER = ("fp8", "int4")

EVERYWHERE = tuple(  # models that every number of GPUs can share
    name for name, model in MODELS.items() if model.q_heads % max(TENSOR_PARALLEL) == 0
)


class Remedy(NamedTuple):
    """A change that makes it fit: of "length", "kv", "weights", "gpus", "gpu" or "machine"."""

    what: str
    value: str | int


@dataclass(frozen=True)
class Wish:
    """`model` on `num_gpus` times `gpu`, for requests of up to `longest` tokens."""

    model: str
    gpu: str
    num_gpus: int = 1
    weights: str = "bf16"
    kv: str = "bf16"
    longest: int = 8_192

    @cached_property
    def division(self) -> Division:
        model = MODELS[self.model].in_format(self.weights, self.kv)
        return Division(model, GPUS[self.gpu], SHARE, self.num_gpus)

    @property
    def concurrency(self) -> float:
        """How many of the longest requests the pool holds; 0 where there is no pool."""
        return self.division.concurrency(self.longest) if self.division.fits else 0.0

    @property
    def fits(self) -> bool:
        return self.concurrency >= 1

    @property
    def request_bytes(self) -> float:
        """KV of one of the longest requests, on each GPU."""
        return self.division.shard.kv_bytes(self.longest)

    # -- what SGLang would log ----------------------------------------------------------------

    @property
    def sglang_tokens(self) -> int:
        """Its `max_total_num_tokens`; 0 where not even the weights fit."""
        division = self.division
        free = division.gpu.memory_bytes - CUDA_CONTEXT_BYTES - division.communication_bytes
        room = free * FRACTION - division.shard.memory_bytes
        return max(0, int(room // division.shard.kv_bytes_per_token))

    @property
    def sglang_bytes(self) -> float:
        """K and V together, on each GPU."""
        return self.sglang_tokens * self.division.shard.kv_bytes_per_token

    # -- what would make it fit ---------------------------------------------------------------

    def ways(self) -> tuple[Remedy, ...]:
        """The least change of each kind that makes it fit, or where no single one does, the least
        memory that will ("machine")."""
        single = [
            self._first("length", self._shorter()),
            self._first("kv", [("fp8", replace(self, kv="fp8"))]),
            self._first("weights", [(name, replace(self, weights=name)) for name in LIGHTER]),
            self._first("gpus", [(num, replace(self, num_gpus=num)) for num in self._more]),
            self._first("gpu", [(name, replace(self, gpu=name)) for name in self._larger]),
        ]
        found = tuple(way for way in single if way is not None)
        return found or tuple(filter(None, [self._first("machine", self._machines())]))

    def _first(self, what: str, wishes: "Iterable[tuple[str | int, Wish]]") -> Remedy | None:
        """The first of them that fits."""
        return next((Remedy(what, value) for value, wish in wishes if wish.fits), None)

    def _shorter(self) -> "Iterator[tuple[int, Wish]]":
        lengths = range(self.longest - STEP, 0, -STEP) if self.division.fits else ()
        return ((length, replace(self, longest=length)) for length in lengths)

    @property
    def _more(self) -> tuple[int, ...]:
        return TENSOR_PARALLEL[TENSOR_PARALLEL.index(self.num_gpus) + 1 :]

    @property
    def _larger(self) -> list[str]:
        """GPUs with more memory, the smallest first."""
        own = GPUS[self.gpu].memory_bytes
        larger = [gpu for gpu in GPUS.values() if gpu.memory_bytes > own]
        return [gpu.name for gpu in sorted(larger, key=lambda gpu: gpu.memory_bytes)]

    def _machines(self) -> "list[tuple[str, Wish]]":
        """Every number of every GPU, the least memory first."""
        pairs = [(num, gpu) for num in TENSOR_PARALLEL for gpu in GPUS.values()]
        pairs.sort(key=lambda pair: pair[0] * pair[1].memory_bytes)
        return [
            (f"{num} × {gpu.name}", replace(self, num_gpus=num, gpu=gpu.name)) for num, gpu in pairs
        ]
