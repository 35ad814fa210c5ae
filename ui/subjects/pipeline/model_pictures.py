"""Inside the pipeline: what the model attends to, what may come next, how bytes become characters.

They read results of the real tiny model; the reader's text is only ever shown as text.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from html import escape
from itertools import pairwise

import numpy as np
import plotly.graph_objects as go

from sim.model import sampling
from sim.model.pipeline import Passage
from sim.model.sampling import Sampling
from sim.model.tokenizer import Detokenizer
from sim.model.transformer import Array
from ui import charts, theme, tiny_model
from ui.charts import Series
from ui.words.language import tr
from ui.words.numbers import percent

CANDIDATES = 10
MOST_NAMED = 26  # tokens: of more than these, pointing at a cell tells the share only
LONGEST_NAME = 8  # letters of a token at an axis
WINDOW = 21  # bytes in sight: all of the text to begin with
BYTE_PX = 12  # two digits fit their cell on a phone
CELL = 0.94  # of its place
FAINT = 0.45


# -- attention --------------------------------------------------------------------------------


def attention(way: Passage, layer: int, head: int, large: bool = False) -> go.Figure:
    """A row for every token that went through the model, a column for every one it may look at."""
    names = [_name(piece) for piece in tiny_model.pieces((*way.prompt, *way.answer[:-1]))]
    figure = _empty(large, height=410)
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
    return figure.update_layout(margin={"t": 64, "r": round(6.5 * charts.text_px(large))})


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


def candidates(one: NextToken, large: bool = False) -> go.Figure:
    """The most probable tokens: as the model has it, and as they are drawn."""
    order = np.argsort(-one.own, kind="stable")[:CANDIDATES].tolist()
    names = [_name(tiny_model.piece(token)) for token in order]
    figure = _empty(large, height=370)
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
    longest = max(float(one.own.max()), one.most_probable)
    figure.update_xaxes(range=[0, longest * 1.12], tickformat=".0%", rangemode="tozero")
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


# -- bytes, tokens, characters ----------------------------------------------------------------


@dataclass(frozen=True)
class ArrivedToken:
    """A token that has come: its bytes, and what they complete.  `first`: its first byte."""

    piece: str
    first: int
    data: bytes
    text: str
    waiting: bytes


@lru_cache(maxsize=64)
def arrivals(text: str) -> tuple[ArrivedToken, ...]:
    """The tokens of a text as a client gets them, one by one; none of an empty text."""
    detokenizer = Detokenizer(tiny_model.encoder())
    came, first = [], 0
    for token in tiny_model.prompt(text)[1:]:
        data = tiny_model.encoder().pieces[token]
        said = detokenizer.add(token)
        came.append(ArrivedToken(tiny_model.piece(token), first, data, said, detokenizer.waiting))
        first += len(data)
    return tuple(came)


@dataclass(frozen=True)
class SoFar:
    """What there is after the first tokens.  `num_held_up`: of them left bytes waiting."""

    num_tokens: int
    num_bytes: int
    num_characters: int
    num_waiting: int
    num_held_up: int


def so_far(came: Sequence[ArrivedToken], number: int) -> SoFar:
    here = came[:number]
    return SoFar(
        len(here),
        sum(len(one.data) for one in here),
        sum(len(one.text) for one in here),
        len(here[-1].waiting) if here else 0,
        sum(1 for one in here if one.waiting),
    )


def bytes_and_characters(
    came: Sequence[ArrivedToken], number: int, large: bool = False
) -> go.Figure:
    """Three rows on one axis of bytes: tokens, bytes, and the characters that are whole.

    `number` of the tokens have come; of many bytes the last ones before them are in sight.
    """
    here = came[:number]
    end = here[-1].first + len(here[-1].data) if here else 0
    total = came[-1].first + len(came[-1].data) if came else 1
    start = max(0, min(end - WINDOW // 2, total - WINDOW))
    figure = _empty(large, height=250)
    data = b"".join(one.data for one in here)
    waiting = end - (len(here[-1].waiting) if here else 0)
    cells = [(2, one.first, len(one.data), one.piece, "tokenize") for one in here]
    cells += [
        (1, at, 1, f"{byte:02X}", "queue" if at >= waiting else "stored")
        for at, byte in enumerate(data)
    ]
    cells += [(0, at, size, letter, "answer") for at, size, letter in _characters(data[:waiting])]
    for kind in dict.fromkeys(cell[-1] for cell in cells):
        figure.add_trace(_cells([cell for cell in cells if cell[-1] == kind], kind, large))
    rows = [tr("屏幕", "screen"), tr("字节", "bytes"), "token"]
    figure.update_yaxes(tickvals=[0, 1, 2], ticktext=rows, range=[-0.6, 2.6], showgrid=False)
    window = min(max(total, 8), WINDOW)
    figure.update_xaxes(visible=False, range=[start, start + window])
    return figure.update_layout(barmode="overlay", margin_t=10)


def _characters(data: bytes) -> list[tuple[int, int, str]]:
    """First byte, number of bytes and letter of each character of what is whole."""
    found, at = [], 0
    for letter in data.decode("utf-8", "replace"):
        size = len(letter.encode("utf-8"))
        found.append((at, size, tiny_model.SEEN.get(letter, letter)))
        at += size
    return found


def _cells(cells: Sequence[tuple[int, int, int, str, str]], kind: str, large: bool) -> go.Bar:
    meaning = theme.MEANINGS[kind]
    is_byte = kind in ("queue", "stored")
    return go.Bar(
        orientation="h",
        y=[row for row, *_ in cells],
        base=[first + (1 - CELL) / 2 for _, first, *_ in cells],
        x=[size - (1 - CELL) for _, _, size, *_ in cells],
        width=0.72,
        marker={
            "color": charts.faint(meaning.colour),
            "line": {"width": 3 if kind == "queue" else 1.5, "color": meaning.colour},
        },
        text=[escape(word) for *_, word, _ in cells],
        textposition="inside",
        insidetextanchor="middle",
        textangle=0,
        constraintext="none",
        textfont={"size": BYTE_PX if is_byte and not large else charts.text_px(large)},
        hovertemplate="%{text}<extra></extra>",
        showlegend=False,
    )


# -- inside -----------------------------------------------------------------------------------


def _empty(large: bool, height: int) -> go.Figure:
    figure = charts.lines([Series("", [0, 1], [0, 1])], "", "", large=large, height=height)
    figure.data = ()
    return figure


def _name(piece: str) -> str:
    """A token at an axis: short, and nothing in it that Plotly would take for markup."""
    short = piece if len(piece) <= LONGEST_NAME else piece[: LONGEST_NAME - 1] + "…"
    return escape(short, quote=False)
