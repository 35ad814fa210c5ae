"""The index of a format, built by outlines-core, the library that Outlines and vLLM can use.

A reader's pattern is hostile and the library knows no limits, so it works in a process of its own,
one at a time, with little memory and time.  Our own automaton goes first: it finds faults with
their place and gives up early where states explode.  It is not enough as a guard, since the
library tells states apart by the order of what may match, too, and can need many times as many.

Where the library has no wheel, our own index takes its place: it allows the same tokens.
"""

import json
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from sim import automaton, pattern
from sim.constrained import Index
from sim.errors import SimError, require
from sim.pattern import Chain, Char, Either, Repeat, Tree
from sim.tokenizer import Tokenizer

HAS_LIBRARY = find_spec("outlines_core") is not None
CHILD = Path(__file__).with_name("index_child.py")
MAX_STATES = 1_024
MOST_SECONDS = 1.5  # by the clock; most patterns take a twentieth of it
NUM_READS = 100  # of masks, to time one

_turn = threading.Lock()


@dataclass(frozen=True, eq=False)
class Built:
    """An index, and what it took here."""

    index: Index
    seconds: float  # to build the index
    naive_seconds: float  # to try every token of the vocabulary in one state
    mask_seconds: float  # to read one mask off the index


def build(text: str, tokenizer: Tokenizer) -> Built:
    """The index of all texts that match the whole pattern.

    Raises:
        SimError: `index_too_large`; and as `automaton.compiled`.
    """
    tree = pattern.parse(text)
    machine = automaton.compiled(text)
    begun = time.perf_counter()
    own = Index.of(machine, tokenizer)
    own_seconds = time.perf_counter() - begun
    index, seconds = by_library(tree, tokenizer) if HAS_LIBRARY else (own, own_seconds)
    begun = time.perf_counter()
    for read in range(NUM_READS):
        index.allowed(read % index.num_states)
    reading = time.perf_counter() - begun
    return Built(index, seconds, own_seconds / own.num_states, reading / NUM_READS)


def by_library(tree: Tree, tokenizer: Tokenizer) -> tuple[Index, float]:
    """The library's index, states in the order in which tokens reach them; seconds it took.

    Raises:
        SimError: `index_too_large`.
    """
    job = {
        "pattern": as_rust(tree),
        "pieces": [piece.hex() for piece in tokenizer.pieces],
        "max_states": MAX_STATES,
    }
    command = [sys.executable, "-I", str(CHILD)]
    given = json.dumps(job).encode()
    try:
        with _turn:
            done = subprocess.run(command, input=given, capture_output=True, timeout=MOST_SECONDS)
    except subprocess.TimeoutExpired:
        raise SimError("index_too_large", limit=MAX_STATES) from None
    require(done.returncode == 0, "index_too_large", limit=MAX_STATES)
    head, _, rows = done.stdout.partition(b"\n")
    found = json.loads(head)
    after = np.frombuffer(rows, np.uint16).reshape(found["states"], tokenizer.vocab_size)
    dead = np.full((1, tokenizer.vocab_size), found["states"], np.uint16)
    after = np.where(after == MAX_STATES, dead, after)
    return Index(np.vstack([after, dead]), tokenizer), found["seconds"]


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
