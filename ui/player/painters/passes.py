"""Passes through a model: the rows that go in, the weights they are multiplied with, the KV read.

Every step is one pass.  Rows come from several requests and share one reading of the weights; KV
is each request's own: what lay there before is read, a row for each new token is added.
"""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from ui.player import Frames, FramesError, packed
from ui.words.language import tr


@dataclass(frozen=True, kw_only=True)
class Passes(Frames):
    """`rows`: new tokens of each request in each step; `context`: its tokens after that; `prefill`:
    whether they are of its prompt.

    All are [num_requests, num_steps]; a request that is not there has neither rows nor context.
    """

    requests: tuple[str, ...]  # letters
    rows: np.ndarray
    context: np.ndarray
    prefill: np.ndarray
    weights: str  # what reading them once moves, in words

    painter: ClassVar[str] = "passes"

    @property
    def num_steps(self) -> int:
        return int(self.rows.shape[1])

    def meanings(self) -> tuple[str, ...]:
        return ("prefill", "decode", "stored", "weights")

    def check(self) -> None:
        shape = (len(self.requests), self.num_steps)
        for name in ("rows", "context", "prefill"):
            values = getattr(self, name)
            if values.shape != shape:
                raise FramesError(f"{name} has shape {values.shape}, expected {shape}")
        if (self.rows < 0).any() or (self.rows > self.context).any():
            raise FramesError("a request has more new rows than tokens")

    def picture(self) -> dict[str, Any]:
        return {
            "requests": self.requests,
            "rows": packed(self.rows, "<i2"),
            "context": packed(self.context, "<i2"),
            "prefill": packed(self.prefill, "u1"),
        }

    def texts(self) -> dict[str, Any]:
        return {"weights": self.weights}

    def words(self) -> dict[str, str]:
        return {
            "rows_in": tr("输入 {n} 行", "rows in: {n}"),
            "weights_read": tr("权重：第 {n} 次读", "weights: reading {n}"),
            "kv_rows": tr("KV：读 {read} 行，写 {new} 行", "KV: {read} read, {new} new"),
            "column_rows": tr("输入的行", "Rows in"),
            "column_weights": tr("权重读过几次", "Weights read so far"),
            "column_kv": tr("KV 读 / 写（行）", "KV rows read / written"),
        }

    def take(self, steps: np.ndarray) -> Self:
        return replace(
            super().take(steps),
            rows=self.rows[:, steps],
            context=self.context[:, steps],
            prefill=self.prefill[:, steps],
        )
