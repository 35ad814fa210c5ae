"""Pictures of prefill and decode: matrices to scale, the two times of a step, one after the other.

They read results of `sim` and hand them to `charts`; nothing here decides or measures anything.
"""

from collections.abc import Sequence

import numpy as np

from sim.cost import Kernels, Roofline, phases
from sim.engine import Step
from sim.specs import Model
from ui import charts, theme
from ui.charts import Series, Span, TimelineRow, go
from ui.player.painters.passes import Passes
from ui.words import notes
from ui.words.language import tr
from ui.words.numbers import count, memory, seconds

GAP = 500  # between two matrices, in rows or columns
LABEL = 700  # below the lowest
AIR = 160  # around all of them
LEAST_PX = 3  # a matrix of one row is drawn as a line so thick


# -- two shapes ---------------------------------------------------------------------------------


def matrices(model: Model, rows: int, most: int, phase: str, large: bool = False) -> go.Figure:
    """Rows in, the weights of one layer's `gate`, and rows out, all on one scale.

    The result lies below the weights and beside the rows, as in a multiplication on paper.  `most`
    rows have room.
    """
    hidden, ffn = model.hidden, model.ffn
    figure = charts.lines([Series("", [0], [0])], "", "", large=large, height=236)
    figure.data = ()
    size = charts.text_px(large)
    left = hidden + GAP
    _matrix(figure, (0, hidden), (-GAP - rows, -GAP), phase)
    _matrix(figure, (left, left + ffn), (0, hidden), "weights")
    _matrix(figure, (left, left + ffn), (-GAP - rows, -GAP), phase)
    middle, below = left + ffn / 2, -GAP - rows
    for x, y, anchors, name, height, width in (
        (0, below, ("left", "top"), tr("输入", "in"), rows, hidden),
        (middle, hidden / 2, ("center", "middle"), tr("权重", "weights"), hidden, ffn),
        (middle, below, ("center", "top"), tr("输出", "out"), rows, ffn),
    ):
        figure.add_annotation(
            x=x,
            y=y,
            text=f"<b>{name} {count(height)} × {count(width)}</b>",
            showarrow=False,
            xanchor=anchors[0],
            yanchor=anchors[1],
            font_size=size,
        )
    figure.update_xaxes(visible=False, range=[-AIR, left + ffn + AIR])
    figure.update_yaxes(
        visible=False,
        range=[-GAP - most - LABEL, hidden + AIR],
        scaleanchor="x",
        constrain="domain",
    )
    return figure.update_layout(margin={"l": 4, "r": 4, "t": 4, "b": 4})


def _matrix(
    figure: go.Figure, columns: tuple[float, float], rows: tuple[float, float], kind: str
) -> None:
    """A rectangle; where it is thinner than a line, its outline is what one sees."""
    hue = theme.MEANINGS[kind].colour
    figure.add_shape(
        type="rect",
        x0=columns[0],
        x1=columns[1],
        y0=rows[0],
        y1=rows[1],
        fillcolor=hue,
        line={"color": hue, "width": LEAST_PX},
        layer="below",
    )


# -- the kernels of a step -------------------------------------------------------------------------


def kernel_bar(kernels: Kernels, fixed_seconds: float, large: bool = False) -> go.Figure:
    """A step as a bar of kernels, one after the other; below it how long each of them moves bytes
    and computes, so that one sees who waits for what.  The fixed rest comes last."""
    step, moving, computing = [], [], []
    start = 0.0
    for part, meaning in zip(kernels, ("weights", "weights", "stored", "weights"), strict=True):
        at = start * 1000
        start += part.seconds
        if part.seconds:
            step.append(Span(meaning, at, start * 1000))
            moving.append(Span(meaning, at, at + part.memory_seconds * 1000))
            computing.append(Span(meaning, at, at + part.compute_seconds * 1000))
    end = (start + fixed_seconds) * 1000
    rows = [
        TimelineRow(tr("这一步", "the step"), [*step, Span("prepare", start * 1000, end)]),
        TimelineRow(tr("搬运", "moving"), moving),
        TimelineRow(tr("计算", "computing"), computing),
    ]
    figure = charts.request_timeline(
        rows, tr("毫秒", "ms"), large=large, height=270 if large else 182
    )
    figure.update_traces(width=0.6)
    texts = [
        f"<b>{seconds(end / 1000)}</b>",
        seconds(sum(part.memory_seconds for part in kernels)),
        seconds(sum(part.compute_seconds for part in kernels)),
    ]
    charts.write_at_ends(figure, [row.spans[-1].end for row in rows], texts, large)
    return figure


