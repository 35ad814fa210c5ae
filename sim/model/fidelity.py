"""How close a model with rounded weights stays to the one it was made of.

Every linear layer is rounded (`quantization`), embedding, head and norms stay as they are, and both
models read texts that neither was trained on.  Three numbers, from coarse to fine:

    loss         nats per token; the mean over a few texts varies, so its error stands beside it
    agreement    how often both hold the same next token for the most probable
    divergence   sum of p log(p / p'), the mean over all places: 0 only where nothing has changed

Source: Xiao et al. 2023, "SmoothQuant" (outliers, and that they can be moved without changing the
model, equation 3); Dutta et al. 2024, "Accuracy is not all you need" (agreement beside accuracy).
"""

from collections.abc import Iterator
from collections.abc import Sequence as Row
from dataclasses import dataclass, replace

import numpy as np

from sim.errors import require
from sim.model.generation import Decoder
from sim.model.quantization import Granularity, LevelGrid, rounded
from sim.model.transformer import Array, Weights

READ_NORMED = ("query", "key", "value", "gate", "up")  # the matrices right after a norm
MATRICES = (*READ_NORMED, "output", "down")


def channels(weights: Weights, name: str, layer: int) -> Array:
    """A matrix of a layer as [channels, inputs]: a row holds what is added up for one output."""
    own = getattr(weights, name)[layer]
    inputs = own.shape[0] * own.shape[1] if name == "output" else own.shape[0]
    return np.ascontiguousarray(own.reshape(inputs, -1).T)


def quantized(weights: Weights, grid: LevelGrid, granularity: Granularity) -> Weights:
    """The same model with every linear layer rounded.

    Raises:
        SimError: as `Granularity.spans`.
    """
    layers = range(len(weights.query))
    after = {}
    for name in MATRICES:
        each = [rounded(channels(weights, name, layer), grid, granularity) for layer in layers]
        after[name] = np.stack([one.after.T for one in each]).reshape(getattr(weights, name).shape)
    return replace(weights, **after)


def with_outlier(weights: Weights, times: float, place: int) -> Weights:
    """The same function, written with one large input: number `place` of every normed vector.

    The norm before it is divided by `times`, the weights behind it are multiplied by it, so every
    result stays.  Large models come to have such inputs by themselves.

    Raises:
        SimError: `outlier_not_positive`.
    """
    require(times > 0, "outlier_not_positive", value=times)
    factor = np.ones(weights.query.shape[1], np.float32)  # [hidden]
    factor[place] = times
    larger = {}
    for name in READ_NORMED:
        own = getattr(weights, name)  # [layers, hidden, ...]
        larger[name] = own * factor.reshape(1, -1, *[1] * (own.ndim - 2))
    norms = {name: getattr(weights, name) / factor for name in ("attention_norm", "ffn_norm")}
    return replace(weights, **larger, **norms)


def log_probabilities(weights: Weights, texts: Row[Row[int]]) -> Array:
    """Of every next token at every place but the last of each text, [num_places, vocab]."""

    def places() -> Iterator[Array]:
        for tokens in texts:
            yield Decoder.with_room(weights, len(tokens)).extend(tokens)[:-1]

    logits = np.concatenate(list(places()))
    shifted = logits - logits.max(axis=-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))


@dataclass(frozen=True)
class Fidelity:
    """A model beside the original, over the same texts; losses in nats per token."""

    loss: float
    change: float  # of the loss, against the original
    change_error: float  # one standard error of that mean
    agreement: float
    divergence: float

    @property
    def is_noticeable(self) -> bool:
        """Whether the loss has changed by more than two standard errors."""
        return abs(self.change) > 2 * self.change_error


def compare(before: Array, after: Array, texts: Row[Row[int]]) -> Fidelity:
    """Two sets of `log_probabilities` over the same texts."""
    real = np.concatenate([tokens[1:] for tokens in texts])[:, None]  # [num_places, 1]
    losses = [-np.take_along_axis(each, real, axis=1)[:, 0] for each in (before, after)]
    changes = losses[1] - losses[0]  # [num_places]
    return Fidelity(
        loss=float(losses[1].mean()),
        change=float(changes.mean()),
        change_error=float(changes.std() / np.sqrt(len(changes))),
        agreement=float((before.argmax(axis=-1) == after.argmax(axis=-1)).mean()),
        divergence=float((np.exp(before) * (before - after)).sum(axis=-1).mean()),
    )
