"""A decoder-only transformer as in Llama, in numpy: token ids in, logits out.

In the order of the formula, shapes at the line's end.  One pass takes a batch of `Chunk`s: some new
tokens of each sequence, be it a whole prompt, a piece of one, or the one token of a decode step.
All of them go through the weights together; only attention is each sequence's own.

Source: Touvron et al. 2023 (Llama); Zhang and Sennrich 2019 (RMSNorm); Su et al. 2021 (rotary
positions); Ainslie et al. 2023 (grouped-query attention); Shazeer 2020 (SwiGLU).
"""

from collections.abc import Sequence as Row
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO

import numpy as np

from sim.errors import require
from sim.model.kv_store import KvStore
from sim.specs import Model

Array = np.ndarray

EPSILON = 1e-5  # RMSNorm
ROTARY_BASE = 10_000.0


@dataclass(frozen=True, eq=False)
class Weights:
    """All parameters, those of the layers stacked; their shapes say what the model is."""

    embedding: Array  # [vocab, hidden]; its transpose is the output matrix
    attention_norm: Array  # [layers, hidden]
    query: Array  # [layers, hidden, q_heads, head_dim]
    key: Array  # [layers, hidden, kv_heads, head_dim]
    value: Array  # [layers, hidden, kv_heads, head_dim]
    output: Array  # [layers, q_heads, head_dim, hidden]
    ffn_norm: Array  # [layers, hidden]
    gate: Array  # [layers, hidden, ffn]
    up: Array  # [layers, hidden, ffn]
    down: Array  # [layers, ffn, hidden]
    final_norm: Array  # [hidden]

    @property
    def model(self) -> Model:
        """The same numbers as a row of `specs.MODELS`; K and V are kept in float32."""
        layers, hidden, q_heads, head_dim = self.query.shape
        return Model(
            "tiny",
            layers,
            hidden,
            q_heads,
            kv_heads=self.key.shape[2],
            head_dim=head_dim,
            ffn=self.gate.shape[2],
            vocab=len(self.embedding),
            source="trained on the prose of this course",
            tied_embedding=True,
            kv_element_bytes=4,
        )

    def save(self, path: Path) -> None:
        half = {name: array.astype(np.float16) for name, array in asdict(self).items()}
        np.savez_compressed(path, allow_pickle=False, **half)


def load(file: str | Path | IO[bytes]) -> Weights:
    """Weights as `Weights.save` wrote them: stored in 16 bits, computed with in 32."""
    with np.load(file, allow_pickle=False) as arrays:
        return Weights(**{name: arrays[name].astype(np.float32) for name in arrays.files})


@dataclass(frozen=True)
class Chunk:
    """The next tokens of one sequence; those before them have their K and V in `store`.

    A list as `attention` gets that of each layer, [q_heads, num_new, num_tokens], to look at.
    """

    tokens: Row[int]
    store: KvStore
    attention: list[Array] | None = None


def forward(weights: Weights, batch: Row[Chunk]) -> list[Array]:
    """Logits [num_new, vocab] of each chunk, whose K and V are in its store from then on.

    Raises:
        SimError: `chunk_empty`; `kv_store_full`.
    """
    require(all(len(chunk.tokens) > 0 for chunk in batch), "chunk_empty")
    spans = [slice(end - len(c.tokens), end) for end, c in zip(_ends(batch), batch, strict=True)]
    tokens = np.concatenate([chunk.tokens for chunk in batch])  # [num_tokens]
    positions = np.concatenate(
        [chunk.store.num_tokens + np.arange(len(chunk.tokens)) for chunk in batch]
    )  # [num_tokens]

    x = weights.embedding[tokens]  # [num_tokens, hidden]
    for layer in range(len(weights.query)):
        normed = rms_norm(x, weights.attention_norm[layer])
        queries = project(normed, weights.query[layer])  # [num_tokens, q_heads, head_dim]
        keys = project(normed, weights.key[layer])  # [num_tokens, kv_heads, head_dim]
        values = project(normed, weights.value[layer])  # [num_tokens, kv_heads, head_dim]
        queries, keys = rotate(queries, positions), rotate(keys, positions)
        mixed = np.empty_like(queries)  # [num_tokens, q_heads, head_dim]
        for span, chunk in zip(spans, batch, strict=True):
            chunk.store.write(layer, keys[span], values[span])
            keys_values = chunk.store.read(layer, positions[span][-1] + 1)
            mixed[span] = attend(queries[span], *keys_values, chunk.attention)
        x = x + np.tensordot(mixed, weights.output[layer], axes=2)  # [num_tokens, hidden]
        normed = rms_norm(x, weights.ffn_norm[layer])
        x = x + feed_forward(normed, weights.gate[layer], weights.up[layer], weights.down[layer])
    logits = rms_norm(x, weights.final_norm) @ weights.embedding.T  # [num_tokens, vocab]

    for chunk in batch:
        chunk.store.num_tokens += len(chunk.tokens)
    return [logits[span] for span in spans]


