"""Metrics of a server of the reader's own, read with the clinic's three questions.

`metrics_text` reads it; here it is answered and put beside limits, and what is missing is said.  An
answer is never surer than its data: a limit inside a bucket cannot be told, a gauge speaks of one
moment, and of a GPU it is not known whether it serves this model.
"""

import math
from collections.abc import Sequence

from sim.studies.clinic import Slo, Thresholds
from ui.charts import go
from ui.subjects.clinic import brought_notes, verdicts
from ui.subjects.clinic.brought import by_engine
from ui.subjects.clinic.brought.found import Brought, Interval
from ui.subjects.clinic.pictures import Reading, at_limits, with_limit
from ui.words.language import tr
from ui.words.numbers import percent, seconds


def answers(brought: Brought, slo: Slo, limits: Thresholds) -> str:
    """The three answers, one under the other, as Markdown."""
    parts = (
        (
            tr("① TTFT 还是 ITL 大？", "① TTFT or ITL?"),
            verdicts.latencies(brought),
            verdicts.which_latency(brought, slo),
        ),
        (
            tr("② KV 接近上限吗？", "② Is KV near its limit?"),
            verdicts.memory(brought),
            verdicts.kv(brought, limits),
        ),
        (
            tr("③ 算力和带宽读数如何？", "③ What do compute and bandwidth read?"),
            verdicts.utilization(brought.gpus),
            verdicts.bottleneck(brought, limits),
        ),
    )
    return "\n\n".join(f"**{question}** {seen} → {told}" for question, seen, told in parts)


def span(brought: Brought) -> str:
    """Which time the readings are of."""
    return {
        "start": tr(
            "计数和延迟从服务器启动算起，其余是取文本的那一刻。",
            "Counts and latencies are since the server started, all else is of the moment when "
            "the text was fetched.",
        ),
        "between": tr(
            "计数和延迟只算两份文本之间，其余是后一份的那一刻。",
            "Counts and latencies are of the span between the two texts, all else is of the moment "
            "of the later one.",
        ),
        "run": tr("整个测试。", "Of the whole run."),
    }[brought.span]


def notes(brought: Brought) -> str:
    """What to know of how the text was read, as Markdown; "" if there is nothing."""
    return "\n".join(f"* {brought_notes.note(own)}" for own in brought.notes)


# -- what is missing, where to go, the figure ---------------------------------------------------


def missing(brought: Brought) -> str:
    """What the text does not say and where to get it; "" if nothing is missing."""
    if brought.span == "run":
        return tr(
            "KV 和 GPU 的读数客户端看不到：把同一时间服务器的 `/metrics` 也取下来。",
            "KV and GPUs cannot be seen by a client: fetch the server's `/metrics` at that time, "
            "too.",
        )
    wanted = {
        "ttft": brought.ttft,
        "itl": brought.itl,
        "kv": brought.kv,
        "bandwidth": [gpu for gpu in brought.gpus if gpu.bandwidth is not None],
        "compute": [gpu for gpu in brought.gpus if gpu.compute is not None],
    }
    names = [
        by_engine.name_of(
            reading, "DCGM" if reading in ("bandwidth", "compute") else brought.engine
        )
        for reading, value in wanted.items()
        if not value
    ]
    if not names:
        return ""
    listed = tr("、", ", ").join(f"`{name}`" for name in names)
    return tr(
        f"缺：{listed}。以 `DCGM` 开头的来自 DCGM exporter，可以把它的文本贴在同一处。",
        f"Missing: {listed}. Names that begin with `DCGM` come from the DCGM exporter; its text "
        "may be pasted along.",
    )


def ways(brought: Brought, slo: Slo, limits: Thresholds) -> dict[str, str]:
    """Where the chapters go on: what is told there -> stem."""
    found = {}
    if brought.ttft and brought.ttft.exceeds(slo.ttft_seconds):
        found[tr("TTFT 去哪了", "Where TTFT goes")] = "03_latency"
    if brought.itl and brought.itl.exceeds(slo.itl_seconds):
        found[tr("谁打断了解码", "Who interrupts decodes")] = "09_chunked_prefill"
    if brought.preemptions or any(value >= limits.kv for value in brought.kv):
        found[tr("KV 与并发", "KV and concurrency")] = "06_kv_cache"
    kinds = {
        verdicts.one_gpu(gpu.bandwidth, gpu.compute, limits)
        for gpu in brought.gpus
        if gpu.bandwidth is not None and gpu.compute is not None
    }
    if kinds == {"low"}:
        found[tr("启动与图", "Launches and graphs")] = "11_cuda_graph"
    if kinds == {"compute"}:
        found[tr("少算提示词", "Computing fewer prompts")] = "08_prefix_cache"
    return found


def against_limits(
    brought: Brought, slo: Slo, limits: Thresholds, large: bool = False
) -> go.Figure:
    """Every reading as a multiple of its limit; a line at 1."""
    bandwidth = [gpu.bandwidth for gpu in brought.gpus if gpu.bandwidth is not None]
    compute = [gpu.compute for gpu in brought.gpus if gpu.compute is not None]
    return at_limits(
        [
            _latency("TTFT p99", brought.ttft, slo.ttft_seconds, "prefill"),
            _latency(f"{verdicts.gap(brought)} p99", brought.itl, slo.itl_seconds, "decode"),
            _shares("KV", brought.kv, limits.kv, "cached"),
            _shares(tr("带宽", "bandwidth"), bandwidth, limits.busy, "stored"),
            _shares(tr("算力", "compute"), compute, limits.busy, "kernel"),
        ],
        large,
    )


def _latency(name: str, own: Interval | None, limit: float, colour: str) -> Reading:
    low, high = (own.low, own.high) if own else (None, None)
    return Reading(with_limit(name, seconds(limit)), low, limit, _short(own), colour, high)


def _short(own: Interval | None) -> str:
    """An interval beside its bar."""
    if own is None:
        return tr("没有", "missing")
    if own.is_exact or own.low == 0:
        return ("" if own.is_exact else "≤ ") + seconds(own.high)
    if own.high == math.inf:
        return f"> {seconds(own.low)}"
    return tr(
        f"{seconds(own.low)} 到 {seconds(own.high)}", f"{seconds(own.low)} to {seconds(own.high)}"
    )


def _shares(name: str, values: Sequence[float], limit: float, colour: str) -> Reading:
    low, high = min(values, default=None), max(values, default=None)
    return Reading(
        with_limit(name, percent(limit)), low, limit, verdicts.share_range(values), colour, high
    )
