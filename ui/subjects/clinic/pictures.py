"""The clinic's pictures: a panel over time, readings at their limits, what every change does.

They read results of `sim.studies.clinic`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sim.studies.clinic import OverTime, Panel, Slo
from ui import charts
from ui.charts import Series, go
from ui.charts.series import y_span
from ui.subjects.clinic.in_words.questions import latency
from ui.words.language import tr
from ui.words.numbers import seconds

GHOST = 0.75  # opacity of what was before
GHOST_PX, LARGE_GHOST_PX = 1.4, 2.2  # width of its lines
ROOM = 1.08  # above a limit
MOST_GHOST = 2.0  # times the height of the run that is there now
POINT_PX, LARGE_POINT_PX = 5, 8
BAR = 0.62  # height of a bar, as `charts.bars` draws it
MOST_TIMES = 3.0  # of a limit; a longer bar would hide the others


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
        charts.Subplot(title, [*grey, *own], unit, _top(own, grey, limit), names_in_title=True)
        for (title, unit, own), grey, limit in zip(rows, ghosts, limits, strict=True)
    ]
    figure = charts.stacked_time_series(panels, axis, large=large, height=height)
    for trace, grey in zip(figure.data, _is_grey(panels, ghosts), strict=True):
        if grey:
            trace.update(opacity=GHOST, line_width=LARGE_GHOST_PX if large else GHOST_PX)
        else:
            trace.cliponaxis = False  # what lies on an edge of its panel is drawn whole
    _as_points(figure, bool(was), large)
    for axis_name, limit in zip(("y", "y2"), limits, strict=False):
        _mark_limit(figure, axis_name, limit)
    return figure


def _target(unit: str, limit_seconds: float) -> str:
    """The unit of a panel, and what the line across it is."""
    limit = seconds(limit_seconds)
    return tr(f"{unit}；点线：目标 {limit}", f"{unit}; dotted: target {limit}")


def _top(own: Sequence[Series], grey: Sequence[Series], limit: float) -> float:
    """The upper end of an axis on which a limit has room, and the run before, unless it would
    squash what is there now: then it goes out at the top."""
    now = max(limit * ROOM, y_span(own, False)[1])
    return min(max(now, y_span(grey, False)[1]), now * MOST_GHOST) if grey else now


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
    """One reading beside its limit, and what is written there.

    With `high` it lies between the two: up to `value` for sure, and at most up to there.
    """

    name: str
    value: float | None
    limit: float
    text: str
    colour: str
    high: float | None = None


def at_limits(readings: Sequence[Reading], large: bool = False) -> go.Figure:
    """Every reading as a multiple of its limit, with a line at 1; what is not sure is paler."""
    times = [min((one.value or 0.0) / one.limit, MOST_TIMES) for one in readings]
    texts = [one.text for one in readings]
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
    for place, (one, low) in enumerate(zip(readings, times, strict=True)):
        figure.add_annotation(
            x=MOST_TIMES, y=one.name, text=one.text, showarrow=False, xanchor="left"
        )
        high = min((one.high or 0.0) / one.limit, MOST_TIMES)
        if high > low:
            _mark_unsure(figure, place, low, high)
    figure.add_vline(x=1, line={"color": charts.NEUTRAL, "width": 2, "dash": "dot"})
    return figure


def _mark_unsure(figure: go.Figure, place: int, low: float, high: float) -> None:
    """Where a reading may end: an outline behind its bar."""
    figure.add_shape(
        type="rect",
        x0=low,
        x1=high,
        y0=place - BAR / 2,
        y1=place + BAR / 2,
        fillcolor=charts.NEUTRAL,
        opacity=0.35,
        line={"color": charts.NEUTRAL, "width": 1.5, "dash": "dash"},
    )


def with_limit(name: str, limit: str) -> str:
    """The name of a row, its limit below."""
    return tr(f"{name}<br>界线 {limit}", f"{name}<br>limit {limit}")


def outcomes(panels: Mapping[str, Panel], slo: Slo, large: bool = False) -> go.Figure:
    """Both latencies of several runs on the same requests, beside what was promised."""
    ttft = [
        _outcome(f"TTFT · {name}", one.readings.ttft_p99, slo.ttft_seconds, "prefill")
        for name, one in panels.items()
    ]
    itl = [
        _outcome(f"ITL · {name}", one.readings.itl_p99, slo.itl_seconds, "decode")
        for name, one in panels.items()
    ]
    return at_limits([*ttft, *itl], large)


def _outcome(name: str, value: float | None, limit: float, colour: str) -> Reading:
    return Reading(name, value, limit, latency(value), colour)
