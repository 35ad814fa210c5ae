"""How much memory KV takes, and how much of it a GPU has left.

Three formulas, each the one before with more requests, in bytes (engine_semantics: "the KV
formulas"; L layers, H_kv KV heads, d numbers per head, b bytes per number):

    one request of S tokens     2 L H_kv d b * S
    B requests of S tokens      2 L H_kv d b * S * B
    requests of S_1 ... S_n     2 L H_kv d b * (S_1 + ... + S_n)

The third holds for every batch and contains the other two: memory follows the tokens that are
there.  A pool deals them out in blocks, so each request holds up to one block more (`paged`).
"""

from collections.abc import Iterable
from dataclasses import dataclass

from sim.errors import require
from sim.kv.paged import OVERHEAD_BYTES, num_kv_blocks
from sim.specs import Gpu, Model

BLOCK_SIZE = 16


def request_bytes(model: Model, tokens: int) -> float:
    """One request with so many tokens of context, prompt and answer together."""
    return model.kv_bytes_per_token * tokens


def equal_bytes(model: Model, num_requests: int, tokens: int) -> float:
    """So many requests, each with `tokens`; the number of requests counts once."""
    return request_bytes(model, tokens) * num_requests


def batch_bytes(model: Model, lengths: Iterable[int]) -> float:
    """Requests of different lengths."""
    return model.kv_bytes_per_token * sum(lengths)


def staggered(num_requests: int, longest: int) -> tuple[int, ...]:
    """Lengths of requests that came one after the other: evenly spread, up to `longest`."""
    return tuple(longest * place // num_requests for place in range(1, num_requests + 1))


@dataclass(frozen=True)
class RequestGroup:
    """So many requests, alike."""

    num_requests: int
    tokens: int  # of each

    @property
    def active_tokens(self) -> int:
        return self.num_requests * self.tokens


@dataclass(frozen=True)
class Division:
    """How a server divides the memory of its GPU when it starts; see `num_kv_blocks`.

    Raises:
        SimError: `model_does_not_fit`, when asked for the pool.
    """

    model: Model
    gpu: Gpu
    memory_utilization: float = 0.9

    @property
    def left_alone_bytes(self) -> float:
        """What the server does not touch."""
        return self.gpu.memory_bytes * (1 - self.memory_utilization)

    @property
    def overhead_bytes(self) -> float:
        """Activations, CUDA graphs, context."""
        return OVERHEAD_BYTES

    @property
    def num_blocks(self) -> int:
        return num_kv_blocks(
            self.model,
            self.gpu,
            block_size=BLOCK_SIZE,
            memory_utilization=self.memory_utilization,
        )

    @property
    def pool_tokens(self) -> int:
        """How many tokens the KV pool holds, over all requests."""
        return self.num_blocks * BLOCK_SIZE

    @property
    def pool_bytes(self) -> float:
        return request_bytes(self.model, self.pool_tokens)

    @property
    def occupied_bytes(self) -> float:
        """What `nvidia-smi` shows from the start on: weights, overhead and the whole pool."""
        return self.model.memory_bytes + self.overhead_bytes + self.pool_bytes

    @property
    def occupied_share(self) -> float:
        return self.occupied_bytes / self.gpu.memory_bytes

    @property
    def break_even_tokens(self) -> int:
        """From so many tokens on KV takes as much memory as the weights, or more."""
        return -int(-self.model.memory_bytes // self.model.kv_bytes_per_token)

    @property
    def pool_fills_first(self) -> bool:
        """Whether the pool is full before KV takes more than the weights."""
        return self.pool_tokens < self.break_even_tokens

    def num_requests(self, tokens: float) -> int:
        """How many requests of (on average) so many tokens the pool holds."""
        require(tokens > 0, "length_below_one", value=tokens)
        return int(self.pool_tokens // tokens)


@dataclass(frozen=True)
class Mix:
    """Requests that share the pool of one GPU."""

    division: Division
    groups: tuple[RequestGroup, ...]

    @property
    def active_tokens(self) -> int:
        return sum(group.active_tokens for group in self.groups)

    @property
    def kv_bytes(self) -> float:
        return request_bytes(self.division.model, self.active_tokens)

    @property
    def share_of_pool(self) -> float:
        """Above 1 some of them have to wait."""
        return self.active_tokens / self.division.pool_tokens

    @property
    def num_fitting(self) -> int:
        """How many requests fit, if all that come are mixed like these."""
        num_requests = sum(group.num_requests for group in self.groups)
        return self.division.num_requests(self.active_tokens / num_requests)


def admitted(num_requests: int, num_fitting: int) -> tuple[int, int]:
    """(running, waiting): a full pool makes newcomers wait, it does not overflow."""
    running = min(num_requests, num_fitting)
    return running, num_requests - running
