"""Tokens arrive, bytes become characters: what a client may show so far."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from html import escape

from sim.model.tokenizer import Detokenizer
from ui import charts, theme, tiny_model
from ui.charts import go
from ui.subjects.pipeline.model_pictures import empty
from ui.words.language import tr

WINDOW = 21  # bytes in sight: all of the text to begin with
BYTE_PX = 12  # two digits fit their cell on a phone
CELL = 0.94  # of its place


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
    figure = empty(large, height=250)
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
