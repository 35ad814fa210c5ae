"""A real server, measured, and ours: the same 300 requests on one RTX 4090.

`python -m benchmarks.measured_run FILE` replays the recorded arrivals and lengths of FILE with the
calibrated 4090 and prints one JSON line: each statistic ours and measured, in seconds, and how far
off ours is.  FILE is `llmservingsim_vllm_rtx4090_llama31_8b_requests.jsonl`; vLLM 0.19 served it
with Llama-3.1-8B in bf16, 2,588 KV blocks of 16, at most 256 sequences and 2,048 tokens a step.

What the requests said is not recorded, so none finds another's tokens in the prefix cache; caching
is on, and a request that was preempted may find its own.
"""

import argparse
import json
from math import isnan
from pathlib import Path
from typing import Any

from sim.cost import Roofline
from sim.engine import Run, Setup, simulate
from sim.errors import SimError
from sim.kv import Paged
from sim.metrics import Distribution, summarize
from sim.scheduler import Chunked
from sim.specs import GPUS, MODELS
from sim.workload.traces import Trace, read

MODEL = MODELS["Llama-3.1-8B"]
CLOCK = Roofline(MODEL, GPUS["RTX 4090"])
POLICY = Chunked(max_num_seqs=256, max_num_batched_tokens=2048, reserve_full_length=True)
MEMORY = Paged(num_blocks=2588, block_size=16, prefix_caching=True)
STATISTICS = ("mean", "p50", "p99")


def setup(trace: Trace) -> Setup:
    return Setup(trace.requests, POLICY, MEMORY, CLOCK)


def compare(run: Run, trace: Trace) -> dict[str, Any]:
    """Ours beside the measured: TTFT, TPOT and makespan; preemptions were not recorded."""
    ours = summarize(run)
    ends = [
        request.arrival_seconds + measured.e2e
        for request, measured in zip(trace.requests, trace.measured, strict=True)
    ]
    makespan = max(ends) - trace.requests[0].arrival_seconds
    return {
        "TTFT": _statistics(ours.ttft, [measured.ttft for measured in trace.measured]),
        "TPOT": _statistics(ours.tpot, [m.tpot for m in trace.measured if not isnan(m.tpot)]),
        "preemptions": ours.num_preemptions,
        "makespan": _beside(ours.duration_seconds, makespan),
    }


def _statistics(ours: Distribution, values: list[float]) -> dict[str, dict[str, float]]:
    measured = Distribution.of(values)
    return {name: _beside(getattr(ours, name), getattr(measured, name)) for name in STATISTICS}


def _beside(ours: float, measured: float) -> dict[str, float]:
    error_percent = (ours / measured - 1) * 100
    return {
        "ours": round(ours, 6),
        "measured": round(measured, 6),
        "error_percent": round(error_percent, 3),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="Replay a measured run and compare.")
    parser.add_argument("file", type=Path, help="the measured requests, JSON lines")
    try:
        trace = read(parser.parse_args().file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, SimError) as error:
        parser.error(str(error))
    if not trace.measured:
        parser.error("this file holds requests, but no times that a server took for them")
    print(json.dumps(compare(simulate(setup(trace)), trace)))


if __name__ == "__main__":
    main()
