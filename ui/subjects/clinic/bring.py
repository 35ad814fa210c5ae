"""Metrics of a server of the reader's own, read with the clinic's three questions.

`metrics_text` reads it; here it is answered and put beside limits, and what is missing is said.
"""

from collections.abc import Callable

import plotly.graph_objects as go

from sim.studies import clinic
from sim.studies.clinic import Slo, Thresholds
from ui.subjects.clinic.metrics_text import BANDWIDTH, COMPUTE, ITL, KV, TTFT, Brought
from ui.subjects.clinic.pictures import Reading, at_limits, with_limit
from ui.words.language import tr
from ui.words.numbers import count, percent, seconds


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