POWERS_OF_TWO = tuple(2**power for power in range(11))


# -- along the batch ----------------------------------------------------------------------------


def along_the_batch(
    clock: Roofline,
    batches: Sequence[int],
    context: int,
    chosen: int,
    fitting: int,
    large: bool = False,
) -> go.Figure:
    """Both times of a decode step for every batch; they cross where it turns compute-bound."""
    steps = [clock.breakdown(phases.decode(batch, context)).whole for batch in batches]
    moving = Series(
        tr("搬运", "moving"), batches, [step.memory_seconds * 1000 for step in steps], "stored"
    )
    computing = Series(
        tr("计算", "computing"),
        *(batches, [step.compute_seconds * 1000 for step in steps], "decode", "dash"),
    )
    figure = charts.lines(
        [moving, computing],
        tr("批里的请求数", "requests in the batch"),
        charts.keyed(tr("一个解码步（毫秒）", "a decode step (ms)"), [moving, computing]),
        log_x=True,
        log_y=True,
        name_ends=False,
        large=large,
        height=180,
    )
    figure.update_xaxes(range=np.log10([0.8 * batches[0], 1.1 * batches[-1]]).tolist())
    size = charts.text_px(large)
    if fitting < batches[-1]:
        figure.add_vrect(
            x0=max(fitting, 1), x1=batches[-1], fillcolor=charts.NEUTRAL, opacity=0.18, line_width=0
        )
        figure.add_annotation(
            x=np.log10(batches[-1]),
            xanchor="right",
            y=0,
            yref="paper",
            yanchor="bottom",
            text=tr("KV 放不下", "KV does not fit"),
            showarrow=False,
            font_size=size,
        )
    here = steps[list(batches).index(chosen)]
    longer = max(here.memory_seconds, here.compute_seconds) * 1000
    charts.mark_point(figure, chosen, longer, tr("现在", "now"), large)
    if chosen == batches[0]:  # else the name would lie on the numbers of the axis
        figure.data[-1].update(textposition="top right")
    return figure


SEEN = {"first_token", "finished"}  # events at which the player stops


# -- step by step -------------------------------------------------------------------------------


def passes(steps: Sequence[Step], clock: Roofline, alt: str) -> Passes:
    """A frame for each step: what goes through the weights, and whose KV is read and written."""
    known = sorted({work.request_id for step in steps for work in step.work})
    shape = (len(known), len(steps))
    rows, context = np.zeros(shape, np.int16), np.zeros(shape, np.int16)
    prefill = np.zeros(shape, np.uint8)
    for at, step in enumerate(steps):
        for work in step.work:
            place = known.index(work.request_id), at
            rows[place], context[place] = work.num_tokens, work.context
            prefill[place] = work.is_prefill
    return Passes(
        requests=tuple(theme.request_letter(who) for who in known),
        rows=rows,
        context=context,
        prefill=prefill,
        weights=memory(clock.weight_bytes(1)),
        notes=tuple(notes.passed(step) for step in steps),
        events=tuple(tuple(kind for kind in notes.kinds(step) if kind in SEEN) for step in steps),
        times=tuple(seconds(step.end_seconds) for step in steps),
        alt=alt,
    )
