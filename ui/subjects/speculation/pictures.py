"""Speculation for the eye: what rounds are worth as curves, the proof as bars."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from html import escape

import numpy as np

from sim.model import proofs
from sim.model.proofs import SameDistribution
from sim.model.sampling import Sampling
from sim.studies import acceptance
from sim.studies.acceptance import UnderLoad
from ui import charts, tiny_model
from ui.charts import Series, go
from ui.subjects.speculation.written_rounds import KEPT
from ui.words.language import tr

MOST_PROPOSED = 16
NUM_ROUNDS = 2_000  # drawn for each point of the curve
NUM_DRAWS = 2_000  # in the proof
SHOWN_BINS = 7


# -- what it is worth -----------------------------------------------------------------------


def speedup_over_k(
    a: float, draft_cost: float, num_proposed: int, best: int, large: bool = False
) -> go.Figure:
    """The speed-up for each number of proposals, with this draft and with one that is free."""
    ks = range(MOST_PROPOSED + 1)
    free, real = ([acceptance.speedup(a, k, cost) for k in ks] for cost in (0.0, draft_cost))
    figure = charts.lines(
        [
            Series(tr("draft 不花时间", "a free draft"), ks, free, 5, "dash"),
            Series(tr("这个 draft", "this draft"), ks, real, 0),
        ],
        tr("每轮提议的 token 数 k", "proposals per round, k"),
        tr("加速比（1 = 不投机）", "speed-up (1 = plain decoding)"),
        large=large,
        height=300,
    )
    figure.add_hline(y=1, line={"color": charts.NEUTRAL, "width": 1.5, "dash": "dot"})
    here = f"k = {num_proposed}: {real[num_proposed]:.2f}×"
    if best == num_proposed:
        here += tr("，最好", ", the best")
    else:
        top = tr(f"最好 k = {best}: {real[best]:.2f}×", f"best k = {best}: {real[best]:.2f}×")
        charts.mark_point(figure, best, real[best], top, large)
        figure.data[-1].textposition = "top right"
    charts.mark_point(figure, num_proposed, real[num_proposed], here, large, below=True)
    figure.data[-1].textposition = "bottom right" if num_proposed < ks[-1] / 2 else "bottom left"
    return figure


def tokens_over_acceptance(a: float, num_proposed: int, large: bool = False) -> go.Figure:
    """Tokens per round against acceptance: the formula as a curve, drawn rounds as points."""
    curve = np.linspace(0, 1, 101)
    drawn = np.linspace(0, 1, 11)
    figure = charts.lines(
        [
            Series(
                tr("公式", "formula"),
                curve,
                [acceptance.expected_tokens(each, num_proposed) for each in curve],
                0,
            )
        ],
        tr("每个提议被接受的概率 a", "acceptance of a proposal, a"),
        tr("每轮产出的 token", "tokens per round"),
        large=large,
        height=280,
    )
    figure.add_trace(
        go.Scatter(
            x=drawn,
            y=_simulated(num_proposed),
            mode="markers",
            cliponaxis=False,
            name=tr("抽签模拟", "drawn by lot"),
            marker={"size": 12 if large else 9, "color": charts.colour(1), "symbol": "x"},
            hovertemplate="a = %{x:.1f}: %{y:.2f}<extra></extra>",
        )
    )
    tokens = acceptance.expected_tokens(a, num_proposed)
    charts.mark_point(figure, a, tokens, f"a = {a:g}: {tokens:.2f}", large)
    figure.data[-1].textposition = "top left" if a > 0.3 else "top right"
    return figure


@lru_cache(maxsize=KEPT)
def _simulated(num_proposed: int) -> list[float]:
    places = np.linspace(0, 1, 11).tolist()
    return [acceptance.simulated_tokens(a, num_proposed, NUM_ROUNDS) for a in places]


def published(large: bool = False) -> go.Figure:
    """The paper's measured speed-ups against what the formula allows with a free draft."""
    rows = acceptance.PUBLISHED
    ends = [1.0, 5.0]
    figure = charts.lines(
        [Series(tr("draft 不花时间", "a free draft"), ends, ends, 5, "dash")],
        tr("公式给出的每轮 token 数", "tokens per round by the formula"),
        tr("实测加速比", "measured speed-up"),
        large=large,
        height=320,
    )
    symbols = {"T5-small": "circle", "T5-base": "square", "T5-large": "triangle-up"}
    for number, (draft, symbol) in enumerate(symbols.items()):
        mine = [row for row in rows if row.draft == draft]
        figure.add_trace(
            go.Scatter(
                x=[row.bound for row in mine],
                y=[row.speedup for row in mine],
                mode="markers",
                name=draft,
                marker={
                    "symbol": symbol,
                    "size": 15 if large else 11,
                    "color": charts.colour(number),
                },
                text=[
                    f"{row.task}, T = {row.temperature}: a = {row.acceptance:g}, "
                    f"k = {row.num_proposed}, {row.speedup:g}×"
                    for row in mine
                ],
                hovertemplate=f"{draft}<br>%{{text}}<extra></extra>",
            )
        )
    charts.name_in_corner(figure, large, x=0, y=1)
    return figure


