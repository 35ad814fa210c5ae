"""What a run was like: latencies, throughput, goodput, use of slots and memory.

Symbols first.  For one request with N output tokens:

    a        arrival
    q        start of the first step in which it is scheduled
    t_1..t_N the end of the step in which each token is sampled

    queue time = q - a
    TTFT       = t_1 - a                    time to first token
    ITL_k      = t_(k+1) - t_k, k = 1..N-1  inter-token latency: every gap, one by one; tokens of
                                            one round of speculation come at once, without a gap
    TPOT       = (t_N - t_1) / (N - 1)      time per output token; undefined for N = 1
    E2E        = t_N - a                    so TPOT = (E2E - TTFT) / (N - 1)

For a run of R served requests that lasts from the first arrival to the last token, T seconds:

    request throughput = R / T;  output throughput = sum N / T;  total = (sum prompt + sum N) / T
    goodput            = requests that meet the limits on TTFT and TPOT / T
    slot utilization   = sum N / (slots x steps)
    prefix-hit rate    = sum of hit tokens / sum of prompt tokens, at first admissions

Sources: vLLM `docs/design/metrics.md` and `docs/benchmarking/cli.md` (`--goodput`); goodput is that
of DistServe, Zhong et al. 2024.

Long because all figures of a run are defined in one place.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sim.engine import Record, Run
from sim.errors import require

THINNED = 1001  # values that a distribution keeps: every tenth of a percent


@dataclass(frozen=True)
class Distribution:
    """A sample of seconds.  Statistics of an empty sample are NaN.

    Of more than 1,001 values it keeps the quantiles at every tenth of a percent, so that it stays
    light; the mean, the largest value and the usual percentiles are those of the whole sample.
    """

    values: np.ndarray  # [min(n, 1001)] sorted
    mean: float
    num_values: int

    @classmethod
    def of(cls, values: list[float] | np.ndarray) -> "Distribution":
        sample = np.asarray(values, dtype=float)
        kept = np.sort(sample)
        if len(sample) > THINNED:
            kept = _at_ranks(kept, np.linspace(0, len(sample) - 1, THINNED))
        return cls(kept, float(np.mean(sample)) if len(sample) else float("nan"), len(sample))

    def __len__(self) -> int:
        return self.num_values

    @property
    def max(self) -> float:
        return self.percentile(100)

    def percentile(self, percent: float) -> float:
        """Linear interpolation between the closest ranks, as numpy and vLLM's benchmark do.

        Raises:
            SimError: `percent_out_of_range`.
        """
        require(0 <= percent <= 100, "percent_out_of_range", value=percent)
        if not len(self):
            return float("nan")
        rank = percent * (len(self.values) - 1) / 100
        return float(_at_ranks(self.values, np.array(rank)))

    @property
    def p50(self) -> float:
        return self.percentile(50)

    @property
    def p90(self) -> float:
        return self.percentile(90)

    @property
    def p99(self) -> float:
        return self.percentile(99)


def _at_ranks(ordered: np.ndarray, ranks: np.ndarray) -> np.ndarray:
    """Values at ranks that may lie between two of them."""
    below = ranks.astype(int)
    above = np.minimum(below + 1, len(ordered) - 1)
    return ordered[below] + (ranks - below) * (ordered[above] - ordered[below])


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
    prefix_hit_rate: float  # of the prompt tokens; 0 with prefix caching off
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


# -- one request ------------------------------------------------------------------------------


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
    return float(record.token_seconds[-1] - record.token_seconds[0]) / num_gaps


def beside_prefill(run: Run, record: Record) -> np.ndarray:
    """Which gaps of a request ended with a step that also prefilled somebody, [N - 1] bool."""
    ended = np.searchsorted(run.series.end_seconds, record.token_seconds[1:])
    return run.series.prefill_tokens[ended] > 0


# -- a whole run ------------------------------------------------------------------------------


class ServedColumns:
    """The served requests of a run as columns, [num_served] each."""

    def __init__(self, run: Run):
        is_served = ~np.isnan(run.scheduled_seconds)
        arrival = [request.arrival_seconds for request in run.requests]
        prompt_tokens = [request.prompt_tokens for request in run.requests]
        self.arrival = np.array(arrival)[is_served]
        self.scheduled = run.scheduled_seconds[is_served]
        self.prompt_tokens = np.array(prompt_tokens)[is_served]
        self.hit_tokens = run.hit_tokens[is_served]
        self.output_tokens = run.num_tokens[is_served]
        self.token_seconds = run.token_seconds  # of all requests
        self.in_rounds = run.setup.speculation is not None
        self._after = np.cumsum(self.output_tokens)
        self.first = self.token_seconds[self._after - self.output_tokens]
        self.last = self.token_seconds[self._after - 1]

    def __len__(self) -> int:
        return len(self.arrival)

    @property
    def duration_seconds(self) -> float:
        return float(np.max(self.last) - np.min(self.arrival)) if len(self) else 0.0

    @cached_property
    def tpot(self) -> np.ndarray:
        """NaN for a single token."""
        num_gaps = self.output_tokens - 1
        nothing = np.full(len(self), np.nan)
        return np.divide(self.last - self.first, num_gaps, out=nothing, where=num_gaps > 0)

    def gaps(self) -> np.ndarray:
        """Every gap between two tokens of one request, [sum of (N - 1)]; where several come out
        at once (speculation), as in vLLM, between two outputs."""
        gaps = np.delete(np.diff(self.token_seconds), self._after[:-1] - 1)
        return gaps[gaps > 0] if self.in_rounds else gaps


def computed_tokens(run: Run) -> int:
    """Prompt tokens that went through the model; after a preemption some of them twice."""
    return int(np.sum(run.series.prefill_tokens))


def reused_tokens(run: Run) -> int:
    """Prompt tokens that were found in the prefix cache instead."""
    return int(np.sum(ServedColumns(run).hit_tokens))


def summarize(run: Run) -> Summary:
    """All metrics of a run."""
    done, series = ServedColumns(run), run.series
    duration = done.duration_seconds
    output_tokens, prompt_tokens = int(np.sum(done.output_tokens)), int(np.sum(done.prompt_tokens))
    busy = series.end_seconds - series.start_seconds  # [num_steps]
    memory_bound = _share(busy, series.memory_bound)
    return Summary(
        queue_time=Distribution.of(done.scheduled - done.arrival),
        ttft=Distribution.of(done.first - done.arrival),
        itl=Distribution.of(done.gaps()),
        tpot=Distribution.of(done.tpot[done.output_tokens > 1]),
        e2e=Distribution.of(done.last - done.arrival),
        num_served=len(done),
        num_rejected=len(run.requests) - len(done),
        num_preemptions=run.num_preemptions,
        duration_seconds=duration,
        num_steps=len(busy),
        output_tokens=output_tokens,
        requests_per_second=rate(len(done), duration),
        output_tokens_per_second=rate(output_tokens, duration),
        total_tokens_per_second=rate(output_tokens + prompt_tokens, duration),
        prefix_hit_rate=rate(float(np.sum(done.hit_tokens)), prompt_tokens),
        slot_utilization=rate(output_tokens, run.setup.policy.max_num_seqs * len(busy)),
        mean_running=_share(busy, series.num_running),
        mean_kv_usage=_share(busy, series.kv_usage),
        peak_kv_usage=float(np.max(series.kv_usage, initial=0.0)),
        memory_bound_share=memory_bound,
        compute_bound_share=1 - memory_bound if len(busy) else 0.0,
    )


def starting_together(run: Run) -> float:
    """How many requests start in one step, on average over the steps in which any does."""
    return rate(len(served(run)), len({record.scheduled_seconds for record in served(run)}))


@dataclass(frozen=True)
class Goodput:
    """Requests that meet the limits: how many, per second of the run, and as a share of all that
    were sent.  A refused request meets nothing."""

    num_requests: int
    requests_per_second: float
    share: float


@dataclass(frozen=True, eq=False)
class RequestTimes:
    """What goodput asks of a run, and no more: it is kept where a run would be too large.

    ttft, tpot: [num_served], seconds, a TPOT of NaN for a single token; num_sent: also those that
    were refused.
    """

    ttft: np.ndarray
    tpot: np.ndarray
    duration_seconds: float
    num_sent: int

    @classmethod
    def of(cls, run: Run) -> "RequestTimes":
        done = ServedColumns(run)
        ttft = done.first - done.arrival
        return cls(ttft, done.tpot, done.duration_seconds, len(run.requests))


def goodput(
    run: Run | RequestTimes, ttft_seconds: float = float("inf"), tpot_seconds: float = float("inf")
) -> Goodput:
    """Who meets both limits, as `vllm bench serve --goodput ttft:... tpot:...` counts (it takes
    milliseconds).  An answer of one token has only a TTFT to meet; infinity is no limit.

    Raises:
        SimError: `latency_limit_negative`, also when a limit is not a number.
    """
    for limit in (ttft_seconds, tpot_seconds):
        require(limit >= 0, "latency_limit_negative", value=limit)
    own = RequestTimes.of(run) if isinstance(run, Run) else run
    in_time, fluent = own.ttft <= ttft_seconds, ~(own.tpot > tpot_seconds)  # true for NaN
    good = int(np.sum(in_time & fluent))
    return Goodput(good, rate(good, own.duration_seconds), rate(good, own.num_sent))


def rate(amount: float, per: float) -> float:
    return amount / per if per else 0.0


def _share(weights: np.ndarray, values: np.ndarray) -> float:
    """The mean of `values` weighted by `weights`; 0 when there is nothing, and the plain mean when
    all weights have vanished in rounding (steps far shorter than the clock can tell)."""
    if not len(weights):
        return 0.0
    total = float(np.sum(weights))
    return float(np.sum(weights * values)) / total if total > 0 else float(np.mean(values))
