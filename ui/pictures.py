"""Pictures that belong to one idea: what a shared step looks like, where slots spend their time,
and a run of the server as a timeline and as curves.

They read results of `sim` and hand them to `charts`; nothing here decides or measures anything.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import plotly.graph_objects as go

from sim import metrics
from sim.engine import Run, Step, StepWork
from sim.views.slots import SlotGrid
from sim.views.stalls import Latencies, TtftChange
from ui import charts, theme
from ui.charts import Panel, Series, Span, TimelineRow
from ui.language import tr

TIMELINE_ROWS = 36
LECTURE_ROWS = 28
MAX_STRETCHES = 200  # of a curve over time, two points each
LETTER_SHARE = 0.05  # of the axis that a span needs to carry a letter
DASHES = {"solid": "━━", "dash": "╍╍", "dot": "┅┅", "dashdot": "━┅"}
GHOST_WIDTH = 0.6  # of another curve's
SHARES = ("prefill", "decode", "stalled", "held", "free")  # in the order of a bar


def contexts(step: Step) -> str:
    """How long each request's KV is after a step: "24、35、12"."""
    return tr("、", ", ").join(f"{work.context:,}" for work in step.work)


def shared_step(step: Step, large: bool = False) -> go.Figure:
    """One step twice: tokens end to end for the linear layers, and per request for attention."""
    ends = np.cumsum([work.num_tokens for work in step.work])
    together = [
        Span(_state(work), end - work.num_tokens, end)
        for work, end in zip(step.work, ends, strict=True)
    ]
    rows = [TimelineRow(tr("线性层", "linear layers"), together)]
    rows += [_attention_row(work) for work in step.work]
    figure = charts.request_timeline(
        rows, tr("token", "tokens"), large=large, height=_height(len(rows), large)
    )
    longest = max([ends[-1], *(work.context for work in step.work)])
    for work, span in zip(step.work, together, strict=True):
        if span.end - span.start > LETTER_SHARE * longest:
            _name_span(figure, 0, span, theme.request_letter(work.request_id), large)
    return figure


def _attention_row(work: StepWork) -> TimelineRow:
    letter = theme.request_letter(work.request_id)
    before = work.context - work.num_tokens
    spans = [Span("stored", 0, before)] if before else []
    spans.append(Span(_state(work), before, work.context))
    return TimelineRow(tr(f"{letter} 的注意力", f"attention of {letter}"), spans)


def _state(work: StepWork) -> str:
    return "prefill" if work.is_prefill else "decode"


def _name_span(figure: go.Figure, row: int, span: Span, text: str, large: bool) -> None:
    figure.add_annotation(
        x=(span.start + span.end) / 2,
        y=row,
        text=f"<b>{text}</b>",
        showarrow=False,
        font_size=charts.text_px(large),
    )


def slot_shares(grids: Sequence[tuple[str, SlotGrid]], large: bool = False) -> go.Figure:
    """Where the slots' time goes: one bar per policy, split by state."""
    rows = [TimelineRow(name, _stacked(grid.shares)) for name, grid in grids]
    x_title = tr("占槽位时间的百分比", "% of the slots' time")
    figure = charts.request_timeline(rows, x_title, large=large, height=_height(len(rows), large))
    return figure.update_layout(showlegend=large)  # the slot grid above it has the same legend


def _stacked(shares: Mapping[str, float]) -> list[Span]:
    percents = [shares[state] * 100 for state in SHARES]
    ends = np.cumsum(percents)
    return [
        Span(state, end - percent, end)
        for state, percent, end in zip(SHARES, percents, ends, strict=True)
        if percent > 0
    ]


def timeline(run: Run, large: bool = False) -> go.Figure:
    """The lives of the first few dozen requests: queue, prefill, decode, preempted."""
    served = metrics.served(run)
    records = served[: LECTURE_ROWS if large else TIMELINE_ROWS]
    rows = [
        TimelineRow(
            theme.request_letter(record.request.id),
            [Span(s.kind, s.start_seconds, s.end_seconds) for s in metrics.spans(record)],
        )
        for record in records
    ]
    shown = tr(
        f"前 {len(records)} 个请求，共 {len(served):,} 个",
        f"first {len(records)} of {len(served):,} requests",
    )
    x_title = f"{_time_title()} · {shown}"
    return charts.request_timeline(rows, x_title, large=large, height=210 if large else 330)


