"""Rounded weights for the eye: one channel step by step, a matrix as a histogram, what the text
loses.

The weights are those of the tiny model; what was computed of them is kept: the same format,
granularity and outlier give the same numbers.
"""

import json
from collections.abc import Sequence
from functools import lru_cache
from html import escape

import numpy as np
import plotly.graph_objects as go

from sim.model import fidelity, generation, quantization
from sim.model.fidelity import Fidelity
from sim.model.quantization import GRIDS, Granularity, Rounded
from sim.model.sampling import GREEDY
from sim.model.transformer import Array, Weights
from ui import charts, theme, tiny_model
from ui.charts import Series
from ui.player.painters import rounding
from ui.player.painters.rounding import Rounding, RoundingMoment
from ui.subjects.quantization import quantization_notes
from ui.words.language import tr
from ui.words.numbers import percent, significant

GROUP_SIZE = 16
GRANULARITIES = {
    "tensor": Granularity("tensor"),
    "channel": Granularity("channel"),
    "group": Granularity("group", GROUP_SIZE),
}
FORMATS = tuple(GRIDS)
OUTLIERS = (1, 2, 4, 8, 16)
OUTLIER_PLACE = 21  # which input is made large
MATRIX, LAYER = "gate", 0  # what is shown
NUM_SHOWN = 64  # and of it, the first weights of the channel that has most of that input
AIR = 1.12  # beyond the largest weight in the picture
NUM_BINS = 81
TEXTS_PER_LANGUAGE = 2
LONG_TEXT = {"zh": 60, "en": 150}  # letters that a text has at least
NUM_WRITTEN = 10
KEPT = 128
CELL_EMS = 3.9  # that the text of a token may be wide
START = "The KV cache"  # what it goes on from, the same in either language
HUES = {"fp8": 2, "int8": 0, "int4": 1}


def granularity_names() -> dict[str, str]:
    return {
        "tensor": tr("矩阵", "matrix"),
        "channel": tr("通道", "channel"),
        "group": tr(f"{GROUP_SIZE} 个", "group"),
    }


# -- what is computed, once ---------------------------------------------------------------------


@lru_cache(maxsize=len(OUTLIERS))
def model(outlier: int) -> Weights:
    """The tiny model, one of its inputs made `outlier` times as large; the same function."""
    return fidelity.with_outlier(tiny_model.target(), outlier, OUTLIER_PLACE)


@lru_cache(maxsize=1)
def channel() -> int:
    """Which channel is shown: the one where the outlier can be seen best."""
    usual = fidelity.channels(model(1), MATRIX, LAYER)
    return int(np.abs(usual[:, OUTLIER_PLACE]).argmax())


@lru_cache(maxsize=KEPT)
def matrix(grid: str, granularity: str, outlier: int) -> Rounded:
    own = fidelity.channels(model(outlier), MATRIX, LAYER)
    return quantization.rounded(own, GRIDS[grid], GRANULARITIES[granularity])


def error(grid: str, granularity: str, outlier: int) -> float:
    """Of the whole matrix.  What was made large in the weights arrives as much smaller."""
    done = matrix(grid, granularity, outlier)
    return done.relative_error(_inputs(done, outlier))


def _inputs(done: Rounded, outlier: int) -> Array:
    """How large each input is, against what it was, [inputs]."""
    sizes = np.ones(done.before.shape[1], np.float32)
    sizes[OUTLIER_PLACE] /= outlier
    return sizes


@lru_cache(maxsize=KEPT)
def _quantized(grid: str, granularity: str, outlier: int) -> Weights:
    return fidelity.quantized(model(outlier), GRIDS[grid], GRANULARITIES[granularity])


@lru_cache(maxsize=1)
def texts() -> tuple[tuple[int, ...], ...]:
    """A few paragraphs that the model was not trained on, in both languages."""
    everything = json.loads((tiny_model.FOLDER / "held_out.json").read_text("utf-8"))
    chosen = []
    for language, least in LONG_TEXT.items():
        long = [
            row["text"]
            for row in everything
            if row["language"] == language and len(row["text"]) >= least
        ]
        chosen += long[:TEXTS_PER_LANGUAGE]
    return tuple(tuple(tiny_model.encoder().prompt(text)) for text in chosen)


def num_places() -> int:
    """How many next tokens are foretold in them."""
    return sum(len(tokens) - 1 for tokens in texts())


@lru_cache(maxsize=1)
def _original() -> Array:
    return fidelity.log_probabilities(tiny_model.target(), texts())


def original_loss() -> float:
    return fidelity.compare(_original(), _original(), texts()).loss


@lru_cache(maxsize=KEPT)
def judged(grid: str, granularity: str, outlier: int) -> Fidelity:
    after = fidelity.log_probabilities(_quantized(grid, granularity, outlier), texts())
    return fidelity.compare(_original(), after, texts())


def all_judged(outlier: int) -> dict[tuple[str, str], Fidelity]:
    """(format, granularity) -> how close it stays."""
    return {(grid, name): judged(grid, name, outlier) for grid in FORMATS for name in GRANULARITIES}


@lru_cache(maxsize=KEPT)
def written(text: str, grid: str, granularity: str, outlier: int) -> tuple[int, ...]:
    return _write(_quantized(grid, granularity, outlier), text)


@lru_cache(maxsize=KEPT)
def written_before(text: str) -> tuple[int, ...]:
    return _write(tiny_model.target(), text)


def _write(weights: Weights, text: str) -> tuple[int, ...]:
    prompt = tiny_model.prompt(text)
    decoder = generation.Decoder.with_room(weights, len(prompt) + NUM_WRITTEN)
    steps = generation.generate(decoder, prompt, NUM_WRITTEN, GREEDY)
    return tuple(step.token for step in steps)


def num_kept(one: Sequence[int], other: Sequence[int]) -> int:
    """How many tokens two texts have in common from their beginning."""
    pairs = enumerate(zip(one, other, strict=True))
    return next((at for at, (left, right) in pairs if left != right), len(one))


def with_error(one: Fidelity) -> str:
    """The change of the loss with its standard error: "+0.29 ± 0.07"."""
    return f"{one.change:+.2f} ± {one.change_error:.2f}".replace("-", "−")


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
    lost = done.of(channel(), first, end).relative_error(_inputs(done, outlier)[first:end])
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
