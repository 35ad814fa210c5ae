"""A few small charts above each other on one time axis."""

from collections.abc import Sequence
from dataclasses import dataclass

from ui.charts import go
from ui.charts.curve_names import name_curves
from ui.charts.series import Series, line, x_span, y_span
from ui.charts.style import (
    KEY_GAP,
    OUTSIDE_PX,
    plain,
    style_axes,
    text_px,
    title_px,
    write_above,
    y_axis,
)
from ui.words.language import tr

ROOM_FOR_NAMES = 1.2  # above the peaks of a small panel


@dataclass(frozen=True)
class Subplot:
    """One of several small charts above each other on a shared time axis."""

    title: str
    series: Sequence[Series]
    unit: str = ""
    top: float | None = None  # upper end of the axis; by default what the data need
    names_in_title: bool = False  # the title already names the curves


def stacked_time_series(
    panels: Sequence[Subplot],
    x_title: str,
    *,
    large: bool = False,
    height: int | None = None,
) -> go.Figure:
    """A few small charts above each other on one time axis, to see what happens together."""
    size = text_px(large)
    figure = plain(height or 60 + len(panels) * (150 if large else 125), large)
    style_axes(figure, x_title, "", large)
    titles = [_panel_title(panel) for panel in panels]
    lower = max([title_px(title, size) for title in titles[1:]], default=0.0)
    plot_px = figure.layout.height - OUTSIDE_PX
    gap = (lower + 1.3 * size) / plot_px
    share = (1 - gap * (len(panels) - 1)) / len(panels)
    layout: dict[str, object] = {}
    for number, panel in enumerate(panels):
        top = 1 - number * (share + gap)
        axis = "y" if number == 0 else f"y{number + 1}"
        high = panel.top if panel.top is not None else y_span(panel.series, False)[1]
        has_names = len(panel.series) > 1 and not panel.names_in_title
        high *= ROOM_FOR_NAMES if panel.top is None and has_names else 1
        layout[axis.replace("y", "yaxis")] = {
            **y_axis(large),
            "domain": [max(top - share, 0), top],
            "range": [0, high],
            "nticks": max(2, min(4, round(share * plot_px / (1.6 * size)))),
        }
        for one in panel.series:
            figure.add_trace(line(one, large).update(yaxis=axis, xaxis="x"))
        write_above(figure, titles[number], top, size)
        if has_names:
            name_curves(figure, panel.series, (0, high), False, large, axis, share)
    times = [0.0, *(x_span([one for panel in panels for one in panel.series], False) or [1.0])]
    layout["xaxis"] = {
        "anchor": "y" if len(panels) == 1 else f"y{len(panels)}",
        "range": [min(times), max(times)],
    }
    figure.update_layout(**layout, hovermode="x", hoversubplots="axis")
    return figure


def _panel_title(panel: Subplot) -> str:
    if not panel.unit:
        return panel.title
    title, gap, keys = panel.title.partition(KEY_GAP)
    return tr(f"{title}（{panel.unit}）", f"{title} ({panel.unit})") + gap + keys
