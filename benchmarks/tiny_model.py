"""How fast the tiny model reads and writes on this machine, on one core.

    python -m benchmarks.tiny_model

One JSON line: milliseconds for a prefill of 256 tokens and for a decode step after them (median
and best of several), for both stores, and the achieved GFLOP/s of the prefill (matrices only).
"""

import json
import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

from sim.model.generation import Decoder
from sim.model.kv_store import BlockPool, ContiguousStore, KvStore, PagedStore
from sim.model.transformer import Weights, load

ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
FILE = Path(__file__).parent.parent / "assets" / "model" / "target.npz"
PROMPT_TOKENS = 256
DECODE_STEPS = 32
TIMES = 9
BLOCK_SIZE = 16


def contiguous(weights: Weights) -> KvStore:
    return ContiguousStore(weights.model, PROMPT_TOKENS + DECODE_STEPS)


def paged(weights: Weights) -> KvStore:
    num_blocks = -(-(PROMPT_TOKENS + DECODE_STEPS) // BLOCK_SIZE)
    pool = BlockPool(weights.model, num_blocks, BLOCK_SIZE)
    return PagedStore(pool, list(reversed(range(num_blocks))))


def milliseconds(weights: Weights, store: KvStore) -> tuple[float, float]:
    """Of one prefill, and of a decode step after it."""
    decoder = Decoder(weights, store)
    tokens = list(range(PROMPT_TOKENS))
    start = time.perf_counter()
    decoder.extend(tokens)
    prefilled = time.perf_counter()
    for token in range(DECODE_STEPS):
        tokens.append(token)
        decoder.extend(tokens)
    decoded = time.perf_counter()
    return 1e3 * (prefilled - start), 1e3 * (decoded - prefilled) / DECODE_STEPS


def row(weights: Weights, opened: Callable[[Weights], KvStore]) -> dict[str, float]:
    runs = [milliseconds(weights, opened(weights)) for _ in range(TIMES)]
    prefill, decode = ([run[phase] for run in runs] for phase in (0, 1))
    flops = 2 * weights.model.parameters * PROMPT_TOKENS
    return {
        "prefill_ms": round(statistics.median(prefill), 2),
        "prefill_ms_best": round(min(prefill), 2),
        "decode_ms": round(statistics.median(decode), 3),
        "decode_ms_best": round(min(decode), 3),
        "prefill_gflops": round(flops / statistics.median(prefill) / 1e6, 1),
    }


def main() -> None:
    if not ONE_THREAD.items() <= os.environ.items():  # read when numpy is loaded: start again
        again = [sys.executable, "-m", "benchmarks.tiny_model"]
        os.execve(sys.executable, again, {**os.environ, **ONE_THREAD})
    weights = load(FILE)
    milliseconds(weights, contiguous(weights))  # the first call warms up
    rows = {opened.__name__: row(weights, opened) for opened in (contiguous, paged)}
    told = {"parameters": weights.model.parameters, "prompt_tokens": PROMPT_TOKENS, **rows}
    print(json.dumps(told))


if __name__ == "__main__":
    main()
