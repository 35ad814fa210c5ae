"""What a layer remembers of the tokens before it, and what that costs.

full     K and V of every token, for every KV head       2 H_kv d       a token and layer
window   the same, for the last w tokens only            2 H_kv d       until w tokens are kept
latent   one compressed vector for all heads (MLA)       r + d_rope     a token and layer
state    a fixed state that every token changes          nothing        a token; s numbers in all

with H_kv KV heads, d numbers per head, r the rank of the latent vector and d_rope its part that
carries the position.  Every kind answers the same questions; `heads` are those of one GPU.

Sources: Vaswani et al. 2017 (full); Beltagy et al. 2020 and the config.json of Gemma 3 and gpt-oss
(window); DeepSeek-AI 2024, DeepSeek-V2, section 2.1 (latent, its weights and the absorbed form that
is decoded with); Yang et al. 2024, Gated DeltaNet, and the config.json of Qwen3-Next (state).
"""

import math
from dataclasses import dataclass, replace
from typing import NamedTuple


class Heads(NamedTuple):
    """The heads of an attention layer, as far as one GPU has them."""

    hidden: int
    queries: int
    kv: int
    dim: int


@dataclass(frozen=True)
class Attention:
    """Full: every token looks at all before it; with fewer KV heads than queries that is GQA.

    `gated`: the query projection yields a gate of its own size, too.
    """

    gated: bool = False

    @property
    def window(self) -> float:
        """How many tokens stay."""
        return math.inf

    @property
    def state_numbers(self) -> int:
        """What is kept however many tokens there are."""
        return 0

    def parameters(self, heads: Heads) -> int:
        """Q, K, V and output projections of one layer."""
        queries = (3 if self.gated else 2) * heads.queries
        return heads.hidden * heads.dim * (queries + 2 * heads.kv)

    def kv_numbers(self, heads: Heads) -> int:
        """What is kept of one token in one layer."""
        return 2 * heads.kv * heads.dim

    def flops_per_pair(self, heads: Heads) -> int:
        """Of a token and one it looks at: its score, and its share of the sum."""
        return 4 * heads.queries * heads.dim

    def shard(self, num_gpus: int) -> "Attention":
        """What one of several GPUs has beside its share of the heads."""
        return self


@dataclass(frozen=True)
class Window(Attention):
    """As full, but only the last tokens are looked at, and kept."""

    size: int = 1024

    @property
    def window(self) -> float:
        return self.size


@dataclass(frozen=True)
class Latent(Attention):
    """Multi-head latent attention: one vector a token, from which all heads make their K and V.

    Every GPU of several keeps the whole vector, since every head needs it.
    """

    rank: int = 512
    rope_dim: int = 64
    query_rank: int = 1536
    value_dim: int = 128

    def parameters(self, heads: Heads) -> int:
        """`heads.dim` is the part of a query that carries no position."""
        queries = self.query_rank * heads.queries * (heads.dim + self.rope_dim)
        back = self.rank * heads.queries * (heads.dim + self.value_dim)
        out = heads.queries * self.value_dim * heads.hidden
        return heads.hidden * (self.query_rank + self.rank + self.rope_dim) + queries + back + out

    def kv_numbers(self, heads: Heads) -> int:
        return self.rank + self.rope_dim

    def flops_per_pair(self, heads: Heads) -> int:
        """Absorbed: queries look at the latent vectors themselves."""
        return 2 * heads.queries * (2 * self.rank + self.rope_dim)


@dataclass(frozen=True)
class State(Attention):
    """Linear attention: a matrix for each head, which every token reads and changes.

    size: numbers of the state, of one layer; weights: parameters of the layer's projections.
    """

    size: int = 0
    weights: int = 0

    @property
    def window(self) -> float:
        return 0

    @property
    def state_numbers(self) -> int:
        return self.size

    def parameters(self, heads: Heads) -> int:
        return self.weights

    def kv_numbers(self, heads: Heads) -> int:
        return 0

    def flops_per_pair(self, heads: Heads) -> int:
        return 0

    def shard(self, num_gpus: int) -> "Attention":
        return replace(self, size=self.size // num_gpus, weights=self.weights // num_gpus)


FULL = Attention()
