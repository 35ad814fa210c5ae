"""Constrained decoding for the eye: a reader's format, what the tiny model wrote in it, its frames.

Formats and texts are kept: the same settings give the same text.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np

from sim import automaton, constrained, json_schema
from sim.constrained import Masks, Piece
from sim.errors import SimError
from sim.generation import Decoder
from sim.sampling import Sampling
from ui import grammar_notes, tiny_model
from ui.language import tr
from ui.painters.grammar import Bar, Grammar, Moment, Way

PROMPT = "Continuous batching 连续批处理每一步都"
NUM_TOKENS = 32
NUM_BARS = 6
NUM_WAYS = 6
KEPT = 64  # shared by all readers

Outcome = Literal["complete", "broken", "cut_off"]


@dataclass(frozen=True, eq=False)
class Format:
    """`pattern`: the regular expression, for a schema the one it becomes."""

    pattern: str
    masks: Masks

    @property
    def num_states(self) -> int:
        return self.masks.automaton.num_states


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
        machine, last = self.format.masks.automaton, self.pieces[-1].after
        if last == machine.dead:
            return "broken"
        return "complete" if machine.accepting[last] else "cut_off"


@lru_cache(maxsize=KEPT)
def read(text: str) -> Format:
    """What begins with { is a JSON Schema, everything else a regular expression.

    Raises:
        SimError: as `json_schema.pattern` and `automaton.compiled`.
    """
    pattern = json_schema.pattern(text) if text.lstrip().startswith("{") else text
    return Format(pattern, Masks(automaton.compiled(pattern), tiny_model.encoder()))


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
        form.masks,
        NUM_TOKENS,
        Sampling(temperature),
        seed,
        is_masked=is_masked,
        jumps=jumps,
    )
    return Text(form, tuple(pieces), is_masked)


def shown_pattern(form: Format) -> str:
    """The regular expression as Markdown that shows it letter by letter."""
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", form.pattern)), default=0))
    return f"{fence} {form.pattern} {fence}"


# -- frames -----------------------------------------------------------------------------------


def as_frames(text: Text, alt: str) -> Grammar:
    masks = text.format.masks
    dead = masks.automaton.dead
    moments = tuple(_moment(piece, masks) for piece in text.pieces)
    has_jumps = any(piece.is_forced for piece in text.pieces)
    stops = {"breaks", "drawn"} if has_jumps else {"breaks"}  # where the model was asked after all
    return Grammar(
        prompt=tuple(tiny_model.pieces(tiny_model.prompt(PROMPT))),
        moments=moments,
        is_masked=text.is_masked,
        notes=tuple(
            grammar_notes.jumped(piece)
            if piece.is_forced
            else grammar_notes.drawn(piece, dead, masks.tokenizer.vocab_size)
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


def _moment(piece: Piece, masks: Masks) -> Moment:
    machine = masks.automaton
    if piece.is_forced:
        fate = "jumped"
    elif piece.state == machine.dead:
        fate = "astray"
    else:
        fate = "breaks" if piece.after == machine.dead else "drawn"
    ways = _ways(piece, masks)
    return Moment(
        token=tiny_model.piece(piece.token),
        fate=fate,
        state=_named(piece.state, machine.dead),
        after=_named(piece.after, machine.dead),
        num_allowed=piece.num_allowed,
        ways=ways[:NUM_WAYS],
        num_more_ways=max(0, len(ways) - NUM_WAYS),
        bars=_bars(piece),
    )


def _named(state: int, dead: int) -> int:
    return -1 if state == dead else state


def _ways(piece: Piece, masks: Masks) -> tuple[Way, ...]:
    """The token that came, if it may; then the bytes that begin something else."""
    machine, data = masks.automaton, masks.tokenizer.pieces[piece.token]
    token = tiny_model.piece(piece.token)
    taken = [] if piece.after == machine.dead else [Way(token, piece.after if data else -1, True)]
    first = data[:1] if taken else b""
    ways = {
        target: [byte for byte in values if byte not in first]
        for target, values in machine.ways(piece.state).items()
    }
    others = [
        Way(grammar_notes.bytes_in_words(values), target, False)
        for target, values in ways.items()
        if values
    ]
    if machine.accepting[piece.state] and (data or not taken):
        others.append(Way(tiny_model.END, -1, False))
    return (*taken, *others)


def _bars(piece: Piece) -> tuple[Bar, ...]:
    """The likeliest tokens without and with the mask, the drawn one among them; last, the rest."""
    if piece.free is None or piece.used is None:
        return ()
    free = np.argsort(-piece.free, kind="stable").tolist()
    used = np.argsort(-piece.used, kind="stable").tolist()
    half = NUM_BARS // 2
    shown = list(dict.fromkeys([*free[:half], piece.token, *used[:NUM_BARS]]))[:NUM_BARS]
    bars = [_bar(piece, token) for token in sorted(shown, key=free.index)]
    rest = [max(0.0, 1 - sum(known)) for known in _columns(bars)]
    return (*bars, Bar("", rest[0], rest[1], True))


def _bar(piece: Piece, token: int) -> Bar:
    assert piece.free is not None
    assert piece.used is not None
    name, allowed = tiny_model.piece(token), bool(piece.allowed[token])
    return Bar(name, float(piece.free[token]), float(piece.used[token]), allowed)


def _columns(bars: Sequence[Bar]) -> tuple[list[float], list[float]]:
    return [bar.free for bar in bars], [bar.used for bar in bars]