def rms_norm(x: Array, scale: Array) -> Array:
    """x / sqrt(mean(x^2)) * scale, along the last axis."""
    return x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + EPSILON) * scale


def project(x: Array, matrix: Array) -> Array:
    """[num_tokens, hidden] times [hidden, heads, head_dim]: a vector for each head."""
    return np.tensordot(x, matrix, axes=1)  # [num_tokens, heads, head_dim]


def rotate(x: Array, positions: Array) -> Array:
    """Turn each pair (x[i], x[i + head_dim / 2]) by position * base^(-2 i / head_dim).

    The product of a query and a key then depends on their distance only.
    """
    half = x.shape[-1] // 2
    speed = ROTARY_BASE ** (-np.arange(half) / half)  # [head_dim / 2]
    angle = positions[:, None, None] * speed  # [num_tokens, 1, head_dim / 2]
    cos, sin = np.cos(angle).astype(x.dtype), np.sin(angle).astype(x.dtype)
    first, second = x[..., :half], x[..., half:]
    return np.concatenate([first * cos - second * sin, first * sin + second * cos], axis=-1)


def attend(
    queries: Array, keys: Array, values: Array, attention: list[Array] | None = None
) -> Array:
    """Grouped-query attention of the last tokens of a sequence over all of it.

    `queries` are [num_new, q_heads, head_dim], as is the result; `keys` and `values` are
    [num_tokens, kv_heads, head_dim].  q_heads / kv_heads neighbouring query heads share a KV head.
    Its probabilities, [q_heads, num_new, num_tokens], are added to `attention`, if there is one.
    """
    num_new, q_heads, head_dim = queries.shape
    num_tokens, kv_heads, _ = keys.shape
    grouped = queries.reshape(num_new, kv_heads, -1, head_dim).transpose(1, 2, 0, 3)
    scores = grouped @ keys.transpose(1, 2, 0)[:, None]  # [kv_heads, group, num_new, num_tokens]
    scores /= np.sqrt(np.float32(head_dim))
    future = np.arange(num_tokens) > np.arange(num_tokens - num_new, num_tokens)[:, None]
    scores[..., future] = -np.inf  # future: [num_new, num_tokens]
    shares = softmax(scores)  # [kv_heads, group, num_new, num_tokens]
    if attention is not None:
        attention.append(shares.reshape(q_heads, num_new, num_tokens))
    mixed = shares @ values.transpose(1, 0, 2)[:, None]  # [kv_heads, group, num_new, head_dim]
    return mixed.transpose(2, 0, 1, 3).reshape(num_new, q_heads, head_dim)


def feed_forward(x: Array, gate: Array, up: Array, down: Array) -> Array:
    """SwiGLU: (silu(x gate) * (x up)) down."""
    return (silu(x @ gate) * (x @ up)) @ down  # [num_tokens, hidden]


def silu(x: Array) -> Array:
    """x / (1 + e^-x), written so that nothing overflows."""
    return x * (0.5 + 0.5 * np.tanh(0.5 * x))


def softmax(x: Array) -> Array:
    """e^x / sum(e^x), along the last axis."""
    powers = np.exp(x - x.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def _ends(batch: Row[Chunk]) -> Array:
    """Where each chunk ends among all tokens of the batch."""
    return np.cumsum([len(chunk.tokens) for chunk in batch])
