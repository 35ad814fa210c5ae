"""From logits to one token: mask, temperature, top-k, top-p, draw; in this order.

The order is vLLM's (`vllm/v1/sample/sampler.py`).  It matters: top-p counts the probabilities that
temperature and top-k have left.  Greedy is temperature 0: all probability on the largest logit, so
whatever works with probabilities (speculation, for one) needs no second case.

Source: Holtzman et al. 2020 (top-p).
"""

from dataclasses import dataclass

import numpy as np

from sim.errors import require
from sim.model.transformer import Array, softmax


@dataclass(frozen=True)
class Sampling:
    """How to choose.  `top_k` 0 keeps all tokens, `top_p` 1 all probability.

    Raises:
        SimError: `temperature_negative`, `top_k_negative`, `top_p_out_of_range`.
    """

    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0

    def __post_init__(self) -> None:
        hot = 0 <= self.temperature < float("inf")
        require(hot, "temperature_negative", value=self.temperature)
        require(self.top_k >= 0, "top_k_negative", value=self.top_k)
        require(0 < self.top_p <= 1, "top_p_out_of_range", value=self.top_p)


GREEDY = Sampling(temperature=0)


def probabilities(logits: Array, sampling: Sampling, allowed: Array | None = None) -> Array:
    """Probabilities [.., vocab] that a token is drawn with; of equals, the lower id goes first.

    `allowed` [vocab] is False for tokens that must not come (constrained decoding).

    Raises:
        SimError: `no_token_allowed`.
    """
    logits = logits.astype(np.float64)
    if allowed is not None:
        require(bool(allowed.any()), "no_token_allowed")
        logits = np.where(allowed, logits, -np.inf)
    if sampling.temperature == 0:
        certain = np.zeros_like(logits)
        np.put_along_axis(certain, logits.argmax(axis=-1, keepdims=True), 1, axis=-1)
        return certain
    shifted = logits - logits.max(axis=-1, keepdims=True)  # the largest is 0, however cold it gets
    order = np.argsort(-shifted, axis=-1, kind="stable")  # [.., vocab]; the most probable first
    with np.errstate(over="ignore"):  # -inf is right for all the others
        ranked = np.take_along_axis(shifted, order, axis=-1) / sampling.temperature
    if sampling.top_k:
        ranked[..., sampling.top_k :] = -np.inf
    ranked = softmax(ranked)
    if sampling.top_p < 1:
        before = np.cumsum(ranked, axis=-1) - ranked  # probability of all that are more probable
        ranked[before >= sampling.top_p] = 0  # the one that reaches top_p stays
        ranked /= ranked.sum(axis=-1, keepdims=True)
    result = np.empty_like(ranked)
    np.put_along_axis(result, order, ranked, axis=-1)
    return result


def draw(probabilities: Array, rng: np.random.Generator) -> int:
    """One token: the first whose cumulative probability exceeds a uniform number."""
    cumulative = np.cumsum(probabilities)  # [vocab]; the last may be 1 but for rounding
    return int(np.searchsorted(cumulative, rng.random() * cumulative[-1], side="right"))
