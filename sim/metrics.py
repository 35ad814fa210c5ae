"""What a run was like: latencies, throughput, use of slots and memory.

Symbols first.  For one request with N output tokens:

    a        arrival
    q        start of the first step in which it is scheduled
    t_1..t_N the end of the step in which each token is sampled

    queue time = q - a
    TTFT       = t_1 - a                    time to first token
    ITL_k      = t_(k+1) - t_k, k = 1..N-1  inter-token latency: every gap, one by one
    TPOT       = (t_N - t_1) / (N - 1)      time per output token; undefined for N = 1
    E2E        = t_N - a                    so TPOT = (E2E - TTFT) / (N - 1)

For a run of R served requests that lasts from the first arrival to the last token, T seconds:

    request throughput = R / T;  output throughput = sum N / T;  total = (sum prompt + sum N) / T
    slot utilization   = sum N / (slots x steps)

Source: vLLM `docs/design/metrics.md` and `docs/benchmarking/cli.md`.
"""

from dataclasses import dataclass

import numpy as np

from sim.engine import Record, Run


@dataclass(frozen=True)
class Distribution:
    """A sample of seconds, sorted.  Statistics of an empty sample are NaN."""

    values: np.ndarray  # [n] sorted

    @classmethod
    def of(cls, values: list[float] | np.ndarray) -> "Distribution":
        return cls(np.sort(np.asarray(values, dtype=float)))

    def __len__(self) -> int:
        return len(self.values)

    @property
    def mean(self) -> float:
        return float(np.mean(self.values)) if len(self) else float("nan")

    @property
    def max(self) -> float:
        return float(self.values[-1]) if len(self) else float("nan")

    def percentile(self, percent: float) -> float:
        """Linear interpolation between the closest ranks, as numpy and vLLM's benchmark do."""
        return float(np.percentile(self.values, percent)) if len(self) else float("nan")

    @property
    def p50(self) -> float:
        return self.percentile(50)

    @property
    def p90(self) -> float:
        return self.percentile(90)

    @property
    def p99(self) -> float:
        return self.percentile(99)


@dataclass(frozen=True)
class Summary:
    """A run in numbers.  Times in seconds, throughputs per second, shares between 0 and 1."""

    queue_time: Distribution
    ttft: Distribution
    itl: Distribution
    tpot: Distribution
    e2e: Distribution
    num_served: int
    num_rejected: int
    num_preemptions: int
    duration_seconds: float
    num_steps: int
    output_tokens: int
    requests_per_second: float
    output_tokens_per_second: float
    total_tokens_per_second: float
    slot_utilization: float
    mean_running: float  # averaged over the time the server was busy
    mean_kv_usage: float
    peak_kv_usage: float
    memory_bound_share: float  # of busy time
    compute_bound_share: float

    @property
    def queue_share(self) -> float:
        """How much of the mean TTFT is queueing."""
        return self.queue_time.mean / self.ttft.mean if self.ttft.mean > 0 else 0.0

    def meeting(self, ttft_seconds: float, tpot_seconds: float, run: Run) -> float:
        """Goodput: requests per second that meet both limits (N = 1 has only a TTFT to meet)."""
        good = sum(
            ttft(record) <= ttft_seconds and not (tpot(record) > tpot_seconds)
            for record in served(run)
        )
        return _rate(good, self.duration_seconds)


def served(run: Run) -> list[Record]:
    return [record for record in run.records if not record.rejected]


def queue_time(record: Record) -> float:
    assert record.scheduled_seconds is not None
    return record.scheduled_seconds - record.request.arrival_seconds


def ttft(record: Record) -> float:
    return float(record.token_seconds[0]) - record.request.arrival_seconds


def e2e(record: Record) -> float:
    return float(record.token_seconds[-1]) - record.request.arrival_seconds


def itl(record: Record) -> np.ndarray:
    """Every gap between two tokens, [N - 1]."""
    return np.diff(record.token_seconds)


def tpot(record: Record) -> float:
    """Mean time per output token after the first; NaN for a single token."""
    num_gaps = len(record.token_seconds) - 1
    if num_gaps == 0:
        return float("nan")
    return (e2e(record) - ttft(record)) / num_gaps


def summarize(run: Run) -> Summary:
    """All metrics of a run."""
    done, series = served(run), run.series
    output_tokens = sum(len(record.token_seconds) for record in done)
    prompt_tokens = sum(record.request.prompt_tokens for record in done)
    first = min((record.request.arrival_seconds for record in done), default=0.0)
    last = max((float(record.token_seconds[-1]) for record in done), default=0.0)
    duration = last - first
    busy = series.end_seconds - series.start_seconds  # [num_steps]
    memory_bound = _share(busy, series.memory_bound)
    tpots = [tpot(record) for record in done if len(record.token_seconds) > 1]
    gaps = [itl(record) for record in done]
    return Summary(
        queue_time=Distribution.of([queue_time(record) for record in done]),
        ttft=Distribution.of([ttft(record) for record in done]),
        itl=Distribution.of(np.concatenate(gaps) if gaps else []),
        tpot=Distribution.of(tpots),
        e2e=Distribution.of([e2e(record) for record in done]),
        num_served=len(done),
        num_rejected=len(run.records) - len(done),
        num_preemptions=run.num_preemptions,
        duration_seconds=duration,
        num_steps=len(busy),
        output_tokens=output_tokens,
        requests_per_second=_rate(len(done), duration),
        output_tokens_per_second=_rate(output_tokens, duration),
        total_tokens_per_second=_rate(output_tokens + prompt_tokens, duration),
        slot_utilization=_rate(output_tokens, run.setup.policy.max_num_seqs * len(busy)),
        mean_running=_share(busy, series.num_running),
        mean_kv_usage=_share(busy, series.kv_usage),
        peak_kv_usage=float(np.max(series.kv_usage, initial=0.0)),
        memory_bound_share=memory_bound,
        compute_bound_share=1 - memory_bound if len(busy) else 0.0,
    )


@dataclass(frozen=True)
class Span:
    """A stretch of one request's life.  `kind`: queue, prefill, decode or preempted."""

    request_id: int
    kind: str
    start_seconds: float
    end_seconds: float


def spans(record: Record) -> list[Span]:
    """The life of a request as a row of a timeline, in order, without gaps."""
    if record.rejected or record.scheduled_seconds is None:
        return []
    who, cuts = record.request.id, []
    first, last = float(record.token_seconds[0]), float(record.token_seconds[-1])
    cuts.append(("queue", record.request.arrival_seconds, record.scheduled_seconds))
    cuts += _interrupted("prefill", record.scheduled_seconds, first, record.pauses)
    cuts += _interrupted("decode", first, last, record.pauses)
    return [Span(who, kind, start, end) for kind, start, end in cuts if end > start]


def _interrupted(
    kind: str, start: float, end: float, pauses: tuple[tuple[float, float], ...]
) -> list[tuple[str, float, float]]:
    cuts, at = [], start
    for preempted, resumed in pauses:
        if start <= preempted < end:
            cuts += [(kind, at, preempted), ("preempted", preempted, resumed)]
            at = resumed
    return [*cuts, (kind, at, end)]


def _rate(amount: float, per: float) -> float:
    return amount / per if per else 0.0


def _share(weights: np.ndarray, values: np.ndarray) -> float:
    """The mean of `values` weighted by `weights`; 0 when there is nothing."""
    return float(np.dot(weights, values) / np.sum(weights)) if len(weights) else 0.0
