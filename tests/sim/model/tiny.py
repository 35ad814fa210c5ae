"""The tiny model that ships with the app, and a random one for what needs no sense."""

from functools import cache

import numpy as np

from sim.model import tokenizer, transformer
from sim.model.tokenizer import Tokenizer
from sim.model.transformer import Weights
from tests.chapters import ROOT

FOLDER = ROOT / "assets" / "model"
CHINESE = "连续批处理每一步都重新决定批里有谁，所以空转的槽位少得多。"
ENGLISH = "A request that waits sees no text: how long it waits depends on the queue."
MIXED = "🙂 KV 缓存 <b>&amp;</b> مرحبا"
TEXTS = (CHINESE, ENGLISH, MIXED)


@cache
def encoder() -> Tokenizer:
    return tokenizer.load(FOLDER / "tokenizer.json")


@cache
def target() -> Weights:
    return transformer.load(FOLDER / "target.npz")


@cache
def draft() -> Weights:
    return transformer.load(FOLDER / "draft.npz")


def random_weights(seed: int = 0, vocab: int = 23, dtype: type = np.float32) -> Weights:
    """Two layers, four query heads on two KV heads; nothing is zero or one."""
    rng = np.random.default_rng(seed)

    def normal(*shape: int) -> np.ndarray:
        return rng.normal(0, 0.4, shape).astype(dtype)

    return Weights(
        embedding=normal(vocab, 12),
        attention_norm=1 + normal(2, 12),
        query=normal(2, 12, 4, 6),
        key=normal(2, 12, 2, 6),
        value=normal(2, 12, 2, 6),
        output=normal(2, 4, 6, 12),
        ffn_norm=1 + normal(2, 12),
        gate=normal(2, 12, 10),
        up=normal(2, 12, 10),
        down=normal(2, 10, 12),
        final_norm=1 + normal(12),
    )
