"""Sums with numbers drawn by a seed: what is given, what comes out, and what a mistake would give.

Each is answered by the part of `sim` that the chapters run on.  The same seed gives the same sum.
"""

import math
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sim import specs
from sim.kv import sizes
from sim.studies import acceptance

GPUS = ("A100 80G SXM", "H100 SXM", "H200 SXM", "RTX 4090")
MODELS = ("Llama-2-7B", "Llama-3.1-8B")


@dataclass(frozen=True)
class Drill:
    """One sum.  `wrong` are the results of known mistakes, by name."""

    name: str
    given: Mapping[str, Any]  # numbers, names, and in one of them a tuple of lengths
    right: float
    wrong: Mapping[str, float]
    tolerance: float


def kv_bytes(seed: int) -> Drill:
    """GiB of KV of a batch of equal requests."""
    lot = random.Random(f"kv_bytes:{seed}")
    model = specs.MODELS[lot.choice(MODELS)]
    number, tokens = lot.choice((4, 8, 12, 16, 24)), lot.choice((512, 1_024, 2_048, 4_096))
    gib = sizes.equal_bytes(model, number, tokens) / 2**30
    return Drill(
        "kv_bytes",
        {
            "model": model.name,
            "layers": model.layers,
            "kv_heads": model.kv_heads,
            "head_dim": model.head_dim,
            "number": number,
            "tokens": tokens,
        },
        gib,
        {
            "only_k": gib / 2,
            "one_request": gib / number,
            "query_heads": gib * model.q_heads / model.kv_heads,
        },
        tolerance=0.02 * gib,
    )


def static_slots(seed: int) -> Drill:
    """Per cent of slot time that a static batch spends on tokens."""
    lot = random.Random(f"static_slots:{seed}")
    lengths = [lot.randrange(10, 60, 5) for _ in range(3)] + [lot.randrange(80, 160, 10)]
    lot.shuffle(lengths)
    used = 100 * sum(lengths) / (len(lengths) * max(lengths))
    return Drill(
        "static_slots",
        {"lengths": tuple(lengths), "number": len(lengths), "longest": max(lengths)},
        used,
        {"idle": 100 - used},
        tolerance=0.6,
    )


def chunk_steps(seed: int) -> Drill:
    """Steps until a prompt is computed, beside requests that decode."""
    lot = random.Random(f"chunk_steps:{seed}")
    budget, decoding = lot.choice((256, 512, 1_024, 2_048)), lot.randrange(16, 129, 8)
    prompt = lot.randrange(4_000, 12_001, 500)
    steps = math.ceil(prompt / (budget - decoding))
    return Drill(
        "chunk_steps",
        {"budget": budget, "decoding": decoding, "prompt": prompt, "left": budget - decoding},
        steps,
        {"whole_budget": math.ceil(prompt / budget), "one_step": 1},
        tolerance=0,
    )


def tpot(seed: int) -> Drill:
    """Milliseconds per output token, as vLLM counts them."""
    lot = random.Random(f"tpot:{seed}")
    tokens, gap_ms = lot.choice((11, 21, 41, 51, 101)), lot.randrange(12, 46)
    ttft_ms = lot.randrange(200, 2_001, 50)
    whole_ms = ttft_ms + gap_ms * (tokens - 1)
    return Drill(
        "tpot",
        {"tokens": tokens, "ttft": ttft_ms, "whole": whole_ms},
        gap_ms,
        {"all_tokens": (whole_ms - ttft_ms) / tokens, "with_ttft": whole_ms / tokens},
        tolerance=0.02,
    )


def weights_read(seed: int) -> Drill:
    """Milliseconds to read all weights once at the full bandwidth of the data sheet."""
    lot = random.Random(f"weights_read:{seed}")
    model, gpu = specs.MODELS[lot.choice(MODELS)], specs.GPUS[lot.choice(GPUS)]
    bits = lot.choice((16, 8, 4))
    gigabytes = round(model.memory_bytes / 1e9 * bits / 16, 1)
    seconds = gigabytes * 1e9 / gpu.bandwidth
    return Drill(
        "weights_read",
        {
            "model": model.name,
            "gpu": gpu.name,
            "bits": bits,
            "gigabytes": gigabytes,
            "bandwidth": round(gpu.bandwidth / 1e12, 3),
        },
        seconds * 1e3,
        {"per_second": 1 / seconds, "bits": seconds * 8e3},
        tolerance=0.03 * seconds * 1e3,
    )


def last_block(seed: int) -> Drill:
    """Slots of the last block that stay empty."""
    lot = random.Random(f"last_block:{seed}")
    size = lot.choice((8, 16, 32))
    tokens = size * lot.randrange(5, 40) + lot.randrange(1, size)
    blocks = math.ceil(tokens / size)
    return Drill(
        "last_block",
        {"size": size, "tokens": tokens, "blocks": blocks},
        blocks * size - tokens,
        {"filled": tokens - (blocks - 1) * size, "blocks": blocks},
        tolerance=0,
    )


def tokens_per_round(seed: int) -> Drill:
    """What a round of speculation yields on average."""
    lot = random.Random(f"tokens_per_round:{seed}")
    share, proposed = lot.choice((0.5, 0.6, 0.7, 0.8, 0.9)), lot.randrange(2, 6)
    expected = acceptance.expected_tokens(share, proposed)
    return Drill(
        "tokens_per_round",
        {"share": share, "proposed": proposed},
        expected,
        {
            "without_bonus": expected - 1,
            "linear": share * proposed,
            "one_more": share * proposed + 1,
        },
        tolerance=0.04,
    )


KINDS: Mapping[str, Callable[[int], Drill]] = {
    make.__name__: make
    for make in (kv_bytes, static_slots, chunk_steps, tpot, weights_read, last_block)
} | {"tokens_per_round": tokens_per_round}
