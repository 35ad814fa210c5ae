"""Pictures of a run of the server: the lives of its requests, its load over time, its limits.

They read results of `sim` and hand them to `charts`; nothing here decides or measures anything.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from sim import metrics
from sim.engine import Record, Run
from sim.views import lives
from ui import charts, theme
from ui.charts import Series, Span, Subplot, TimelineRow, go
from ui.words.language import tr

TIMELINE_ROWS = 36
LECTURE_ROWS = 28
GHOST_WIDTH = 0.6  # of another curve's


def timeline(run: Run, large: bool = False) -> go.Figure:
    """The lives of a few dozen requests in a row: queue, prefill, decode, preempted.

    The first ones, unless others are preempted more often: that is what there is to be seen.
    """
    served = metrics.served(run)
    first = _most_preempted(served, LECTURE_ROWS if large else TIMELINE_ROWS)
    records = served[first : first + (LECTURE_ROWS if large else TIMELINE_ROWS)]
    rows = [
        TimelineRow(
            theme.request_letter(record.request.id),
            [Span(s.kind, s.start_seconds, s.end_seconds) for s in lives.spans(record)],
        )
        for record in records
    ]
    x_title = f"{_time_title()} · {_which(first, len(records), len(served))}"
    figure = charts.request_timeline(rows, x_title, large=large, height=210 if large else 330)
    if first:
        ends = [span.end for row in rows for span in row.spans]
        figure.update_xaxes(range=[records[0].request.arrival_seconds, max(ends)])
    return figure


def _most_preempted(records: Sequence[Record], num: int) -> int:
    """Where those `num` in a row begin who are preempted most often; of equals the first."""
    pauses = np.array([len(record.pauses) for record in records])  # [num_requests]
    if len(pauses) <= num:
        return 0
    return int(np.convolve(pauses, np.ones(num, int), "valid").argmax())


def _which(first: int, num: int, total: int) -> str:
    if first == 0:
        return tr(f"前 {num} 个请求，共 {total:,} 个", f"first {num} of {total:,} requests")
    last = first + num
    return tr(
        f"第 {first + 1:,}–{last:,} 个请求，共 {total:,} 个",
        f"requests {first + 1:,} to {last:,} of {total:,}",
    )


def load(run: Run, kept: Run | None = None, large: bool = False) -> go.Figure:
    """Running, waiting and KV usage over time, on one axis; a run that is kept as A dotted."""
    running, waiting, kv = _load_curves(run)
    ghosts = [_ghost(one) for one in _load_curves(kept)] if kept is not None else []
    title = charts.keyed(tr("请求数", "requests"), [running, waiting])
    panels = [
        Subplot(
            f"{title}   {charts.DASH_SIGNS['dot']} A" if ghosts else title,
            [*ghosts[:2], running, waiting],
            names_in_title=True,
        ),
        Subplot(
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
        charts.thinned(tr("运行", "running"), series.end_seconds, series.num_running, "decode"),
        charts.thinned(
            tr("排队", "waiting"), series.end_seconds, series.num_waiting, "queue", "dash"
        ),
        charts.thinned("KV", series.end_seconds, series.kv_usage * 100, "cached"),
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


def _time_title() -> str:
    return tr("时间（秒）", "time (s)")
