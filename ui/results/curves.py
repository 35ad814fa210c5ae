"""Curves over a setting: the same server again and again, one point per run.

Points that can be opened carry their setting as custom data (`chapter.draw(..., opens=...)`).
"""

from collections.abc import Sequence

import numpy as np

from sim import metrics
from sim.studies.sweep import Point
from ui import charts
from ui.charts import Series, go
from ui.words.language import tr
from ui.words.numbers import seconds


def load_curve(
    points: Sequence[Point], chosen: float, knee: Point | None, large: bool = False
) -> go.Figure:
    """Latency against throughput, one point per arrival rate; a point's custom data is its rate."""
    throughput = [point.summary.output_tokens_per_second for point in points]
    ttft = [point.summary.ttft.mean for point in points]
    figure = charts.lines(
        [Series("TTFT", throughput, ttft, "decode")],
        tr("输出 token/s", "output tokens/s"),
        tr("平均 TTFT（秒），每点一个到达率", "mean TTFT (s), one point per arrival rate"),
        log_y=True,
        large=large,
        height=280,
    )
    _open_on_click(figure, points, large)
    figure.update_xaxes(range=charts.padded(throughput))
    here = next(point for point in points if point.value == chosen)
    is_knee = knee is not None and here.value == knee.value
    if knee is not None:
        words = tr(f"拐点 {knee.value:g}/s", f"knee {knee.value:g}/s")
        words += tr("，本次", ", this run") if is_knee else ""
        _mark(figure, knee, words, large, "top left")
    if not is_knee:
        words = tr(f"本次 {chosen:g}/s", f"this run {chosen:g}/s")
        is_beyond = knee is not None and chosen > knee.value  # there the curve stands up
        _mark(figure, here, words, large, "middle left" if is_beyond else "bottom right")
    _keep_bright(figure)
    return figure


def _mark(figure: go.Figure, point: Point, words: str, large: bool, position: str) -> None:
    x, y = point.summary.output_tokens_per_second, point.summary.ttft.mean
    charts.mark_point(figure, x, y, f"<b>{words}</b>", large)
    figure.data[-1].textposition = position
    figure.data[-1].hoverinfo = "skip"


def goodput_curve(
    points: Sequence[Point], goodput: Sequence[metrics.Goodput], chosen: float, large: bool = False
) -> go.Figure:
    """Requests per second that are served, and that are served in time, against those sent."""
    rates = [float(point.value) for point in points]
    served = [point.summary.requests_per_second for point in points]
    figure = charts.lines(
        [
            Series(tr("做完", "served"), rates, served, "decode", "dash"),
            Series(
                tr("按时做完", "in time"), rates, [g.requests_per_second for g in goodput], "cached"
            ),
        ],
        tr("到达（请求/s）", "arrivals (requests/s)"),
        tr("请求/s", "requests/s"),
        large=large,
        height=230,
    )
    for trace in figure.data[:2]:
        trace.update(mode="lines+markers", marker_size=8, customdata=rates)
    _keep_bright(figure)
    charts.mark_setting(figure, chosen)
    return figure


def _open_on_click(figure: go.Figure, points: Sequence[Point], large: bool) -> None:
    words = [_point_words(point) for point in points]
    figure.data[0].update(
        mode="lines+markers",
        marker_size=14 if large else 10,
        customdata=[point.value for point in points],
        text=words,
        hovertemplate="%{text}<extra></extra>",
    )


def _point_words(point: Point) -> str:
    done = point.summary
    return tr(
        f"{point.value:g} 个/s：TTFT {seconds(done.ttft.mean)}，ITL {seconds(done.itl.mean)}，"
        f"{done.output_tokens_per_second:,.0f} token/s（点击打开）",
        f"{point.value:g}/s: TTFT {seconds(done.ttft.mean)}, ITL {seconds(done.itl.mean)}, "
        f"{done.output_tokens_per_second:,.0f} tokens/s (click to open)",
    )


def _keep_bright(figure: go.Figure) -> None:
    """A click opens a run; it singles nothing out, so nothing else may fade."""
    for trace in figure.data:
        trace.update(selected_marker_opacity=1, unselected_marker_opacity=1)


def two_loops(
    lengths: Sequence[int],
    opened: Sequence[metrics.Summary],
    closed: Sequence[metrics.Summary],
    chosen: int,
    large: bool = False,
) -> go.Figure:
    """Median TTFT against output length, of the same requests in an open and in a closed loop."""
    figure = charts.lines(
        [
            Series(tr("开环", "open loop"), lengths, [run.ttft.p50 for run in opened], 1),
            Series(tr("闭环", "closed loop"), lengths, [run.ttft.p50 for run in closed], 0, "dash"),
        ],
        tr("平均输出长度（token）", "mean output length (tokens)"),
        tr("TTFT 中位数（秒）", "median TTFT (s)"),
        log_x=True,
        log_y=True,
        large=large,
        height=320,
    )
    for trace in figure.data[:2]:
        trace.update(mode="lines+markers", marker_size=11 if large else 8)
    low, high = np.log10([lengths[0], lengths[-1]])
    figure.update_xaxes(range=[low - 0.04, high])  # the first marks stand free of the axis
    charts.mark_setting(figure, chosen)
    return figure
