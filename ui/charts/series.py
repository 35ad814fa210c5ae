"""What a curve is made of: its points, its line, the range they need."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ui.charts import go
from ui.charts.style import KEY_GAP, Dash, colour, faint

LINE_PX, LARGE_LINE_PX = 2.5, 4.0
MAX_STRETCHES = 200  # of a curve over time, two points each
# Of letters that come with Streamlit's own font; box drawing is twice as wide in some fonts.
DASH_SIGNS = {
    dash: f"<b>{sign}</b>"
    for dash, sign in {"solid": "——", "dash": "– –", "dot": "···", "dashdot": "–·–"}.items()
}
LOG_AIR = 1.6  # times, on either side; a single value still has one of 1, 2, 5, 10 in view


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


def line(one: Series, large: bool) -> go.Scatter:
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


def x_span(series: Sequence[Series], log: bool) -> list[float] | None:
    """From the first point to the last; None leaves it to Plotly."""
    values = np.concatenate([np.asarray(one.x, dtype=float) for one in series] or [np.zeros(1)])
    values = values[np.isfinite(values) & ((values > 0) | (not log))]
    if not len(values) or values.min() == values.max():
        return None
    ends = [float(values.min()), float(values.max())]
    return [float(np.log10(end)) for end in ends] if log else ends


def y_span(series: Sequence[Series], log: bool) -> tuple[float, float]:
    values = np.concatenate([np.asarray(one.y, dtype=float) for one in series] or [np.zeros(1)])
    values = values[np.isfinite(values)]
    if log:
        values = values[values > 0]
        low, high = (values.min(), values.max()) if len(values) else (0.2, 0.5)
        return float(low) / LOG_AIR, float(high) * LOG_AIR
    high = float(values.max()) if len(values) else 0
    return min(0.0, float(values.min()) if len(values) else 0), high * 1.08 or 1


def thinned(name: str, x: np.ndarray, y: np.ndarray, colour: str, dash: Dash = "solid") -> Series:
    """A curve thinned for drawing: start and highest point of each stretch, so no peak is lost."""
    if len(x) > 2 * MAX_STRETCHES:
        stretches = np.array_split(np.arange(len(x)), MAX_STRETCHES)
        picked = {index for s in stretches for index in (s[0], s[np.argmax(y[s])])}
        kept = np.array(sorted({*picked, len(x) - 1}))
        x, y = x[kept], y[kept]
    return Series(name, x, y, colour, dash, step=True)


def keyed(title: str, series: Sequence[Series]) -> str:
    """A panel's title with the names of its curves in their colours and dashes."""
    return KEY_GAP.join([title, *map(_key, series)])


def _key(one: Series) -> str:
    """A curve's name in its colour and dash."""
    return f'<span style="color:{colour(one.colour)}">{DASH_SIGNS[one.dash]} {one.name}</span>'
