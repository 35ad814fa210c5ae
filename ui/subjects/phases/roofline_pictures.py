"""Prefill and decode on one roofline."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sim.cost import Part, Roofline, phases
from ui import charts, theme
from ui.charts import Series, go
from ui.subjects.phases.pictures import POWERS_OF_TWO
from ui.words.language import tr
from ui.words.numbers import significant

LEFT, RIGHT = 0.05, 10_000.0  # FLOP per byte, the ends of the axis
TERA = 1e12


@dataclass(frozen=True)
class RooflineMark:
    """Where a kind of work stands, how that is drawn, and what it is called."""

    part: Part
    kind: str  # a key of ui.theme
    symbol: str
    name: str


def roofline(
    clock: Roofline, prompt: int, batch: int, context: int, large: bool = False
) -> go.Figure:
    """The roof of a GPU, and on it one prefill, a decode step, and the two parts of that.

    Small dots are where the decode step and its weights stood at smaller batches.  Marks meet, so
    they are named in the corner above the roof, where none of them can be.
    """
    sheet = (clock.gpu.ridge, clock.gpu.peak_flops)
    roofs = [
        _roof(tr("能达到的", "within reach"), clock.ridge, clock.flops_per_second, charts.NEUTRAL),
        _roof(tr("数据手册", "data sheet"), *sheet, charts.NEUTRAL, "dot"),
    ]
    figure = charts.lines(
        roofs,
        tr("每字节运算次数（FLOP/字节）", "FLOP per byte"),
        charts.keyed("TFLOP/s", roofs),
        log_x=True,
        log_y=True,
        name_ends=False,
        large=large,
        height=272,
    )
    figure.update_traces(showlegend=False)  # of the roofs: they are named above
    ends = [LEFT * clock.bytes_per_second / TERA, 3 * clock.gpu.peak_flops / TERA]
    figure.update_yaxes(range=np.log10(ends).tolist())
    figure.update_xaxes(range=np.log10([LEFT, RIGHT]).tolist())
    _mark_ridge(figure, clock.ridge, large)
    smaller = [one for one in POWERS_OF_TWO if one < batch]
    before = [clock.breakdown(phases.decode(one, context)) for one in smaller]
    figure.add_trace(_dots([step.weights for step in before], "weights", large))
    figure.add_trace(_dots([step.whole for step in before], "decode", large))
    now = clock.breakdown(phases.decode(batch, context))
    whole = clock.breakdown(phases.prefill(prompt)).whole
    for mark in (
        RooflineMark(whole, "prefill", "square", tr("预填充", "prefill")),
        RooflineMark(now.whole, "decode", "circle-open", tr("解码", "decode")),
        RooflineMark(now.attention, "stored", "diamond", tr("其中注意力", "its attention")),
        RooflineMark(now.weights, "weights", "triangle-up", tr("其中权重", "its weights")),
    ):
        figure.add_trace(_drawn(mark, large))
    charts.name_in_corner(figure, large, 0, 1)
    return figure


def _roof(name: str, ridge: float, peak: float, colour: str, dash: charts.Dash = "solid") -> Series:
    x = [LEFT, ridge, RIGHT]
    y = [min(each / ridge, 1) * peak / TERA for each in x]
    return Series(name, x, y, colour, dash)


def _mark_ridge(figure: go.Figure, ridge: float, large: bool) -> None:
    figure.add_vline(x=ridge, line={"width": 1.5, "color": charts.NEUTRAL, "dash": "dot"})
    number = significant(ridge)
    figure.add_annotation(
        x=float(np.log10(ridge)),
        y=0,
        yref="paper",
        yanchor="bottom",
        xanchor="left",
        xshift=4,
        text=tr(f"拐点 {number}", f"ridge {number}"),
        showarrow=False,
        font_size=charts.text_px(large),
    )


def _reached(part: Part) -> float:
    """TFLOP/s while it is done."""
    return part.flops / max(part.compute_seconds, part.memory_seconds) / TERA


def _dots(parts: Sequence[Part], kind: str, large: bool) -> go.Scatter:
    return go.Scatter(
        x=[part.intensity for part in parts],
        y=[_reached(part) for part in parts],
        mode="markers",
        showlegend=False,
        marker={"size": 9 if large else 6, "color": theme.MEANINGS[kind].colour},
        opacity=0.6,
        hoverinfo="skip",
    )


def _drawn(mark: RooflineMark, large: bool) -> go.Scatter:
    hue, size = theme.MEANINGS[mark.kind].colour, 20 if large else 14
    is_ring = mark.symbol.endswith("open")  # around what lies within
    return go.Scatter(
        x=[mark.part.intensity],
        y=[_reached(mark.part)],
        name=mark.name,
        mode="markers",
        marker={
            "symbol": mark.symbol,
            "size": round(size * 1.25) if is_ring else size,
            "color": hue,
            "line": {"width": round(size / 5) if is_ring else 0, "color": hue},
        },
        cliponaxis=False,
        hovertemplate=f"{mark.name}: %{{x:,.3~g}} FLOP/B, %{{y:,.3~g}} TFLOP/s<extra></extra>",
    )
