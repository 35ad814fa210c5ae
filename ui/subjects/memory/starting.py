"""A server that is about to start: its memory, the commands, and what would make it fit."""

from collections.abc import Mapping, Sequence

import numpy as np

from sim.specs import BF16, GIB, Model
from sim.studies.fitting import FRACTION, SHARE, Remedy, Wish
from ui import charts
from ui.charts import Series, TimelineRow, go
from ui.results.serve_command import CHECKPOINTS
from ui.words.language import tr
from ui.words.numbers import count, memory

HEIGHT = 210
AIR = 1.03  # beyond the longest bar
NAMED_SHARE = 0.05  # of the axis that a piece needs to carry its size
LENGTHS = np.unique(np.geomspace(64, 131_072, 60).round().astype(int))


def memory_bar(wish: Wish, large: bool = False) -> go.Figure:
    """One GPU: what is taken at the start, one of the longest requests, and what is left; or the
    weights beyond its end."""
    division, gib = wish.division, 1 / GIB
    weights = division.shard.memory_bytes * gib
    taken = weights + division.overhead_bytes * gib
    size = division.gpu.memory_bytes * gib
    end = size - division.left_alone_bytes * gib
    spans = [charts.Span("weights", 0, weights), charts.Span("overhead", weights, taken)]
    one = taken + wish.request_bytes * gib
    if taken < end:
        spans.append(charts.Span("stored", taken, min(one, end)))
        spans.append(charts.Span("free", min(one, end), end))
    rows = [TimelineRow(division.gpu.name, [span for span in spans if span.end > span.start])]
    missing = [charts.Span("too_much", end, max(taken, one))] if one > end else []
    rows.append(TimelineRow(tr("放不下的", "does not fit"), missing))
    number = f" × {wish.num_gpus}" if wish.num_gpus > 1 else ""
    title = tr(f"每张卡的 GiB{number} · {wish.model}", f"GiB of each GPU{number} · {wish.model}")
    figure = charts.request_timeline(rows, title, large=large, height=HEIGHT)
    figure.update_traces(width=charts.LOW_BAR)
    figure.update_yaxes(range=[len(rows) - 0.5, -1])
    longest = max(size, *(span.end for row in rows for span in row.spans))
    figure.update_xaxes(range=[0, longest * AIR])
    for edge, dash in ((end, "dot"), (size, "solid")):
        figure.add_vline(x=edge, line={"width": 2, "color": charts.NEUTRAL, "dash": dash})
    for row, line in enumerate(rows):
        for span in line.spans:
            if span.end - span.start > NAMED_SHARE * longest:
                charts.name_span_above(figure, row, span, f"{span.end - span.start:.3g}", large)
    return figure


def kept_rows(models: Sequence[Model], tokens: int) -> str:
    """Rows of a table: what a request of one token takes, and one of so many."""
    return "\n".join(
        f"| {model.name} | {memory(model.kv_bytes(1))} | {memory(model.kv_bytes(tokens))} |"
        for model in models
    )


def kept_curves(models: Mapping[str, Model], tokens: int, large: bool = False) -> go.Figure:
    """KV of one request along its length, for models whose layers remember differently."""
    kinds = {
        name: [model.kv_bytes(int(each)) / GIB for each in LENGTHS]
        for name, model in models.items()
    }
    series = [
        Series(name, LENGTHS, values, kind)
        for (name, values), kind in zip(
            kinds.items(), ("stored", "weights", "overhead", "queue"), strict=False
        )
    ]
    figure = charts.lines(
        series,
        tr("一个请求的 token 数", "tokens of one request"),
        "GiB",
        large=large,
        height=330,
    )
    charts.mark_setting(figure, tokens)
    return figure


# -- words ----------------------------------------------------------------------------------------


def vllm_command(wish: Wish) -> str:
    """To copy: everything that the numbers depend on is stated."""
    flags = [
        "vllm serve",
        _checkpoint(wish),
        f"--tensor-parallel-size {wish.num_gpus}",
        f"--max-model-len {wish.longest}",
        f"--gpu-memory-utilization {SHARE:g}",
        f"--max-num-batched-tokens {wish.division.step_tokens}",
        f"--max-num-seqs {wish.division.step_sequences}",
    ]
    if wish.weights == "fp8":
        flags.append("--quantization fp8")
    if wish.kv != BF16.name:
        flags.append("--kv-cache-dtype fp8")
    return " \\\n  ".join(flags)


def sglang_command(wish: Wish) -> str:
    """The same server of SGLang."""
    flags = [
        "python -m sglang.launch_server",
        f"--model-path {_checkpoint(wish)}",
        f"--tp-size {wish.num_gpus}",
        f"--context-length {wish.longest}",
        f"--mem-fraction-static {FRACTION:g}",
    ]
    if wish.weights == "fp8":
        flags.append("--quantization fp8")
    if wish.kv != BF16.name:
        flags.append("--kv-cache-dtype fp8_e4m3")
    return " \\\n  ".join(flags)


def _checkpoint(wish: Wish) -> str:
    name = CHECKPOINTS[wish.model]
    return f"{name}-AWQ" if wish.weights == "int4" else name


def sglang_lines(wish: Wish) -> str:
    """What it logs when it starts; its GB are GiB."""
    size, tokens = wish.sglang_bytes / GIB, wish.sglang_tokens
    if wish.division.model.is_hybrid:
        return tr(
            "（窗口层和全注意力层各有自己的池，这里不算）",
            "(pools of its own for windows and states: not computed here)",
        )
    kv = (
        f"KV size: {size:.2f} GB"
        if len(wish.division.shard.layers_of) == 1 and _is_latent(wish.division.shard)
        else f"K size: {size / 2:.2f} GB,\n  V size: {size / 2:.2f} GB"
    )
    return f"KV Cache is allocated.\n  #tokens: {tokens},\n  {kv}\nmax_total_num_tokens={tokens}"


def _is_latent(model: Model) -> bool:
    (kind,) = model.layers_of
    return kind.kv_numbers(model.heads) != 2 * model.kv_heads * model.head_dim


def ways(found: tuple[Remedy, ...]) -> str:
    """As a list; a dash where nothing helps."""
    if not found:
        return tr("- 表里的机器都装不下", "- none of the machines in the table holds it")
    return "\n".join(f"- {_way(way)}" for way in found)


def _way(way: Remedy) -> str:
    value = count(way.value) if isinstance(way.value, int) else way.value
    return {
        "length": tr(f"请求最长到 **{value}** 个 token", f"requests of at most **{value}** tokens"),
        "kv": tr("KV 存成 **fp8**", "KV in **fp8**"),
        "weights": tr(f"权重存成 **{value}**", f"weights in **{value}**"),
        "gpus": tr(f"**{value}** 张同样的卡", f"**{value}** of these GPUs"),
        "gpu": tr(f"换成 **{value}**", f"**{value}** instead"),
        "machine": tr(f"**{value}**", f"**{value}**"),
    }[way.what]
