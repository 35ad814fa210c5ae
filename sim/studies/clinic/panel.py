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
from sim.studies.clinic.deployment import Deployment, Machine
from sim.studies.clinic.signs import Signs, found
from sim.studies.clinic.windows import OverTime, over_time


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
class Panel:
    """Everything that is read off a server.  `ttft` and `itl` are of those with the promise, as
    their clients see them; where several tokens come at once, ITL is between two of these times."""

    ttft: Distribution
    itl: Distribution
    queue_time: Distribution
    readings: Readings
    longest_gap: float
    most_running: int
    most_waiting: int
    num_preemptions: int
    num_refused: int
    num_cut: int  # answers
    hit_rate: float
    acceptance: float | None  # of proposed tokens
    gpu_busy: float  # share of busy time in which kernels run
    output_tokens_per_second: float
    signs: Signs
    over_time: OverTime

    def keeps(self, slo: Slo) -> bool:
        """Whether the promise is kept, and nobody turned away, cut short or left waiting."""
        is_kept = which_latency(self.readings, slo) == "neither"
        return is_kept and self.num_refused == self.num_cut == self.signs.num_failed == 0


def read(server: Deployment, runs: Sequence[Run], slo: Slo) -> Panel:
    """The panel of a server, from the runs of its replicas."""
    seen = [server.seen(run) for run in runs]
    summaries = [metrics.summarize(run) for run in runs]
    records = [record for run in seen for record in metrics.served(run)]
    longest = slo.longest_prompt
    promised = [r for r in records if longest is None or r.request.prompt_tokens <= longest]
    ttft = Distribution.of([metrics.ttft(record) for record in promised])
    gaps = np.concatenate([metrics.itl(record) for record in promised])
    itl = Distribution.of(gaps[gaps > 0])
    busy, bandwidth, compute, kernels = np.mean([_use(run) for run in runs], axis=0).tolist()
    rounds = [run.rounds for run in runs if run.rounds.num_proposed]
    prompts = sum(record.request.prompt_tokens for record in records)
    span = max(summary.duration_seconds for summary in summaries)
    signs = found(server, runs, seen, kernels)
    most_waiting = max(int(np.max(run.series.num_waiting)) for run in runs)
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
        max(most_waiting, signs.most_deferred or 0),
        sum(run.num_preemptions for run in runs),
        server.num_refused + sum(summary.num_rejected for summary in summaries),
        server.num_cut,
        sum(record.hit_tokens for record in records) / prompts,
        float(np.mean([tally.accepted_share for tally in rounds])) if rounds else None,
        busy,
        sum(summary.output_tokens for summary in summaries) / span,
        signs,
        over_time(runs, seen),
    )


def _use(run: Run) -> tuple[float, float, float, float]:
    """Of the busy time: with kernels running; and of the data sheet, bandwidth and FLOPs.

    Last, the mean seconds of kernels in a step.  Of a GPU that is no slower than the others.
    """
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
    working = float(np.sum(kernels.seconds)) + within
    return (
        min(working / busy, 1.0),
        moving * reached.bandwidth / busy,
        (computing + within) * reached.flops / busy,
        working / len(tokens),
    )
