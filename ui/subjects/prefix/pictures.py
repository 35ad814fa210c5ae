"""Pictures of the prefix cache: which tokens are computed, which are reused, and what that saves.

They read results of `sim` and hand them to `charts`; nothing here decides or measures anything.
"""

import math
from collections.abc import Iterable, Mapping, Sequence

from sim import metrics
from sim.engine import Run
from sim.kv import lru, sizes
from sim.metrics import Summary
from sim.specs import Gpu, Model
from ui import charts, theme
from ui.charts import Series, Span, TimelineRow, go
from ui.words.language import tr
from ui.words.numbers import seconds


def computed_and_reused(
    run: Run, names: Mapping[int, str] | None = None, large: bool = False
) -> go.Figure:
    """A bar for each prompt: what was found in the cache, what was computed, and its TTFT.

    `names`: what each request is called beside its letter.
    """
    records = metrics.served(run)
    rows = [
        TimelineRow(
            f"{theme.request_letter(record.request.id)} {(names or {}).get(record.request.id, '')}",
            _present(
                Span("cached", 0, record.hit_tokens),
                Span("prefill", record.hit_tokens, record.request.prompt_tokens),
            ),
        )
        for record in records
    ]
    figure = charts.request_timeline(
        rows, tr("提示词的 token", "tokens of the prompt"), large=large, height=250
    )
    ends = [record.request.prompt_tokens for record in records]
    texts = [f"TTFT <b>{seconds(metrics.ttft(record))}</b>" for record in records]
    charts.write_at_ends(figure, ends, texts, large)
    return figure


def first_and_others(summaries: Mapping[str, Summary], large: bool = False) -> go.Figure:
    """How long a mean answer takes on each server: up to its first token, and after."""
    rows = []
    for name, summary in summaries.items():
        first, whole = summary.ttft.mean, summary.e2e.mean
        spans = [Span("prefill", 0, first * 1000), Span("decode", first * 1000, whole * 1000)]
        rows.append(TimelineRow(name, _present(*spans)))
    title = tr("平均每个回答（毫秒）", "mean answer (ms)")
    return charts.request_timeline(rows, title, large=large, height=170)


def hit_curve(
    capacities: Sequence[int],
    rates: Sequence[float],
    limit: float,
    chosen: int | None,
    pools: Mapping[str, int],
    large: bool = False,
    ours: str = "",
) -> go.Figure:
    """Hit rate along the size of the cache: of these chats, and of a recorded hour of real ones.

    `limit`: with room for everything; `pools`: how many tokens a GPU has room for; `ours`: whose
    curve it is, if not that of the chats.
    """
    published = [blocks * lru.MOONCAKE_BLOCK_TOKENS for blocks in lru.MOONCAKE_HIT_RATES]
    ours = ours or tr("这里的对话", "these chats")
    theirs = tr("Mooncake（实测）", "Mooncake (recorded)")
    figure = charts.lines(
        [
            Series(ours, capacities, in_percents(rates), "cached"),
            Series(theirs, published, in_percents(lru.MOONCAKE_HIT_RATES.values()), 1, "dash"),
        ],
        tr("缓存能装多少 token", "tokens the cache holds"),
        tr("命中率（%）", "hit rate (%)"),
        log_x=True,
        y_range=(0, 100),
        name_ends=False,
        large=large,
        height=330,
    )
    for trace in figure.data:
        trace.update(mode="lines+markers", marker_size=11 if large else 8)
    figure.update_xaxes(range=[math.log10(capacities[0] / 1.3), math.log10(published[-1] * 1.3)])
    level = {"color": charts.NEUTRAL, "width": 1.5, "dash": "dot"}
    figure.add_hline(y=100 * limit, line=level)
    size = charts.text_px(large)
    for name, tokens in pools.items():
        figure.add_vline(x=tokens, line=level)
        _name(figure, tokens, 0, name, size, "right")
    _name(figure, capacities[-1], 100 * rates[-1], ours, size)
    last = in_percents(lru.MOONCAKE_HIT_RATES.values())[-1]
    _name(figure, published[-1], last, theirs, size, "right")
    if chosen is None:
        return figure
    rate = dict(zip(capacities, rates, strict=True))[chosen]
    return charts.mark_point(figure, chosen, rate * 100, tr("现在", "now"), large)


def pools(model: Model, gpus: Iterable[Gpu]) -> dict[str, int]:
    """GPU -> the tokens that its memory has room for beside the weights."""
    return {gpu.name: sizes.Division(model, gpu).pool_tokens for gpu in gpus}


def probe_names() -> dict[int, str]:
    """The requests of `sim.studies.tenants.Probe`, short, for a phone."""
    return {
        0: tr("对方", "other"),
        1: tr("自己", "own"),
        2: tr("文档 1", "doc 1"),
        3: tr("文档 2", "doc 2"),
        4: tr("文档 3", "doc 3"),
        5: tr("文档 4", "doc 4"),
    }


def in_percents(shares: Iterable[float]) -> list[float]:
    return [100 * share for share in shares]


def _name(
    figure: go.Figure, x: float, y: float, text: str, size: int, side: str = "center"
) -> None:
    """Above a point, whose `side` of the text it is; the horizontal axis is logarithmic."""
    figure.add_annotation(
        x=math.log10(x),
        y=y,
        text=text,
        showarrow=False,
        xanchor=side,
        xshift={"right": -4}.get(side, 0),
        yanchor="bottom",
        yshift=8,
        font_size=size,
    )


def _present(*spans: Span) -> Sequence[Span]:
    return [span for span in spans if span.end > span.start]