def load(run: Run, kept: Run | None = None, large: bool = False) -> go.Figure:
    """Running, waiting and KV usage over time, on one axis; a run that is kept as A dotted."""
    running, waiting, kv = _load_curves(run)
    ghosts = [_ghost(one) for one in _load_curves(kept)] if kept is not None else []
    title = keyed(tr("请求数", "requests"), [running, waiting])
    panels = [
        Panel(
            f"{title}   {DASHES['dot']} A" if ghosts else title,
            [*ghosts[:2], running, waiting],
            names_in_title=True,
        ),
        Panel(
            tr("KV 使用率", "KV usage"), [*ghosts[2:], kv], unit="%", top=105, names_in_title=True
        ),
    ]
    figure = charts.stacked_time_series(panels, _time_title(), large=large, height=300)
    for trace in figure.data:
        if trace.line.dash == "dot":
            trace.line.width *= GHOST_WIDTH
    return figure


def _load_curves(run: Run) -> tuple[Series, Series, Series]:
    series = run.series
    return (
        thinned(tr("运行", "running"), series.end_seconds, series.num_running, "decode"),
        thinned(tr("排队", "waiting"), series.end_seconds, series.num_waiting, "queue", "dash"),
        thinned("KV", series.end_seconds, series.kv_usage * 100, "cached"),
    )


def _ghost(one: Series) -> Series:
    """The same curve of the run that is kept as A."""
    return replace(one, name=f"A {one.name}", dash="dot")


def frontier(points: Mapping[int, metrics.Summary], chosen: int, large: bool = False) -> go.Figure:
    """Throughput against ITL, one point per batch limit, the chosen one marked."""
    itl = [summary.itl.mean * 1000 for summary in points.values()]
    throughput = [summary.output_tokens_per_second for summary in points.values()]
    figure = charts.lines(
        [Series("", itl, throughput, "decode")],
        tr("平均 ITL（毫秒）", "mean ITL (ms)"),
        tr("输出 token/s", "output tokens/s"),
        large=large,
        height=260,
    )
    figure.update_traces(mode="lines+markers", marker_size=9)
    figure.update_xaxes(range=charts.padded(itl))
    figure.update_yaxes(range=charts.padded(throughput))
    for limit, x, y in zip(points, itl, throughput, strict=True):
        is_here = limit == chosen
        text = tr(f"<b>上限 {limit}</b>", f"<b>limit {limit}</b>") if is_here else str(limit)
        figure.add_annotation(x=x, y=y, text=text, showarrow=False, yshift=-16 if is_here else 14)
    return figure


# -- chunked prefill --------------------------------------------------------------------------


def smooth_or_soon(
    points: Mapping[int, tuple[Latencies, Latencies]], chosen: int, large: bool = False
) -> go.Figure:
    """The longest gap of those who decode against the TTFT of the long prompt: a point per budget.

    `points`: budget -> what those with short prompts and the one with the long prompt see.
    """
    gaps = [short.itl.max * 1000 for short, _ in points.values()]
    ttft = [long.ttft.mean * 1000 for _, long in points.values()]
    figure = charts.lines(
        [Series("", gaps, ttft, "prefill")],
        tr("其他人最长的停顿（毫秒）", "longest gap of the others (ms)"),
        tr("各预算下长文的 TTFT（毫秒）", "TTFT of the document (ms), by budget"),
        large=large,
        log_x=True,
        height=270,
    )
    figure.update_traces(mode="lines+markers", marker_size=9)
    low, high = np.log10([min(gaps), max(gaps)])
    figure.update_xaxes(range=[low - 0.12, high + 0.16])
    figure.update_yaxes(range=charts.padded(ttft))
    for budget, x, y in zip(points, gaps, ttft, strict=True):
        is_here = budget == chosen
        text = f"<b>{budget:,}</b>" if is_here else f"{budget:,}"
        yshift = -17 if budget == max(points) else 17  # the two largest may lie close together
        figure.add_annotation(x=np.log10(x), y=y, text=text, showarrow=False, yshift=yshift)
        if is_here:
            charts.mark_point(figure, x, y, "", large)
    return figure


