"""A figure on the page, with words for those who do not see it."""

import math
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import partial

import pandas  # noqa: F401  plotly would look into it while another thread still imports it
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from ui.charts import go
from ui.charts.style import LINE, TAG, text_width

CONFIG = {"displayModeBar": False, "scrollZoom": False, "showTips": False, "responsive": True}
LEAST_GROWING = 240  # px; what is lower is a strip or a bar, and stays one
LEGEND_LINES = 3.2  # of text that a row of names above a figure takes, with air


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
    grows = not fill and figure.layout.height >= LEAST_GROWING
    _leave_room(figure)
    with _growing(figure, key) if grows else nullcontext():
        st.plotly_chart(
            go.Checked(figure),
            key=key,
            alt=alt,
            theme="streamlit",
            config=CONFIG,
            height="stretch" if fill or grows else "content",
            on_select=partial(pass_on, key, clicked) if clicked else "ignore",
            selection_mode="points",
        )


def _growing(figure: go.Figure, key: str) -> DeltaGenerator:
    """A place as high as the figure, which the style sheet lets grow with the window."""
    place = st.container(key=f"grows-{key}", height=figure.layout.height, border=False)
    figure.update_layout(height=None, autosize=True)
    return place


def pass_on(key: str, clicked: Callable[[object], None]) -> None:
    """The point under the click; a second click takes the selection back, and says nothing."""
    points = st.session_state[key]["selection"]["points"]
    data = points[0].get("customdata") if points else None
    if data is not None:
        clicked(data[0] if isinstance(data, list) else data)


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
        title = layout.xaxis.title.text or ""
        lines = 4.1 + LINE * title.count("<br>") if title else 1.9  # of text: labels, title, air
        layout.margin.b = max(layout.margin.b, round(lines * size))
    figure.update_yaxes(automargin=False)
    figure.update_xaxes(automargin=False)


def _labels(figure: go.Figure, axis: go.Entries) -> Sequence[str]:
    """What stands at a vertical axis, or something as wide."""
    if axis.visible is False or axis.showticklabels is False:
        return []
    if axis.ticktext is not None:
        lines = (TAG.sub("", label).split("<br>") for label in axis.ticktext)
        return [line for each in lines for line in each]
    if axis.categoryarray is not None:
        return list(axis.categoryarray)
    if axis.range is None:  # of bars
        names = [str(name) for trace in figure.data for name in trace.y]
        return [line for name in names for line in name.split("<br>")]
    low, high = axis.range
    step = abs(high - low) / axis.nticks
    decimals = max(0, -math.floor(math.log10(step))) if 0 < step < math.inf else 0
    return [f"{end:,.{decimals}f}".replace("-", "−") for end in (low, high)]
