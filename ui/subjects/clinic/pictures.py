"""The clinic's pictures and words: a panel over time, three questions, readings at their limits.

They read results of `sim.clinic`.  What is said about one case stands in `clinic_cases.*.md`, what
the reader may turn in `treatment`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import plotly.graph_objects as go

from sim import clinic
from sim.clinic import Case, Deployment, OverTime, Panel, Slo
from sim.metrics import Distribution
from ui import charts
from ui.charts import Series
from ui.charts.series import y_span
from ui.course import prose
from ui.results import engine_log, runs
from ui.words import language
from ui.words.language import tr
from ui.words.numbers import count, percent, seconds

NOT_YET = "open"  # a question without an answer
CASES_TEXT = Path(__file__).with_name("cases")
GHOST = 0.75  # opacity of what was before
GHOST_PX, LARGE_GHOST_PX = 1.4, 2.2  # width of its lines
ROOM = 1.08  # above a limit
POINT_PX, LARGE_POINT_PX = 5, 8
MOST_TIMES = 3.0  # of a limit; a longer bar would hide the others

# -- words ------------------------------------------------------------------------------------


def told(case: Case, about: str) -> str:
    """What is said about a case: its "story", "cause" or "lure"."""
    return prose.read(CASES_TEXT, language.current()).filled(f"{case.code}_{about}")


def name(case: Case) -> str:
    """The complaint, as a heading."""
    return prose.read(CASES_TEXT, language.current()).section(f"{case.code}_story").heading


def sources(case: Case) -> str:
    """Reports of such incidents, as links."""
    names = [f"[{urlsplit(url).netloc}{_issue(url)}]({url})" for url in case.sources]
    return tr("、", ", ").join(names)


def _issue(url: str) -> str:
    """What tells two issues of one host apart: "/vllm#23444"."""
    parts = urlsplit(url).path.strip("/").split("/")
    return f"/{parts[1]}#{parts[3]}" if parts[2:3] == ["issues"] else ""


def question(number: int) -> str:
    return {
        1: tr("① TTFT 还是 ITL 大？", "① TTFT or ITL?"),
        2: tr("② KV 接近上限吗？", "② KV near its limit?"),
        3: tr("③ 算力和带宽？", "③ Compute, bandwidth?"),
    }[number]


def options(number: int) -> dict[str, str]:
    """Answers to a question: code -> words."""
    known = {
        1: {
            "ttft": tr("TTFT 大：排队或预填充", "TTFT: queueing or prefill"),
            "itl": tr(
                "ITL 大：解码、预填充干扰或抢占", "ITL: decode, prefill interference or preemption"
            ),
            "both": tr("两个都大", "both"),
            "neither": tr("都不大", "neither"),
        },
        2: {
            "full": tr("到顶：并发被 KV 卡住", "near it: KV limits concurrency"),
            "room": tr("还有余地", "there is room"),
        },
        3: {
            "compute": tr("算力领先：在算提示词", "compute leads: prompts are computed"),
            "bandwidth": tr("带宽领先：在解码", "bandwidth leads: it decodes"),
            "low": tr("双低：调度或启动问题", "both low: scheduling or launches"),
        },
    }[number]
    return {NOT_YET: tr("还没答", "not answered yet"), **known}


def asked(number: int, answer: str, truth: str) -> str:
    """Whether an answer is "open", "right", "part" (one of two) or "wrong"."""
    if answer == NOT_YET:
        return "open"
    if answer == truth:
        return "right"
    return "part" if truth == "both" and answer in ("ttft", "itl") else "wrong"


def reading(number: int, panel: Panel, slo: Slo) -> str:
    """What the panel says to a question, in numbers."""
    seen = panel.readings
    if number == 1:
        return tr(
            f"TTFT p99 是 {latency(seen.ttft_p99)}，目标 {seconds(slo.ttft_seconds)}；"
            f"ITL p99 是 {latency(seen.itl_p99)}，目标 {seconds(slo.itl_seconds)}。",
            f"TTFT p99 is {latency(seen.ttft_p99)} (target {seconds(slo.ttft_seconds)}); "
            f"ITL p99 is {latency(seen.itl_p99)} (target {seconds(slo.itl_seconds)}).",
        )
    if number == 2:
        return tr(
            f"KV 使用率最高 {share(seen.kv)}，抢占 {count(panel.num_preemptions)} 次。",
            f"KV usage peaks at {share(seen.kv)}; preemptions: {count(panel.num_preemptions)}.",
        )
    return tr(
        f"带宽用了 {share(seen.bandwidth)}，算力用了 {share(seen.compute)}，"
        f"有 kernel 在跑的时间占 {percent(panel.gpu_busy)}。",
        f"Bandwidth at {share(seen.bandwidth)}, compute at {share(seen.compute)}; kernels run "
        f"{percent(panel.gpu_busy)} of the time.",
    )


def truth(number: int, panel: Panel, slo: Slo) -> str:
    """The answer that the readings give."""
    return str(clinic.answers(panel.readings, slo, clinic.THRESHOLDS)[number - 1])


def verdict(number: int, answer: str, right: str) -> str:
    """What is said to an answer."""
    words = options(number)[right]
    return {
        "right": tr(f"**对**，{words}。", f"**Yes**: {words}."),
        "part": tr(f"**只说了一半**，该答“{words}”。", f"**Half of it**: {words}."),
        "wrong": tr(f"**不是**，该答“{words}”。", f"**No**. The panel says: {words}."),
    }[asked(number, answer, right)]


def latency(value: float | None) -> str:
    return "–" if value is None else seconds(value)


def share(value: float | None) -> str:
    return "–" if value is None else percent(value)


def hits_or_accepted(here: Panel) -> str:
    """What the card of the hit rate is called; a server that speculates shows acceptance there."""
    return tr("命中率", "Hit rate") if here.acceptance is None else tr("接受率", "Accepted")


def note(value: float | None, before: Panel | None) -> str:
    """On a card: what it was, if something was changed."""
    return tr(f"之前 {latency(value)}", f"before {latency(value)}") if before else ""


# -- pictures ---------------------------------------------------------------------------------


def panel(
    here: Panel, before: Panel | None, slo: Slo, large: bool = False, height: int = 430
) -> go.Figure:
    """TTFT of each request, ITL, KV and queue over time; the run before the change is grey."""
    now, was = here.over_time, before.over_time if before else None
    ttft = _points(now)
    p50 = _line("p50", now.end_seconds, now.itl_p50 * 1000, "decode")
    p99 = _line("p99", now.end_seconds, now.itl_p99 * 1000, "stalled", "dash")
    kv = _line("", now.end_seconds, now.kv * 100, "cached")
    running = _line(tr("运行", "running"), now.end_seconds, now.running, "decode")
    waiting = _line(tr("排队", "waiting"), now.end_seconds, now.waiting, "queue", "dash")
    ghosts = _ghosts(was) if was else [[], [], [], []]
    axis = tr("时间（秒）", "time (s)") + (tr(" · 灰色：改之前", " · grey: before") if was else "")
    rows: list[tuple[str, str, list[Series]]] = [
        (tr("每个请求的 TTFT", "TTFT of each request"), _target("s", slo.ttft_seconds), [ttft]),
        (charts.keyed("ITL", [p50, p99]), _target("ms", slo.itl_seconds), [p50, p99]),
        (tr("KV 使用率", "KV usage"), "%", [kv]),
        (charts.keyed(tr("请求数", "requests"), [running, waiting]), "", [running, waiting]),
    ]
    limits = (slo.ttft_seconds, slo.itl_seconds * 1000, 100, 0)
    panels = [
        charts.Subplot(title, [*grey, *own], unit, _top([*grey, *own], limit), names_in_title=True)
        for (title, unit, own), grey, limit in zip(rows, ghosts, limits, strict=True)
    ]
    figure = charts.stacked_time_series(panels, axis, large=large, height=height)
    for trace, grey in zip(figure.data, _is_grey(panels, ghosts), strict=True):
        if grey:
            trace.update(opacity=GHOST, line_width=LARGE_GHOST_PX if large else GHOST_PX)
    _as_points(figure, bool(was), large)
    for axis_name, limit in zip(("y", "y2"), limits, strict=False):
        _mark_limit(figure, axis_name, limit)
    return figure


def _target(unit: str, limit_seconds: float) -> str:
    """The unit of a panel, and what the line across it is."""
    limit = seconds(limit_seconds)
    return tr(f"{unit}；点线：目标 {limit}", f"{unit}; dotted: target {limit}")


def _top(series: Sequence[Series], limit: float) -> float:
    """The upper end of an axis on which a limit has room."""
    return max(limit * ROOM, y_span(series, False)[1])


def _is_grey(panels: Sequence[charts.Subplot], ghosts: Sequence[Sequence[Series]]) -> list[bool]:
    return [
        number < len(grey)
        for one, grey in zip(panels, ghosts, strict=True)
        for number in range(len(one.series))
    ]


def _points(times: OverTime) -> Series:
    return Series("", times.arrival_seconds, times.ttft_seconds, "prefill")


def _line(
    name: str, x: np.ndarray, y: np.ndarray, colour: str, dash: charts.Dash = "solid"
) -> Series:
    return Series(name, x, y, colour, dash)


def _ghosts(was: OverTime) -> list[list[Series]]:
    """The same four panels before the change."""
    return [
        [Series("", was.arrival_seconds, was.ttft_seconds, charts.NEUTRAL)],
        [
            Series("", was.end_seconds, was.itl_p50 * 1000, charts.NEUTRAL),
            Series("", was.end_seconds, was.itl_p99 * 1000, charts.NEUTRAL, "dash"),
        ],
        [Series("", was.end_seconds, was.kv * 100, charts.NEUTRAL)],
        [
            Series("", was.end_seconds, was.running, charts.NEUTRAL),
            Series("", was.end_seconds, was.waiting, charts.NEUTRAL, "dash"),
        ],
    ]


def _as_points(figure: go.Figure, has_ghost: bool, large: bool) -> None:
    """Requests are points: what lies between two of them is nobody's TTFT."""
    size = LARGE_POINT_PX if large else POINT_PX
    for number, trace in enumerate(figure.data[: 1 + has_ghost]):
        is_ghost = has_ghost and number == 0
        trace.update(
            mode="markers",
            marker={
                "size": size,
                "color": trace.line.color,
                "symbol": "circle-open" if is_ghost else "circle",
            },
        )


