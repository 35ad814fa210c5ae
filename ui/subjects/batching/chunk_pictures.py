"""Pictures of chunked prefill: what a budget goes to, and whom it makes wait."""

from collections.abc import Mapping, Sequence

import numpy as np

from sim.views.stalls import Latencies
from ui import charts
from ui.charts import Series, Span, TimelineRow, go
from ui.subjects.batching.pictures import LETTER_SHARE, height, name_span
from ui.words.language import tr


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
        rows, tr("token", "tokens"), large=large, height=height(2, large)
    )
    figure.update_xaxes(range=[0, budget])
    for span in spans:
        width = int(span.end - span.start)
        if width > LETTER_SHARE * budget:
            name_span(figure, 0, span, f"{width:,}", large)
    return figure


def ttft_change(
    loads: Sequence[float],
    documents: Sequence[Sequence[float]],
    chats: Sequence[Sequence[float]],
    large: bool = False,
) -> go.Figure:
    """How much later (above zero) or sooner (below) first tokens come, along the load.

    `documents`, `chats`: seconds for each series of arrivals, at each load; the curve is their
    median, the uprights reach from the least to the most.
    """
    drawn = [1000 * np.array(one) for one in (documents, chats)]  # [num_series, num_loads] each
    middle = [np.median(one, axis=0) for one in drawn]
    series = [
        Series(tr("长文", "documents"), loads, middle[0].tolist(), "prefill"),
        Series(tr("聊天", "chats"), loads, middle[1].tolist(), "decode", "dash"),
    ]
    low, high = charts.padded([*np.concatenate(drawn).ravel().tolist(), 0.0])
    figure = charts.lines(
        series,
        tr("每秒请求数", "requests per second"),
        charts.keyed(tr("TTFT：开 − 关（毫秒）", "TTFT: on − off (ms)"), series),
        large=large,
        y_range=(low, high),
        name_ends=False,
        height=330,
    )
    for trace, each, median in zip(figure.data, drawn, middle, strict=True):
        up, down = each.max(axis=0) - median, median - each.min(axis=0)
        trace.update(error_y={"type": "data", "array": up, "arrayminus": down, "thickness": 1.5})
    figure.update_xaxes(range=[loads[0] - 0.2, loads[-1] * 1.02])
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
    return figure
