"""Which share of measured values is at most x."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ui.charts import go
from ui.charts.line_charts import lines
from ui.charts.series import Series
from ui.charts.style import Dash, colour, legend
from ui.words.language import tr

MAX_CURVE_POINTS = 400
PERCENTILES = (50, 99)


@dataclass(frozen=True)
class Sample:
    """Measured values whose distribution is drawn."""

    name: str
    values: Sequence[float] | np.ndarray
    colour: str | int = 0
    dash: Dash = "solid"


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
        corner = {**legend(large), "orientation": "v", "x": 1, "xanchor": "right", "y": 0}
        figure.update_layout(showlegend=True, legend=corner)
    return figure


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