def _mark_limit(figure: go.Figure, axis: str, value: float) -> None:
    """The target, as a line across its panel."""
    figure.add_shape(
        type="line",
        xref="paper",
        x0=0,
        x1=1,
        yref=axis,
        y0=value,
        y1=value,
        line={"color": charts.NEUTRAL, "width": 2, "dash": "dot"},
    )


@dataclass(frozen=True)
class Reading:
    """One reading beside its limit; `words` writes either."""

    name: str
    value: float | None
    limit: float
    words: Callable[[float | None], str]
    colour: str


def at_limits(readings: Sequence[Reading], large: bool = False) -> go.Figure:
    """Every reading as a multiple of its limit, with a line at 1."""
    times = [min((one.value or 0.0) / one.limit, MOST_TIMES) for one in readings]
    texts = [one.words(one.value) for one in readings]
    figure = charts.bars(
        [one.name for one in readings],
        times,
        tr("是界线的几倍（画到 3 为止）", "times its limit, drawn up to 3"),
        texts=texts,
        colours=[one.colour for one in readings],
        top=MOST_TIMES,
        large=large,
        height=300,
    )
    figure.update_traces(text=None)
    for one, text in zip(readings, texts, strict=True):
        figure.add_annotation(x=MOST_TIMES, y=one.name, text=text, showarrow=False, xanchor="left")
    figure.add_vline(x=1, line={"color": charts.NEUTRAL, "width": 2, "dash": "dot"})
    return figure


