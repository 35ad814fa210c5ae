"""Inside the pipeline: what the model attends to, and what may come next.

They read results of the real tiny model; the reader's text is only ever shown as text.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise

import numpy as np

from sim.model import sampling
from sim.model.pipeline import Passage
from sim.model.sampling import Sampling
from sim.model.transformer import Array
from ui import charts, theme, tiny_model
from ui.charts import Series, go
from ui.words.language import tr
from ui.words.numbers import percent

CANDIDATES = 10
MOST_NAMED = 26  # tokens: of more than these, pointing at a cell tells the share only
LONGEST_NAME = 8  # letters of a token at an axis
FAINT = 0.45


# -- attention --------------------------------------------------------------------------------


def attention(way: Passage, layer: int, head: int, large: bool = False) -> go.Figure:
    """A row for every token that went through the model, a column for every one it may look at."""
    names = [_name(piece) for piece in tiny_model.pieces((*way.prompt, *way.answer[:-1]))]
    figure = empty(large, height=410)
    first = 0
    for number, turn in enumerate(way.turns):
        rows = turn.attention[layer - 1, head - 1].astype(float)  # [num_new, num_tokens]
        rows[np.triu_indices(len(rows), rows.shape[1] - len(rows) + 1, rows.shape[1])] = np.nan
        kind = "prefill" if number == 0 else "decode"
        figure.add_trace(_shares(rows, first, names, kind))
        first += len(rows)
    size = len(way.prompt)
    figure.add_hline(y=size - 0.5, line={"width": 2, "color": charts.NEUTRAL})
    words = (
        tr("预填充：<br>一遍算完", "prefill:<br>one pass"),
        tr("解码：<br>一遍一行", "decode:<br>pass by pass"),
    )
    for word, (start, end) in zip(words, pairwise((0, size, len(names))), strict=True):
        if end > start:
            _beside(figure, (start + end - 1) / 2, word, large)
    # As categories, so that the browser names every second, third ... where the room is short.
    named = {"type": "category", "categoryarray": _told_apart(names), "nticks": 0}
    axis = {**named, "showgrid": False, "showline": False, "ticks": "", "tickangle": 0}
    figure.update_xaxes(**axis | {"tickangle": -60}, side="top", range=[-0.5, len(names) - 0.5])
    figure.update_yaxes(**axis, range=[len(names) - 0.5, -0.5])
    lines = [line for word in words for line in word.split("<br>")]
    widest = max(charts.text_width(line, charts.text_px(large)) for line in lines)
    return figure.update_layout(margin={"t": 64, "r": round(widest) + 10})


def _told_apart(names: Sequence[str]) -> list[str]:
    """Each name once: what cannot be seen is added to a token that comes again."""
    return [name + charts.ZERO_WIDTH * names[:at].count(name) for at, name in enumerate(names)]


def _beside(figure: go.Figure, y: float, text: str, large: bool) -> None:
    figure.add_annotation(
        x=1,
        xref="paper",
        y=y,
        text=text,
        xanchor="left",
        xshift=6,
        align="left",
        showarrow=False,
        font_size=charts.text_px(large),
    )


def _shares(rows: Array, first: int, names: Sequence[str], kind: str) -> go.Heatmap:
    hue = theme.MEANINGS[kind].colour
    told = len(names) <= MOST_NAMED
    return go.Heatmap(
        z=np.round(rows, 4),
        y0=first,
        dy=1,
        x0=0,
        dx=1,
        zmin=0,
        zmax=1,
        colorscale=[[0, _rgba(hue, 0.06)], [0.3, _rgba(hue, 0.6)], [1, _rgba(hue, 1)]],
        showscale=False,
        xgap=1,
        ygap=1,
        customdata=[
            [f"{names[first + at]} → {name}: " for name in names] for at in range(len(rows))
        ]
        if told
        else None,
        hovertemplate=("%{customdata}" if told else "") + "%{z:.1%}<extra></extra>",
        hoverongaps=False,
    )


def _rgba(hue: str, alpha: float) -> str:
    red, green, blue = (int(hue[at : at + 2], 16) for at in (1, 3, 5))
    return f"rgba({red},{green},{blue},{alpha})"


# -- what may come next -----------------------------------------------------------------------


@dataclass(frozen=True)
class NextToken:
    """The model's own probabilities and those a token is drawn with, each [vocab]."""

    own: Array
    drawn: Array

    @property
    def num_left(self) -> int:
        return int((self.drawn > 0).sum())

    @property
    def most_probable(self) -> float:
        return float(self.drawn.max())

    def share(self, token: int) -> float:
        """The probability with which a token is drawn."""
        return float(self.drawn[token])

    @property
    def kept(self) -> float:
        """The model's own probability of all that can still come."""
        return float(self.own[self.drawn > 0].sum())


