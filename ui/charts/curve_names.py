"""The names of curves, beside them and clear of each other, in place of a legend."""

from collections.abc import Sequence

import numpy as np

from ui.charts import go
from ui.charts.series import Series
from ui.charts.style import OUTSIDE_PX, colour, text_px, text_width

LONG_NAME = 12  # letters; a longer name at the end of a curve takes two lines


def name_curves(
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
    size = text_px(large)
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
    size = text_px(large)
    names = [_two_lines(one.name) for one in series]
    tallest = 1 + max(name.count("<br>") for name in names)
    places = apart(ends_px, size * 1.2 * tallest)
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


def apart(places: Sequence[float], gap: float) -> list[float]:
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
