"""Result charts, all in one style.

Backgrounds are transparent and text takes the colour of the reader's theme in the browser, so one
figure serves light and dark; data colours come from `ui.theme` and hold their contrast on both.
Few traces, labels at the data instead of legends, units at the axes, vertical-axis titles written
horizontally.  `large=True` is for the lecture hall.

A figure is made by one function (`lines`, `request_timeline`, `stacked_time_series`, `bars`,
`distribution`), may get marks (`mark_point`, `mark_arrow`) and is drawn by `show`, with words for
those who do not see it.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np
import pandas  # noqa: F401  plotly would look into it while another thread still imports it
import plotly.graph_objects as go
import streamlit as st

from ui import theme
from ui.language import tr

Dash = Literal["solid", "dash", "dot", "dashdot"]

TEXT_PX, LARGE_TEXT_PX = 14, 18
LINE_PX, LARGE_LINE_PX = 2.5, 4.0
GRID = "rgba(128,128,128,0.25)"
AXIS = "rgba(128,128,128,0.7)"
NEUTRAL = "#808080"  # 3:1 on both backgrounds, and no meaning of its own
TRANSPARENT = "rgba(0,0,0,0)"
CONFIG = {"displayModeBar": False, "scrollZoom": False, "showTips": False, "responsive": True}

ZERO_WIDTH = "\u200b"  # tells names apart that look the same
OUTSIDE_PX = 70  # of a figure's height that is not plot: top margin, axis, axis title
ROW_PX = 18  # height of one request in the timeline
LEGEND_LINES = 3.2  # of text that a row of names above a figure takes, with air
FRAME_PX = 90  # of a timeline's height: legend, axis and its title
ROOM_FOR_NAMES = 1.2  # above the peaks of a small panel
LOG_AIR = 1.6  # times, on either side; a single value still has one of 1, 2, 5, 10 in view
SMALLEST_SPAN = 0.05  # of an axis, as a share of its values
MAX_CURVE_POINTS = 400
PERCENTILES = (50, 99)
TAG = re.compile(r"<(?!br>)[^>]*>")  # in a label, all but a new line
LONG_NAME = 12  # letters; a longer name at the end of a curve takes two lines

PATTERNS = {  # names in ui.theme -> Plotly's
    "solid": "",
    "none": "",
    "outline": "",
    "diagonal": "/",
    "cross": "x",
    "dots": ".",
    "horizontal": "-",
    "vertical": "|",
    "backslash": "\\",
    "grid": "+",
    "dashes": "-",
    "checks": "x",
}


@dataclass(frozen=True)
class Series:
    """One curve.  `colour` is a key of ui.theme, a number in its palette, or a hex colour."""

    name: str
    x: Sequence[float] | np.ndarray
    y: Sequence[float] | np.ndarray
    colour: str | int = 0
    dash: Dash = "solid"
    step: bool = False  # holds its value until the next point
    fill: bool = False


@dataclass(frozen=True)
class Panel:
    """One of several small charts above each other on a shared time axis."""

    title: str
    series: Sequence[Series]
    unit: str = ""
    top: float | None = None  # upper end of the axis; by default what the data need
    names_in_title: bool = False  # the title already names the curves


@dataclass(frozen=True)
class Span:
    """What a request did from `start` to `end`.  `state` is a key of ui.theme."""

    state: str
    start: float
    end: float


@dataclass(frozen=True)
class TimelineRow:
    """One request of the timeline."""

    label: str
    spans: Sequence[Span]


@dataclass(frozen=True)
class Sample:
    """Measured values whose distribution is drawn."""

    name: str
    values: Sequence[float] | np.ndarray
    colour: str | int = 0
    dash: Dash = "solid"


def show(
    figure: go.Figure,
    key: str,
    alt: str,
    height: int | None = None,
    fill: bool = False,
    clicked: Callable[[object], None] | None = None,
) -> None:
    """Draw a figure where called.  `alt` says what it shows, for readers who hear the page.

    `fill` gives it the height its surroundings leave, as in the lecture view.  `clicked` is called
    with the custom data of a point that the reader clicks on.
    """
    if not alt.strip():
        raise ValueError(f"chart {key!r} needs a text alternative")
    if height is not None:
        figure.update_layout(height=height)
    if fill:
        figure.update_layout(height=None, autosize=True)
    _leave_room(figure)
    st.plotly_chart(
        figure,
        key=key,
        alt=alt,
        theme="streamlit",
        config=CONFIG,
        height="stretch" if fill else "content",
        on_select=partial(_pass_on, key, clicked) if clicked else "ignore",
        selection_mode="points",
    )


def _pass_on(key: str, clicked: Callable[[object], None]) -> None:
    """The point under the click; a second click takes the selection back, and says nothing."""
    points = st.session_state[key]["selection"]["points"]
    data = points[0].get("customdata") if points else None
    if data is not None:
        clicked(data[0] if isinstance(data, list) else data)


# Figures


def lines(
    series: Sequence[Series],
    x_title: str,
    y_title: str,
    *,
    large: bool = False,
    log_x: bool = False,
    log_y: bool = False,
    y_range: tuple[float, float] | None = None,
    name_ends: bool = True,
    height: int = 320,
) -> go.Figure:
    """Curves, each named at its end."""
    figure = _figure(height, large)
    for one in series:
        figure.add_trace(_line(one, large))
    _style_axes(figure, x_title, y_title, large, log_x, log_y)
    figure.update_xaxes(range=_x_range(series, log_x))
    low, high = y_range or _y_range(series, log_y)
    figure.update_yaxes(range=[np.log10(low), np.log10(high)] if log_y else [low, high])
    if log_x:
        figure.update_xaxes(**_log_ticks([one.x for one in series], large))
    if log_y:
        figure.update_yaxes(**_log_ticks([one.y for one in series], large))
    if len(series) > 1 and name_ends:
        _name_curves(figure, series, (low, high), log_y, large)
    return figure


def bars(
    labels: Sequence[str],
    values: Sequence[float],
    value_title: str,
    *,
    colours: Sequence[str | int] = (),
    texts: Sequence[str] = (),
    large: bool = False,
    top: float | None = None,
    height: int | None = None,
) -> go.Figure:
    """Horizontal bars, each with its value written at its end."""
    each = list(colours) or [0] * len(labels)
    shown = list(texts) or [f"{value:,.3g}" for value in values]
    size = LARGE_TEXT_PX if large else TEXT_PX
    figure = _figure(height or 70 + len(labels) * (size * 3), large)
    figure.add_trace(
        go.Bar(
            y=list(labels),
            x=list(values),
            orientation="h",
            text=shown,
            textposition="outside",
            constraintext="none",  # as large as the rest, however thin the bar
            cliponaxis=False,
            width=0.62,
            marker=bar_marker(each),
            hovertemplate="%{y}: %{text}<extra></extra>",
        )
    )
    _style_axes(figure, value_title, "", large)
    longest = max([*values, 0.0])
    figure.update_xaxes(range=[0, top if top is not None else longest or 1])
    figure.update_layout(margin_r=round(max(text_width(text, size) for text in shown)) + 12)
    figure.update_yaxes(autorange="reversed", showgrid=False, ticks="", showline=False)
    return figure


def grouped_bars(
    labels: Sequence[str],
    groups: Mapping[str, tuple[Sequence[float] | np.ndarray, str | int]],
    value_title: str,
    *,
    large: bool = False,
    height: int = 320,
) -> go.Figure:
    """Horizontal bars, for each label one of every group: name -> its values and colour."""
    figure = _figure(height, large)
    places = list(range(len(labels)))
    for name, (values, hue) in groups.items():
        figure.add_trace(
            go.Bar(
                name=name,
                y=places,
                x=np.asarray(values),
                orientation="h",
                text=list(labels),
                textposition="none",
                marker=bar_marker([hue] * len(labels)),
                hovertemplate=f"%{{text}} · {name}: %{{x:,.0f}}<extra></extra>",
            )
        )
    _style_axes(figure, value_title, "", large)
    figure.update_xaxes(rangemode="tozero")
    figure.update_yaxes(
        autorange="reversed", tickvals=places, ticktext=list(labels), showgrid=False, showline=False
    )
    figure.update_layout(barmode="group", bargap=0.3)
    name_in_corner(figure, large, x=1, y=0)
    return figure


def request_timeline(
    rows: Sequence[TimelineRow],
    x_title: str,
    *,
    large: bool = False,
    height: int | None = None,
) -> go.Figure:
    """One line per request: what it was doing when.  One trace per state, each with a pattern."""
    figure = _figure(height or FRAME_PX + max(len(rows), 4) * ROW_PX, large)
    states = [state for state in theme.MEANINGS if any(_has(row, state) for row in rows)]
    for state in states:
        figure.add_trace(_timeline_trace(rows, state))
    _style_axes(figure, x_title, "", large)
    every = _every(len(rows), figure.layout.height - FRAME_PX, large)
    figure.update_yaxes(
        range=[len(rows) - 0.4, -0.6],
        tickvals=list(range(0, len(rows), every)),
        ticktext=[row.label for row in rows[::every]],
        showgrid=False,
        showline=False,
    )
    figure.update_xaxes(rangemode="tozero")
    figure.update_layout(barmode="overlay", showlegend=True, legend=_legend(large))
    return figure


def stacked_time_series(
    panels: Sequence[Panel],
    x_title: str,
    *,
    large: bool = False,
    height: int | None = None,
) -> go.Figure:
    """A few small charts above each other on one time axis, to see what happens together."""
    size = LARGE_TEXT_PX if large else TEXT_PX
    figure = _figure(height or 60 + len(panels) * (150 if large else 125), large)
    _style_axes(figure, x_title, "", large)
    gap = 2.6 * size / (figure.layout.height - OUTSIDE_PX)  # room for the title of the lower panel
    share = (1 - gap * (len(panels) - 1)) / len(panels)
    layout: dict[str, object] = {}
    for number, panel in enumerate(panels):
        top = 1 - number * (share + gap)
        axis = "y" if number == 0 else f"y{number + 1}"
        high = panel.top if panel.top is not None else _y_range(panel.series, False)[1]
        has_names = len(panel.series) > 1 and not panel.names_in_title
        high *= ROOM_FOR_NAMES if panel.top is None and has_names else 1
        layout[axis.replace("y", "yaxis")] = {
            **_y_axis(large),
            "domain": [max(top - share, 0), top],
            "range": [0, high],
            "nticks": 4,
        }
        for one in panel.series:
            figure.add_trace(_line(one, large).update(yaxis=axis, xaxis="x"))
        _write_above(figure, _panel_title(panel), top, size)
        if has_names:
            _name_curves(figure, panel.series, (0, high), False, large, axis, share)
    times = [0.0, *(_x_range([one for panel in panels for one in panel.series], False) or [1.0])]
    layout["xaxis"] = {
        "anchor": "y" if len(panels) == 1 else f"y{len(panels)}",
        "range": [min(times), max(times)],
    }
    figure.update_layout(**layout, hovermode="x", hoversubplots="axis")
    return figure


def distribution(
    samples: Sequence[Sample],
    x_title: str,
    *,
    percentiles: Sequence[int] = PERCENTILES,
    log_x: bool = False,
    large: bool = False,
    height: int = 300,
) -> go.Figure:
    """Which share of the values is at most x, with the percentiles marked on the curve."""
    series = [_cumulative(sample) for sample in samples]
    figure = lines(
        series,
        x_title,
        tr("不超过它的占比", "Share at or below"),
        log_x=log_x,
        y_range=(0, 1.04),
        name_ends=False,
        large=large,
        height=height,
    )
    figure.update_yaxes(tickformat=".0%", tickvals=[0, 0.25, 0.5, 0.75, 1])
    for sample in samples:
        _mark_percentiles(figure, sample, percentiles, large)
    if len(samples) > 1:  # the lower right corner is free: there the curves are at the top
        corner = {**_legend(large), "orientation": "v", "x": 1, "xanchor": "right", "y": 0}
        figure.update_layout(showlegend=True, legend=corner)
    return figure


def number_line(
    low: float,
    high: float,
    guess: float,
    truth: float,
    labels: tuple[str, str],
    *,
    large: bool = False,
) -> go.Figure:
    """A guess (above) and what came out (below) on one scale, with the arrow between them."""
    size = LARGE_TEXT_PX if large else TEXT_PX
    figure = _figure(round(size * 7), large)
    _style_axes(figure, "", "", large)
    for at, label, above in ((guess, labels[0], True), (truth, labels[1], False)):
        figure.add_trace(
            go.Scatter(
                x=[at],
                y=[0],
                mode="markers+text",
                text=[label],
                textposition=_beside(at, low, high, above),
                cliponaxis=False,
                marker={
                    "symbol": "diamond-open" if above else "circle",
                    "size": size,
                    "color": NEUTRAL if above else colour(0),
                    "line": {"width": 3 if above else 0},
                },
                hoverinfo="skip",
            )
        )
    mark_arrow(figure, (guess, 0), (truth, 0), "", large)
    figure.update_xaxes(range=[low, high], nticks=5)
    figure.update_yaxes(visible=False, range=[-1, 1])
    figure.update_layout(margin={"l": 16, "t": 0, "b": round(size * 2.6)})
    return figure


def _beside(at: float, low: float, high: float, above: bool) -> str:
    """Where a label has room: never over the ends of the scale."""
    share = (at - low) / (high - low)
    side = "right" if share < 0.25 else "left" if share > 0.75 else "center"
    return f"{'top' if above else 'bottom'} {side}"


def plain(height: int, large: bool = False) -> go.Figure:
    """An empty figure in our style, for a picture that is none of these."""
    return _figure(height, large)


def name_above(figure: go.Figure, large: bool) -> None:
    """A legend in one row above the plot."""
    figure.update_layout(showlegend=True, legend=_legend(large))


def name_in_corner(figure: go.Figure, large: bool, x: int, y: int) -> None:
    """A legend inside the plot, for traces that have no end to be named at, or ends that touch.

    `x` and `y`, 0 or 1, say in which corner.
    """
    corner = {**_legend(large), "orientation": "v", "x": 0.02 + 0.96 * x, "y": 0.02 + 0.96 * y}
    corner |= {"xanchor": ("left", "right")[x], "yanchor": ("bottom", "top")[y]}
    figure.update_layout(showlegend=True, legend=corner)


# Marks: what somebody guessed, beside what came out


def padded(values: Sequence[float]) -> list[float]:
    """A range with air around the values, for labels beside the points; never so narrow that the
    ticks must show rounding errors to differ."""
    low, high = min(values), max(values)
    air = 0.16 * (max(high - low, SMALLEST_SPAN * max(abs(low), abs(high))) or 1)
    return [low - air, high + air]


def mark_point(
    figure: go.Figure, x: float, y: float, label: str, large: bool = False, below: bool = False
) -> go.Figure:
    """A labelled diamond at a point, for a guess or for the setting in use."""
    figure.add_trace(
        go.Scatter(
            x=[x],
            y=[y],
            mode="markers+text",
            text=[label],
            textposition="bottom center" if below else "top center",
            cliponaxis=False,
            marker={
                "symbol": "diamond-open",
                "size": 16 if large else 12,
                "color": NEUTRAL,
                "line": {"width": 3, "color": NEUTRAL},
            },
            hovertemplate=f"{label}<extra></extra>",
            showlegend=False,
        )
    )
    return figure


def mark_arrow(
    figure: go.Figure,
    start: tuple[float, float],
    end: tuple[float, float],
    label: str,
    large: bool = False,
) -> go.Figure:
    """A labelled arrow from a guess to what came out; both in the units of the axes."""
    if start == end:
        return figure
    figure.add_annotation(
        x=end[0],
        y=end[1],
        ax=start[0],
        ay=start[1],
        xref="x",
        yref="y",
        axref="x",
        ayref="y",
        showarrow=True,
        arrowhead=2,
        arrowwidth=3 if large else 2,
        arrowcolor=NEUTRAL,
        standoff=3,
        text="",
    )
    figure.add_annotation(
        x=(start[0] + end[0]) / 2,
        y=(start[1] + end[1]) / 2,
        text=label,
        showarrow=False,
        xanchor="left",
        xshift=10,
        font_size=LARGE_TEXT_PX if large else TEXT_PX,
    )
    return figure


# The one style


def colour(name: str | int) -> str:
    """A key of ui.theme, a number in its palette, or a hex colour as it is."""
    if isinstance(name, int):
        return theme.SERIES[name % len(theme.SERIES)]
    return theme.MEANINGS[name].colour if name in theme.MEANINGS else name


def text_width(text: str, size: int) -> float:
    """About how many px a text takes: Chinese is square, Latin about half of it."""
    seen = text.replace(ZERO_WIDTH, "")
    return sum(size if ord(letter) > 0x2E80 else 0.56 * size for letter in seen)


def _figure(height: int, large: bool) -> go.Figure:
    size = LARGE_TEXT_PX if large else TEXT_PX
    layout = {  # set at once: an update takes four times as long
        "height": height,
        "paper_bgcolor": TRANSPARENT,
        "plot_bgcolor": TRANSPARENT,
        "font": {"size": size},
        "margin": {"l": 8, "r": 16, "t": round(size * 2.0), "b": 8, "autoexpand": True},
        "showlegend": False,
        "dragmode": False,
        "hoverlabel": {"font": {"size": size}},
        "uirevision": "kept",
    }
    return go.Figure(layout=layout)


def _style_axes(
    figure: go.Figure,
    x_title: str,
    y_title: str,
    large: bool,
    log_x: bool = False,
    log_y: bool = False,
) -> None:
    size = LARGE_TEXT_PX if large else TEXT_PX
    figure.layout.xaxis = {
        "title": {"text": x_title, "font": {"size": size}, "standoff": 8},
        "tickfont": {"size": size},
        "type": "log" if log_x else None,
        "showgrid": False,
        "zeroline": False,
        "showline": True,
        "linecolor": AXIS,
        "ticks": "outside",
        "tickcolor": AXIS,
        "automargin": True,
        "fixedrange": True,
        "exponentformat": "none",
        "separatethousands": True,
        "nticks": 6 if large else 8,
    }
    figure.layout.yaxis = {**_y_axis(large), "type": "log" if log_y else None}
    if y_title:
        _write_above(figure, y_title, 1, size)


def _y_axis(large: bool) -> dict[str, object]:
    return {
        "tickfont": {"size": LARGE_TEXT_PX if large else TEXT_PX},
        "showgrid": True,
        "gridcolor": GRID,
        "zeroline": False,
        "automargin": True,
        "fixedrange": True,
        "exponentformat": "none",
        "separatethousands": True,
        "nticks": 6,
        "title": {"text": ""},
    }


def _leave_room(figure: go.Figure) -> None:
    """Margins as wide as the words at the axes; Plotly would find them by drawing twice."""
    layout, size = figure.layout, figure.layout.font.size
    labels = [label for axis in figure.select_yaxes() for label in _labels(figure, axis)]
    if labels:
        left = round(max(text_width(label, size) for label in labels) + size)
        layout.margin.l = max(layout.margin.l, left)
    if layout.showlegend and layout.legend.orientation == "h":
        layout.margin.t = max(layout.margin.t, round(LEGEND_LINES * size))
    if layout.xaxis.visible is not False:
        lines = 4.1 if layout.xaxis.title.text else 1.9  # of text: labels, title, air
        layout.margin.b = max(layout.margin.b, round(lines * size))
    figure.update_yaxes(automargin=False)
    figure.update_xaxes(automargin=False)


def _labels(figure: go.Figure, axis: go.layout.YAxis) -> Sequence[str]:
    """What stands at a vertical axis, or something as wide."""
    if axis.visible is False or axis.showticklabels is False:
        return []
    if axis.ticktext is not None:
        lines = (TAG.sub("", label).split("<br>") for label in axis.ticktext)
        return [line for each in lines for line in each]
    if axis.categoryarray is not None:
        return list(axis.categoryarray)
    if axis.range is None:  # of bars
        return [str(name) for trace in figure.data for name in trace.y]
    low, high = axis.range
    step = abs(high - low) / axis.nticks
    decimals = max(0, -math.floor(math.log10(step))) if 0 < step < math.inf else 0
    return [f"{end:,.{decimals}f}" for end in (low, high)]


def _write_above(figure: go.Figure, text: str, y: float, size: int) -> None:
    """A title at the upper left of a plot: horizontal, so that Chinese and English can be read."""
    figure.add_annotation(
        text=text,
        x=0,
        y=y,
        xref="paper",
        yref="paper",
        xanchor="left",
        yanchor="bottom",
        yshift=1,
        showarrow=False,
        font_size=size,
    )


def _panel_title(panel: Panel) -> str:
    if not panel.unit:
        return panel.title
    return tr(f"{panel.title}（{panel.unit}）", f"{panel.title} ({panel.unit})")


def _line(one: Series, large: bool) -> go.Scatter:
    hue = colour(one.colour)
    return go.Scatter(
        name=one.name,
        x=np.asarray(one.x),
        y=np.asarray(one.y),
        mode="lines" if len(one.x) > 1 else "markers",
        line={
            "color": hue,
            "width": LARGE_LINE_PX if large else LINE_PX,
            "dash": one.dash,
            "shape": "hv" if one.step else "linear",
        },
        fill="tozeroy" if one.fill else None,
        fillcolor=faint(hue) if one.fill else None,
        hovertemplate=f"{one.name}: %{{y:,.3~g}}<extra></extra>",
    )


def faint(hue: str) -> str:
    """A hex colour as the fill below its curve."""
    red, green, blue = (int(hue[at : at + 2], 16) for at in (1, 3, 5))
    return f"rgba({red},{green},{blue},0.22)"


def _x_range(series: Sequence[Series], log: bool) -> list[float] | None:
    """From the first point to the last; None leaves it to Plotly."""
    values = np.concatenate([np.asarray(one.x, dtype=float) for one in series] or [np.zeros(1)])
    values = values[np.isfinite(values) & ((values > 0) | (not log))]
    if not len(values) or values.min() == values.max():
        return None
    ends = [float(values.min()), float(values.max())]
    return [float(np.log10(end)) for end in ends] if log else ends


def _y_range(series: Sequence[Series], log: bool) -> tuple[float, float]:
    values = np.concatenate([np.asarray(one.y, dtype=float) for one in series] or [np.zeros(1)])
    values = values[np.isfinite(values)]
    if log:
        values = values[values > 0]
        low, high = (values.min(), values.max()) if len(values) else (0.2, 0.5)
        return float(low) / LOG_AIR, float(high) * LOG_AIR
    high = float(values.max()) if len(values) else 0
    return min(0.0, float(values.min()) if len(values) else 0), high * 1.08 or 1


def _name_curves(
    figure: go.Figure,
    series: Sequence[Series],
    y_range: tuple[float, float],
    log_y: bool,
    large: bool,
    axis: str = "y",
    share: float = 1,
) -> None:
    """The name of each curve beside it: at its end, or at its peak where ends fall together.

    Curves whose peaks fall together as well are named at their ends, the names moved apart.
    """
    size = LARGE_TEXT_PX if large else TEXT_PX
    plot_px = (figure.layout.height - OUTSIDE_PX) * share
    scale = np.log10 if log_y else float
    low, high = float(scale(y_range[0])), float(scale(y_range[1]))
    ends = [(float(scale(float(one.y[-1]))) - low) / (high - low) * plot_px for one in series]
    if float(np.diff(np.sort(ends)).min()) < size / 2 and not _same_peak(series):
        _name_peaks(figure, series, log_y, size, axis)
    else:
        _name_ends(figure, series, ends, log_y, large, axis)


def _same_peak(series: Sequence[Series]) -> bool:
    peaks = {(int(np.nanargmax(one.y)), float(np.nanmax(one.y))) for one in series}
    return len(peaks) < len(series)


def _name_peaks(
    figure: go.Figure, series: Sequence[Series], log_y: bool, size: int, axis: str
) -> None:
    for one in series:
        peak = int(np.nanargmax(np.asarray(one.y, dtype=float)))
        top = float(one.y[peak])
        figure.add_annotation(
            text=one.name,
            x=float(one.x[peak]),
            y=float(np.log10(top)) if log_y else top,
            yref=axis,
            xanchor="left" if peak < len(one.x) / 2 else "right",
            yanchor="bottom",
            showarrow=False,
            font_size=size,
        )


def _name_ends(
    figure: go.Figure,
    series: Sequence[Series],
    ends_px: Sequence[float],
    log_y: bool,
    large: bool,
    axis: str,
) -> None:
    """Right of the last points; names that would touch are moved apart."""
    size = LARGE_TEXT_PX if large else TEXT_PX
    names = [_two_lines(one.name) for one in series]
    tallest = 1 + max(name.count("<br>") for name in names)
    places = _apart(ends_px, size * 1.2 * tallest)
    for one, name, end, place in zip(series, names, ends_px, places, strict=True):
        last = float(one.y[-1])
        figure.add_annotation(
            text=name,
            x=1,
            xref="paper",
            y=float(np.log10(last)) if log_y else last,
            yref=axis,
            yshift=place - end,
            xanchor="left",
            xshift=8,
            showarrow=False,
            align="left",
            font_size=size,
        )
        figure.add_trace(_end_mark(one, axis, large))
    widest = max(text_width(part, size) for name in names for part in name.split("<br>"))
    figure.update_layout(margin_r=max(figure.layout.margin.r, round(widest) + 20))


def _two_lines(name: str) -> str:
    """Break a long name at the space nearest its middle, so that labels leave room for the plot."""
    spaces = [at for at, letter in enumerate(name) if letter == " "]
    if len(name) <= LONG_NAME or not spaces:
        return name
    at = min(spaces, key=lambda at: abs(at - len(name) / 2))
    return name[:at] + "<br>" + name[at + 1 :]


def _end_mark(one: Series, axis: str, large: bool) -> go.Scatter:
    return go.Scatter(
        x=[one.x[-1]],
        y=[one.y[-1]],
        yaxis=axis,
        mode="markers",
        marker={"size": 10 if large else 7, "color": colour(one.colour)},
        cliponaxis=False,
        hoverinfo="skip",
        showlegend=False,
    )


def _apart(places: Sequence[float], gap: float) -> list[float]:
    """The same order, every two neighbours at least `gap` apart, moved as little as need be."""
    order = np.argsort(places)
    moved = np.asarray(places, dtype=float)[order]
    for _ in range(50):
        overlaps = gap - np.diff(moved)
        if not (overlaps > 0.01).any():
            break
        push = np.clip(overlaps, 0, None) / 2
        moved[:-1] -= push
        moved[1:] += push
    result = np.empty(len(places))
    result[order] = moved
    return [float(place) for place in result]


def bar_marker(names: Sequence[str | int]) -> dict[str, object]:
    return {
        "color": [colour(name) for name in names],
        "pattern": {"shape": [_pattern(name) for name in names], "fillmode": "overlay"},
        "line": {"width": 0},
    }


def _pattern(name: str | int) -> str:
    return PATTERNS[theme.MEANINGS[name].pattern] if name in theme.MEANINGS else ""


def _has(row: TimelineRow, state: str) -> bool:
    return any(span.state == state for span in row.spans)


def _every(num_rows: int, plot_px: float, large: bool) -> int:
    """Label every row, every second, ...: as many as stand clear of each other."""
    label_px = 1.25 * (LARGE_TEXT_PX if large else TEXT_PX)
    return max(1, math.ceil(num_rows * label_px / max(plot_px, label_px)))


def _timeline_trace(rows: Sequence[TimelineRow], state: str) -> go.Bar:
    meaning = theme.MEANINGS[state]
    spans = [
        (number, span)
        for number, row in enumerate(rows)
        for span in row.spans
        if span.state == state
    ]
    label = tr(meaning.zh, meaning.en)
    return go.Bar(
        name=label,
        orientation="h",
        y=[number for number, _ in spans],
        base=[span.start for _, span in spans],
        x=[span.end - span.start for _, span in spans],
        width=0.72,
        marker={
            "color": meaning.colour,
            "pattern": {
                "shape": PATTERNS[meaning.pattern],
                "fillmode": "overlay",
                "fgcolor": "rgba(255,255,255,0.75)",
                "size": 6,
                "solidity": 0.25,
            },
            "line": {"width": 0},
        },
        customdata=[
            f"{rows[number].label} · {label}: {span.start:,.4g} – {span.end:,.4g}"
            for number, span in spans
        ],
        hovertemplate="%{customdata}<extra></extra>",
    )


def _legend(large: bool) -> dict[str, object]:
    return {
        "orientation": "h",
        "x": 0,
        "y": 1,
        "xanchor": "left",
        "yanchor": "bottom",
        "font": {"size": LARGE_TEXT_PX if large else TEXT_PX},
        "itemclick": False,
        "itemdoubleclick": False,
        "title": {"text": ""},
    }


def _cumulative(sample: Sample) -> Series:
    """The curve, drawn through at most MAX_CURVE_POINTS of its values."""
    values = np.sort(np.asarray(sample.values, dtype=float))
    values = values[np.isfinite(values)]
    if not len(values):
        return Series(sample.name, [0.0], [0.0], sample.colour, sample.dash)
    picked = np.unique(np.linspace(0, len(values) - 1, MAX_CURVE_POINTS).astype(int))
    x = np.concatenate([values[:1], values[picked]])
    y = np.concatenate([[0.0], (picked + 1) / len(values)])
    return Series(sample.name, x, y, sample.colour, sample.dash, step=len(picked) == len(values))


def _mark_percentiles(
    figure: go.Figure, sample: Sample, percentiles: Sequence[int], large: bool
) -> None:
    values = np.asarray(sample.values, dtype=float)
    values = values[np.isfinite(values)]
    if not len(values):
        return
    figure.add_trace(
        go.Scatter(
            x=[float(np.percentile(values, percentile)) for percentile in percentiles],
            y=[percentile / 100 for percentile in percentiles],
            mode="markers+text",
            text=[f"p{percentile}" for percentile in percentiles],
            textposition="bottom right",
            cliponaxis=False,
            marker={"size": 11 if large else 8, "color": colour(sample.colour)},
            hovertemplate="%{text}: %{x:,.3~g}<extra></extra>",
            showlegend=False,
        )
    )


def _log_ticks(
    data: Sequence[Sequence[float] | np.ndarray], large: bool
) -> dict[str, Sequence[float] | list[str]]:
    """Ticks at 1, 2, 5, 10 ... or, over more decades, at 1, 10, 100 ..."""
    values = np.concatenate([np.asarray(one, dtype=float) for one in data])
    values = values[np.isfinite(values) & (values > 0)]
    if not len(values):
        return {}
    low, high = np.floor(np.log10(values.min())), np.ceil(np.log10(values.max()))
    decades = 10.0 ** np.arange(low, high + 1)
    few = high - low <= (2 if large else 3)
    ticks = np.sort(np.outer(decades, [1, 2, 5] if few else [1]).ravel())
    ticks = ticks[(ticks >= values.min() / 2.5) & (ticks <= values.max() * 2.5)]
    return {"tickvals": ticks.tolist(), "ticktext": [f"{tick:,.12g}" for tick in ticks]}


__all__ = [
    "Panel",
    "Sample",
    "Series",
    "Span",
    "TimelineRow",
    "bars",
    "colour",
    "distribution",
    "grouped_bars",
    "lines",
    "mark_arrow",
    "mark_point",
    "name_in_corner",
    "number_line",
    "padded",
    "request_timeline",
    "show",
    "stacked_time_series",
]
