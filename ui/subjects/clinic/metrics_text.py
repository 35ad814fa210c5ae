"""What a reader brings, read: `/metrics` of a server, or the result of a benchmark.

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

import streamlit as st
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.samples import Sample

from sim.studies.clinic import Readings
from ui.course import state
from ui.words import notes
from ui.words.language import tr
from ui.words.numbers import count

MAX_LETTERS = 1_000_000
MAX_PASTED = 200_000
MAX_LINES = 20_000
MAX_LINE = 4_000  # letters
SHOWN_LETTERS = 40  # of what is quoted from a text
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


Samples = Mapping[str, list[tuple[Mapping[str, str], float]]]  # name -> labels and value of each


# -- the text of /metrics -----------------------------------------------------------------------


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
