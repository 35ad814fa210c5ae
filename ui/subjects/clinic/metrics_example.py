"""A sick server as the text of its `/metrics`: what a reader without one may begin with."""

import math
from collections.abc import Iterable

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)

from sim.metrics import Distribution
from sim.studies.clinic import Panel

BUCKETS = (
    0.001,
    0.002,
    0.005,
    0.01,
    0.02,
    0.03,
    0.05,
    0.1,
    0.15,
    0.2,
    0.5,
    1,
    2,
    5,
    10,
    20,
    30,
    40,
)


class _Example:
    """What a server of the clinic would export."""

    def __init__(self, here: Panel):
        self.here = here

    def collect(self) -> Iterable[Metric]:
        here, seen = self.here, self.here.readings
        yield _histogram("vllm:time_to_first_token_seconds", here.ttft)
        yield _histogram("vllm:inter_token_latency_seconds", here.itl)
        yield _histogram("vllm:request_queue_time_seconds", here.queue_time)
        for name, value in (
            ("vllm:kv_cache_usage_perc", seen.kv),
            ("vllm:num_requests_running", here.most_running),
            ("vllm:num_requests_waiting", here.most_waiting),
            ("DCGM_FI_PROF_DRAM_ACTIVE", seen.bandwidth),
            ("DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", seen.compute),
        ):
            yield GaugeMetricFamily(name, "", value=value)
        yield CounterMetricFamily("vllm:num_preemptions", "", value=here.num_preemptions)


def _histogram(name: str, values: Distribution) -> Metric:
    bounds = [*BUCKETS, math.inf]
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
