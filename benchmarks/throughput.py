"""How fast a whole run is simulated, on one core.

    python -m benchmarks.throughput --requests 10000 --trace AzureLLMInferenceTrace_conv.csv

Poisson arrivals at 6.45 requests/s with the lengths of the trace in its order, over and over (or of
a lognormal fit to it where no trace is given): Llama-3.1-8B on an A100, chunked prefill with a
budget of 512 tokens, at most 128 sequences, blocks of 16.  One JSON line per row; `wall_seconds` is
the best of three runs, `step_path_ratio` how much longer the step-by-step loop takes for the first
requests.
"""

import argparse
import json
import math
import time
from collections.abc import Callable
from dataclasses import replace
from itertools import cycle, islice
from pathlib import Path

from sim.cost import Roofline
from sim.engine import Run, Setup, run_by_steps, simulate
from sim.errors import SimError
from sim.kv import Paged
from sim.request import Request
from sim.scheduler import Chunked
from sim.specs import GPUS, MODELS
from sim.workload import LognormalLength, PoissonArrivals, Workload, traces

RATE = 6.45  # requests/s
CLOCK = Roofline(MODELS["Llama-3.1-8B"], GPUS["A100 80G SXM"])
POOL = Paged.beside(CLOCK.model, CLOCK.gpu, prefix_caching=False)
LEAST_PREEMPTED = 0.05  # of all requests
NUM_COMPARED = 1_000  # requests that the step-by-step loop runs too


def requests(num_requests: int, trace: Path | None) -> tuple[Request, ...]:
    drawn = Workload(
        num_requests,
        PoissonArrivals(RATE),
        LognormalLength(1154.7, 4142),
        LognormalLength(211.1, 601),
    ).requests()
    if trace is None:
        return drawn
    lengths = islice(cycle(traces.read(trace.read_text(encoding="utf-8")).requests), num_requests)
    return tuple(
        replace(request, prompt_tokens=length.prompt_tokens, output_tokens=length.output_tokens)
        for request, length in zip(drawn, lengths, strict=True)
    )


def setup(asked: tuple[Request, ...], memory: Paged) -> Setup:
    return Setup(asked, Chunked(128, max_num_batched_tokens=512), memory, CLOCK)


def cut_pool(asked: tuple[Request, ...]) -> Paged:
    """The largest pool, in steps of 2 %, in which enough requests are preempted."""
    run = simulate(setup(asked, POOL))
    num_blocks = math.ceil(float(run.series.kv_usage.max()) * POOL.num_blocks)
    while len(run.pauses) < LEAST_PREEMPTED * len(asked):
        num_blocks = int(num_blocks * 0.98)
        run = simulate(setup(asked, replace(POOL, num_blocks=num_blocks)))
    return replace(POOL, num_blocks=num_blocks)


def timed(what: Callable[[Setup], Run], given: Setup, times: int = 1) -> tuple[float, Run]:
    """The best wall time of several runs, and the last run."""
    best = math.inf
    for _ in range(times):
        start = time.perf_counter()
        run = what(given)
        best = min(best, time.perf_counter() - start)
    return best, run


def row(name: str, given: Setup) -> dict[str, object]:
    wall, run = timed(simulate, given, times=3)
    few = replace(given, requests=given.requests[:NUM_COMPARED])
    slow, _ = timed(run_by_steps, few)
    fast, _ = timed(simulate, few, times=3)
    num_requests = len(given.requests)
    return {
        "row": name,
        "requests": num_requests,
        "wall_seconds": round(wall, 3),
        "requests_per_s": round(num_requests / wall),
        "engine_steps": len(run.series.start_seconds),
        "preemptions": run.num_preemptions,
        "step_path_ratio": round(slow / fast, 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--trace", type=Path, help="lengths from this file")
    given = parser.parse_args()
    if given.requests < 1:
        parser.error("--requests must be at least 1")
    try:
        asked = requests(given.requests, given.trace)
    except (OSError, UnicodeDecodeError, SimError) as error:
        parser.error(str(error))
    rows = {
        "prefix caching off": POOL,
        "pool cut": cut_pool(asked),
        "prefix caching on": replace(POOL, prefix_caching=True),
    }
    for name, memory in rows.items():
        print(json.dumps(row(name, setup(asked, memory))), flush=True)


if __name__ == "__main__":
    main()
