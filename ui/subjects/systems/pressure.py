"""Pictures of three servers whose KV memory is full: what each holds, keeps, and takes away."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from sim import specs
from sim.cost import Roofline
from sim.engine import Run
from sim.kv import sizes
from sim.metrics import Summary
from sim.studies.pressure import ANSWERS, Comparison, computed_again, interrupted_seconds
from sim.workload import LognormalLength, PoissonArrivals, Workload
from ui import charts
from ui.charts import Subplot, go
from ui.results import runs
from ui.results.cards import Card
from ui.words.language import tr
from ui.words.numbers import count, seconds, significant

CLOCK = Roofline(specs.MODELS["Llama-3.1-8B"], specs.GPUS["RTX 4090"])
CARD_TOKENS = sizes.Division(CLOCK.model, CLOCK.gpu).pool_tokens  # what the card has room for
TRAFFIC = Workload(
    48,
    PoissonArrivals(24),
    LognormalLength(128, 400, 2_000),
    LognormalLength(128, 256, 384),
    seed=1,
)
NO_BREAK = "\u00a0"
FULL = 1.06  # of the pool: where interruptions are marked
TOP = 1.14
NAMES_AT, MARGIN_LINES = 1.08, 4.8  # what the areas are stands above the first server's name


@dataclass(frozen=True)
class Outcome:
    """One server's run, and what its memory cost."""

    rule: str  # of `rules`
    run: Run
    summary: Summary
    num_again: int

    @property
    def tokens_per_second(self) -> float:
        return self.summary.output_tokens_per_second


@lru_cache(maxsize=runs.KEPT)
def outcomes(server: Comparison) -> Mapping[str, Outcome]:
    """Each answer's run of the same requests."""
    requests = runs.requests(TRAFFIC)
    setups = {answer: server.setup(answer, requests) for answer in ANSWERS}
    return {
        answer: Outcome(
            server.rule(answer),
            runs.run(setup),
            runs.summary(setup),
            computed_again(runs.run(setup)),
        )
        for answer, setup in setups.items()
    }


def answer_tokens() -> float:
    """How long an answer is, on average."""
    return float(np.mean([request.output_tokens for request in runs.requests(TRAFFIC)]))


def rules() -> dict[str, str]:
    """What decides who is let in, by its code: the rule, not the product that has it."""
    return {
        "fits": tr("放得下就进", "whoever fits now"),
        "guess": tr("按估计留", "room by a guess"),
        "reserved": tr("留到 max_tokens", "room to max_tokens"),
    }


def limits() -> dict[str, str]:
    """What clients may allow an answer to take, by its code."""
    return {"0": tr("正好够", "what is written"), "256": "256", "512": "512", "1024": "1,024"}


def cards(found: Mapping[str, Outcome]) -> list[Card]:
    """Of each server its output tokens per second, and who was interrupted for how long."""
    return [_card(outcome) for outcome in found.values()]


def _card(outcome: Outcome) -> Card:
    number, gap = outcome.run.num_preemptions, seconds(outcome.summary.itl.max)
    return Card(
        rules()[outcome.rule],
        f"{significant(outcome.tokens_per_second)} " + tr("token/s", "tokens/s"),
        tr(f"打断 {number} 次，最长停 {gap}", f"{number} interrupted, longest gap {gap}"),
    )


def in_blanks(found: Mapping[str, Outcome]) -> dict[str, Any]:
    """A table's numbers, by answer and metric, and the rules that head it."""
    heads = {f"{answer}_rule": rules()[outcome.rule] for answer, outcome in found.items()}
    return heads | {
        f"{answer}_{metric}": value.replace(" ", NO_BREAK)
        for answer, outcome in found.items()
        for metric, value in _metrics(outcome).items()
    }


def _metrics(outcome: Outcome) -> dict[str, str]:
    summary = outcome.summary
    return {
        "speed": significant(outcome.tokens_per_second),
        "running": significant(summary.mean_running),
        "interrupted": count(summary.num_preemptions),
        "again": count(outcome.num_again),
        "ttft": seconds(summary.ttft.p99),
        "itl": seconds(summary.itl.p99),
        "gap": seconds(summary.itl.max),
    }


def memory_figure(found: Mapping[str, Outcome], pool: int, large: bool = False) -> go.Figure:
    """The pool of each server over one clock: what is there, what is kept, who is interrupted."""
    held, kept = tr("KV 在用", "KV in use"), tr("留给以后的", "kept for later")
    panels = []
    for outcome in found.values():
        series = outcome.run.series
        moments, usage = series.end_seconds, series.kv_usage * pool
        promised = np.minimum(usage + series.kv_promised * pool, pool)
        areas = [
            charts.thinned(kept, moments, promised, "later"),
            charts.thinned(held, moments, usage, "stored"),
        ]
        panels.append(
            Subplot(
                f"<b>{rules()[outcome.rule]}</b>" + tr("：KV token", ": tokens of KV"),
                areas,
                top=pool * TOP,
                names_in_title=True,
            )
        )
    figure = charts.stacked_time_series(
        panels,
        tr("时间（秒）", "time (s)"),
        large=large,
        height=400,
    )
    _fill(figure)
    ends = {"tickvals": [0, pool], "gridcolor": charts.NEUTRAL}  # lines at both ends of the pool
    axes = ("y", "y2", "y3")
    figure.add_traces(
        [
            _marks(outcome.run, pool, axis, large)
            for axis, outcome in zip(axes, found.values(), strict=True)
        ]
    )
    charts.name_above(figure, large)
    figure.update_layout(
        {axis.replace("y", "yaxis"): ends for axis in axes},
        legend_y=NAMES_AT,
        margin_t=round(MARGIN_LINES * figure.layout.font.size),
    )
    return figure


def _fill(figure: go.Figure) -> None:
    """Areas instead of curves: hatched what is kept, solid what is there."""
    for number, trace in enumerate(figure.data):
        is_kept = number % 2 == 0
        hue = trace.line.color
        trace.update(
            fill="tozeroy",
            fillcolor=charts.TRANSPARENT if is_kept else hue,
            fillpattern={"shape": "/", "fgcolor": hue, "size": 7, "solidity": 0.35}
            if is_kept
            else {},
            line_width=1,
            showlegend=number < 2,
        )


def _marks(run: Run, pool: int, axis: str, large: bool) -> go.Scatter:
    moments = interrupted_seconds(run)
    return go.Scatter(
        name=tr("打断", "interrupted"),
        x=moments,
        y=np.full(len(moments), pool * FULL),
        xaxis="x",
        yaxis=axis,
        mode="markers",
        marker={
            "symbol": "x",
            "size": 11 if large else 8,
            "color": charts.colour("preempted"),
        },
        showlegend=axis == "y",
        cliponaxis=False,
        hovertemplate="%{x:.2f} s<extra></extra>",
    )
