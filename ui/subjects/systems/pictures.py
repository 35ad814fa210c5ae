"""Pictures for the chapter on systems: the ladder of mechanisms, what each answers, several GPUs,
and which project works on which layer.  They read results of `sim`; nothing here decides.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import plotly.graph_objects as go

from sim import specs
from sim.cost import Roofline
from sim.cost.parallel import WAYS, Parted, Spread
from sim.engine import Setup
from sim.kv import sizes
from sim.metrics import Summary, computed_tokens
from sim.model.constrained.masking import MaskWork
from sim.studies import ablation
from sim.studies.ablation import RUNGS, Ladder
from sim.workload import LognormalLength, PoissonArrivals, SharedPrefix, Workload
from ui import charts
from ui.charts import Series
from ui.results import runs
from ui.words.language import tr
from ui.words.numbers import count, in_percent, percent, seconds, significant

MODEL, GPU = specs.MODELS["Llama-3.1-8B"], specs.GPUS["RTX 4090"]
NUM_REQUESTS = 120
SYSTEM_TOKENS = 512
LONGEST = 4_096
SERVER = Ladder(Roofline(MODEL, GPU), sizes.Division(MODEL, GPU).pool_tokens, LONGEST)
RATES = (1, 2, 4, 8)
BAR, OFFSET = 0.46, -0.06  # height and place of a bar in its row, below its name
GPU_COUNTS = (1, 2, 4, 8)
CONTEXT = 1_024
BATCHES = (1, 2, 4, 8, 16, 32, 64, 128, 256)


def names() -> dict[str, str]:
    """The rungs of the ladder in words."""
    return {
        "naive": tr("朴素的服务器", "naive server"),
        "batching": tr("＋ 连续批处理", "+ continuous batching"),
        "paging": tr("＋ 分页 KV", "+ paged KV"),
        "cache": tr("＋ 前缀缓存", "+ prefix cache"),
        "chunks": tr("＋ 分块预填充", "+ chunked prefill"),
    }


# -- the ladder -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Rung:
    """One run of the same requests."""

    setup: Setup
    summary: Summary
    waste: float

    @property
    def tokens_per_second(self) -> float:
        return self.summary.output_tokens_per_second

    @property
    def computed_tokens(self) -> int:
        return computed_tokens(runs.run(self.setup))


def ladder(rate: float) -> dict[str, Rung]:
    """Every rung, at so many requests per second."""
    workload = Workload(
        NUM_REQUESTS,
        PoissonArrivals(rate),
        LognormalLength(512, 2048, 2500),
        LognormalLength(192, 700, 1000),
        SharedPrefix(SYSTEM_TOKENS, num_groups=2),
        seed=1,
    )
    requests = runs.requests(workload)
    return {rung: _run(SERVER.setup(rung, requests)) for rung in RUNGS}


@lru_cache(maxsize=runs.KEPT)
def _run(setup: Setup) -> Rung:
    return Rung(setup, runs.summary(setup), ablation.wasted_share(runs.run(setup)))


def gains(rungs: Mapping[str, Rung]) -> dict[str, float]:
    """How many times the tokens/s of the rung below each one has."""
    speeds = [rungs[rung].tokens_per_second for rung in RUNGS]
    pairs = zip(RUNGS[1:], speeds[1:], speeds[:-1], strict=True)
    return {rung: after / before for rung, after, before in pairs}


def against(now: Rung, naive: Rung) -> str:
    """How many times the tokens/s of the naive server; nothing about itself."""
    times = significant(factor(now, naive))
    same = now.setup == naive.setup
    return "" if same else tr(f"朴素的 {times} 倍", f"{times}× the naive server")


def mechanisms() -> dict[str, str]:
    """The rungs above the first, each by itself."""
    return {
        "batching": tr("连续批处理", "continuous batching"),
        "paging": tr("分页 KV", "paged KV"),
        "cache": tr("前缀缓存", "prefix cache"),
        "chunks": tr("分块预填充", "chunked prefill"),
    }


def largest(gains: Mapping[str, float]) -> str:
    return max(gains, key=gains.__getitem__)


def as_factors(gains: Mapping[str, float]) -> dict[str, str]:
    return {rung: f"{significant(gain)}×" for rung, gain in gains.items()}


def factor(one: Rung, other: Rung) -> float:
    return one.tokens_per_second / other.tokens_per_second


def ladder_figure(rungs: Mapping[str, Rung], num_on: int, large: bool = False) -> go.Figure:
    """Three columns of bars, one row per rung; what is not switched on yet has no bar."""
    reached = RUNGS[: num_on + 1]
    columns = [
        (tr("token/s ↑", "tokens/s ↑"), 0, [rungs[r].tokens_per_second for r in RUNGS]),
        (tr("TTFT p99 ↓", "TTFT p99 ↓"), 1, [rungs[r].summary.ttft.p99 for r in RUNGS]),
        (
            tr("KV 浪费 ↓", "KV waste ↓"),
            2,
            [in_percent(rungs[r].waste) for r in RUNGS],
        ),
    ]
    words = [
        [significant(rungs[r].tokens_per_second) for r in RUNGS],
        [seconds(rungs[r].summary.ttft.p99) for r in RUNGS],
        [percent(rungs[r].waste) for r in RUNGS],
    ]
    return _columns(
        [names()[rung] for rung in RUNGS],
        [(title, hue, values) for title, hue, values in columns],
        [[word if rung in reached else "" for word, rung in zip(said, RUNGS, strict=True)]
         for said in words],
        shown=len(reached),
        large=large,
    )  # fmt: skip


def _columns(
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
        bright = [1.0 if row == shown - 1 else 0.55 for row in rows]
        figure.add_trace(
            go.Bar(
                y=rows,
                x=[value if row < shown else 0 for row, value in zip(rows, values, strict=True)],
                xaxis=f"x{number + 1}",
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
        figure.layout[f"xaxis{number + 1}"] = {
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
    _name_rows_above(figure, named, size, top=0.6)
    return figure


def _name_rows_above(figure: go.Figure, labels: Sequence[str], size: int, top: float) -> None:
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


def _name_rows(figure: go.Figure, labels: Sequence[str], size: int) -> None:
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


# -- problem and mechanism ----------------------------------------------------------------------


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
    _name_rows_above(figure, labels, size, top=0.6)
    figure.update_xaxes(visible=False, range=[0, 1.35], fixedrange=True)
    charts.name_above(figure, large)
    return figure


# -- several GPUs -----------------------------------------------------------------------------


def ways() -> dict[str, str]:
    return {
        "tensor": tr("张量并行", "tensor parallel"),
        "pipeline": tr("流水线并行", "pipeline parallel"),
        "replicas": tr("副本", "replicas"),
    }


def spreads(model: specs.Model, gpu: specs.Gpu, num_gpus: int) -> dict[str, Spread]:
    return {way: Spread(model, gpu, num_gpus, way) for way in WAYS}


def gpu_counts() -> dict[str, str]:
    return {str(number): str(number) for number in GPU_COUNTS[1:]}


def spread_card(way: str, spread: Spread, batch: int) -> tuple[str, str, str]:
    """A card: ITL, and how much KV fits."""
    room = spread.pool_tokens
    fits = tr(f"KV {count(room)} token", f"{count(room)} tokens of KV")
    return (
        f"ITL · {ways()[way]}",
        seconds(spread.itl_seconds(batch, CONTEXT)),
        fits if room else tr("模型放不下", "the model does not fit"),
    )


def num_fitting(spread: Spread, batch: int) -> int:
    """How many of a batch's requests have room for their KV."""
    return min(batch, spread.pool_tokens // CONTEXT)


def lacks_room(spread: Spread, batch: int) -> bool:
    return num_fitting(spread, batch) < batch


def spread_blanks(
    found: Mapping[str, Spread], alone: Mapping[str, Spread], batch: int
) -> dict[str, Any]:
    """What becomes of the ITL of one GPU, for a sentence."""
    one = alone["tensor"].itl_seconds(batch, CONTEXT)
    times = {way: each.itl_seconds(batch, CONTEXT) for way, each in found.items()}
    single = found["pipeline"].itl_seconds(1, CONTEXT)
    return {
        "gpus": count(found["tensor"].num_gpus),
        "batch": count(batch),
        "alone": seconds(one),
        "tensor": seconds(times["tensor"]),
        "faster": significant(one / times["tensor"]),
        "single": seconds(alone["pipeline"].itl_seconds(1, CONTEXT)),
        "pipelined": seconds(single),
        "reduce": percent(_reduce_share(found["tensor"], batch)),
    }


def _reduce_share(spread: Spread, batch: int) -> float:
    """Of a step, the part in which GPUs only add up each other's results."""
    return spread.clock.all_reduce_seconds(batch) / spread.itl_seconds(batch, CONTEXT)


def itl_over_gpus(
    model: specs.Model, gpu: specs.Gpu, batch: int, here: int, large: bool = False
) -> go.Figure:
    """Between two tokens, the same requests on more and more GPUs, whether or not they fit."""
    dashes = {"tensor": "solid", "pipeline": "dash", "replicas": "dot"}
    series = [
        Series(
            ways()[way],
            GPU_COUNTS,
            [1000 * Spread(model, gpu, n, way).itl_seconds(batch, CONTEXT) for n in GPU_COUNTS],
            number,
            dashes[way],  # type: ignore[arg-type]
        )
        for number, way in enumerate(WAYS)
    ]
    top = max(max(one.y) for one in series)
    figure = charts.lines(
        series,
        tr("GPU 数", "GPUs"),
        tr("ITL（毫秒）", "ITL (ms)"),
        log_x=True,
        y_range=(0, top * 1.15),
        large=large,
        height=240,
    )
    figure.update_xaxes(tickvals=GPU_COUNTS, ticktext=[str(n) for n in GPU_COUNTS])
    figure.add_vline(x=here, line={"color": charts.NEUTRAL, "width": 1.5, "dash": "dot"})
    return figure


def parted_figure(parted: Parted, large: bool = False) -> go.Figure:
    """Two GPUs that both do both, against one for each: gaps, and how much they serve."""
    labels = [tr("两张卡都做两样", "both do both"), tr("一张预填充，一张解码", "one for each")]
    gaps = [parted.mixed_itl_seconds, parted.quiet_itl_seconds]
    served = [parted.together_per_second, parted.apart_per_second]
    return _columns(
        labels,
        [
            (tr("预填充旁的 ITL ↓", "ITL beside prefill ↓"), 1, gaps),
            (tr("最多请求/s ↑", "most requests/s ↑"), 0, served),
        ],
        [[seconds(gap) for gap in gaps], [significant(rate) for rate in served]],
        shown=len(labels),
        large=large,
    )


# -- what masks cost ----------------------------------------------------------------------------


def mask_works(clock: Roofline, microseconds: float) -> tuple[MaskWork, MaskWork, MaskWork]:
    """Without masks, with them made while the GPU computes, with the GPU waiting for them."""
    each = microseconds / 1e6
    return (
        MaskWork(clock, CONTEXT, 0.0, overlaps=True),
        MaskWork(clock, CONTEXT, each, overlaps=True),
        MaskWork(clock, CONTEXT, each, overlaps=False),
    )


def rate_in_words(work: MaskWork, batch: int) -> str:
    return f"{significant(work.tokens_per_second(batch))} " + tr("token/s", "tokens/s")


def masked_throughput(
    clock: Roofline, microseconds: float, batch: int, large: bool = False
) -> go.Figure:
    """Tokens per second over the batch: without masks, with them hidden, with them in the way."""
    free, hidden, waits = mask_works(clock, microseconds)
    kinds = [
        (tr("不约束", "no format"), free, "solid"),
        (tr("同时算掩码", "masks made meanwhile"), hidden, "dash"),
        (tr("先后算", "one after the other"), waits, "dot"),
    ]
    figure = charts.lines(
        [
            Series(name, BATCHES, [work.tokens_per_second(each) for each in BATCHES], number, dash)  # type: ignore[arg-type]
            for number, (name, work, dash) in enumerate(kinds)
        ],
        tr("批大小（每个请求都要一个掩码）", "batch (every request needs a mask)"),
        tr("输出 token/s", "output tokens/s"),
        log_x=True,
        name_ends=False,
        large=large,
        height=320,
    )
    charts.name_in_corner(figure, large, x=0, y=1)
    figure.add_vline(x=batch, line={"color": charts.NEUTRAL, "width": 1.5, "dash": "dot"})
    return figure


# -- layers -----------------------------------------------------------------------------------

PROJECTS = {
    "vllm": ("vLLM", (1, 1)),
    "sglang": ("SGLang", (1, 1)),
    "tensorrt": ("TensorRT-LLM", (1, 2)),
    "flashinfer": ("FlashInfer", (2, 2)),
}  # code -> name, first and last layer


def layers_figure(project: str, large: bool = False) -> go.Figure:
    """Four layers above each other; each project stands on those where it works."""
    size = charts.text_px(large)
    layers = [
        tr("你的应用", "your application"),
        tr("服务运行时", "serving runtime"),
        tr("kernel 库", "kernel library"),
        "GPU",
    ]
    figure = charts.plain(len(layers) * size * 6, large)
    last = len(PROJECTS)
    for row in range(len(layers)):
        figure.add_shape(type="rect", x0=-0.5, x1=last - 0.5, y0=row - 0.46, y1=row + 0.46,
                         line_width=0, fillcolor=charts.faint(charts.NEUTRAL))  # fmt: skip
    for number, (code, (name, (first, end))) in enumerate(PROJECTS.items()):
        is_here = code == project
        figure.add_shape(
            type="rect",
            x0=number - 0.44,
            x1=number + 0.44,
            y0=first - 0.36,
            y1=end + 0.36,
            line={"color": charts.colour(0), "width": 4 if is_here else 1.5},
            fillcolor=charts.faint(charts.colour(0)) if is_here else charts.TRANSPARENT,
        )
        figure.add_trace(
            go.Scatter(
                x=[number],
                y=[first],  # its name stands in its uppermost layer
                mode="markers+text",
                marker={"size": 60, "opacity": 0, "symbol": "square"},
                text=[f"<b>{name}</b>" if is_here else name],
                textfont_size=size,
                customdata=[code],
                hovertemplate=f"{name}<extra></extra>",
                cliponaxis=False,
            )
        )
    also = {
        0: (1.5, tr("对话、智能体、检索", "chats, agents, retrieval")),
        2: (0.5, tr("还有 cuBLAS、FlashAttention、Triton", "also cuBLAS, FlashAttention, Triton")),
    }  # row -> where in it, and who else is there
    for row, (place, others) in also.items():
        figure.add_annotation(
            x=place, y=row, text=others, showarrow=False, font_size=size, opacity=0.75
        )
    figure.update_xaxes(visible=False, range=[-0.5, last - 0.5], fixedrange=True)
    _name_rows(figure, layers, size)
    return figure