def budget_of_a_step(budget: int, decode: int, prefill: int, large: bool = False) -> go.Figure:
    """What the budget of one step goes to: decodes first, prompts get what is left."""
    ends = np.cumsum([decode, prefill, budget - decode - prefill])
    spans = [
        Span(state, int(start), int(end))
        for state, start, end in zip(("decode", "prefill", "free"), [0, *ends], ends, strict=False)
        if end > start
    ]
    rows = [TimelineRow(tr("一步", "one step"), spans)]
    figure = charts.request_timeline(
        rows, tr("token", "tokens"), large=large, height=_height(2, large)
    )
    figure.update_xaxes(range=[0, budget])
    for span in spans:
        width = int(span.end - span.start)
        if width > LETTER_SHARE * budget:
            _name_span(figure, 0, span, f"{width:,}", large)
    return figure


def ttft_change(change: TtftChange, flips: Sequence[float], large: bool = False) -> go.Figure:
    """How much later (above zero) or sooner (below) first tokens come, along the load."""
    series = [
        Series(tr("长文", "documents"), change.loads, _in_ms(change.long), "prefill"),
        Series(tr("聊天", "chats"), change.loads, _in_ms(change.short), "decode", "dash"),
    ]
    low, high = charts.padded([*_in_ms(change.long), *_in_ms(change.short), 0.0])
    figure = charts.lines(
        series,
        tr("每秒请求数", "requests per second"),
        keyed(tr("TTFT：开 − 关（毫秒）", "TTFT: on − off (ms)"), series),
        large=large,
        y_range=(low, high),
        name_ends=False,
        height=330,
    )
    figure.update_xaxes(range=[change.loads[0], change.loads[-1] * 1.02])
    figure.add_hline(y=0, line_color=charts.NEUTRAL, line_width=2)
    for y, anchor, words in (
        (high, "top", tr("↑ 更晚", "↑ later")),
        (low, "bottom", tr("↓ 更早", "↓ sooner")),
    ):
        figure.add_annotation(
            x=0,
            xref="paper",
            y=y,
            text=words,
            showarrow=False,
            xanchor="left",
            yanchor=anchor,
            xshift=6,
            font_size=charts.text_px(large),
        )
    for flip in flips:
        charts.mark_point(figure, flip, 0, f"{flip:.1f}", large)
    return figure


def _in_ms(values: Sequence[float]) -> list[float]:
    return [value * 1000 for value in values]


# -- inside -----------------------------------------------------------------------------------


def thinned(
    name: str, x: np.ndarray, y: np.ndarray, colour: str, dash: charts.Dash = "solid"
) -> Series:
    """A curve thinned for drawing: start and highest point of each stretch, so no peak is lost."""
    if len(x) > 2 * MAX_STRETCHES:
        stretches = np.array_split(np.arange(len(x)), MAX_STRETCHES)
        picked = {index for s in stretches for index in (s[0], s[np.argmax(y[s])])}
        kept = np.array(sorted({*picked, len(x) - 1}))
        x, y = x[kept], y[kept]
    return Series(name, x, y, colour, dash, step=True)


def keyed(title: str, series: Sequence[Series]) -> str:
    """A panel's title with the names of its curves in their colours and dashes."""
    return "   ".join([title, *map(_key, series)])


def _key(one: Series) -> str:
    """A curve's name in its colour and dash."""
    return f'<span style="color:{charts.colour(one.colour)}">{DASHES[one.dash]} {one.name}</span>'


def _time_title() -> str:
    return tr("时间（秒）", "time (s)")


def _height(num_rows: int, large: bool) -> int:
    return 100 + num_rows * (46 if large else 34)
