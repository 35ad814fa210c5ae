"""Pictures of KV memory: what lies on a GPU, and what the formulas give.

They read results of `sim` and hand them to `charts`; nothing here decides or measures anything.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np

from sim.kv.sizes import Division, RequestGroup, request_bytes
from sim.specs import GIB, Model
from ui import charts, theme
from ui.charts import Series, TimelineRow, go
from ui.words.language import tr
from ui.words.numbers import memory

NAMED_SHARE = 0.08  # of the axis that a span needs to carry its size
HEIGHT = 226
NUMBERED_SHARE = 0.05  # of the GPU's memory that a conversation needs to carry its number
HEAD_SHARE = 0.65  # of the size of text, so that neighbours do not touch
SEAM = 0.003  # of the axis between two requests
AIR = 1.04  # beyond the longest bar


# -- the memory of a GPU ------------------------------------------------------------------------


def conversations(
    division: Division,
    tokens: int,
    num_running: int,
    num_waiting: int,
    guess: object = None,
    large: bool = False,
) -> go.Figure:
    """One bar: what the server took when it started, and one piece for each conversation.

    `guess`: how many conversations somebody thinks there is room for; where they would end.
    """
    size = request_bytes(division.model, tokens) / GIB
    first, end = _pool(division)
    seam = SEAM * division.gpu.memory_bytes / GIB
    held = [
        charts.Span("stored", first + size * place, first + size * (place + 1) - seam)
        for place in range(num_running)
    ]
    rest = charts.Span("free", first + size * num_running, end)
    queued = [
        charts.Span("queue", size * place, size * (place + 1) - seam)
        for place in range(num_waiting)
    ]
    rows = [
        TimelineRow(division.gpu.name, [*_beside_pool(division), *held, rest]),
        TimelineRow(tr("要排队的", "in the queue"), queued),
    ]
    figure = _memory_bars(rows, division, large)
    for row, spans in enumerate((held, queued)):
        for number, span in enumerate(spans, start=1 if row == 0 else num_running + 1):
            if size > NUMBERED_SHARE * division.gpu.memory_bytes / GIB:
                charts.name_span_above(figure, row, span, str(number), large)
    if isinstance(guess, int | float):
        end = first + size * guess
        fits = end <= division.gpu.memory_bytes / GIB
        label = tr(f"你猜 {guess:g} 段", f"your guess: {guess:g}") + ("" if fits else " →")
        at = min(end, division.gpu.memory_bytes / GIB)
        charts.mark_guess(figure, at, label, large)
    return figure


def shared_pool(
    division: Division, groups: Mapping[str, RequestGroup], large: bool = False
) -> go.Figure:
    """The whole GPU, then what each group of requests takes of the pool, one after the other."""
    first, end = _pool(division)
    sizes = [request_bytes(division.model, one.active_tokens) / GIB for one in groups.values()]
    ends = first + np.cumsum([0.0, *sizes])
    used = min(float(ends[-1]), end)
    whole = [charts.Span("stored", first, used), charts.Span("free", used, end)]
    rows = [TimelineRow(division.gpu.name, [*_beside_pool(division), *whole])]
    for (name, one), (start, stop) in zip(groups.items(), pairwise(ends.tolist()), strict=True):
        fits, beyond = min(stop, max(start, end)), max(start, min(stop, end))
        spans = [charts.Span("stored", start, fits), charts.Span("queue", beyond, stop)]
        label = f"{name} {one.num_requests} × {one.tokens:,}"
        rows.append(TimelineRow(label, [span for span in spans if span.end > span.start]))
    return _memory_bars(rows, division, large)


def _pool(division: Division) -> tuple[float, float]:
    """Where the KV pool begins and ends on the axis, in GiB."""
    first = (division.model.memory_bytes + division.overhead_bytes) / GIB
    return first, first + division.pool_bytes / GIB


def _beside_pool(division: Division) -> list[charts.Span]:
    weights, (first, end) = division.model.memory_bytes / GIB, _pool(division)
    return [
        charts.Span("weights", 0, weights),
        charts.Span("overhead", weights, first),
        charts.Span("left_alone", end, division.gpu.memory_bytes / GIB),
    ]


def _memory_bars(rows: Sequence[TimelineRow], division: Division, large: bool) -> go.Figure:
    x_title = f"GiB · {division.model.name}"
    figure = charts.request_timeline(rows, x_title, large=large, height=HEIGHT)
    figure.update_traces(width=charts.LOW_BAR)
    figure.update_yaxes(range=[len(rows) - 0.5, -1])  # room for words above each bar
    longest = max(span.end for row in rows for span in row.spans)
    figure.update_xaxes(range=[0, longest * AIR])
    for edge in _pool(division):
        figure.add_vline(x=edge, line={"width": 2, "color": charts.NEUTRAL, "dash": "dot"})
    for row, one in enumerate(rows):
        for span in one.spans:
            if span.state in ("weights", "free") and span.end - span.start > NAMED_SHARE * longest:
                charts.name_span_above(figure, row, span, f"{span.end - span.start:.3g}", large)
    return figure


# -- the formulas -------------------------------------------------------------------------------


def formulas(
    right: Mapping[str, float], wrong: Mapping[str, float], large: bool = False
) -> go.Figure:
    """What each formula gives, and below it what each mistake would: name -> bytes."""
    both = {**right, **wrong}
    colours: list[str | int] = [*["stored"] * len(right), *["held"] * len(wrong)]
    return charts.bars(
        list(both),
        [size / GIB for size in both.values()],
        "GiB",
        colours=colours,
        texts=[memory(size) for size in both.values()],
        large=large,
        height=380 if large else 258,
    ).update_traces(constraintext="none")


def heads(model: Model, large: bool = False) -> go.Figure:
    """Query heads above, KV heads below: a KV head stands under the query heads that share it."""
    queries = np.arange(model.q_heads)
    group = model.q_heads // model.kv_heads
    middles = queries.reshape(model.kv_heads, group).mean(axis=1)
    size = charts.text_px(large)
    figure = charts.lines([Series("", [-1, model.q_heads], [0, 1])], "", "", large=large)
    figure.data = ()
    pairs = [(query, middles[query // group]) for query in queries]
    figure.add_trace(
        go.Scatter(
            x=[end for query, below in pairs for end in (query, below, None)],
            y=[end for _ in pairs for end in (1, 0, None)],
            mode="lines",
            line={"color": charts.AXIS, "width": 1.5},
            hoverinfo="skip",
        )
    )
    for y, places, kind in ((1, queries, "decode"), (0, middles, "stored")):
        figure.add_trace(
            go.Scatter(
                x=places,
                y=np.full(len(places), y),
                mode="markers",
                marker={
                    "symbol": "square" if y == 0 else "circle",
                    "size": size * HEAD_SHARE,
                    "color": theme.MEANINGS[kind].colour,
                },
                cliponaxis=False,
                hoverinfo="skip",
            )
        )
    figure.update_xaxes(visible=False, range=[-0.7, model.q_heads - 0.3])
    figure.update_yaxes(
        range=[-0.35, 1.35],
        tickvals=[0, 1],
        ticktext=[
            tr(f"{model.kv_heads} 个 KV 头", f"{model.kv_heads} KV heads"),
            tr(f"{model.q_heads} 个查询头", f"{model.q_heads} query heads"),
        ],
        showgrid=False,
    )
    return figure.update_layout(height=120, margin={"t": 6, "b": 6})


def against_weights(division: Division, tokens: int, large: bool = False) -> go.Figure:
    """KV in GiB along the number of active tokens, the weights as a level, the pool as an end."""
    most = 1.25 * max(tokens, division.break_even_tokens, division.pool_tokens)
    per_token, weights = division.model.kv_bytes_per_token / GIB, division.model.memory_bytes / GIB
    ends = [0.0, most]
    figure = charts.lines(
        [
            Series(tr("KV", "KV"), ends, [end * per_token for end in ends], "stored"),
            Series(tr("权重", "weights"), ends, [weights, weights], "weights", dash="dash"),
        ],
        tr("活跃 token 总数", "active tokens in all"),
        "GiB",
        large=large,
        height=185,
    )
    figure.add_vline(
        x=division.pool_tokens,
        line={"width": 2, "color": charts.NEUTRAL, "dash": "dot"},
    )
    figure.add_annotation(
        text=tr("池满", "pool full"),
        x=division.pool_tokens,
        y=1,
        yref="y domain",
        xanchor="right",
        yanchor="top",
        showarrow=False,
        font_size=charts.text_px(large),
    )
    figure.update_xaxes(nticks=4, tickangle=0)
    return charts.mark_point(figure, tokens, tokens * per_token, tr("现在", "now"), large)
