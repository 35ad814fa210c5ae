"""A sick server as the text of its `/metrics`: what a reader without one may begin with."""

import math
from collections.abc import Iterable, Sequence

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)

from sim.metrics import Distribution
from sim.studies.clinic import Panel

# vLLM's own (0.33.0, vllm/v1/metrics/buckets.py), in seconds.
TTFT_BUCKETS = (
    *(0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1),
    *(2.5, 5, 7.5, 10, 20, 40, 80, 160, 640, 2560),
)
ITL_BUCKETS = (
    *(0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1),
    *(2.5, 5, 7.5, 10, 20, 40, 80),
)
REQUEST_BUCKETS = (
    *(0.3, 0.5, 0.8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60),
    *(120, 240, 480, 960, 1920, 7680),
)


class _Example:
    """What a server of the clinic would export."""

    def __init__(self, here: Panel):
        self.here = here

    def collect(self) -> Iterable[Metric]:
        here, seen = self.here, self.here.readings
        yield _histogram("vllm:time_to_first_token_seconds", here.ttft, TTFT_BUCKETS)
        yield _histogram("vllm:inter_token_latency_seconds", here.itl, ITL_BUCKETS)
        yield _histogram("vllm:request_queue_time_seconds", here.queue_time, REQUEST_BUCKETS)
        for name, value in (
            ("vllm:kv_cache_usage_perc", seen.kv),
            ("vllm:num_requests_running", here.most_running),
            ("vllm:num_requests_waiting", here.most_waiting),
            ("DCGM_FI_PROF_DRAM_ACTIVE", seen.bandwidth),
            ("DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", seen.compute),
        ):
            yield GaugeMetricFamily(name, "", value=value)
        yield CounterMetricFamily("vllm:num_preemptions", "", value=here.num_preemptions)


def _histogram(name: str, values: Distribution, buckets: Sequence[float]) -> Metric:
    bounds = [*buckets, math.inf]
    counts = [
        ("+Inf" if bound == math.inf else str(bound), float((values.values <= bound).sum()))
        for bound in bounds
    ]
    return HistogramMetricFamily(name, "", buckets=counts, sum_value=float(values.values.sum()))


def example(here: Panel) -> str:
    """The text of /metrics of a run."""
    registry = CollectorRegistry()
    registry.register(_Example(here))
    return generate_latest(registry).decode()
