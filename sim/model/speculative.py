"""Speculative decoding: a small model proposes, the large one checks all of it in one pass.

Plain decoding reads all weights for each token.  Here one pass of the target over k proposals
yields between one and k + 1 tokens, and their distribution is exactly the target's.

Source: Leviathan et al. 2023, algorithm 1 and appendix A.1.
"""

from collections.abc import Callable, Iterator
from collections.abc import Sequence as Row
from dataclasses import dataclass

import numpy as np

from sim.errors import require
from sim.model.generation import Decoder
from sim.model.sampling import Sampling, draw, probabilities
from sim.model.transformer import Array, Weights

Correction = Callable[[Array, Array], Array]  # (p, q) -> what a rejected token is replaced from


def residual(p: Array, q: Array) -> Array:
    """max(0, p - q), normalised: where the target wants more than the draft has offered."""
    missing = np.maximum(p - q, 0)
    total = missing.sum()
    return missing / total if total > 0 else p  # p = q is never rejected, but for rounding


def acceptance(p: Array, q: Array) -> float:
    """The probability that a token drawn from q is accepted: sum of min(p, q)."""
    return float(np.minimum(p, q).sum())


@dataclass(frozen=True, eq=False)
class Round:
    """One round: what was proposed, how much of it was accepted, and the token after that.

    `token` is the correction of the first rejected proposal or, when none was, the bonus token.
    """

    proposed: tuple[int, ...]
    q: Array  # [k, vocab]; the draft's probabilities
    p: Array  # [k + 1, vocab]; the target's
    num_accepted: int
    token: int

    @property
    def tokens(self) -> tuple[int, ...]:
        """What the round yields."""
        return (*self.proposed[: self.num_accepted], self.token)


def verify(
    proposed: Row[int],
    q: Array,
    p: Array,
    rng: np.random.Generator,
    correction: Correction = residual,
) -> tuple[int, int]:
    """How many proposals are accepted, each with probability min(1, p / q), and the next token.

    `q` is [k, vocab] and `p` [k + 1, vocab].
    """
    for place, token in enumerate(proposed):
        if rng.random() * q[place, token] >= p[place, token]:
            return place, draw(correction(p[place], q[place]), rng)
    return len(proposed), draw(p[len(proposed)], rng)


def speculate(
    target: Decoder,
    draft: Decoder,
    tokens: Row[int],
    num_proposed: int,
    sampling: Sampling,
    rng: np.random.Generator,
) -> Round:
    """One round after `tokens`; both stores then hold what was accepted, and no more.

    Raises:
        SimError: `proposals_below_one`, `prompt_empty`, `kv_store_full`.
    """
    require(num_proposed >= 1, "proposals_below_one", value=num_proposed)
    require(len(tokens) > 0, "prompt_empty")
    proposed: list[int] = []
    offered: list[Array] = []
    for _ in range(num_proposed):
        offered.append(probabilities(draft.extend([*tokens, *proposed])[-1], sampling))
        proposed.append(draw(offered[-1], rng))
    logits = target.extend([*tokens, *proposed])[-num_proposed - 1 :]  # [k + 1, vocab]
    p, q = probabilities(logits, sampling), np.stack(offered)
    num_accepted, token = verify(proposed, q, p, rng)
    for decoder in (target, draft):
        decoder.keep(len(tokens) + num_accepted)
    return Round(tuple(proposed), q, p, num_accepted, token)


def rounds(
    target: Weights,
    draft: Weights,
    prompt: Row[int],
    num_tokens: int,
    num_proposed: int,
    sampling: Sampling,
    seed: int = 0,
) -> Iterator[Round]:
    """Round after round until `num_tokens` are there; the last round may yield some more.

    Raises:
        SimError: as `speculate`.
    """
    room = len(prompt) + num_tokens + num_proposed + 1
    large, small = Decoder.with_room(target, room), Decoder.with_room(draft, room)
    tokens = list(prompt)
    rng = np.random.default_rng(seed)
    while len(tokens) < len(prompt) + num_tokens:
        done = speculate(large, small, tokens, num_proposed, sampling, rng)
        tokens += done.tokens
        yield done
