"""Metrics of a server of the reader's own, read with the clinic's three questions.

Takes the text of `/metrics` of vLLM or SGLang, with today's names or yesterday's, and the JSON that
`vllm bench serve --save-result` writes.  Hostile until read: what is too large, unknown or broken
gets a message, and the last good one stays.

A counter or histogram counts from the server's start, so the answers are about its whole life.
Several engines in one text: latencies are put together, KV is that of the fullest (a sum of shares
would be no share), requests are added up.

Names: vLLM `docs/design/metrics.md`; SGLang `python/sglang/srt/metrics/collector.py`; GPU: NVIDIA
DCGM exporter, `DCGM_FI_PROF_*`.
"""

import json
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import plotly.graph_objects as go
import streamlit as st
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.samples import Sample

from sim import clinic
from sim.clinic import Panel, Readings, Slo, Thresholds
from sim.metrics import Distribution
from ui.course import state
from ui.subjects.clinic.pictures import Reading, at_limits, with_limit
from ui.words import notes
from ui.words.language import tr
from ui.words.numbers import count, percent, seconds

MAX_LETTERS = 1_000_000
MAX_PASTED = 200_000
MAX_LINES = 20_000
MAX_LINE = 4_000  # letters
SHOWN_LETTERS = 40  # of what is quoted from a text
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

TTFT = ("vllm:time_to_first_token_seconds", "sglang:time_to_first_token_seconds")
ITL = (
    "vllm:inter_token_latency_seconds",
    "vllm:time_per_output_token_seconds",
    "sglang:inter_token_latency_seconds",
    "sglang:time_per_output_token_seconds",
)
QUEUE = ("vllm:request_queue_time_seconds", "sglang:queue_time_seconds")
KV = ("vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc", "sglang:token_usage")
RUNNING = ("vllm:num_requests_running", "sglang:num_running_reqs")
WAITING = ("vllm:num_requests_waiting", "sglang:num_queue_reqs")
PREEMPTIONS = ("vllm:num_preemptions_total", "vllm:num_preemptions", "sglang:num_retracted_reqs")
HITS = ("vllm:prefix_cache_hits_total", "vllm:gpu_prefix_cache_hits_total")
QUERIES = ("vllm:prefix_cache_queries_total", "vllm:gpu_prefix_cache_queries_total")
HIT_RATE = ("sglang:cache_hit_rate", "vllm:gpu_prefix_cache_hit_rate")
BANDWIDTH = ("DCGM_FI_PROF_DRAM_ACTIVE",)
COMPUTE = ("DCGM_FI_PROF_PIPE_TENSOR_ACTIVE",)


@dataclass(frozen=True)
class Brought:
    """What a text says; None where it says nothing."""

    source: str  # in words: whose metrics these are
    readings: Readings
    queue_p99: float | None = None
    running: float | None = None
    waiting: float | None = None
    preemptions: float | None = None
    hit_rate: float | None = None


class Unreadable(ValueError):  # noqa: N818 (what it is)
    """Nothing that can be read; says so in the reader's language."""


def read(uploaded: bytes | None, pasted: str) -> tuple[Brought | None, str]:
    """This reader's last good text, and what is wrong with the newest one ("" if nothing).

    The newer of the two counts: what has changed since the last run.
    """
    given = {"upload": uploaded or b"", "paste": pasted.encode()}
    before = state.kept("given", dict.fromkeys(given, b""))
    for how in (how for how in given if given[how] and given[how] != before[how]):
        try:
            state.keep("brought", parse(given[how]))
            state.keep("problem", "")
        except Unreadable as error:
            state.keep("problem", str(error))
    if not any(given.values()):
        state.keep("problem", "")
    state.keep("given", given)
    return state.kept("brought", None), state.kept("problem", "")


@st.cache_resource(max_entries=8, show_spinner=False)
def _kept(text: bytes) -> Brought:
    return _parse(text)


