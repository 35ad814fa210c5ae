"""Constrained decoding: an automaton says which tokens may come, the sampler draws among them.

The automaton stands in one state.  A token is allowed if its bytes lead from there to a state from
which the end can still be reached, and the end of text if the text may end there.  Worked out for
every state beforehand, that is an *index*; a mask is then one row of it.  All other tokens get
probability 0 before anything is drawn (`sampling.probabilities`), so the text cannot leave the
format.  It can still be cut off, where the number of tokens runs out before the format is complete.

Where only one text can follow, the model need not be asked: with `jumps` those tokens are written
at once, and the next pass reads them all.

Source: Willard and Louf 2023 (Outlines); Zheng et al. 2024 (SGLang), section 4 (jump forward).
"""

from collections.abc import Iterator
from collections.abc import Sequence as Row
from dataclasses import dataclass
from functools import cache

import numpy as np

from sim.model.constrained.automaton import Automaton
from sim.model.generation import Decoder
from sim.model.sampling import Sampling, draw, probabilities
from sim.model.tokenizer import NUM_BYTES, Tokenizer
from sim.model.transformer import Array

NO_BYTE = 256
CONTINUATION = bytes(range(0x80, 0xC0))  # bytes of a character after its first


@dataclass(frozen=True, eq=False)
class Piece:
    """One token: the index's state before and after it, and the probabilities [vocab].

    `allowed` [vocab]: what may come in `state`; `free`: without the mask; `used`: what
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


@dataclass(frozen=True, eq=False)
class Index:
    """An automaton over tokens: which may come in a state, and where each leads.

    Starts in state 0.  The last row is `dead`, where nothing can be mended.
    """

    after: Array  # [num_states + 1, vocab] the state after each token
    tokenizer: Tokenizer

    @classmethod
    def of(cls, automaton: Automaton, tokenizer: Tokenizer) -> "Index":
        return cls(tried(automaton, tokenizer, np.arange(len(automaton.table))), tokenizer)

    @property
    def num_states(self) -> int:
        return len(self.after) - 1

    @property
    def dead(self) -> int:
        return len(self.after) - 1

    @property
    def num_allowed(self) -> Array:
        """How many tokens may come in each state, [num_states]."""
        return (self.after[: self.dead] != self.dead).sum(axis=1)

    def allowed(self, state: int) -> Array:
        """[vocab]"""
        return self.after[state] != self.dead

    def may_end(self, state: int) -> bool:
        return bool(self.after[state, self.tokenizer.end] != self.dead)

    def forced(self, state: int) -> list[int]:
        """The tokens of what must come next, up to the last whole character."""
        data = bytearray()
        while not self.may_end(state):
            ways = np.flatnonzero(self.allowed(state)[:NUM_BYTES])  # these tokens are the bytes
            if len(ways) != 1:
                break
            data.append(int(ways[0]))
            state = int(self.after[state, ways[0]])
        begun = len(data) - len(data.lstrip(CONTINUATION))  # of a character: byte by byte
        return [*data[:begun], *self.tokenizer.encode(data[begun:].decode(errors="ignore"))]


def write(
    decoder: Decoder,
    prompt: Row[int],
    index: Index,
    num_tokens: int,
    sampling: Sampling,
    seed: int = 0,
    *,
    is_masked: bool = True,
    jumps: bool = False,
) -> Iterator[Piece]:
    """Up to `num_tokens` tokens after the prompt, or to the end of text.

    Without the mask the model writes as it likes, and the index only watches.

    Raises:
        SimError: `kv_store_full`.
    """
    rng = np.random.default_rng(seed)
    tokens, state = list(prompt), 0
    end = len(prompt) + num_tokens
    while len(tokens) < end:
        given = index.forced(state)[: end - len(tokens)] if jumps and is_masked else []
        for token in given:
            piece = _piece(index, state, token)
            tokens.append(token)
            state = piece.after
            yield piece
        if given:
            continue
        logits = decoder.extend(tokens)[-1]  # [vocab]
        free = probabilities(logits, sampling)
        used = probabilities(logits, sampling, index.allowed(state)) if is_masked else free
        piece = _piece(index, state, draw(used, rng), free, used)
        tokens.append(piece.token)
        state = piece.after
        yield piece
        if piece.token == index.tokenizer.end:
            return


def num_passes(pieces: Row[Piece]) -> int:
    """Passes of the model: one for each token that was drawn."""
    return sum(not piece.is_forced for piece in pieces)


def _piece(
    index: Index, state: int, token: int, free: Array | None = None, used: Array | None = None
) -> Piece:
    after = int(index.after[state, token])
    return Piece(token, state, after, index.allowed(state), free, used)


@cache
def _bytes_of(tokenizer: Tokenizer) -> Array:
    """The n-th byte of each token, [longest, vocab]."""
    longest = max(map(len, tokenizer.pieces))
    data = np.full((longest, tokenizer.vocab_size), NO_BYTE)
    for token, piece in enumerate(tokenizer.pieces):
        data[: len(piece), token] = list(piece)
    return data


def tried(automaton: Automaton, tokenizer: Tokenizer, states: Array) -> Array:
    """Every token, byte by byte, from each of the states: where it leads, [num_states, vocab]."""
    stays = np.arange(len(automaton.table))[:, None]
    table = np.hstack([automaton.table, stays])  # with a column for "no byte"
    after = np.broadcast_to(states[:, None], (len(states), tokenizer.vocab_size))
    for column in _bytes_of(tokenizer):
        after = table[after, column]
    after[~automaton.accepting[states], tokenizer.end] = automaton.dead
    return after


def num_lookups(tokenizer: Tokenizer) -> int:
    """Looks into an automaton's table for one mask made on the spot: every byte of every token."""
    return sum(map(len, tokenizer.pieces))
