"""What the panel of a server shows: time series, percentiles, utilization; and its three questions.

    1  is TTFT above its limit, or ITL, or both?
    2  is KV memory near its limit?
    3  does the GPU spend its time computing, moving bytes, or neither?

The same three are asked of a run here and of the metrics of a real server
(`ui.subjects.clinic.bring`), so a reading that is missing is None, and then the answer is, too.
Thresholds are opinions: one tool calls KV full at 0.8 in one rule and at 0.9 in another
(vllm-doctor), a guide adds servers at 0.6 (llm-d).

Utilization is what a roofline would count: bytes and FLOPs of all steps over the busy time, as
shares of the data sheet.  KV that is read is taken to be all KV that is held; the attention within
prompts is counted once for each request.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sim import metrics
from sim.engine import Run
from sim.metrics import Distribution
from sim.scheduler import Load
from sim.studies.clinic.deployment import Machine

NUM_WINDOWS = 60  # of a time series
SHORTLY = 4  # windows


@dataclass(frozen=True)
class Slo:
    """What users were promised: 99 of 100 first tokens, and 99 of 100 gaps, are at most so long.

    With `longest_prompt` the promise is made to requests with prompts up to there.
    """

    ttft_seconds: float
    itl_seconds: float
    longest_prompt: int | None = None


@dataclass(frozen=True)
class Thresholds:
    """From where on a reading counts: shares between 0 and 1."""

    kv: float = 0.9
    busy: float = 0.3  # of the data sheet


@dataclass(frozen=True)
class Readings:
    """What the three questions are asked of.  Seconds and shares; None: not known."""

    ttft_p99: float | None = None
    itl_p99: float | None = None
    kv: float | None = None  # its highest use
    bandwidth: float | None = None
    compute: float | None = None


def which_latency(readings: Readings, slo: Slo) -> str | None:
    """Question 1: "ttft", "itl", "both" or "neither"."""
    if readings.ttft_p99 is None or readings.itl_p99 is None:
        return None
    late, slow = readings.ttft_p99 > slo.ttft_seconds, readings.itl_p99 > slo.itl_seconds
    return {(1, 0): "ttft", (0, 1): "itl", (1, 1): "both", (0, 0): "neither"}[late, slow]


def kv_answer(readings: Readings, thresholds: Thresholds) -> str | None:
    """Question 2: "full" or "room"."""
    if readings.kv is None:
        return None
    return "full" if readings.kv >= thresholds.kv else "room"


def bottleneck(readings: Readings, thresholds: Thresholds) -> str | None:
    """Question 3: "compute", "bandwidth", or "low" when both are below the threshold."""
    if readings.bandwidth is None or readings.compute is None:
        return None
    if max(readings.bandwidth, readings.compute) < thresholds.busy:
        return "low"
    return "compute" if readings.compute >= readings.bandwidth else "bandwidth"


def answers(
    readings: Readings, slo: Slo, thresholds: Thresholds
) -> tuple[str | None, str | None, str | None]:
    return (
        which_latency(readings, slo),
        kv_answer(readings, thresholds),
        bottleneck(readings, thresholds),
    )


# -- of a run ---------------------------------------------------------------------------------


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


@dataclass(frozen=True)
class Panel:
    """Everything that is read off a server.  `ttft` and `itl` are of those with the promise."""

    ttft: Distribution
    itl: Distribution
    queue_time: Distribution
    readings: Readings
    longest_gap: float
    most_running: int
    most_waiting: int
    num_preemptions: int
    num_refused: int
    hit_rate: float
    acceptance: float | None  # of proposed tokens
    gpu_busy: float  # share of busy time in which kernels run
    output_tokens_per_second: float
    over_time: OverTime

    def keeps(self, slo: Slo) -> bool:
        """Whether the promise is kept, and nobody was turned away."""
        return which_latency(self.readings, slo) == "neither" and self.num_refused == 0


def read(runs: Sequence[Run], slo: Slo, num_refused: int = 0) -> Panel:
    """The panel of a server, from the runs of its replicas."""
    summaries = [metrics.summarize(run) for run in runs]
    records = [record for run in runs for record in metrics.served(run)]
    longest = slo.longest_prompt
    promised = [r for r in records if longest is None or r.request.prompt_tokens <= longest]
    ttft = Distribution.of([metrics.ttft(record) for record in promised])
    itl = Distribution.of(np.concatenate([metrics.itl(record) for record in promised]))
    uses = [_use(run) for run in runs]
    busy, bandwidth, compute = (float(np.mean(column)) for column in zip(*uses, strict=True))
    over_time = _over_time(runs)
    rounds = [run.rounds for run in runs if run.rounds.num_proposed]
    prompts = sum(record.request.prompt_tokens for record in records)
    span = max(summary.duration_seconds for summary in summaries)
    return Panel(
        ttft,
        itl,
        Distribution.of([metrics.queue_time(record) for record in promised]),
        Readings(
            ttft.p99,
            itl.p99,
            max(summary.peak_kv_usage for summary in summaries),
            bandwidth,
            compute,
        ),
        itl.max,
        max(int(np.max(run.series.num_running)) for run in runs),
        max(int(np.max(run.series.num_waiting)) for run in runs),
        sum(run.num_preemptions for run in runs),
        num_refused + sum(summary.num_rejected for summary in summaries),
        sum(record.hit_tokens for record in records) / prompts,
        float(np.mean([tally.accepted_share for tally in rounds])) if rounds else None,
        busy,
        sum(summary.output_tokens for summary in summaries) / span,
        over_time,
    )


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


def _use(run: Run) -> tuple[float, float, float]:
    """Of the busy time: with kernels running; and of the data sheet, bandwidth and FLOPs."""
    series, clock = run.series, run.setup.clock
    assert isinstance(clock, Machine)
    roofline, memory = clock.roofline, run.setup.memory.open()
    held = series.kv_usage * memory.num_usable_blocks * memory.block_size
    tokens = series.prefill_tokens + series.decode_tokens
    columns: Any = (tokens, held, held, series.sampled_tokens, series.prefill_tokens)
    kernels = roofline.kernels(Load(*columns))
    busy = float(np.sum(series.end_seconds - series.start_seconds))
    prompts = sum(record.request.prompt_tokens**2 / 2 for record in metrics.served(run))
    within = roofline.step_time(Load(0, 0, prompts, 0, 0)).compute_seconds  # prompts, of themselves
    reached = roofline.used_efficiency
    steps = np.ones(len(tokens))
    moving, computing = (
        float(sum(np.sum(steps * of_part) for of_part in column))
        for column in (
            [part.memory_seconds for part in kernels],
            [part.compute_seconds for part in kernels],
        )
    )
    return (
        min((float(np.sum(kernels.seconds)) + within) / busy, 1.0),
        moving * reached.bandwidth / busy,
        (computing + within) * reached.flops / busy,
    )


def _over_time(runs: Sequence[Run]) -> OverTime:
    end = max(float(run.series.end_seconds[-1]) for run in runs)
    ends = np.linspace(0, end, NUM_WINDOWS + 1)[1:]
    width = end / NUM_WINDOWS
    records = sorted(
        (record for run in runs for record in metrics.served(run)),
        key=lambda record: record.request.arrival_seconds,
    )
    came = np.concatenate([record.token_seconds[1:] for record in records])
    gaps = np.concatenate([metrics.itl(record) for record in records])
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
        summed("num_waiting"),
        rate("prefill_tokens"),
        rate("sampled_tokens"),
    )


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