def parse(text: bytes) -> Brought:
    """Raises: Unreadable."""
    if len(text) > MAX_LETTERS:
        raise Unreadable(
            tr(
                f"太大：{count(len(text))} 字节，至多 {count(MAX_LETTERS)} 字节。",
                f"Too large: {count(len(text))} bytes, at most {count(MAX_LETTERS)}.",
            )
        )
    return _kept(text)


def _parse(text: bytes) -> Brought:
    try:
        words = text.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Unreadable(tr("这不是 UTF-8 文本。", "This is no UTF-8 text.")) from error
    return _benchmark(words) if words.lstrip().startswith(("{", "[")) else _metrics(words)


# -- the result of a benchmark ------------------------------------------------------------------


def _benchmark(text: str) -> Brought:
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        where = f"{error.lineno}:{error.colno}" if isinstance(error, json.JSONDecodeError) else "–"
        raise Unreadable(
            tr(f"JSON 在 {where}（行:列）处断了。", f"Broken JSON at {where} (line:column).")
        ) from error
    if not isinstance(content, dict) or not {"p99_ttft_ms", "p99_itl_ms"} & set(content):
        raise Unreadable(
            tr(
                "JSON 里没有 `p99_ttft_ms` 或 `p99_itl_ms`：需要 `vllm bench serve --save-result` "
                "的结果，且百分位里有 99。",
                "The JSON has neither `p99_ttft_ms` nor `p99_itl_ms`: expected the result of "
                "`vllm bench serve --save-result` with 99 among its percentiles.",
            )
        )
    ttft, itl = (_milliseconds(content.get(key)) for key in ("p99_ttft_ms", "p99_itl_ms"))
    return Brought("vllm bench serve", Readings(ttft, itl))


def _milliseconds(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) / 1000 if 0 <= value < 1e12 else None


# -- the text of /metrics -----------------------------------------------------------------------

Samples = Mapping[str, list[tuple[Mapping[str, str], float]]]  # name -> labels and value of each


def _metrics(text: str) -> Brought:
    samples = _samples(text)
    engines = {name.split(":", 1)[0] for name in samples if name.startswith(("vllm:", "sglang:"))}
    if not engines:
        raise Unreadable(
            tr(
                f"读到 {count(len(samples))} 个指标，没有一个以 `vllm:` 或 `sglang:` 开头。",
                f"Metrics found: {count(len(samples))}, but none begins with `vllm:` or `sglang:`.",
            )
        )
    hits, queries = _first(samples, HITS, sum), _first(samples, QUERIES, sum)
    rate = _share(_first(samples, HIT_RATE, max))
    return Brought(
        " + ".join({"vllm": "vLLM", "sglang": "SGLang"}[name] for name in sorted(engines)),
        Readings(
            _p99(samples, TTFT),
            _p99(samples, ITL),
            _share(_first(samples, KV, max)),
            _share(_first(samples, BANDWIDTH, _mean)),
            _share(_first(samples, COMPUTE, _mean)),
        ),
        _p99(samples, QUEUE),
        _first(samples, RUNNING, sum),
        _first(samples, WAITING, sum),
        _first(samples, PREEMPTIONS, sum),
        hits / queries if hits is not None and queries else rate,
    )


def _samples(text: str) -> Samples:
    """Line by line, so that a broken one can be named."""
    samples: dict[str, list[tuple[Mapping[str, str], float]]] = defaultdict(list)
    lines = text.splitlines()
    if len(lines) > MAX_LINES:
        given, most = count(len(lines)), count(MAX_LINES)
        raise Unreadable(
            tr(f"太长：{given} 行，至多 {most} 行。", f"Too long: {given} lines, at most {most}.")
        )
    for number, line in enumerate(lines, start=1):
        if line.strip() and not line.lstrip().startswith("#"):
            for sample in _line(number, line):
                samples[sample.name].append((sample.labels, float(sample.value)))
    return samples


