"""Rounded weights for the eye: one channel step by step, a matrix as a histogram, what the text
loses.  What is drawn was computed by `rounded`.
"""

from collections.abc import Sequence
from html import escape

import numpy as np

from sim.model import fidelity
from sim.model.quantization import Rounded
from sim.model.transformer import Array
from ui import charts, theme, tiny_model
from ui.charts import Series, go
from ui.player.painters import rounding
from ui.player.painters.rounding import Rounding, RoundingMoment
from ui.subjects.quantization import quantization_notes
from ui.subjects.quantization.rounded import (
    GROUP_SIZE,
    LAYER,
    MATRIX,
    NUM_SHOWN,
    NUM_WRITTEN,
    all_judged,
    channel,
    granularity_names,
    inputs,
    matrix,
    model,
    written,
    written_before,
)
from ui.words.language import tr
from ui.words.numbers import percent, significant

AIR = 1.12  # beyond the largest weight in the picture
NUM_BINS = 81
CELL_EMS = 3.9  # that the text of a token may be wide
HUES = {"fp8": 2, "int8": 0, "int4": 1}


# -- one channel --------------------------------------------------------------------------------


def as_steps(grid: str, granularity: str, outlier: int, alt: str) -> Rounding:
    """The first weights of a channel: a scale, its levels, the weights of that scale on them."""
    done = matrix(grid, granularity, outlier)
    before, after = (each[channel(), :NUM_SHOWN] for each in (done.before, done.after))
    usual = fidelity.channels(model(1), MATRIX, LAYER)[channel(), :NUM_SHOWN]
    top = float(np.abs(usual).max()) * AIR
    size = GROUP_SIZE if granularity == "group" else NUM_SHOWN
    firsts = range(0, NUM_SHOWN, size)
    spans = [_span(done, granularity, outlier, first, first + size, top) for first in firsts]
    moments = [RoundingMoment(0, "before")]
    for number in range(len(spans)):
        moments += [RoundingMoment(number, "scale"), RoundingMoment(number, "round")]
    said = [_note(done, granularity, moment, spans) for moment in moments]
    return Rounding(
        before=before,
        after=after,
        top=top,
        spans=tuple(spans),
        moments=tuple(moments),
        notes=tuple(said),
        events=tuple((moment.phase,) if moment.phase == "scale" else () for moment in moments),
        times=tuple(_time(moment, len(spans)) for moment in moments),
        alt=alt,
    )


def _scale(done: Rounded, granularity: str, first: int) -> float:
    inputs = done.before.shape[1]
    index = {
        "tensor": 0,
        "channel": channel(),
        "group": (channel() * inputs + first) // GROUP_SIZE,
    }[granularity]
    return float(done.scales[index])


def _span(
    done: Rounded, granularity: str, outlier: int, first: int, end: int, top: float
) -> rounding.ScaleSpan:
    scale = _scale(done, granularity, first)
    levels = done.grid.levels * scale
    seen = levels[np.abs(levels) <= top]
    lost = done.of(channel(), first, end).relative_error(inputs(done, outlier)[first:end])
    return rounding.ScaleSpan(first, end, significant(scale), tuple(seen.tolist()), percent(lost))


def _note(
    done: Rounded, granularity: str, moment: RoundingMoment, spans: Sequence[rounding.ScaleSpan]
) -> str:
    span = spans[moment.span]
    if moment.phase == "before":
        return quantization_notes.unrounded(NUM_SHOWN)
    if moment.phase == "scale":
        scale = _scale(done, granularity, span.first)
        return quantization_notes.scaled(
            granularity, scale * done.grid.largest, done.grid.largest, scale, len(done.grid.levels)
        )
    own = slice(span.first, span.end)
    zeros = int((done.after[channel(), own] == 0).sum())
    return quantization_notes.rounded(span.end - span.first, zeros, span.error)


def _time(moment: RoundingMoment, num_spans: int) -> str:
    return tr(
        f"第 {moment.span + 1} 个缩放系数，共 {num_spans} 个",
        f"scale {moment.span + 1} of {num_spans}",
    )


# -- a whole matrix -----------------------------------------------------------------------------


def histogram(grid: str, granularity: str, outlier: int, large: bool = False) -> go.Figure:
    """How often weights of each size occur, before and after rounding; the outlier's are beyond."""
    done = matrix(grid, granularity, outlier)
    usual = fidelity.channels(model(1), MATRIX, LAYER)
    top = float(np.abs(usual).max())
    edges = np.linspace(-top, top, NUM_BINS + 1)
    before, after = (
        100 * np.histogram(each, edges)[0] / each.size for each in (done.before, done.after)
    )
    shown = [
        _stairs(tr("舍入后", "after"), edges, after, "rounded"),
        _stairs(tr("舍入前", "before"), edges, before, charts.NEUTRAL),
    ]
    figure = charts.lines(
        shown,
        tr("权重", "weight"),
        charts.keyed(tr("占全部权重的 %", "% of all weights"), shown),
        name_ends=False,
        large=large,
        height=205,
    )
    figure.data[0].update(fill="tozeroy", fillcolor=charts.faint(charts.colour("rounded")))
    return figure.update_yaxes(rangemode="tozero")


