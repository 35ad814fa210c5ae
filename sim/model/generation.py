"""The loop: read the prompt in one pass, then one pass for every further token.

The first token comes out of the prefill itself, from the logits of the prompt's last token; a
decode step is the same pass over the one token whose K and V are not in the store yet.
"""

from collections.abc import Iterator
from collections.abc import Sequence as Row
from dataclasses import dataclass

import numpy as np

from sim.errors import require
from sim.model.kv_store import ContiguousStore, KvStore
from sim.model.sampling import Sampling, draw, probabilities
from sim.model.transformer import Array, Chunk, Weights, forward


@dataclass(frozen=True, eq=False)
class Decoder:
    """A model with the store of one sequence."""

    weights: Weights
    store: KvStore

    @classmethod
    def with_room(cls, weights: Weights, max_tokens: int) -> "Decoder":
        return cls(weights, ContiguousStore(weights.model, max_tokens))

    def extend(self, tokens: Row[int]) -> Array:
        """Logits [num_new, vocab] of those of the tokens that are not in the store yet."""
        return forward(self.weights, [Chunk(tokens[self.store.num_tokens :], self.store)])[0]

    def keep(self, num_tokens: int) -> None:
        """Forget what was computed for tokens after the first `num_tokens`."""
        self.store.num_tokens = min(self.store.num_tokens, num_tokens)


@dataclass(frozen=True, eq=False)
class Generated:
    """One token, and the logits [vocab] it was drawn from."""

    token: int
    logits: Array


def generate(
    decoder: Decoder, prompt: Row[int], num_tokens: int, sampling: Sampling, seed: int = 0
) -> Iterator[Generated]:
    """`num_tokens` tokens after the prompt; who wants to stop at an end of text stops asking.

    Raises:
        SimError: `prompt_empty`, `kv_store_full`.
    """
    require(len(prompt) > 0, "prompt_empty")
    rng = np.random.default_rng(seed)
    tokens = list(prompt)
    for _ in range(num_tokens):
        logits = decoder.extend(tokens)[-1]  # [vocab]
        tokens.append(draw(probabilities(logits, sampling), rng))
        yield Generated(tokens[-1], logits)
