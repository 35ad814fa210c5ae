"""What a step computes, as far as its time depends on it: sums over who goes."""

from collections.abc import Sequence as Row
from typing import NamedTuple

import numpy as np


class Load(NamedTuple):
    """What the GPU computes in a step, added up over its rows (one row per request).

    num_tokens: through the linear layers.  kv_tokens: context read.  attended: pairs of a token
    and one it attends to, half of a chunk's own counted.  num_sampled: rows that go through the
    head.  prompt_tokens: tokens of rows that do not decode.  For a stretch of steps that differ in
    context only, `kv_tokens` and `attended` are arrays, [num_steps].
    """

    num_tokens: int
    kv_tokens: int | np.ndarray
    attended: float | np.ndarray
    num_sampled: int
    prompt_tokens: int

    @classmethod
    def of_rows(cls, tokens: Row[int], contexts: Row[int], num_sampled: int) -> "Load":
        """From the tokens each row computes, and how long each row's context is afterwards."""
        pairs = list(zip(tokens, contexts, strict=True))
        return cls(
            sum(tokens),
            sum(contexts),
            sum(q * (2 * c - q) for q, c in pairs) / 2,
            num_sampled,
            sum(q for q, c in pairs if q > 1 or c == 1),  # c == 1: a whole prompt of one token
        )

    @classmethod
    def decode(cls, num_rows: int, kv_tokens: int | np.ndarray) -> "Load":
        """One new token per row; `kv_tokens` is the context of all rows together."""
        return cls(num_rows, kv_tokens, kv_tokens - num_rows / 2, num_rows, 0)

    def beside(self, other: "Load") -> "Load":
        """Both in one step."""
        return Load(
            self.num_tokens + other.num_tokens,
            self.kv_tokens + other.kv_tokens,
            self.attended + other.attended,
            self.num_sampled + other.num_sampled,
            self.prompt_tokens + other.prompt_tokens,
        )
