"""Horizontal bars, told apart without colour."""

from collections.abc import Mapping, Sequence

import numpy as np

from ui import theme
from ui.charts import go
from ui.charts.style import (
    PATTERNS,
    edge,
    fill,
    name_in_corner,
    plain,
    style_axes,
    text_px,
    text_width,
)


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
    size = text_px(large)
    figure = plain(height or 70 + len(labels) * (size * 3), large)
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
    style_axes(figure, value_title, "", large)
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
    figure = plain(height, large)
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
    style_axes(figure, value_title, "", large)
    figure.update_xaxes(rangemode="tozero")
    figure.update_yaxes(
        autorange="reversed", tickvals=places, ticktext=list(labels), showgrid=False, showline=False
    )
    figure.update_layout(barmode="group", bargap=0.3)
    name_in_corner(figure, large, x=1, y=0)
    return figure


def bar_marker(names: Sequence[str | int]) -> dict[str, object]:
    return {
        "color": [fill(name) for name in names],
        "pattern": {"shape": [_pattern(name) for name in names], "fillmode": "overlay"},
        "line": {
            "width": [edge(name)["width"] for name in names],
            "color": [edge(name)["color"] for name in names],
        },
    }


def _pattern(name: str | int) -> str:
    return PATTERNS[theme.MEANINGS[name].pattern] if name in theme.MEANINGS else ""