def by_text(shares: Mapping[str, float], large: bool = False) -> go.Figure:
    """The acceptance of the same two models, one bar per kind of text; last, the reader's own."""
    return charts.bars(
        list(shares),
        [100 * share for share in shares.values()],
        tr("平均接受率（%）", "mean acceptance (%)"),
        colours=[*["accepted"] * (len(shares) - 1), "target"],  # the last one is the reader's
        texts=[f"{share:.0%}" for share in shares.values()],
        top=100,
        large=large,
    )


# -- under load -----------------------------------------------------------------------------


def up_to(most: int, values: Sequence[int]) -> list[int]:
    """Those of the values that are not above the most there may be."""
    return [value for value in values if value <= most]


def speedup_over_batch(
    load: UnderLoad, a: float, batch: int, batches: Sequence[int], large: bool = False
) -> go.Figure:
    """The speed-up against the size of the batch; below 1 speculation makes it slower."""
    gains = [load.speedup(a, each) for each in batches]
    figure = charts.lines(
        [Series(tr("加速比", "speed-up"), batches, gains, 0)],
        tr("批大小（同时解码的请求数）", "batch (requests that decode at a time)"),
        tr("加速比（1 = 不投机）", "speed-up (1 = plain decoding)"),
        log_x=True,
        y_range=(0, max(*gains, 1) * 1.25),
        large=large,
        height=300,
    )
    figure.add_hline(y=1, line={"color": charts.NEUTRAL, "width": 2, "dash": "dot"})
    figure.add_hrect(y0=0, y1=1, fillcolor=charts.faint(charts.colour(1)), line_width=0)
    figure.add_annotation(
        text=tr("更慢", "slower"),
        x=0.01,
        y=0.5,
        xref="paper",
        xanchor="left",
        showarrow=False,
        font_size=charts.text_px(large),
    )
    gain = load.speedup(a, batch)
    charts.mark_point(
        figure, batch, gain, tr(f"批 {batch}：{gain:.2f}×", f"batch {batch}: {gain:.2f}×"), large
    )
    return figure


def steps_over_batch(
    load: UnderLoad, batch: int, batches: Sequence[int], large: bool = False
) -> go.Figure:
    """How long a plain step, a verification and a whole round take."""
    kinds = [
        (tr("普通一步", "plain step"), load.plain_seconds, "solid"),
        (tr("验证", "verification"), load.verify_seconds, "dash"),
        (tr("整轮", "whole round"), load.round_seconds, "dot"),
    ]
    figure = charts.lines(
        [
            Series(name, batches, [1000 * of(each) for each in batches], number, dash)  # type: ignore[arg-type]
            for number, (name, of, dash) in enumerate(kinds)
        ],
        tr("批大小（同时解码的请求数）", "batch (requests that decode at a time)"),
        tr("用时（毫秒）", "time (ms)"),
        log_x=True,
        log_y=True,
        name_ends=False,
        large=large,
        height=280,
    )
    charts.name_in_corner(figure, large, x=0, y=1)
    charts.mark_setting(figure, batch)
    return figure


# -- the proof ------------------------------------------------------------------------------


@lru_cache(maxsize=KEPT)
def both_rules(
    text: str, temperature: float, seed: int
) -> tuple[str, SameDistribution, SameDistribution]:
    """The token before the hardest place of a text; draws there by the right and the wrong rule."""
    prompt = tiny_model.prompt(text)
    place, p, q = proofs.hardest_place(
        tiny_model.target(), tiny_model.draft(), prompt, Sampling(temperature)
    )
    right = proofs.sampled_speculation(p, q, NUM_DRAWS, seed)
    wrong = proofs.sampled_speculation(p, q, NUM_DRAWS, seed, proofs.from_the_target)
    return tiny_model.pieces(prompt)[place], right, wrong


def counted(right: SameDistribution, wrong: SameDistribution, large: bool = False) -> go.Figure:
    """How often each token should come, and how often it came by either rule."""
    names = [escape(tiny_model.piece(token), quote=False) for token in right.tokens[:SHOWN_BINS]]
    kinds = {
        tr("应有：target 的 p", "expected: target's p"): (right.expected, "target"),
        tr("对：从 max(0, p − q) 抽", "right: from max(0, p − q)"): (right.observed, "accepted"),
        tr("错：又从 p 抽", "wrong: from p again"): (wrong.observed, "rejected"),
    }
    return charts.grouped_bars(
        names,
        {name: (counts[:SHOWN_BINS], meaning) for name, (counts, meaning) in kinds.items()},
        tr("抽到的次数", "times drawn"),
        large=large,
        height=380,
    )
