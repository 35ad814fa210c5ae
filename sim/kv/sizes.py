"""How much memory KV takes.

Three formulas, each the one before with more requests, in bytes, where all layers have full
attention (L layers, H_kv KV heads, d numbers per head, b bytes per number):

    one request of S tokens     2 L H_kv d b * S
    B requests of S tokens      2 L H_kv d b * S * B
    requests of S_1 ... S_n     2 L H_kv d b * (S_1 + ... + S_n)

The third holds for every batch and contains the other two: memory follows the tokens that are
there.  For other kinds of attention `Model.kv_bytes` takes the place of the first (with r numbers
of a latent vector, d_rope of its position, w the window of L_w layers, s the state of L_s):

    latent (MLA)                L (r + d_rope) b * S
    windows beside full         2 H_kv d b * (L_full * S + L_w * min(S, w))
    states beside full          2 H_kv d b * L_full * S + L_s s b

so with windows or states it is each request's own length that counts, not only the sum.  A pool
deals tokens out in blocks, so each request holds up to one block more (`paged`, `groups`).
"""

from collections.abc import Iterable
from dataclasses import dataclass

from sim.kv.pool import BLOCK_SIZE, Division
from sim.specs import Model

__all__ = [
    "BLOCK_SIZE",
    "Division",
    "Mix",
    "RequestGroup",
    "batch_bytes",
    "equal_bytes",
    "request_bytes",
    "staggered",
]


def request_bytes(model: Model, tokens: int) -> float:
    """One request with so many tokens of context, prompt and answer together."""
    return model.kv_bytes(tokens)


def equal_bytes(model: Model, num_requests: int, tokens: int) -> float:
    """So many requests, each with `tokens`; the number of requests counts once."""
    return request_bytes(model, tokens) * num_requests


def batch_bytes(model: Model, lengths: Iterable[int]) -> float:
    """Requests of different lengths."""
    return sum(model.kv_bytes(length) for length in lengths)


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
class Mix:
    """Requests that share the pool of one GPU."""

    division: Division
    groups: tuple[RequestGroup, ...]

    @property
    def active_tokens(self) -> int:
        return sum(group.active_tokens for group in self.groups)

    @property
    def kv_bytes(self) -> float:
        lengths = [group.tokens for group in self.groups for _ in range(group.num_requests)]
        return batch_bytes(self.division.model, lengths)

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
