"""What somebody guessed, beside what came out; which setting is in use."""

from collections.abc import Sequence

from ui.charts import go
from ui.charts.style import NEUTRAL, colour, plain, style_axes, text_px

SMALLEST_SPAN = 0.05  # of an axis, as a share of its values


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


def mark_setting(figure: go.Figure, x: float) -> None:
    """A line through all curves at the setting in use."""
    figure.add_vline(x=x, line={"color": NEUTRAL, "width": 1.5, "dash": "dot"})


def mark_guess(figure: go.Figure, x: float, label: str, large: bool = False) -> None:
    """A labelled line through the figure where somebody guesses that something ends."""
    figure.add_vline(
        x=x,
        line={"color": NEUTRAL, "width": 2, "dash": "dash"},
    )
    figure.add_annotation(
        text=label,
        x=x,
        y=0,
        yref="y domain",
        xanchor="right",
        yanchor="bottom",
        showarrow=False,
        font_size=text_px(large),
    )


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
        font_size=text_px(large),
    )
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
    size = text_px(large)
    figure = plain(round(size * 7), large)
    style_axes(figure, "", "", large)
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
