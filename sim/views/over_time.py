"""A run over time: rates by window, and what the engine's log would have said."""

from dataclasses import dataclass

import numpy as np

from sim.engine import Run
from sim.errors import require
from sim.metrics import ServedColumns, rate

LOG_SECONDS = 10.0  # vLLM logs its averages so often
LOG_REQUESTS = 1000  # and its hit rate over so many


@dataclass(frozen=True)
class Rates:
    """Tokens per second over time, in windows of equal width; every array is [num_windows].

    The k-th window ends at, and includes, `end_seconds[k]`; the last may reach beyond the run.
    Windows without work are 0.

    A step's tokens count at its end, as they reach the user.  Prompt tokens are those that prefill
    computed: hits in the prefix cache are not among them, what a preempted request computes again
    is.  (vLLM counts a prompt as a whole, with its first output token.)
    """

    window_seconds: float
    end_seconds: np.ndarray
    prompt_tokens_per_second: np.ndarray
    generation_tokens_per_second: np.ndarray


def rates(run: Run, window_seconds: float) -> Rates:
    """Prompt and generation throughput from time 0 to the end of the run.

    Raises:
        SimError: `window_not_positive`.
    """
    require(0 < window_seconds < float("inf"), "window_not_positive", value=window_seconds)
    series = run.series
    last = float(np.max(series.end_seconds, initial=0.0))
    num_windows = int(last / window_seconds) + 1  # one more than needed when rounding may matter
    ends = window_seconds * np.arange(1, num_windows + 1)
    if num_windows > 1 and ends[-2] >= last:
        ends = ends[:-1]
    window = np.searchsorted(ends, series.end_seconds)  # [num_steps]

    def per_second(tokens: np.ndarray) -> np.ndarray:
        return np.bincount(window, tokens, minlength=len(ends)) / window_seconds

    return Rates(
        window_seconds,
        ends,
        per_second(series.prefill_tokens),
        per_second(series.sampled_tokens),
    )


@dataclass(frozen=True)
class LogLine:
    """What the engine would log at one moment.  Rates per second, shares between 0 and 1."""

    prompt_tokens_per_second: float
    generation_tokens_per_second: float
    num_running: int
    num_waiting: int
    kv_usage: float
    prefix_hit_rate: float


def log_line(run: Run, at_seconds: float) -> LogLine:
    """The values of vLLM's log line ("Avg prompt throughput: ..., Running: ... reqs, ...").

    Throughputs are averages over the last 10 seconds (before 0 the server was idle), counted as in
    `rates`.  Running, waiting and KV are those of the step in progress; between two steps nothing
    runs.  The hit rate is over the last 1,000 first admissions.

    Source: vLLM `vllm/v1/metrics/loggers.py` and `stats.py` (`CachingMetrics`).
    """
    series, done = run.series, ServedColumns(run)
    first, after = np.searchsorted(
        series.end_seconds, [at_seconds - LOG_SECONDS, at_seconds], "right"
    )
    step = int(after)  # the first that ends later
    is_busy = step < len(series.start_seconds) and series.start_seconds[step] <= at_seconds
    in_queue = np.sum((done.arrival <= at_seconds) & (at_seconds < done.scheduled))
    order = np.argsort(done.scheduled, kind="stable")
    known = order[: np.searchsorted(done.scheduled[order], at_seconds, "right")][-LOG_REQUESTS:]
    return LogLine(
        float(np.sum(series.prefill_tokens[first:after])) / LOG_SECONDS,
        float(np.sum(series.sampled_tokens[first:after])) / LOG_SECONDS,
        int(series.num_running[step]) if is_busy else 0,
        int(series.num_waiting[step]) if is_busy else int(in_queue),
        float(series.kv_usage[step]) if is_busy else 0.0,
        rate(float(np.sum(done.hit_tokens[known])), float(np.sum(done.prompt_tokens[known]))),
    )
