"""Curves, each named at its end."""

from collections.abc import Sequence

import numpy as np

from ui.charts import go
from ui.charts.curve_names import name_curves
from ui.charts.series import Series, line, x_span, y_span
from ui.charts.style import plain, style_axes


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
    figure = plain(height, large)
    for one in series:
        figure.add_trace(line(one, large))
    style_axes(figure, x_title, y_title, large, log_x, log_y)
    figure.update_xaxes(range=x_span(series, log_x))
    low, high = y_range or y_span(series, log_y)
    figure.update_yaxes(range=[np.log10(low), np.log10(high)] if log_y else [low, high])
    if log_x:
        figure.update_xaxes(**_log_ticks([one.x for one in series], large))
    if log_y:
        figure.update_yaxes(**_log_ticks([one.y for one in series], large))
    if len(series) > 1 and name_ends:
        name_curves(figure, series, (low, high), log_y, large)
    return figure


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
