"""What a panel draws over time, all replicas together, in windows of one length."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sim import metrics
from sim.engine import Run

NUM_WINDOWS = 60
SHORTLY = 4  # windows


@dataclass(frozen=True)
class OverTime:
    """All replicas together; every array but the first three is [num_windows].

    The first three are [num_requests]: when each came, its TTFT, its prompt.
    """

    arrival_seconds: np.ndarray
    ttft_seconds: np.ndarray
    prompt_tokens: np.ndarray
    end_seconds: np.ndarray  # of each window
    itl_p50: np.ndarray  # NaN where no token came out, as the next one
    itl_p99: np.ndarray
    kv: np.ndarray  # the fullest replica
    running: np.ndarray
    waiting: np.ndarray
    prompt_rate: np.ndarray  # tokens per second
    generation_rate: np.ndarray


def around_full(times: OverTime, full: float = 0.97) -> tuple[float, float]:
    """Generated tokens per second shortly before KV is full, and while it is.

    NaN where it never is, or is from the start.
    """
    is_full = times.kv >= full
    first = int(np.argmax(is_full))
    if not is_full.any() or first == 0:
        return float("nan"), float("nan")
    before = times.generation_rate[max(first - SHORTLY, 0) : first]
    return float(before.mean()), float(times.generation_rate[is_full].mean())


def over_time(runs: Sequence[Run], seen: Sequence[Run]) -> OverTime:
    """Of the engines' runs, and of the same runs as clients see them."""
    end = max(float(run.series.end_seconds[-1]) for run in runs)
    ends = np.linspace(0, end, NUM_WINDOWS + 1)[1:]
    width = end / NUM_WINDOWS
    records = sorted(
        (record for run in seen for record in metrics.served(run)),
        key=lambda record: record.request.arrival_seconds,
    )
    came = np.concatenate([record.token_seconds[1:] for record in records])
    gaps = np.concatenate([metrics.itl(record) for record in records])
    came, gaps = came[gaps > 0], gaps[gaps > 0]  # not within a round of speculation
    steps = [(run.series, _window(run.series.end_seconds, ends)) for run in runs]

    def summed(name: str) -> np.ndarray:
        """Mean over the steps of each window, added up over the replicas."""
        return np.sum([_mean_in(getattr(one, name), at) for one, at in steps], axis=0)

    def rate(name: str) -> np.ndarray:
        counted = [np.bincount(at, getattr(s, name), NUM_WINDOWS) for s, at in steps]
        return np.sum(counted, axis=0) / width

    return OverTime(
        np.array([record.request.arrival_seconds for record in records]),
        np.array([metrics.ttft(record) for record in records]),
        np.array([record.request.prompt_tokens for record in records]),
        ends,
        *_percentiles_in(gaps, _window(came, ends)),
        np.max([_mean_in(one.kv_usage, at) for one, at in steps], axis=0),
        summed("num_running"),
        summed("num_waiting") + _deferred(runs, seen, ends),
        rate("prefill_tokens"),
        rate("sampled_tokens"),
    )


def _deferred(runs: Sequence[Run], seen: Sequence[Run], moments: np.ndarray) -> np.ndarray:
    """Requests that were sent and cannot be scheduled yet, [num_windows]."""
    sent, ready = (
        np.array([one.arrival_seconds for run in some for one in run.requests])[:, None]
        for some in (seen, runs)
    )
    return np.sum((sent <= moments) & (moments < ready), axis=0)


def _window(moments: np.ndarray, ends: np.ndarray) -> np.ndarray:
    return np.minimum(np.searchsorted(ends, moments), NUM_WINDOWS - 1)


def _mean_in(values: np.ndarray, window: np.ndarray) -> np.ndarray:
    """0 in windows without a step."""
    counts = np.bincount(window, minlength=NUM_WINDOWS)
    return np.bincount(window, values, NUM_WINDOWS) / np.maximum(counts, 1)


def _percentiles_in(values: np.ndarray, window: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """p50 and p99 of each window, [num_windows] each."""
    parts = [values[window == number] for number in range(NUM_WINDOWS)]
    nothing = np.full(2, np.nan)
    found = [np.percentile(part, (50, 99)) if len(part) else nothing for part in parts]
    p50, p99 = np.array(found).T
    return p50, p99
