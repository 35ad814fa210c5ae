"""What vLLM's log would have said during a run: its own line, every ten seconds.

Source: vLLM `vllm/v1/metrics/loggers.py` (`LoggingStatLogger.log`), 0.11; newer versions add
"Preemptions: ..." once there were any.
"""

import math
from collections.abc import Sequence

import numpy as np

from sim.engine import Run
from sim.views import over_time

LINE = (
    "Engine {engine:03}: Avg prompt throughput: {prompt:.1f} tokens/s, "
    "Avg generation throughput: {generation:.1f} tokens/s, "
    "Running: {running} reqs, Waiting: {waiting} reqs, "
    "GPU KV cache usage: {kv:.1f}%, Prefix cache hit rate: {hits:.1f}%"
)


def line(log: over_time.LogLine, engine: int = 0) -> str:
    return LINE.format(
        engine=engine,
        prompt=log.prompt_tokens_per_second,
        generation=log.generation_tokens_per_second,
        running=log.num_running,
        waiting=log.num_waiting,
        kv=log.kv_usage * 100,
        hits=log.prefix_hit_rate * 100,
    )


def lines(run: Run, most: int = 5) -> list[str]:
    """Up to `most` lines with the time since the start, evenly chosen among all; a run that ends
    before the first would be due is asked in its middle."""
    end = float(np.max(run.series.end_seconds, initial=0.0))
    num_due = math.ceil(end / over_time.LOG_SECONDS) - 1  # a run may last for years: none is built
    picked = 1 + np.unique(np.linspace(0, num_due - 1, most).round())
    times = picked * over_time.LOG_SECONDS if num_due > 0 else np.array([end / 2])
    return [f"{_clock(at)} {line(over_time.log_line(run, at))}" for at in times.tolist()]


def in_the_middle(runs: Sequence[Run]) -> list[str]:
    """A line of each engine of a fleet, all at the moment when half of the time is over."""
    half = max(float(np.max(run.series.end_seconds, initial=0.0)) for run in runs) / 2
    logs = [over_time.log_line(run, half) for run in runs]
    return [f"{_clock(half)} {line(log, engine)}" for engine, log in enumerate(logs)]


def _clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:02}:{minutes:02}:{rest:02}"
