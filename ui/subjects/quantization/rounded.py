"""The tiny model with rounded weights, computed once: what a format loses, and what it then writes.

The same format, granularity and outlier give the same numbers.
"""

import json
from functools import lru_cache

import numpy as np

from sim.model import fidelity, generation, quantization
from sim.model.fidelity import Fidelity
from sim.model.quantization import GRIDS, Granularity, Rounded
from sim.model.sampling import GREEDY
from sim.model.transformer import Array, Weights
from ui import tiny_model
from ui.words.language import tr

GROUP_SIZE = 16
GRANULARITIES = {
    "tensor": Granularity("tensor"),
    "channel": Granularity("channel"),
    "group": Granularity("group", GROUP_SIZE),
}
FORMATS = tuple(GRIDS)
OUTLIERS = (1, 2, 4, 8, 16)
OUTLIER_PLACE = 21  # which input is made large
MATRIX, LAYER = "gate", 0  # what is shown
NUM_SHOWN = 64  # and of it, the first weights of the channel that has most of that input
TEXTS_PER_LANGUAGE = 2
LONG_TEXT = {"zh": 60, "en": 150}  # letters that a text has at least
NUM_WRITTEN = 10
KEPT = 128
START = "The KV cache"  # what it goes on from, the same in either language


def granularity_names() -> dict[str, str]:
    return {
        "tensor": tr("矩阵", "matrix"),
        "channel": tr("通道", "channel"),
        "group": tr(f"{GROUP_SIZE} 个", "group"),
    }


@lru_cache(maxsize=len(OUTLIERS))
def model(outlier: int) -> Weights:
    """The tiny model, one of its inputs made `outlier` times as large; the same function."""
    return fidelity.with_outlier(tiny_model.target(), outlier, OUTLIER_PLACE)


@lru_cache(maxsize=1)
def channel() -> int:
    """Which channel is shown: the one where the outlier can be seen best."""
    usual = fidelity.channels(model(1), MATRIX, LAYER)
    return int(np.abs(usual[:, OUTLIER_PLACE]).argmax())


@lru_cache(maxsize=KEPT)
def matrix(grid: str, granularity: str, outlier: int) -> Rounded:
    own = fidelity.channels(model(outlier), MATRIX, LAYER)
    return quantization.rounded(own, GRIDS[grid], GRANULARITIES[granularity])


def error(grid: str, granularity: str, outlier: int) -> float:
    """Of the whole matrix.  What was made large in the weights arrives as much smaller."""
    done = matrix(grid, granularity, outlier)
    return done.relative_error(inputs(done, outlier))


def inputs(done: Rounded, outlier: int) -> Array:
    """How large each input is, against what it was, [inputs]."""
    sizes = np.ones(done.before.shape[1], np.float32)
    sizes[OUTLIER_PLACE] /= outlier
    return sizes


@lru_cache(maxsize=KEPT)
def _quantized(grid: str, granularity: str, outlier: int) -> Weights:
    return fidelity.quantized(model(outlier), GRIDS[grid], GRANULARITIES[granularity])


@lru_cache(maxsize=1)
def texts() -> tuple[tuple[int, ...], ...]:
    """A few paragraphs that the model was not trained on, in both languages."""
    everything = json.loads((tiny_model.FOLDER / "held_out.json").read_text("utf-8"))
    chosen = []
    for language, least in LONG_TEXT.items():
        long = [
            row["text"]
            for row in everything
            if row["language"] == language and len(row["text"]) >= least
        ]
        chosen += long[:TEXTS_PER_LANGUAGE]
    return tuple(tuple(tiny_model.encoder().prompt(text)) for text in chosen)


def num_places() -> int:
    """How many next tokens are foretold in them."""
    return sum(len(tokens) - 1 for tokens in texts())


@lru_cache(maxsize=1)
def _original() -> Array:
    return fidelity.log_probabilities(tiny_model.target(), texts())


def original_loss() -> float:
    return fidelity.compare(_original(), _original(), texts()).loss


@lru_cache(maxsize=KEPT)
def judged(grid: str, granularity: str, outlier: int) -> Fidelity:
    after = fidelity.log_probabilities(_quantized(grid, granularity, outlier), texts())
    return fidelity.compare(_original(), after, texts())


def all_judged(outlier: int) -> dict[tuple[str, str], Fidelity]:
    """(format, granularity) -> how close it stays."""
    return {(grid, name): judged(grid, name, outlier) for grid in FORMATS for name in GRANULARITIES}


@lru_cache(maxsize=KEPT)
def written(text: str, grid: str, granularity: str, outlier: int) -> tuple[int, ...]:
    return _write(_quantized(grid, granularity, outlier), text)


@lru_cache(maxsize=KEPT)
def written_before(text: str) -> tuple[int, ...]:
    return _write(tiny_model.target(), text)


def _write(weights: Weights, text: str) -> tuple[int, ...]:
    prompt = tiny_model.prompt(text)
    decoder = generation.Decoder.with_room(weights, len(prompt) + NUM_WRITTEN)
    steps = generation.generate(decoder, prompt, NUM_WRITTEN, GREEDY)
    return tuple(step.token for step in steps)


def with_error(one: Fidelity) -> str:
    """The change of the loss with its standard error: "+0.29 ± 0.07"."""
    return f"{one.change:+.2f} ± {one.change_error:.2f}".replace("-", "−")
