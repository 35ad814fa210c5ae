"""The curves of which-curve questions: the right one comes from `sim`, the others from what
people wrongly believe about the very same numbers.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np

from sim import specs
from sim.cost import Roofline, phases
from sim.kv import sizes
from sim.studies import acceptance
from ui import charts
from ui.charts import Dash, Series, go
from ui.practice.bank import Words

MODEL, GPU = specs.MODELS["Llama-3.1-8B"], specs.GPUS["H100 SXM"]
BATCHES = (1, 16, 32, 64, 96, 128, 160, 192, 224, 256)
CONTEXT_TOKENS = 1_024
PROMPT_TOKENS, OUTPUT_TOKENS = 200, 600
ACCEPTANCE, DRAFT_COST = 0.7, 0.1
DASHES: tuple[Dash, ...] = ("solid", "dash", "dot", "dashdot")


@dataclass(frozen=True)
class Bundle:
    """Curves over one axis, by name; `right` is the one that `sim` gives."""

    x: np.ndarray
    curves: Mapping[str, np.ndarray]
    right: str
    x_title: Words
    y_title: Words


@cache
def throughput_of_batch() -> Bundle:
    """Tokens per second of a decode step against its batch."""
    clock, batches = Roofline(MODEL, GPU), np.array(BATCHES)
    seconds = [clock.step_time(phases.decode(batch, CONTEXT_TOKENS)).seconds for batch in BATCHES]
    rate = batches / np.array(seconds)
    return Bundle(
        x=batches,
        curves={
            "bends": rate,
            "straight": rate[0] * batches,
            "level": np.full(len(batches), rate[0]),
        },
        right="bends",
        x_title=Words("批大小", "batch size"),
        y_title=Words("输出 token/s", "output tokens/s"),
    )


@cache
def kv_of_a_request() -> Bundle:
    """GiB of KV of one request while it writes."""
    written = np.arange(0, OUTPUT_TOKENS + 1, 10)
    lengths = PROMPT_TOKENS + written
    gib = np.array([sizes.request_bytes(MODEL, int(length)) for length in lengths]) / 2**30
    return Bundle(
        x=written,
        curves={
            "line": gib,
            "reserved": np.full(len(written), gib[-1] * 1.15),
            "prompt": np.full(len(written), gib[0]),
        },
        right="line",
        x_title=Words("已输出的 token", "tokens written so far"),
        y_title=Words("这个请求的 KV（GiB）", "KV of this request (GiB)"),
    )


@cache
def speedup_of_k() -> Bundle:
    """What speculation gains against the number of tokens proposed."""
    proposed = np.arange(0, 17)
    with_cost, without = (
        np.array([acceptance.speedup(ACCEPTANCE, int(k), cost) for k in proposed])
        for cost in (DRAFT_COST, 0.0)
    )
    return Bundle(
        x=proposed,
        curves={
            "rises_and_falls": with_cost,
            "levels_off": 1 + (without - 1) * (with_cost.max() - 1) / (without.max() - 1),
            "straight": 1 + proposed * (with_cost.max() * 1.3 - 1) / proposed[-1],
        },
        right="rises_and_falls",
        x_title=Words("每轮提议的 token 数 K", "tokens proposed per round, K"),
        y_title=Words("加速比", "speed-up"),
    )


BUNDLES: Mapping[str, Callable[[], Bundle]] = {
    "throughput_of_batch": throughput_of_batch,
    "kv_of_a_request": kv_of_a_request,
    "speedup_of_k": speedup_of_k,
}


def figure(name: str, curves: Mapping[str, str], large: bool = False) -> go.Figure:
    """The named bundle; `curves` says which letter stands at which curve."""
    bundle = BUNDLES[name]()
    series = [
        Series(letter, bundle.x, bundle.curves[curve], place, DASHES[place])
        for place, (letter, curve) in enumerate(curves.items())
    ]
    top = 1.05 * max(float(curve.max()) for curve in bundle.curves.values())
    x_title, y_title = bundle.x_title.here(), bundle.y_title.here()
    height = 220 if large else 260  # in a lecture the answer is to be seen with it
    return charts.lines(series, x_title, y_title, y_range=(0.0, top), large=large, height=height)
