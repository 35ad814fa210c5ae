"""What each request was doing when: a line per request."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ui import theme
from ui.charts import go
from ui.charts.style import PATTERNS, edge, fill, legend, plain, style_axes, text_px, text_width
from ui.words.language import tr

ROW_PX = 18  # height of one request in the timeline
FRAME_PX = 90  # of a timeline's height: legend, axis and its title
LOW_BAR = 0.5  # of a row: a bar that leaves room for a name above it


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


def request_timeline(
    rows: Sequence[TimelineRow],
    x_title: str,
    *,
    large: bool = False,
    height: int | None = None,
) -> go.Figure:
    """One line per request: what it was doing when.  One trace per state, each with a pattern."""
    figure = plain(height or FRAME_PX + max(len(rows), 4) * ROW_PX, large)
    states = [state for state in theme.MEANINGS if any(_has(row, state) for row in rows)]
    for state in states:
        figure.add_trace(_timeline_trace(rows, state))
    style_axes(figure, x_title, "", large)
    every = _every(len(rows), figure.layout.height - FRAME_PX, large)
    figure.update_yaxes(
        range=[len(rows) - 0.4, -0.6],
        tickvals=list(range(0, len(rows), every)),
        ticktext=[row.label for row in rows[::every]],
        showgrid=False,
        showline=False,
    )
    figure.update_xaxes(rangemode="tozero")
    figure.update_layout(barmode="overlay", showlegend=True, legend=legend(large))
    return figure


def write_at_ends(
    figure: go.Figure, ends: Sequence[float], texts: Sequence[str], large: bool
) -> None:
    """A text right of each row, where it ends, with room for it beside the longest row."""
    size = text_px(large)
    for row, (end, text) in enumerate(zip(ends, texts, strict=True)):
        figure.add_annotation(
            x=end, y=row, text=text, showarrow=False, xanchor="left", xshift=6, font_size=size
        )
    figure.update_xaxes(range=[0, max(ends)])
    figure.update_layout(margin_r=round(max(text_width(text, size) for text in texts)) + 10)


def name_span_above(figure: go.Figure, row: int, span: Span, text: str, large: bool) -> None:
    """In a row whose bar is `LOW_BAR` high."""
    figure.add_annotation(
        x=(span.start + span.end) / 2,
        y=row - LOW_BAR / 2,
        yanchor="bottom",
        text=text,
        showarrow=False,
        font_size=text_px(large),
    )


def _has(row: TimelineRow, state: str) -> bool:
    return any(span.state == state for span in row.spans)


def _every(num_rows: int, plot_px: float, large: bool) -> int:
    """Label every row, every second, ...: as many as stand clear of each other."""
    label_px = 1.25 * text_px(large)
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
            "color": fill(state),
            "pattern": {
                "shape": PATTERNS[meaning.pattern],
                "fillmode": "overlay",
                "fgcolor": "rgba(255,255,255,0.75)",
                "size": 6,
                "solidity": 0.25,
            },
            "line": edge(state),
        },
        customdata=[
            f"{rows[number].label} · {label}: {span.start:,.4g} – {span.end:,.4g}"
            for number, span in spans
        ],
        hovertemplate="%{customdata}<extra></extra>",
    )
