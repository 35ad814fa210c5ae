"""Rounds of speculation on a text, as a tape: proposed, accepted, corrected.

What the two models wrote is kept: the same text, seed and settings give the same rounds.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np

from sim.model import speculative
from sim.model.sampling import Sampling
from sim.model.speculative import Round
from sim.model.transformer import Array
from sim.studies import acceptance
from ui import tiny_model
from ui.player.painters import tape
from ui.player.painters.tape import Tape, TapeBar, TapeMoment
from ui.subjects.speculation import speculation_notes
from ui.words.language import tr

NUM_TOKENS = 24  # of a text that is written before the reader's eyes
NUM_BARS = 6  # tokens with bars of their own; the rest is one bar
KEPT = 64  # texts in memory, shared by all readers


@lru_cache(maxsize=KEPT)
def rounds(text: str, num_proposed: int, temperature: float, seed: int) -> tuple[Round, ...]:
    return tuple(
        speculative.rounds(
            tiny_model.target(),
            tiny_model.draft(),
            tiny_model.prompt(text),
            NUM_TOKENS,
            num_proposed,
            Sampling(temperature),
            seed,
        )
    )


@lru_cache(maxsize=KEPT)
def mean_acceptance(text: str, temperature: float) -> float:
    """How probably a proposal would be accepted, over all places of a text."""
    models = tiny_model.target(), tiny_model.draft()
    return float(acceptance.along(*models, tiny_model.prompt(text), Sampling(temperature)).mean())


def draft_cost() -> float:
    """The weights that a step of the draft reads, against those of the target."""
    return tiny_model.draft().model.parameters / tiny_model.target().model.parameters


def as_tape(text: str, rounds: Sequence[Round], alt: str) -> Tape:
    moments = [moment for number, one in enumerate(rounds) for moment in _moments(number, one)]
    return Tape(
        prompt=tuple(tiny_model.pieces(tiny_model.prompt(text))),
        rounds=tuple(_round(one) for one in rounds),
        moments=tuple(moments),
        notes=tuple(_note(moment, rounds[moment.round]) for moment in moments),
        events=tuple(
            (moment.phase,) if moment.phase in ("reject", "correct", "bonus") else ()
            for moment in moments
        ),
        times=tuple(
            tr(
                f"第 {moment.round + 1} 轮，共 {len(rounds)} 轮",
                f"round {moment.round + 1} of {len(rounds)}",
            )
            for moment in moments
        ),
        alt=alt,
    )


def _moments(number: int, one: Round) -> Iterator[TapeMoment]:
    for place in range(len(one.proposed)):
        yield TapeMoment(number, "propose", place)
    yield TapeMoment(number, "verify", 0)
    for place in range(one.num_accepted):
        yield TapeMoment(number, "accept", place)
    if one.num_accepted < len(one.proposed):
        yield TapeMoment(number, "reject", one.num_accepted)
        yield TapeMoment(number, "correct", one.num_accepted)
    else:
        yield TapeMoment(number, "bonus", one.num_accepted)


def _round(one: Round) -> tape.TapeRound:
    drawn = (*one.proposed, one.token)
    nothing = np.zeros_like(one.p[0])
    return tape.TapeRound(
        tuple(map(tiny_model.piece, one.proposed)),
        one.num_accepted,
        tiny_model.piece(one.token),
        tuple(
            _bars(p, q, {token, one.token} if place == one.num_accepted else {token})
            for place, (p, q, token) in enumerate(zip(one.p, [*one.q, nothing], drawn, strict=True))
        ),
    )


def _bars(p: Array, q: Array, wanted: set[int]) -> tuple[TapeBar, ...]:
    """The most probable tokens of either model, and those in question; last, all others."""
    order = np.argsort(-np.maximum(p, q), kind="stable").tolist()
    first = order[:NUM_BARS]
    missing = [token for token in wanted if token not in first]
    shown = first[: NUM_BARS - len(missing)] + sorted(missing, key=order.index)
    bars = [TapeBar(tiny_model.piece(token), float(p[token]), float(q[token])) for token in shown]
    rest = [max(0.0, 1 - sum(known)) for known in ([b.p for b in bars], [b.q for b in bars])]
    return (*bars, TapeBar("", *rest))


def _note(moment: TapeMoment, one: Round) -> str:
    place = moment.place
    if moment.phase == "verify":
        return speculation_notes.verified(len(one.proposed))
    if moment.phase in ("correct", "bonus"):
        said = (place, tiny_model.piece(one.token))
        is_bonus = moment.phase == "bonus"
        return speculation_notes.bonus(*said) if is_bonus else speculation_notes.corrected(*said)
    token = one.proposed[place]
    piece, p, q = tiny_model.piece(token), float(one.p[place, token]), float(one.q[place, token])
    match moment.phase:
        case "propose":
            return speculation_notes.proposed(place, piece, q)
        case "accept":
            return speculation_notes.accepted(place, piece, p, q)
        case _:
            num_after = len(one.proposed) - place - 1
            return speculation_notes.rejected(place, piece, p, q, num_after)