def _stairs(name: str, edges: Array, shares: Array, hue: str) -> Series:
    return Series(name, edges, np.append(shares, shares[-1]), hue, step=True)


# -- what the text loses ------------------------------------------------------------------------


def losses(outlier: int, chosen: tuple[str, str], large: bool = False) -> go.Figure:
    """How much the loss grows, one row for each format and granularity, with its standard error.

    Beside each, how often the most probable next token is still the same.
    """
    found = all_judged(outlier)
    names = granularity_names()
    labels = [f"{grid} · {names[name]}" for grid, name in found]
    size = charts.text_px(large)
    marked = list(found).index(chosen)
    ticks = [f"<b>{label}</b>" if at == marked else label for at, label in enumerate(labels)]
    figure = charts.bars(
        labels,
        [one.change for one in found.values()],
        tr("损失增加多少（nat/token）", "loss grows by (nats per token)"),
        colours=[HUES[grid] for grid, _ in found],
        large=large,
        height=480 if large else 290,
    )
    figure.data[0].update(
        error_x={
            "array": [one.change_error for one in found.values()],
            "color": charts.NEUTRAL,
            "thickness": 2,
        },
        y=ticks,
        textposition="none",
    )
    figure.update_yaxes(tickmode="array", tickvals=ticks, ticktext=ticks)
    low = min(0.0, *(one.change - one.change_error for one in found.values()))
    high = max(one.change + one.change_error for one in found.values())
    figure.update_xaxes(range=[low - 0.02 * high, 1.04 * high], zeroline=True, zerolinewidth=2)
    figure.update_xaxes(zerolinecolor=charts.AXIS)
    for tick, one in zip(ticks, found.values(), strict=True):
        figure.add_annotation(
            x=1,
            xref="paper",
            xanchor="left",
            xshift=8,
            y=tick,
            text=percent(one.agreement),
            showarrow=False,
            font_size=size,
        )
    heading = tr("首选相同", "same top")
    figure.add_annotation(
        x=1,
        xref="paper",
        xanchor="left",
        xshift=8,
        y=1,
        yref="paper",
        yanchor="bottom",
        text=heading,
        showarrow=False,
        font_size=size,
    )
    return figure.update_layout(margin_r=round(charts.text_width(heading, size)) + 16)


def two_texts(
    text: str, grid: str, granularity: str, outlier: int, large: bool = False
) -> go.Figure:
    """What both models write, token by token; whatever the quantized one writes differently, too,
    is marked."""
    before = written_before(text)
    after = written(text, grid, granularity, outlier)
    rows = {tr("原模型", "original"): before, grid: after}
    figure = charts.lines([Series("", [0, NUM_WRITTEN], [0, 2])], "", "", large=large, height=150)
    figure.data = ()
    for row, tokens in enumerate(rows.values()):
        for at, token in enumerate(tokens):
            differs = row == 1 and token != before[at]
            _cell(figure, at, -row, tiny_model.piece(token), differs, large)
    figure.update_xaxes(visible=False, range=[-0.05, NUM_WRITTEN])
    figure.update_yaxes(
        range=[-1.5, 0.5],
        tickvals=[0, -1],
        ticktext=list(rows),
        showgrid=False,
    )
    return figure.update_layout(margin={"t": 8, "b": 8})


def _cell(figure: go.Figure, at: int, row: int, piece: str, differs: bool, large: bool) -> None:
    meaning = theme.MEANINGS["round_off" if differs else "unrounded"]
    figure.add_shape(
        type="rect",
        x0=at,
        x1=at + 0.94,
        y0=row - 0.36,
        y1=row + 0.36,
        line={"color": meaning.colour, "width": 3 if differs else 1},
        layer="below",
    )
    words = escape(_cut(piece))
    figure.add_annotation(
        x=at + 0.47,
        y=row,
        text=f"<b>{words}</b>" if differs else words,
        showarrow=False,
        font_size=charts.text_px(large) - 2,
    )


def _cut(piece: str) -> str:
    if charts.text_width(piece, 1) <= CELL_EMS:
        return piece
    fitting = [
        end for end in range(len(piece)) if charts.text_width(piece[:end] + "…", 1) <= CELL_EMS
    ]
    return piece[: fitting[-1]] + "…"
