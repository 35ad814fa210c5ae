"""Constrained decoding: an automaton says which tokens may come, the sampler draws among them.

The automaton stands in one state.  A token is allowed if its bytes lead from there to a state from
which the end can still be reached, and the end of text if the text may end there.  All others get
probability 0 before anything is drawn (`sampling.probabilities`), so the text cannot leave the
format.  It can still be cut off, where the number of tokens runs out before the format is complete.

Where only one text can follow, the model need not be asked: with `jumps` those tokens are written
at once, and the next pass reads them all.

Source: Willard and Louf 2023 (Outlines); Zheng et al. 2024 (SGLang), section 4 (jump forward).
"""

from collections.abc import Iterator
from collections.abc import Sequence as Row
from dataclasses import dataclass

import numpy as np

from sim.automaton import Automaton
from sim.generation import Decoder
from sim.sampling import Sampling, draw, probabilities
from sim.tokenizer import Tokenizer
from sim.transformer import Array

NO_BYTE = 256
CONTINUATION = bytes(range(0x80, 0xC0))  # bytes of a character after its first


@dataclass(frozen=True, eq=False)
class Piece:
    """One token: the automaton's state before and after it, and the probabilities [vocab].

    `allowed` [vocab]: what the automaton permits in `state`; `free`: without the mask; `used`: what
    was drawn from.  A token that was jumped over took no pass, so there are no probabilities.
    """

    token: int
    state: int
    after: int
    allowed: Array
    free: Array | None
    used: Array | None

    @property
    def is_forced(self) -> bool:
        return self.used is None

    @property
    def num_allowed(self) -> int:
        return int(self.allowed.sum())


class Masks:
    """Which tokens an automaton allows, state by state."""

    def __init__(self, automaton: Automaton, tokenizer: Tokenizer):
        self.automaton, self.tokenizer = automaton, tokenizer
        longest = max(map(len, tokenizer.pieces))
        self._bytes = np.full((longest, tokenizer.vocab_size), NO_BYTE)  # [longest, vocab]
        for token, piece in enumerate(tokenizer.pieces):
            self._bytes[: len(piece), token] = list(piece)
        stays = np.arange(len(automaton.table))[:, None]
        self._table = np.hstack([automaton.table, stays])  # with a column for "no byte"
        self._after: dict[int, Array] = {}

    @property
    def num_lookups(self) -> int:
        """Looks into the table for one mask: every byte of every token."""
        return int((self._bytes != NO_BYTE).sum())

    def after(self, state: int) -> Array:
        """The state after each token, [vocab]; `dead` after those that must not come."""
        if state not in self._after:
            states = np.full(self.tokenizer.vocab_size, state)
            for column in self._bytes:
                states = self._table[states, column]
            if not self.automaton.accepting[state]:
                states[self.tokenizer.end] = self.automaton.dead
            self._after[state] = states
        return self._after[state]

    def allowed(self, state: int) -> Array:
        """[vocab]"""
        return self.after(state) != self.automaton.dead

    def forced(self, state: int) -> list[int]:
        """The tokens of what must come next, up to the last whole character."""
        data = self.automaton.forced(state)
        begun = len(data) - len(data.lstrip(CONTINUATION))  # of a character: byte by byte
        return [*data[:begun], *self.tokenizer.encode(data[begun:].decode(errors="ignore"))]


def write(
    decoder: Decoder,
    prompt: Row[int],
    masks: Masks,
    num_tokens: int,
    sampling: Sampling,
    seed: int = 0,
    *,
    is_masked: bool = True,
    jumps: bool = False,
) -> Iterator[Piece]:
    """Up to `num_tokens` tokens after the prompt, or to the end of text.

    Without the mask the model writes as it likes, and the automaton only watches.

    Raises:
        SimError: `kv_store_full`.
    """
    rng = np.random.default_rng(seed)
    tokens, state = list(prompt), 0
    end = len(prompt) + num_tokens
    while len(tokens) < end:
        given = masks.forced(state)[: end - len(tokens)] if jumps and is_masked else []
        for token in given:
            piece = _piece(masks, state, token)
            tokens.append(token)
            state = piece.after
            yield piece
        if given:
            continue
        logits = decoder.extend(tokens)[-1]  # [vocab]
        free = probabilities(logits, sampling)
        used = probabilities(logits, sampling, masks.allowed(state)) if is_masked else free
        piece = _piece(masks, state, draw(used, rng), free, used)
        tokens.append(piece.token)
        state = piece.after
        yield piece
        if piece.token == masks.tokenizer.end:
            return


def num_passes(pieces: Row[Piece]) -> int:
    """Passes of the model: one for each token that was drawn."""
    return sum(not piece.is_forced for piece in pieces)


def _piece(
    masks: Masks, state: int, token: int, free: Array | None = None, used: Array | None = None
) -> Piece:
    after = int(masks.after(state)[token])
    return Piece(token, state, after, masks.allowed(state), free, used)
