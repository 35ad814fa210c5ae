"""Where latency comes from, in pictures: queue and prefill under load, gaps one by one, and one
stream by the arithmetic of several tools.

They read results of `sim`; nothing here decides or measures anything.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from sim import metrics
from sim.engine import Record, Run
from sim.views.streaming import Definition
from ui import charts, theme
from ui.charts import Series, go
from ui.words.language import tr
from ui.words.numbers import seconds

MILLI = 1000.0
SMALLEST_MS = 0.1  # the lower end of a log axis, for what takes no time at all
BEYOND = 1.08  # how far the axis goes, with the last token at 1
CLOSE = 1.6  # levels within this ratio are named together


def ttft_split(run: Run, large: bool = False) -> go.Figure:
    """TTFT of every request in order of arrival, split into queue and prefill."""
    served = metrics.served(run)
    queue = [metrics.queue_time(record) * MILLI for record in served]
    prefill = [
        metrics.ttft(record) * MILLI - waited for record, waited in zip(served, queue, strict=True)
    ]
    figure = charts.lines(
        [Series("", [0, len(served)], [0, max(np.add(queue, prefill))])],
        tr("请求，按到达的先后", "requests, in order of arrival"),
        tr("TTFT（毫秒）", "TTFT (ms)"),
        large=large,
        height=205,
    )
    figure.data = ()
    for kind, values in (("queue", queue), ("prefill", prefill)):
        figure.add_trace(_stacked(kind, values))
    figure.update_layout(barmode="stack", bargap=0.12, showlegend=True, hovermode="x unified")
    size = charts.text_px(large)
    figure.update_layout(
        legend={"orientation": "h", "x": 1, "xanchor": "right", "y": 1, "yanchor": "bottom"},
        legend_font_size=size,
        legend_traceorder="normal",
    )
    return figure


def _stacked(kind: str, values: Sequence[float]) -> go.Bar:
    meaning = theme.MEANINGS[kind]
    return go.Bar(
        name=tr(meaning.zh, meaning.en),
        x=np.arange(len(values)) + 0.5,
        y=values,
        marker={"color": meaning.colour, "line": {"width": 0}},
        hovertemplate="%{y:,.3~g} ms",
    )


def ttft_by_rate(
    points: Mapping[float, metrics.Summary], chosen: float, large: bool = False
) -> go.Figure:
    """Queue, prefill and the slowest TTFT against the arrival rate, on a log axis."""
    rates, summaries = list(points), list(points.values())
    queue = [max(one.queue_time.mean * MILLI, SMALLEST_MS) for one in summaries]
    prefill = [(one.ttft.mean - one.queue_time.mean) * MILLI for one in summaries]
    worst = [one.ttft.p99 * MILLI for one in summaries]
    figure = charts.lines(
        [
            Series(tr("TTFT p99", "TTFT p99"), rates, worst, 3, dash="dot"),
            Series(tr("平均排队", "queue, mean"), rates, queue, "queue", dash="dash"),
            Series(tr("平均预填充", "prefill, mean"), rates, prefill, "prefill"),
        ],
        tr("每秒到达的请求", "requests per second"),
        tr("毫秒", "ms"),
        log_y=True,
        large=large,
        height=205,
    )
    figure.add_vline(x=chosen, line={"width": 2, "color": charts.NEUTRAL, "dash": "dot"})
    return figure


def gaps(record: Record, stalled: np.ndarray, large: bool = False) -> go.Figure:
    """Every gap of one answer, with the statistics that are drawn from them, on a log axis.

    `stalled`: which of them ended with a step that prefilled somebody else, [N - 1].
    """
    sample = metrics.itl(record) * MILLI
    if not len(sample):
        return _no_gaps(large)
    values = metrics.Distribution.of(sample)
    ends = [1, max(len(sample), 2)]
    levels: list[tuple[str, float, int, charts.Dash]] = [
        ("p50", values.p50, 5, "dash"),
        (tr("平均 = TPOT", "mean = TPOT"), values.mean, 2, "solid"),
        ("p99", values.p99, 3, "dashdot"),
        (tr("最大", "max"), values.max, 1, "dot"),
    ]
    figure = charts.lines(
        [Series(name, ends, [level] * 2, colour, dash) for name, level, colour, dash in levels],
        tr("第几个间隔", "which gap"),
        tr("间隔（毫秒）", "gap (ms)"),
        log_y=True,
        y_range=(values.p50 / 2, max(values.max, values.p50 * 10) * 1.5),
        name_ends=False,
        large=large,
        height=330,
    )
    numbers = np.arange(1, len(sample) + 1)
    size = 11 if large else 7
    figure.add_trace(_dots(numbers[~stalled], sample[~stalled], "decode", "circle", size))
    figure.add_trace(_dots(numbers[stalled], sample[stalled], "stalled", "diamond", 2 * size))
    _name_levels(figure, [(name, level) for name, level, _, _ in levels], large)
    return figure


def _name_levels(figure: go.Figure, levels: Sequence[tuple[str, float]], large: bool) -> None:
    """Right of the lines; those that lie close together share a name."""
    size = charts.text_px(large)
    names: list[tuple[str, float]] = []
    for name, level in sorted(levels, key=lambda named: named[1]):
        if names and level < CLOSE * names[-1][1]:
            name, level = f"{name}<br>{names[-1][0]}", names.pop()[1]
        names.append((name, level))
    for name, level in names:
        figure.add_annotation(
            text=name,
            x=1,
            xref="paper",
            y=float(np.log10(level)),
            xanchor="left",
            xshift=8,
            showarrow=False,
            align="left",
            font_size=size,
        )
    widest = max(charts.text_width(name, size) for name, _ in levels)
    figure.update_layout(margin_r=round(widest) + 20)


def _dots(x: np.ndarray, y: np.ndarray, kind: str, symbol: str, size: int) -> go.Scatter:
    return go.Scatter(
        x=x,
        y=y,
        mode="markers",
        marker={"color": theme.MEANINGS[kind].colour, "symbol": symbol, "size": size},
        cliponaxis=False,
        hovertemplate="%{x}: %{y:,.3~g} ms<extra></extra>",
        showlegend=False,
    )


def _no_gaps(large: bool) -> go.Figure:
    figure = charts.lines([Series("", [1, 2], [1, 1])], "", "", large=large, height=330)
    figure.data = ()
    figure.update_layout(xaxis_visible=False, yaxis_visible=False)
    figure.add_annotation(
        x=0.5,
        y=0.5,
        xref="paper",
        yref="paper",
        showarrow=False,
        text=tr("只有 1 个 token：没有间隔，也没有 TPOT", "one token: no gap, and no TPOT"),
        font_size=charts.text_px(large),
    )
    return figure


def by_tool(reported: Sequence[tuple[Definition, float]], large: bool = False) -> go.Figure:
    """What each tool reports of the same answer; the same formula in the same colour."""
    formulas = list(dict.fromkeys(one.of for one, _ in reported))
    figure = charts.bars(
        [f"{one.tool} · {one.metric}" for one, _ in reported],
        [value * MILLI for _, value in reported],
        tr("毫秒", "ms"),
        colours=[formulas.index(one.of) for one, _ in reported],
        texts=[seconds(value) for _, value in reported],
        large=large,
        height=245,
    )
    return figure.update_yaxes(dtick=1).update_traces(constraintext="none")
