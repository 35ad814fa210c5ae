"""Which mechanism answers which problem, with a number of its own."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sim.cost.parallel import Spread
from ui import charts
from ui.charts import go
from ui.subjects.systems.ladder import Rung
from ui.subjects.systems.rows import BAR, OFFSET, name_rows_above
from ui.words.language import tr
from ui.words.numbers import count, percent, seconds, significant


@dataclass(frozen=True)
class Answer:
    """A number without and with a mechanism, both in words as well."""

    problem: str
    mechanism: str
    unit: str
    without: float
    with_it: float
    words: tuple[str, str]


def answers(rungs: Mapping[str, Rung], spread: Spread) -> list[Answer]:
    """Each problem with the number of our own run, on the rung below the mechanism and on its."""
    alone = Spread(spread.model, spread.gpu, 1, spread.way)
    waste = rungs["batching"].waste, rungs["paging"].waste
    speed = rungs["naive"].tokens_per_second, rungs["batching"].tokens_per_second
    computed = rungs["paging"].computed_tokens, rungs["cache"].computed_tokens
    gap = rungs["cache"].summary.itl.p99, rungs["chunks"].summary.itl.p99
    room = alone.pool_tokens, spread.pool_tokens
    nothing = tr("放不下", "does not fit")
    return [
        Answer(
            tr("KV 碎片", "KV fragmentation"),
            tr("分页", "paging"),
            tr("占着的 KV 里浪费的", "waste in held KV"),
            *waste,
            (percent(waste[0]), percent(waste[1])),
        ),
        Answer(
            tr("批利用率", "batch utilization"),
            tr("连续批处理", "continuous batching"),
            tr("输出 token/s", "output tokens/s"),
            *speed,
            (significant(speed[0]), significant(speed[1])),
        ),
        Answer(
            tr("重复的前缀", "repeated prefixes"),
            tr("前缀缓存", "prefix cache"),
            tr("算过的提示词 token", "prompt tokens computed"),
            *computed,
            (count(computed[0]), count(computed[1])),
        ),
        Answer(
            tr("高并发", "high concurrency"),
            tr("分块预填充", "chunked prefill"),
            "ITL p99",
            *gap,
            (seconds(gap[0]), seconds(gap[1])),
        ),
        Answer(
            tr("一张卡放不下", "too large for one GPU"),
            tr(f"拆到 {spread.num_gpus} 张卡", f"split over {spread.num_gpus} GPUs"),
            tr("KV 能放的 token", "tokens of KV that fit"),
            *room,
            (count(room[0]) if room[0] else nothing, count(room[1])),
        ),
    ]


def in_blanks(rows: Sequence[Answer]) -> dict[str, Any]:
    """The numbers of the rows for a sentence, in their order."""
    keys = ("waste", "speed", "computed", "gap", "room")
    return {
        f"{key}_{side}": row.words[number]
        for key, row in zip(keys, rows, strict=True)
        for number, side in enumerate(("without", "with"))
    }


def answers_figure(rows: Sequence[Answer], large: bool = False) -> go.Figure:
    """For each problem a pair of bars, the longer of the two as long as the column."""
    size = charts.text_px(large)
    figure = charts.plain(round(len(rows) * size * 6.2) + 50, large)
    places = list(range(len(rows)))
    pairs = (
        (tr("没有它", "without"), "queue", [row.without for row in rows], 0),
        (tr("有了它", "with"), 0, [row.with_it for row in rows], 1),
    )
    longest = [max(row.without, row.with_it) for row in rows]
    for name, hue, values, which in pairs:
        figure.add_trace(
            go.Bar(
                name=name,
                y=places,
                x=[value / top for value, top in zip(values, longest, strict=True)],
                orientation="h",
                width=BAR / 2,
                offset=OFFSET + which * BAR / 2,
                text=[f"{row.words[which]}" for row in rows],
                textposition="outside",
                cliponaxis=False,
                marker=charts.bar_marker([hue] * len(rows)),
                customdata=[row.unit for row in rows],
                hovertemplate=f"%{{customdata}}, {name}: %{{text}}<extra></extra>",
            )
        )
    labels = [f"<b>{row.problem}</b> → {row.mechanism}<br>{row.unit}" for row in rows]
    name_rows_above(figure, labels, size, top=0.6)
    figure.update_xaxes(visible=False, range=[0, 1.35], fixedrange=True)
    charts.name_above(figure, large)
    return figure