def with_limit(name: str, limit: str) -> str:
    """The name of a row, its limit below."""
    return tr(f"{name}<br>界线 {limit}", f"{name}<br>limit {limit}")


def outcomes(panels: Mapping[str, Panel], slo: Slo, large: bool = False) -> go.Figure:
    """Both latencies of several runs on the same requests, beside what was promised."""
    ttft = [
        Reading(f"TTFT · {name}", one.readings.ttft_p99, slo.ttft_seconds, latency, "prefill")
        for name, one in panels.items()
    ]
    itl = [
        Reading(f"ITL · {name}", one.readings.itl_p99, slo.itl_seconds, latency, "decode")
        for name, one in panels.items()
    ]
    return at_limits([*ttft, *itl], large)


# -- the same as a real server would say it -----------------------------------------------------


def metrics_table(here: Panel) -> str:
    """The readings of a run under the names of vLLM and SGLang, as a Markdown table."""
    own = here.over_time
    busiest = int(np.argmax(own.running + own.waiting))
    running, waiting = (count(float(column[busiest])) for column in (own.running, own.waiting))
    rows = [
        ("time_to_first_token_seconds", "time_to_first_token_seconds", _both(here.ttft)),
        ("inter_token_latency_seconds", "inter_token_latency_seconds", _both(here.itl)),
        ("request_queue_time_seconds", "", _both(here.queue_time)),
        ("kv_cache_usage_perc", "token_usage", share(here.readings.kv)),
        ("num_requests_running", "num_running_reqs", running),
        ("num_requests_waiting", "num_queue_reqs", waiting),
        ("num_preemptions_total", "num_retracted_reqs", count(here.num_preemptions)),
        ("prefix_cache_hits_total / queries", "cache_hit_rate", percent(here.hit_rate)),
        ("generation_tokens_total", "gen_throughput", f"{count(here.output_tokens_per_second)}/s"),
    ]
    if here.acceptance is not None:
        accepted = "spec_decode_num_accepted_tokens_total / draft"
        rows.append((accepted, "", percent(here.acceptance)))
    head = tr("| vLLM | SGLang | 这次运行 |", "| vLLM | SGLang | This run |")
    body = "\n".join(
        f"| `vllm:{vllm}` | {f'`sglang:{sglang}`' if sglang else '–'} | {value} |"
        for vllm, sglang, value in rows
    )
    return f"{head}\n|---|---|---|\n{body}"


def _both(values: Distribution) -> str:
    return f"p50 {seconds(values.p50)} · p99 {seconds(values.p99)}"


def log_lines(server: Deployment) -> str:
    """What vLLM's log would say in the middle of the run, a line for each replica."""
    return "\n".join(engine_log.in_the_middle([runs.run(setup) for setup in server.setups()]))
