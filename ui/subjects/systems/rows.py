"""Bars in rows, each row with its name above or beside it."""

from collections.abc import Sequence

from ui import charts
from ui.charts import go

BAR, OFFSET = 0.46, -0.06  # height and place of a bar in its row, below its name


def draw_columns(
    labels: Sequence[str],
    columns: Sequence[tuple[str, int, Sequence[float]]],
    texts: Sequence[Sequence[str]],
    shown: int,
    large: bool,
) -> go.Figure:
    """Bars in columns that share their rows; each column has a scale of its own."""
    size = charts.text_px(large)
    figure = charts.plain(round(len(labels) * size * 3.8) + 40, large)
    share = 1 / len(columns)
    rows = list(range(len(labels)))
    for number, (title, hue, values) in enumerate(columns):
        nth = f"{number + 1}" if number else ""
        bright = [1.0 if row == shown - 1 else 0.55 for row in rows]
        figure.add_trace(
            go.Bar(
                y=rows,
                x=[value if row < shown else 0 for row, value in zip(rows, values, strict=True)],
                xaxis=f"x{nth}",
                orientation="h",
                width=BAR,
                offset=OFFSET,
                text=[f"<b>{t}</b>" if row == shown - 1 else t
                      for row, t in zip(rows, texts[number], strict=True)],
                textposition="outside",
                cliponaxis=False,
                marker={"color": charts.colour(hue), "opacity": bright},
                hovertemplate="%{text}<extra></extra>",
            )
        )  # fmt: skip
        figure.layout[f"xaxis{nth}"] = {
            "domain": [number * share, (number + 1) * share - 0.04],
            "range": [0, max(values) * 1.5],
            "visible": False,
            "fixedrange": True,
        }
        figure.add_annotation(
            text=f"<b>{title}</b>",
            xref="paper",
            yref="paper",
            x=number * share,
            y=1,
            xanchor="left",
            yanchor="bottom",
            showarrow=False,
            font_size=size,
        )
    off = f'<span style="color:{charts.NEUTRAL}">{{}}</span>'
    named = [name if row < shown else off.format(name) for row, name in enumerate(labels)]
    name_rows_above(figure, named, size, top=0.6)
    return figure


def name_rows_above(figure: go.Figure, labels: Sequence[str], size: int, top: float) -> None:
    """Each name above its bars, from the left edge on, so that bars keep the whole width."""
    for row, label in enumerate(labels):
        figure.add_annotation(
            text=label,
            xref="paper",
            x=0,
            y=row + OFFSET - 0.02,
            xanchor="left",
            yanchor="bottom",
            align="left",
            showarrow=False,
            font_size=size,
        )
    figure.update_yaxes(visible=False, range=[len(labels) - 0.5, -top], fixedrange=True)
    figure.update_layout(margin_t=size * 2, margin_b=8)


def name_rows(figure: go.Figure, labels: Sequence[str], size: int) -> None:
    figure.update_yaxes(
        tickvals=list(range(len(labels))),
        ticktext=list(labels),
        range=[len(labels) - 0.5, -0.5],
        tickfont={"size": size},
        showgrid=False,
        zeroline=False,
        fixedrange=True,
        automargin=True,
    )
    figure.update_layout(margin_t=size * 2, margin_b=8)