def _line(number: int, line: str) -> list[Sample]:
    try:
        if len(line) > MAX_LINE:
            raise ValueError("the parser would take very long")
        families = list(text_string_to_metric_families(line + "\n"))
    except Exception as error:  # the parser raises whatever it trips over
        quoted = notes.as_typed(line[:SHOWN_LETTERS])
        raise Unreadable(
            tr(
                f"第 {number} 行不是 Prometheus 文本：{quoted}；应形如 "
                f'`name{{label="x"}} 1.5`，至多 {count(MAX_LINE)} 个字符。',
                f"Line {number} is no Prometheus text: {quoted}; expected, for example, "
                f'`name{{label="x"}} 1.5`, at most {count(MAX_LINE)} characters.',
            )
        ) from error
    return [sample for family in families for sample in family.samples]


def _first(
    samples: Samples, names: Iterable[str], together: Callable[[list[float]], float]
) -> float | None:
    """The first of these metrics that is there, over all its labels."""
    for name in names:
        values = [value for _, value in samples.get(name, ()) if 0 <= value < math.inf]
        if values:
            return float(together(values))
    return None


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)


def _share(value: float | None) -> float | None:
    """None for what is no share: a panel that adds up percentages may show 340 %."""
    return value if value is not None and value <= 1 else None


def _p99(samples: Samples, names: Iterable[str]) -> float | None:
    """As `histogram_quantile(0.99, ...)`: linear within the bucket; of the last one, its start."""
    for name in names:
        buckets: dict[float, float] = defaultdict(float)
        for labels, value in samples.get(f"{name}_bucket", ()):
            bound = _number(labels.get("le", ""))
            if bound is not None and 0 <= value < math.inf:
                buckets[bound] += value
        bounds = sorted(buckets)
        if bounds and bounds[-1] == math.inf and buckets[math.inf] > 0:
            return _quantile(bounds, buckets)
    return None


def _quantile(bounds: list[float], buckets: Mapping[float, float]) -> float:
    wanted = 0.99 * buckets[math.inf]
    low = below = 0.0
    for bound in bounds:
        if buckets[bound] >= wanted and bound < math.inf:
            share = (wanted - below) / max(buckets[bound] - below, 1e-12)
            return low + (bound - low) * share
        if bound < math.inf:
            low, below = bound, buckets[bound]
    return low


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if value >= 0 else None


# -- an example ---------------------------------------------------------------------------------


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


# -- what is said and drawn -----------------------------------------------------------------------


def answers(brought: Brought, slo: Slo, limits: Thresholds) -> str:
    """The three answers, one under the other, as Markdown."""
    given = clinic.answers(brought.readings, slo, limits)
    lines = zip(_questions(), given, _seen(brought), strict=True)
    return "\n\n".join(
        f"**{question}** {seen} {_concludes(number, answer)}"
        for number, (question, answer, seen) in enumerate(lines, start=1)
    )


def _questions() -> tuple[str, str, str]:
    return (
        tr("① TTFT 还是 ITL 大？", "① TTFT or ITL?"),
        tr("② KV 接近上限吗？", "② Is KV near its limit?"),
        tr("③ 算力和带宽读数如何？", "③ What do compute and bandwidth read?"),
    )


def _seen(brought: Brought) -> tuple[str, str, str]:
    seen = brought.readings
    queue = brought.queue_p99
    first = f"TTFT p99 {_time(seen.ttft_p99)}{tr('，', ', ')}ITL p99 {_time(seen.itl_p99)}"
    if queue is not None:
        first += tr(f"，排队 p99 {seconds(queue)}", f", queue time p99 {seconds(queue)}")
    second = f"KV {_part(seen.kv)}"
    for words, value in (
        (tr("抢占", "preemptions"), brought.preemptions),
        (tr("运行", "running"), brought.running),
        (tr("排队", "waiting"), brought.waiting),
    ):
        if value is not None:
            second += f"{tr('，', ', ')}{words} {count(value)}"
    if brought.hit_rate is not None:
        second += tr("，命中率 ", ", hit rate ") + percent(min(brought.hit_rate, 1.0))
    third = tr("带宽 ", "bandwidth ") + _part(seen.bandwidth)
    third += tr("，算力 ", ", compute ") + _part(seen.compute)
    return first + tr("。", "."), second + tr("。", "."), third + tr("。", ".")


