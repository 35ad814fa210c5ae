"""The tiny model that ships with the app, and its tokens as a reader can see them.

Loaded once and shared by all readers; what it computes is kept by whoever asks (`ui.lesson.proof`,
`ui.subjects.pipeline.pictures`), as runs of the simulator are.
"""

import re
from functools import cache

from sim.model import tokenizer, transformer
from sim.model.tokenizer import Tokenizer
from sim.model.transformer import Weights
from ui.files import ASSETS

FOLDER = ASSETS / "model"
SAMPLE = "What is 显存？😀"  # a text to begin with, the same in either language
MAX_TOKENS = 64  # of a reader's text; emoji and rare characters take several each
SEEN = {" ": "␣", "\n": "⏎", "\t": "⇥"}
BEGIN, END = "⟨bos⟩", "⟨eos⟩"  # the same token: a text begins where another has ended


@cache
def encoder() -> Tokenizer:
    return tokenizer.load(FOLDER / "tokenizer.json")


@cache
def target() -> Weights:
    return transformer.load(FOLDER / "target.npz")


@cache
def draft() -> Weights:
    return transformer.load(FOLDER / "draft.npz")


def prompt(text: str) -> tuple[int, ...]:
    """The text as the model reads it: at most MAX_TOKENS tokens, and the one before every text."""
    return tuple(encoder().prompt(text)[: MAX_TOKENS + 1])


def left_out(text: str) -> int:
    """How many tokens of the text do not fit."""
    return max(0, len(encoder().encode(text)) - MAX_TOKENS)


def piece(token: int) -> str:
    """One token, every space visible; bytes that are no text by themselves as hex numbers."""
    if token == encoder().end:
        return END
    data = encoder().pieces[token]
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return data.hex(" ").upper()
    shown = "".join(SEEN.get(letter, letter) for letter in text)
    return shown if shown.isprintable() else data.hex(" ").upper()


def in_prose(token: int) -> str:
    """A token within Markdown, where nothing in it means anything."""
    shown = piece(token)
    fence = "`" * (1 + max(map(len, re.findall("`+", shown)), default=0))
    return f"{fence} {shown} {fence}"


def pieces(tokens: tuple[int, ...]) -> list[str]:
    """The tokens of a text from its beginning."""
    return [
        BEGIN if at == 0 and shown == END else shown for at, shown in enumerate(map(piece, tokens))
    ]
