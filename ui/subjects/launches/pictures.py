"""Pictures of launches: CPU and GPU on one time axis, when launches matter, captured sizes.

They read results of `sim` and hand them to `charts` and the player; nothing here decides anything.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import plotly.graph_objects as go

from sim.cost import Eager, launches, phases
from sim.cost.launches import CPU, GPU, ONE_BY_ONE, REPLAY, LaunchWork, Way
from ui import charts, theme
from ui.charts import Series, TimelineRow
from ui.player.painters.timeline import LaneSpan, Timeline
from ui.subjects.launches import launch_notes
from ui.words.language import tr
from ui.words.numbers import seconds

LANES = (CPU, GPU)
TOLD_APART = 400  # moments on the axis


def name_of(way: Way) -> str:
    if way.ahead:
        return tr("提前调度", "Ahead")
    return tr("整图回放", "Replayed") if way.graph else tr("逐个启动", "One by one")


# -- CPU and GPU on one time axis -----------------------------------------------------------------


@dataclass(frozen=True)
class Lanes:
    """CPU and GPU where launches are made one way: their spans, and what is said when."""

    way: Way
    spans: Sequence[LaneSpan]
    said: Mapping[float, list[str]]
    stops: frozenset[float]  # moments at which the player pauses


def first_kernels(work: LaunchWork, ways: Sequence[Way], shown: int, alt: str) -> Timeline:
    """The first kernels of a step; a frame for each end of a launch or of a kernel."""
    parts = []
    for way in ways:
        found = launches.spans(work.first(shown), way)
        said: dict[float, list[str]] = {}
        for span in found:
            said.setdefault(span.end_seconds, []).append(_kernel_note(found, span, work))
        drawn = [*map(_kernel_span, found), *_idle(found)]
        parts.append(Lanes(way, drawn, said, frozenset({max(said)})))
    return _above_each_other(parts, alt)


def whole_steps(
    work: LaunchWork, ways: Sequence[Way], per_layer: int, num: int, alt: str
) -> Timeline:
    """A few steps; of one launched kernel by kernel, each layer is one piece."""
    parts = []
    for way in ways:
        found = launches.merged(
            launches.spans(work, way, num), work.num_kernels if way.graph else per_layer
        )
        drawn = [*map(_step_span, found), *_idle(found)]
        said, tokens = _said_of_steps(found, num)
        parts.append(Lanes(way, drawn, said, frozenset(tokens)))
    return _above_each_other(parts, alt)


def _above_each_other(parts: Sequence[Lanes], alt: str) -> Timeline:
    """All ways on one axis: two lanes each, a frame for each moment at which one of them moves."""
    moments = _moments(sorted({moment for part in parts for moment in part.said}))
    return Timeline(
        lanes=tuple(lane for part in parts for lane in (f"{name_of(part.way)} · CPU", "GPU")),
        spans=tuple(
            replace(span, lane=2 * number + span.lane)
            for number, part in enumerate(parts)
            for span in part.spans
        ),
        at=tuple(together[-1] for together in moments),
        notes=tuple(_note(parts, together) for together in moments),
        events=tuple(
            ("finished",) if any(part.stops & set(together) for part in parts) else ()
            for together in moments
        ),
        alt=alt,
    )


def _moments(found: Sequence[float]) -> list[list[float]]:
    """Moments that nobody could tell apart on the axis, together."""
    groups = [[found[0]]]
    for moment in found[1:]:
        if moment - groups[-1][0] < found[-1] / TOLD_APART:
            groups[-1].append(moment)
        else:
            groups.append([moment])
    return groups


def _note(parts: Sequence[Lanes], together: Sequence[float]) -> str:
    """A line for each way, or one for ways of which the same can be said."""
    lines: dict[tuple[str, ...], list[str]] = {}  # what is said -> of which ways
    for part in parts:
        said = tuple(words for moment in together for words in part.said.get(moment, ()))
        if said:
            lines.setdefault(said, []).append(name_of(part.way))
    return "\n".join(launch_notes.of_ways(names, said) for said, names in lines.items())


def _idle(found: Sequence[launches.Activity]) -> list[LaneSpan]:
    """Where the GPU has nothing to do before its last kernel."""
    busy = [span for span in found if span.place == GPU]
    ends = [0.0, *(span.end_seconds for span in busy)]
    return [
        LaneSpan(LANES.index(GPU), end, span.start_seconds, "idle")
        for end, span in zip(ends, busy, strict=False)
        if span.start_seconds > end
    ]


def _drawn(span: launches.Activity, label: str) -> LaneSpan:
    return LaneSpan(LANES.index(span.place), span.start_seconds, span.end_seconds, span.kind, label)


def _kernel_span(span: launches.Activity) -> LaneSpan:
    return _drawn(span, str(span.kernel) if span.kernel else tr("图", "graph"))


def _step_span(span: launches.Activity) -> LaneSpan:
    return _drawn(span, "" if span.kind == "launch" else str(span.step + 1))


def _kernel_note(
    found: Sequence[launches.Activity], span: launches.Activity, work: LaunchWork
) -> str:
    """What the end of a launch or of a kernel means."""
    kernels = [one for one in found if one.place == GPU]
    end = span.end_seconds
    if span.kind == "launch" and not span.kernel:
        return launch_notes.replayed(work.num_kernels)
    if span.kind == "launch":
        queued = sum(one.end_seconds > end for one in kernels[: span.kernel - 1])
        return launch_notes.launched(span.kernel, queued)
    if span.kernel == len(kernels):
        return launch_notes.all_executed(span.kernel, work.num_kernels, end)
    return launch_notes.executed(span.kernel, kernels[span.kernel].start_seconds - end)


def _said_of_steps(
    found: Sequence[launches.Activity], num_steps: int
) -> tuple[dict[float, list[str]], list[float]]:
    """What to say when, and the moments at which a token comes out."""
    said: dict[float, list[str]] = {}
    tokens: list[float] = []
    for step in range(num_steps):
        own = [span for span in found if span.step == step]
        (ahead,) = [span for span in own if span.kind == "prepare"]
        *_, last = [span for span in own if span.kind == "launch"]
        done = max(span.end_seconds for span in own)
        since = done - tokens[-1] if tokens else None
        prepared = launch_notes.prepared(step + 1, _busy_during(found, ahead))
        is_graph = last.kernel == 0  # a single launch, just after
        said.setdefault(last.end_seconds if is_graph else ahead.end_seconds, []).append(prepared)
        if not is_graph:
            said.setdefault(last.end_seconds, []).append(launch_notes.all_launched(step + 1))
        said.setdefault(done, []).append(launch_notes.step_done(step + 1, since))
        tokens.append(done)
    return said, tokens


def _busy_during(found: Sequence[launches.Activity], span: launches.Activity) -> float:
    """How long the GPU works while `span` lasts."""
    return sum(
        max(
            0.0, min(one.end_seconds, span.end_seconds) - max(one.start_seconds, span.start_seconds)
        )
        for one in found
        if one.place == GPU
    )


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