def _time(value: float | None) -> str:
    return tr("没有", "missing") if value is None else seconds(value)


def _part(value: float | None) -> str:
    return tr("没有", "missing") if value is None else percent(value)


def _concludes(number: int, answer: str | None) -> str:
    if answer is None:
        return tr("答不了：缺读数。", "Cannot be answered: a reading is missing.")
    return {
        "ttft": tr("→ 排队或预填充的问题。", "→ Queueing or prefill."),
        "itl": tr("→ 解码、预填充干扰或抢占。", "→ Decode, prefill interference, or preemption."),
        "both": tr("→ 两边都有问题。", "→ Both."),
        "neither": tr("→ 都达标。", "→ Both targets are kept."),
        "full": tr("→ 并发被 KV 卡住。", "→ KV limits concurrency."),
        "room": tr("→ KV 有余地。", "→ KV has room."),
        "compute": tr("→ 主要在算提示词。", "→ Mostly computing prompts."),
        "bandwidth": tr("→ 主要在解码。", "→ Mostly decoding."),
        "low": tr("→ 双低：调度或启动的问题。", "→ Both low: scheduling or launches."),
    }[answer]


def missing(brought: Brought) -> str:
    """What the text does not say and where to get it; "" if nothing is missing."""
    seen = brought.readings
    wanted = {
        TTFT[0]: seen.ttft_p99,
        ITL[0]: seen.itl_p99,
        KV[0]: seen.kv,
        BANDWIDTH[0]: seen.bandwidth,
        COMPUTE[0]: seen.compute,
    }
    names = [f"`{name}`" for name, value in wanted.items() if value is None]
    if not names:
        return ""
    listed = tr("、", ", ").join(names)
    return tr(
        f"缺：{listed}。以 `DCGM` 开头的来自 DCGM exporter，可以把它的文本贴在同一处。",
        f"Missing: {listed}. Names that begin with `DCGM` come from the DCGM exporter; its text "
        "may be pasted along.",
    )


def ways(brought: Brought, slo: Slo, limits: Thresholds) -> dict[str, str]:
    """Where the chapters go on: what is told there -> stem."""
    first, second, third = clinic.answers(brought.readings, slo, limits)
    found = {}
    if first in ("ttft", "both"):
        found[tr("TTFT 去哪了", "Where TTFT goes")] = "03_latency"
    if first in ("itl", "both"):
        found[tr("谁打断了解码", "Who interrupts decodes")] = "09_chunked_prefill"
    if second == "full":
        found[tr("KV 与并发", "KV and concurrency")] = "06_kv_cache"
    if third == "low":
        found[tr("启动与图", "Launches and graphs")] = "11_cuda_graph"
    if third == "compute":
        found[tr("少算提示词", "Computing fewer prompts")] = "08_prefix_cache"
    return found


def against_limits(
    brought: Brought, slo: Slo, limits: Thresholds, large: bool = False
) -> go.Figure:
    """Every reading as a multiple of its limit; a line at 1."""
    seen = brought.readings
    return at_limits(
        [
            _row("TTFT p99", seen.ttft_p99, slo.ttft_seconds, _time, "prefill"),
            _row("ITL p99", seen.itl_p99, slo.itl_seconds, _time, "decode"),
            _row("KV", seen.kv, limits.kv, _part, "cached"),
            _row(tr("带宽", "bandwidth"), seen.bandwidth, limits.busy, _part, "stored"),
            _row(tr("算力", "compute"), seen.compute, limits.busy, _part, "kernel"),
        ],
        large,
    )


def _row(
    name: str,
    value: float | None,
    limit: float,
    words: Callable[[float | None], str],
    colour: str,
) -> Reading:
    return Reading(with_limit(name, words(limit)), value, limit, words, colour)
