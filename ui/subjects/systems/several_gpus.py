"""One model on several GPUs: what each way of spreading it costs and holds."""

from collections.abc import Mapping
from typing import Any

from sim import specs
from sim.cost.parallel import WAYS, Parted, Spread
from sim.kv.sizes import Division
from ui import charts
from ui.charts import Series, go
from ui.subjects.systems.rows import draw_columns
from ui.words.language import tr
from ui.words.numbers import count, percent, seconds, significant

GPU_COUNTS = (1, 2, 4, 8)
CONTEXT = 1_024
BATCHES = (1, 2, 4, 8, 16, 32, 64, 128, 256)


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


def with_gaps_as_long(parted: Parted) -> Parted:
    """More decodes on the GPU that does nothing else, as far as its memory goes."""
    division = Division(parted.clock.model, parted.clock.gpu)
    whole = parted.prompt_tokens + parted.output_tokens
    fitting = division.num_requests(whole) if division.fits else 0
    return parted.with_gaps_as_long(min(fitting, BATCHES[-1]))


def parted_figure(parted: Parted, wide: Parted, large: bool = False) -> go.Figure:
    """Two GPUs that both do both, against one for each: gaps, and how much they serve.

    `wide`: the same with a larger batch on the GPU that decodes.
    """
    labels = [
        tr("两张卡都做两样", "both do both"),
        tr("一张预填充，一张解码", "one for each"),
        tr(f"同样，解码 {wide.batch} 个", f"same, {wide.batch} decoding"),
    ]
    gaps = [parted.mixed_itl_seconds, parted.quiet_itl_seconds, wide.quiet_itl_seconds]
    served = [parted.together_per_second, parted.apart_per_second, wide.apart_per_second]
    return draw_columns(
        labels,
        [
            (tr("预填充旁的 ITL ↓", "ITL beside prefill ↓"), 1, gaps),
            (tr("最多请求/s ↑", "most requests/s ↑"), 0, served),
        ],
        [[seconds(gap) for gap in gaps], [significant(rate) for rate in served]],
        shown=len(labels),
        large=large,
    )
