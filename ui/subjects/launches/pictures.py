"""Pictures of launches: along which batches they matter, and captured sizes.

They read results of `sim` and hand them to `charts`; nothing here decides anything.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from sim.cost import Eager, launches, phases
from sim.cost.launches import ONE_BY_ONE, REPLAY, LaunchWork
from ui import charts, theme
from ui.charts import Series, TimelineRow, go
from ui.subjects.launches.lanes import name_of
from ui.words.language import tr
from ui.words.numbers import seconds

# -- when it matters ------------------------------------------------------------------------------


def along_the_batch(
    clock: Eager,
    batches: Sequence[int],
    context: int,
    chosen: int,
    fitting: int,
    large: bool = False,
) -> go.Figure:
    """ITL of a decode step along the batch, launched one by one and replayed; they meet where the
    GPU has enough to do."""
    works = [LaunchWork.of(clock, phases.decode(batch, context)) for batch in batches]
    eager, graph = (
        [launches.step_seconds(work, way) * 1000 for work in works] for way in (ONE_BY_ONE, REPLAY)
    )
    series = [
        Series(name_of(ONE_BY_ONE), batches, eager, "launch"),
        Series(name_of(REPLAY), batches, graph, "kernel", "dash"),
    ]
    figure = charts.lines(
        series,
        tr("批里的请求数", "requests in the batch"),
        charts.keyed(tr("ITL（毫秒）", "ITL (ms)"), series),
        log_x=True,
        log_y=True,
        y_range=(0.7 * min(graph), 1.5 * max(eager)),
        name_ends=False,
        large=large,
        height=210,
    )
    figure.update_xaxes(range=np.log10([0.8 * batches[0], 1.1 * batches[-1]]).tolist())
    _shade_beyond(figure, fitting, batches[-1], tr("KV 放不下", "KV does not fit"), large)
    here = list(batches).index(chosen)
    charts.mark_point(figure, chosen, eager[here], tr("现在", "now"), large)
    return charts.mark_point(figure, chosen, graph[here], "", large)


def _shade_beyond(
    figure: go.Figure, edge: float, end: float, words: str, large: bool, log: bool = True
) -> None:
    if edge >= end:
        return
    figure.add_vrect(x0=max(edge, 1), x1=end, fillcolor=charts.NEUTRAL, opacity=0.18, line_width=0)
    figure.add_annotation(
        x=np.log10(end) if log else end,
        xanchor="right",
        y=0,
        yref="paper",
        yanchor="bottom",
        text=words,
        showarrow=False,
        font_size=charts.text_px(large),
    )


def work_of_steps(steps: Mapping[str, LaunchWork], large: bool = False) -> go.Figure:
    """How long the GPU works on several steps of a model, and how long the CPU launches any one.

    Left of the line the GPU waits for the CPU.
    """
    names = list(steps)
    works = [work.gpu_seconds for work in steps.values()]
    launching = max(work.launching_seconds(ONE_BY_ONE) for work in steps.values())
    millis = [work * 1000 for work in works]
    figure = charts.lines(
        [Series("", millis, list(range(len(names))))],
        tr("GPU 在一步上的用时（毫秒）", "GPU time of a step (ms)"),
        "",
        log_x=True,
        large=large,
        height=200,
    )
    figure.data = ()
    ends = [0.5 * min([*millis, launching * 1000]), 4 * max([*millis, launching * 1000])]
    size = charts.text_px(large)
    for kind, inside in (("launch", True), ("kernel", False)):
        chosen = [at for at, work in enumerate(works) if (work < launching) == inside]
        figure.add_trace(
            go.Scatter(
                x=[millis[at] for at in chosen],
                y=chosen,
                mode="markers+text",
                text=[f"<b>{seconds(works[at])}</b>" for at in chosen],
                textposition="middle right",
                textfont_size=size,
                cliponaxis=False,
                marker={
                    "symbol": "circle-open" if inside else "square",
                    "size": 18 if large else 13,
                    "color": theme.MEANINGS[kind].colour,
                    "line": {"width": 3, "color": theme.MEANINGS[kind].colour},
                },
                hovertemplate="%{x:,.3~g} ms<extra></extra>",
                showlegend=False,
            )
        )
    left = launching * 1000
    figure.add_vrect(
        x0=ends[0], x1=left, fillcolor=theme.MEANINGS["launch"].colour, opacity=0.14, line_width=0
    )
    figure.add_vline(x=left, line={"width": 2, "color": theme.MEANINGS["launch"].colour})
    for side, anchor, words in (
        (-1, "right", tr("← GPU 在等", "← GPU waits")),
        (1, "left", tr("CPU 在前 →", "CPU ahead →")),
    ):
        figure.add_annotation(
            x=float(np.log10(left)),
            xanchor=anchor,
            xshift=6 * side,
            y=1,
            yref="paper",
            yanchor="bottom",
            text=words,
            showarrow=False,
            font_size=size,
        )
    figure.update_xaxes(range=np.log10(ends).tolist())
    return figure.update_yaxes(
        range=[len(names) - 0.5, -0.5],
        tickvals=list(range(len(names))),
        ticktext=names,
        showgrid=False,
        showline=False,
    )


# -- captured sizes -------------------------------------------------------------------------------


def captured(
    clock: Eager,
    context: int,
    sizes: tuple[int, ...],
    most: int,
    chosen: int,
    large: bool = False,
) -> go.Figure:
    """ITL along the batch with these captured sizes, and what it would be one by one."""
    batches = list(range(1, most + 1))
    with_sizes = [
        launches.captured_seconds(clock, batch, context, sizes) * 1000 for batch in batches
    ]
    eager = [
        launches.step_seconds(LaunchWork.of(clock, phases.decode(batch, context)), ONE_BY_ONE)
        * 1000
        for batch in batches
    ]
    series = [
        Series(tr("逐个启动", "one by one"), batches, eager, "launch", "dash"),
        Series(tr("录下这些大小", "with these sizes"), batches, with_sizes, "kernel"),
    ]
    figure = charts.lines(
        series,
        tr("批里的请求数；竖线是录下的大小", "requests in the batch; ticks are captured sizes"),
        charts.keyed(tr("ITL（毫秒）", "ITL (ms)"), series),
        y_range=(0, 1.25 * max(eager)),
        name_ends=False,
        large=large,
        height=250,
    )
    for size in sizes:
        if size <= most:
            figure.add_shape(
                type="line",
                x0=size,
                x1=size,
                y0=0,
                y1=0.06,
                yref="paper",
                line={"width": 2, "color": theme.MEANINGS["kernel"].colour},
            )
    figure.update_xaxes(range=[0, most * 1.02])
    _shade_beyond(
        figure, sizes[-1], most, tr("没有图，逐个启动", "no graph: one by one"), large, log=False
    )
    return charts.mark_point(figure, chosen, with_sizes[chosen - 1], tr("现在", "now"), large)


def rows_of_step(batch: int, size: int | None, large: bool = False) -> go.Figure:
    """The rows that a step computes: requests, and padding up to the captured size."""
    spans = [charts.Span("decode", 0, batch)]
    if size is not None and size > batch:
        spans.append(charts.Span("padding", batch, size))
    figure = charts.request_timeline(
        [TimelineRow(tr("这一步", "this step"), spans)],
        tr("行", "rows"),
        large=large,
        height=150 if large else 128,
    )
    figure.update_xaxes(range=[0, 1.04 * (size or batch)])
    return figure