def choice(way: Passage, how: Sampling) -> NextToken:
    """What the first token is drawn from."""
    logits = way.turns[0].logits
    return NextToken(
        sampling.probabilities(logits, Sampling()), sampling.probabilities(logits, how)
    )


def drawn(one: NextToken, times: int, seed: int) -> list[tuple[int, int]]:
    """Which tokens came when it was drawn so many times, and how often; the most frequent first."""
    rng = np.random.default_rng(seed)
    return Counter(sampling.draw(one.drawn, rng) for _ in range(times)).most_common()


def candidates(
    one: NextToken, came: Sequence[tuple[int, int]] = (), large: bool = False
) -> go.Figure:
    """The most probable tokens: as the model has it, as they are drawn, and how often they came."""
    order = np.argsort(-one.own, kind="stable")[:CANDIDATES].tolist()
    names = [_name(tiny_model.piece(token)) for token in order]
    figure = empty(large, height=370)
    wide = 0.38
    for number, (name, values, colour) in enumerate(
        (
            (tr("模型给的", "from the model"), one.own, charts.NEUTRAL),
            (tr("抽的时候", "when drawn"), one.drawn, theme.MEANINGS["sample"].colour),
        )
    ):
        shares = [float(values[token]) for token in order]
        figure.add_trace(
            go.Bar(
                name=name,
                orientation="h",
                x=shares,
                y=[at + (number - 0.5) * wide for at in range(len(order))],
                width=wide,
                marker={"color": colour, "opacity": FAINT if number == 0 else 1},
                text=[percent(share) for share in shares] if number else None,
                textposition="outside",
                textfont={"size": charts.text_px(large)},
                constraintext="none",
                cliponaxis=False,
                customdata=names,
                hovertemplate="%{customdata}: %{x:.2%}<extra></extra>",
            )
        )
    came_as = {token: how_often / sum(n for _, n in came) for token, how_often in came}
    if came:
        figure.add_trace(
            go.Scatter(
                name=tr("抽到的", "came"),
                mode="markers",
                x=[came_as.get(token, 0.0) for token in order],
                y=[at - wide / 2 for at in range(len(order))],
                marker={"symbol": "diamond", "size": 11, "color": charts.colour(0)},
                cliponaxis=False,
                customdata=names,
                hovertemplate="%{customdata}: %{x:.0%}<extra></extra>",
            )
        )
    longest = max(float(one.own.max()), one.most_probable, *came_as.values())
    room = charts.text_width(percent(0.999), charts.text_px(large))  # beside the longest bar
    figure.update_layout(margin_r=round(room) + 8)
    figure.update_xaxes(range=[0, longest], tickformat=".0%", rangemode="tozero")
    figure.update_yaxes(
        tickvals=list(range(len(order))),
        ticktext=names,
        range=[len(order) - 0.4, -0.6],
        showgrid=False,
        ticks="",
    )
    legend = {"orientation": "v", "x": 1, "xanchor": "right", "y": 0.02, "yanchor": "bottom"}
    legend |= {
        "font": {"size": charts.text_px(large)},
        "itemclick": False,
        "itemdoubleclick": False,
    }
    return figure.update_layout(
        showlegend=True,
        legend=legend,
        barmode="overlay",
        margin={"t": 8, "b": round(2.4 * charts.text_px(large))},
    )


# -- inside -----------------------------------------------------------------------------------


def empty(large: bool, height: int) -> go.Figure:
    figure = charts.lines([Series("", [0, 1], [0, 1])], "", "", large=large, height=height)
    figure.data = ()
    return figure


def _name(piece: str) -> str:
    """A token at an axis: short, and nothing in it that Plotly would take for markup."""
    short = piece if len(piece) <= LONGEST_NAME else piece[: LONGEST_NAME - 1] + "…"
    return escape(short, quote=False)
