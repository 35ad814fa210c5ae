"""The index of a format, built by outlines-core, the library that Outlines and vLLM can use.

A reader's pattern is hostile and the library knows no limits, so it works in a process of its own,
one at a time, with little memory and time.  Our own automaton goes first: it finds faults with
their place and refuses what explodes.  It is not enough as a guard, since the library tells states
apart by the order of what may match, too, and can need many times as many.

Where the library has no wheel or gives up, our own index takes its place; it allows the same
tokens.
"""

import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from sim.model.constrained import automaton, pattern
from sim.model.constrained import index as constrained
from sim.model.constrained.index import Index
from sim.model.constrained.pattern import Chain, Char, Either, Repeat, Span, Tree, complement, union
from sim.model.tokenizer import Tokenizer

HAS_LIBRARY = find_spec("outlines_core") is not None
CHILD = Path(__file__).with_name("index_child.py")
MAX_STATES = 1_024
MOST_SECONDS = 5.0  # by the clock, for a busy machine; the child's own limit is in CPU time
NUM_TIMED = 100  # masks

_turn = threading.Lock()


@dataclass(frozen=True, eq=False)
class Built:
    """An index, how long it took here, and whether the library built it."""

    index: Index
    seconds: float
    by_library: bool


def build(text: str, tokenizer: Tokenizer) -> Built:
    """The index of all texts that match the whole pattern.

    Raises:
        SimError: as `automaton.compiled`.
    """
    machine = automaton.compiled(text)
    found = by_library(pattern.parse(text), tokenizer) if HAS_LIBRARY else None
    if found:
        return found
    begun = time.perf_counter()
    return Built(Index.of(machine, tokenizer), time.perf_counter() - begun, by_library=False)


def mask_seconds(text: str, index: Index) -> tuple[float, float]:
    """One mask, here: by trying every token from a state, and read off the index; means."""
    machine = automaton.compiled(text)
    states = np.arange(min(machine.num_states, NUM_TIMED))
    begun = time.perf_counter()
    constrained.tried(machine, index.tokenizer, states)
    between = time.perf_counter()
    for read in range(NUM_TIMED):
        index.allowed(read % index.num_states)
    done = time.perf_counter()
    return (between - begun) / len(states), (done - between) / NUM_TIMED


def by_library(tree: Tree, tokenizer: Tokenizer) -> Built | None:
    """The library's index, states in the order in which tokens reach them; None if it gave up."""
    unused = complement(union(list(_spans(tree)))) or ((0, 0),)
    job = {
        "pattern": as_rust(tree),
        "lead": chr(unused[0][0]),
        "pieces": [piece.hex() for piece in tokenizer.pieces],
        "max_states": MAX_STATES,
    }
    command = [sys.executable, "-I", str(CHILD)]
    given = json.dumps(job).encode()
    try:
        with _turn:
            done = subprocess.run(command, input=given, capture_output=True, timeout=MOST_SECONDS)
    except subprocess.TimeoutExpired:
        return None
    if done.returncode != 0:
        return None
    head, _, rows = done.stdout.partition(b"\n")
    found = json.loads(head)
    after = np.frombuffer(rows, np.uint16).reshape(found["states"], tokenizer.vocab_size)
    dead = np.full((1, tokenizer.vocab_size), found["states"], np.uint16)
    after = np.where(after == MAX_STATES, dead, after)
    index = Index(np.vstack([after, dead]), tokenizer)
    return Built(index, found["seconds"], by_library=True)


def _spans(tree: Tree) -> Iterator[Span]:
    """All characters that occur in a pattern."""
    match tree:
        case Char(spans):
            yield from spans
        case Chain(parts) | Either(parts):
            for part in parts:
                yield from _spans(part)
        case Repeat(part):
            yield from _spans(part)


def as_rust(tree: Tree) -> str:
    """The pattern in the syntax of Rust's `regex`, where \\d would mean the digits of all scripts,
    a class could hold another, and ^ at the start is more than nothing."""
    match tree:
        case Char(spans):
            return "[" + "".join(rf"\x{{{low:x}}}-\x{{{high:x}}}" for low, high in spans) + "]"
        case Chain(parts):
            return "".join(map(as_rust, parts))
        case Either(options):
            return "(?:" + "|".join(map(as_rust, options)) + ")"
        case Repeat(part, least, most):
            return f"(?:{as_rust(part)}){{{least},{'' if most is None else most}}}"
