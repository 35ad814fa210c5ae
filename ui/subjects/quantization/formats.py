"""Pictures of formats: what they leave to KV, along the batch, in prefill, and under load.

They read results of `sim` and hand them to `charts`; nothing here decides or measures anything.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from sim.cost.formats import StoredModel
from sim.engine import Setup
from sim.specs import GIB
from ui import charts
from ui.charts import Series, Span, Subplot, TimelineRow, go
from ui.results import runs
from ui.words.language import tr
from ui.words.numbers import count, seconds, significant

NAMED_SHARE = 0.07  # of the axis that a span needs to carry its size
AIR = 1.04  # beyond the longest bar
POINTS = 48  # of a curve along the batch
HUES: dict[str, tuple[int, charts.Dash]] = {  # of a format of weights, in every picture
    "bf16": (5, "solid"),
    "fp8": (2, "dashdot"),
    "int8": (0, "dash"),
    "int4": (1, "solid"),
}


def divided(rows: Mapping[str, StoredModel], chosen: StoredModel, large: bool = False) -> go.Figure:
    """The memory of one GPU, a bar for each format: weights, overhead, KV pool, left alone.

    The bar of the chosen format is named in bold.  Weights that do not fit run beyond the end of
    the GPU's memory.
    """
    size = chosen.model.memory_bytes
    bars = [
        TimelineRow(f"<b>{name}</b>" if one.model.memory_bytes == size else name, _spans(one))
        for name, one in rows.items()
    ]
    gpu = next(iter(rows.values())).gpu
    figure = charts.request_timeline(bars, "GiB", large=large, height=300)
    figure.update_traces(width=charts.LOW_BAR)
    figure.update_yaxes(range=[len(bars) - 0.5, -0.95])  # room for words above each bar
    longest = max(span.end for row in bars for span in row.spans)
    figure.update_xaxes(range=[0, longest * AIR])
    end = gpu.memory_bytes / GIB
    figure.add_vline(x=end, line={"width": 2, "color": charts.NEUTRAL, "dash": "dot"})
    for number, (row, one) in enumerate(zip(bars, rows.values(), strict=True)):
        for span in row.spans:
            words = f"{span.end - span.start:.3g}"
            if span.state == "pool":
                words = tr(f"{count(one.pool_tokens)} token", f"{count(one.pool_tokens)} tokens")
            elif span.state != "weights" or span.end - span.start < NAMED_SHARE * longest:
                continue
            elif not one.pool_tokens:
                words = tr("权重放不下", "weights do not fit")
            charts.name_span_above(figure, number, span, words, large)
    return figure


def _spans(one: StoredModel) -> list[Span]:
    weights, whole = one.model.memory_bytes / GIB, one.gpu.memory_bytes / GIB
    if not one.pool_tokens:
        return [Span("weights", 0, weights)]
    first = weights + one.division.overhead_bytes / GIB
    end = first + one.division.pool_bytes / GIB
    return [
        Span("weights", 0, weights),
        Span("overhead", weights, first),
        Span("pool", first, end),
        Span("left_alone", end, whole),
    ]


# -- speed --------------------------------------------------------------------------------------


def decode_gains(
    formats: Sequence[StoredModel], batch: int, most: int, context: int, large: bool = False
) -> go.Figure:
    """How many times as fast as in bf16 a decode step is, for every batch that fits."""
    curves = [_curve(one, most, context) for one in formats]
    level = Series("bf16", [1, most], [1.0, 1.0], *HUES["bf16"])
    shown = [level, *curves]
    figure = charts.lines(
        shown,
        tr(
            "批里的请求数；线到 KV 放不下为止",
            "requests in the batch; a line ends where KV is full",
        ),
        charts.keyed(tr("解码步快几倍", "times as fast"), shown),
        log_x=True,
        name_ends=False,
        large=large,
        height=300,
    )
    figure.add_hrect(y0=0, y1=1, fillcolor=charts.NEUTRAL, opacity=0.16, line_width=0)
    figure.add_annotation(
        x=0,
        y=0.04,
        xanchor="left",
        yanchor="bottom",
        xshift=6,
        text=tr("比 bf16 慢", "slower than bf16"),
        showarrow=False,
        font_size=charts.text_px(large),
    )
    figure.update_xaxes(range=np.log10([0.9, 1.1 * most]).tolist())
    figure.update_yaxes(range=[0, 3.4])
    charts.mark_setting(figure, batch)
    for one in formats:
        if batch <= one.num_requests(context):
            figure.add_trace(_here(one, batch, context, large))
    return figure


def _curve(one: StoredModel, most: int, context: int) -> Series:
    end = max(1, min(most, one.num_requests(context)))
    batches = np.unique(np.geomspace(1, end, POINTS).round().astype(int)).tolist()
    gains = [one.decode_gain(batch, context) for batch in batches]
    return Series(one.weights, batches, gains, *HUES[one.weights])


def _here(one: StoredModel, batch: int, context: int, large: bool) -> go.Scatter:
    hue, _ = HUES[one.weights]
    gain = one.decode_gain(batch, context)
    return go.Scatter(
        x=[batch],
        y=[gain],
        mode="markers",
        marker={"size": 14 if large else 10, "color": charts.colour(hue)},
        cliponaxis=False,
        hovertemplate=f"{one.weights}: {significant(gain)}×<extra></extra>",
        showlegend=False,
    )


def prefills(formats: Sequence[StoredModel], prompt: int, large: bool = False) -> go.Figure:
    """How long a prompt takes to be read, in each format."""
    times = [one.prefill_seconds(prompt) for one in formats]
    return charts.bars(
        [one.weights for one in formats],
        [time * 1000 for time in times],
        tr("预填充（毫秒）", "prefill (ms)"),
        colours=[HUES[one.weights][0] for one in formats],
        texts=[seconds(time) for time in times],
        large=large,
        height=300 if large else 190,
    )


# -- under load ---------------------------------------------------------------------------------


def throughputs(servers: Mapping[str, Setup], large: bool = False) -> go.Figure:
    """Output tokens per second of a few servers with the same requests."""
    rates = [runs.summary(setup).output_tokens_per_second for setup in servers.values()]
    return charts.bars(
        list(servers),
        rates,
        tr("输出 token/s", "output tokens/s"),
        colours=[5, 4, 1],
        texts=[count(rate) for rate in rates],
        large=large,
        height=340 if large else 200,
    )


def crowds(servers: Mapping[str, Setup], large: bool = False) -> go.Figure:
    """How many requests run and wait on the first and on the last server."""
    (first, before), *_, (last, after) = servers.items()
    panels = [
        _panel(tr("运行", "running"), "num_running", {first: before, last: after}),
        _panel(tr("排队", "waiting"), "num_waiting", {first: before, last: after}),
    ]
    return charts.stacked_time_series(
        panels, tr("时间（秒）", "time (s)"), large=large, height=480 if large else 300
    )


def _panel(title: str, what: str, servers: Mapping[str, Setup]) -> Subplot:
    looks: list[tuple[int, charts.Dash]] = [(5, "dash"), (1, "solid")]
    series = []
    for (name, setup), look in zip(servers.items(), looks, strict=True):
        own = runs.run(setup).series
        hue, dash = look
        found = (own.end_seconds, getattr(own, what), charts.colour(hue), dash)
        series.append(charts.thinned(name, *found))
    return Subplot(charts.keyed(title, series), series, names_in_title=True)
