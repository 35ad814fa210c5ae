"""Constrained decoding for the eye: a reader's format, what the tiny model wrote in it, its frames.

Formats and texts are kept: the same settings give the same text.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import numpy as np

from sim.errors import SimError
from sim.model.constrained import index as constrained
from sim.model.constrained import json_schema
from sim.model.constrained.index import Index, Piece
from sim.model.generation import Decoder
from sim.model.sampling import Sampling
from ui import tiny_model
from ui.player.painters.grammar import Branch, Grammar, GrammarBar, GrammarMoment
from ui.subjects.constrained import grammar_notes, token_index
from ui.subjects.constrained.token_index import Built
from ui.words.language import tr
from ui.words.numbers import count, microseconds

PROMPT = "Continuous batching 连续批处理每一步都"
NUM_TOKENS = 32
NUM_BARS = 6
NUM_WAYS = 6
NUM_NAMED = 3  # tokens in a way's label
KEPT = 24  # shared by all readers; an index can take 4 MB

Outcome = Literal["complete", "broken", "cut_off"]


@dataclass(frozen=True, eq=False)
class Format:
    """`pattern`: the regular expression, for a schema the one it becomes."""

    pattern: str
    built: Built

    @property
    def index(self) -> Index:
        return self.built.index


@dataclass(frozen=True, eq=False)
class Text:
    """What the model wrote in a format."""

    format: Format
    pieces: tuple[Piece, ...]
    is_masked: bool

    @property
    def words(self) -> str:
        return tiny_model.encoder().decode(piece.token for piece in self.pieces)

    @property
    def num_passes(self) -> int:
        return constrained.num_passes(self.pieces)

    @property
    def outcome(self) -> Outcome:
        """What became of the format."""
        index, last = self.format.index, self.pieces[-1].after
        if last == index.dead:
            return "broken"
        return "complete" if index.may_end(last) else "cut_off"


@lru_cache(maxsize=KEPT)
def read(text: str) -> Format:
    """What begins with { is a JSON Schema, everything else a regular expression.

    Raises:
        SimError: as `json_schema.pattern` and `token_index.build`.
    """
    pattern = json_schema.pattern(text) if text.lstrip().startswith("{") else text
    return Format(pattern, token_index.build(pattern, tiny_model.encoder()))


def readable(text: str, otherwise: str) -> tuple[str, str]:
    """The text, or `otherwise` and why not."""
    try:
        read(text)
    except SimError as error:
        return otherwise, grammar_notes.problem(error)
    return text, ""


@lru_cache(maxsize=KEPT)
def written(text: str, is_masked: bool, jumps: bool, temperature: float, seed: int) -> Text:
    """What the tiny model writes after the prompt, in the format that `text` describes."""
    form, prompt = read(text), tiny_model.prompt(PROMPT)
    pieces = constrained.write(
        Decoder.with_room(tiny_model.target(), len(prompt) + NUM_TOKENS),
        prompt,
        form.index,
        NUM_TOKENS,
        Sampling(temperature),
        seed,
        is_masked=is_masked,
        jumps=jumps,
    )
    return Text(form, tuple(pieces), is_masked)


def builder(form: Format) -> str:
    """Who built the index."""
    return "outlines-core" if form.built.by_library else tr("我们自己的代码", "our own code")


def size(form: Format) -> dict[str, Any]:
    """How large the index is, and how long it took."""
    return {
        "states": count(form.index.num_states),
        "ways": count(int(form.index.num_allowed.sum())),
        **_built(form),
    }


def _built(form: Format) -> dict[str, str]:
    return {"library": builder(form), "build": microseconds(form.built.seconds)}


def cost(text: str) -> dict[str, Any]:
    """What masks of a format take here, with the index and without."""
    form = read(text)
    naive, mask = _mask_seconds(text)
    return {
        "lookups": count(constrained.num_lookups(form.index.tokenizer)),
        "naive": microseconds(naive),
        "mask": microseconds(mask),
        **_built(form),
    }


@lru_cache(maxsize=KEPT)
def _mask_seconds(text: str) -> tuple[float, float]:
    form = read(text)
    return token_index.mask_seconds(form.pattern, form.index)


def shown_pattern(form: Format) -> str:
    """The regular expression as Markdown that shows it letter by letter."""
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", form.pattern)), default=0))
    return f"{fence} {form.pattern} {fence}"


# -- frames -----------------------------------------------------------------------------------


def as_frames(text: Text, alt: str) -> Grammar:
    index = text.format.index
    moments = tuple(_moment(piece, index) for piece in text.pieces)
    has_jumps = any(piece.is_forced for piece in text.pieces)
    stops = {"breaks", "drawn"} if has_jumps else {"breaks"}  # where the model was asked after all
    return Grammar(
        prompt=tuple(tiny_model.pieces(tiny_model.prompt(PROMPT))),
        moments=moments,
        allowed=tuple(index.num_allowed.tolist()),
        is_masked=text.is_masked,
        notes=tuple(
            grammar_notes.jumped(piece)
            if piece.is_forced
            else grammar_notes.drawn(piece, index.dead, index.tokenizer.vocab_size)
            for piece in text.pieces
        ),
        events=tuple((one.fate,) if one.fate in stops else () for one in moments),
        times=tuple(
            tr(f"前向 {number} 次", f"passes: {number}") for number in _passes_so_far(text.pieces)
        ),
        alt=alt,
    )


def _passes_so_far(pieces: Iterable[Piece]) -> list[int]:
    return np.cumsum([not piece.is_forced for piece in pieces]).tolist()


def _moment(piece: Piece, index: Index) -> GrammarMoment:
    if piece.is_forced:
        fate = "jumped"
    elif piece.state == index.dead:
        fate = "astray"
    else:
        fate = "breaks" if piece.after == index.dead else "drawn"
    ways = _ways(piece, index)
    return GrammarMoment(
        token=tiny_model.piece(piece.token),
        fate=fate,
        state=_named(piece.state, index.dead),
        after=_named(piece.after, index.dead),
        ways=ways[:NUM_WAYS],
        num_more_ways=max(0, len(ways) - NUM_WAYS),
        bars=_bars(piece),
    )


def _named(state: int, dead: int) -> int:
    return -1 if state == dead else state


def _ways(piece: Piece, index: Index) -> tuple[Branch, ...]:
    """The token that came, if it may; then the other tokens by the state that they lead to."""
    end, onto = index.tokenizer.end, index.after[piece.state]
    by_target: dict[int, list[int]] = {}
    likely = np.arange(len(onto)) if piece.free is None else np.argsort(-piece.free, kind="stable")
    for token in likely[piece.allowed[likely]].tolist():
        if token != piece.token:
            target = -1 if token == end else int(onto[token])
            by_target.setdefault(target, []).append(token)
    others = tuple(Branch(_label(tokens), target, False) for target, tokens in by_target.items())
    if piece.after == index.dead:
        return others
    target = -1 if piece.token == end else piece.after
    return (Branch(tiny_model.piece(piece.token), target, True), *others)


def _label(tokens: Sequence[int]) -> str:
    """The likeliest of the tokens, and how many there are: "a b c … (26)"."""
    named = " ".join(map(tiny_model.piece, tokens[:NUM_NAMED]))
    return f"{named} … ({count(len(tokens))})" if len(tokens) > NUM_NAMED else named


def _bars(piece: Piece) -> tuple[GrammarBar, ...]:
    """The likeliest tokens without and with the mask, the drawn one among them; last, the rest."""
    if piece.free is None or piece.used is None:
        return ()
    free = np.argsort(-piece.free, kind="stable").tolist()
    used = np.argsort(-piece.used, kind="stable").tolist()
    half = NUM_BARS // 2
    shown = list(dict.fromkeys([*free[:half], piece.token, *used[:NUM_BARS]]))[:NUM_BARS]
    bars = [_bar(piece, token) for token in sorted(shown, key=free.index)]
    rest = [max(0.0, 1 - sum(known)) for known in _columns(bars)]
    return (*bars, GrammarBar("", rest[0], rest[1], True))


def _bar(piece: Piece, token: int) -> GrammarBar:
    assert piece.free is not None
    assert piece.used is not None
    name, allowed = tiny_model.piece(token), bool(piece.allowed[token])
    return GrammarBar(name, float(piece.free[token]), float(piece.used[token]), allowed)


def _columns(bars: Sequence[GrammarBar]) -> tuple[list[float], list[float]]:
    return [bar.free for bar in bars], [bar.used for bar in bars]
