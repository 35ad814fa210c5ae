"""A pattern as a finite automaton over bytes: one number says all that matters of the text so far.

First an automaton that may stand in several states at once (Thompson), then one that stands in one
(subset construction), so a byte costs one look into a table, whatever the pattern.  A matcher that
tries and goes back instead can take exponential time; here only the *table* can grow that large,
and its size and the work to build it are capped.

Bytes, not characters: a token may end in the middle of a character, and that is a state, too.

Source: Thompson 1968; Rabin and Scott 1959 (subsets); Cox, "Regular expression matching can be
simple and fast" (2007); its notes on RE2 for the spans of UTF-8.
"""

from collections.abc import Iterable, Iterator
from collections.abc import Sequence as Row
from dataclasses import dataclass

import numpy as np

from sim.errors import require
from sim.model.constrained.pattern import Chain, Char, Either, Repeat, Span, Tree, parse

MAX_STATES = 1_024
MAX_WORK = 400_000  # edges and states looked at while the table is built

Array = np.ndarray
Sequences = tuple[tuple[Span, ...], ...]  # of spans of bytes
Known = dict[Sequences, int]


@dataclass(frozen=True, eq=False)
class Automaton:
    """Starts in state 0.  From each state but `dead`, which is the last, the end can be reached."""

    table: Array  # [num_states + 1, 256] the state after each byte
    accepting: Array  # [num_states + 1] whether the text may end here

    @property
    def num_states(self) -> int:
        return len(self.table) - 1

    @property
    def dead(self) -> int:
        """Where nothing can be mended."""
        return len(self.table) - 1

    def walk(self, state: int, data: bytes) -> int:
        """The state after the bytes."""
        for byte in data:
            state = int(self.table[state, byte])
        return state

    def accepts(self, text: str) -> bool:
        return bool(self.accepting[self.walk(0, text.encode())])


def compiled(pattern: str) -> Automaton:
    """The automaton of all texts that match the whole pattern.

    Raises:
        SimError: `automaton_too_large`; and as `pattern.parse`.
    """
    many = _Many()
    start, end = many.build(parse(pattern))
    classes = many.byte_classes()
    members = classes.tolist()
    subsets = {many.closure([start]): 0}
    order = [*subsets]  # grows on the way
    rows: list[list[int]] = []
    for subset in order:
        targets = many.targets(subset, members, members[-1] + 1)
        onto = [many.closure(each) for each in targets]
        new = dict.fromkeys(each for each in onto if each and each not in subsets)
        subsets |= {each: len(subsets) + number for number, each in enumerate(new)}
        order += new
        rows.append([subsets[each] if each else -1 for each in onto])
        fits = len(subsets) <= MAX_STATES and many.work <= MAX_WORK
        require(fits, "automaton_too_large", limit=MAX_STATES)
    dead = len(rows)
    table = np.full((dead + 1, 256), dead, np.int32)
    table[:dead] = np.array(rows)[:, classes]
    table[table < 0] = dead
    accepting = np.array([*(end in subset for subset in order), False])
    return Automaton(table, accepting)


class _Many:
    """Thompson's automaton: `edges` on spans of bytes, `free` ones on nothing."""

    def __init__(self) -> None:
        self.edges: list[list[tuple[int, int, int]]] = []
        self.free: list[list[int]] = []
        self.work = 0

    def state(self) -> int:
        self.edges.append([])
        self.free.append([])
        return len(self.edges) - 1

    def build(self, tree: Tree) -> tuple[int, int]:
        """The first and the last state of what matches the tree."""
        start, end = self.state(), self.state()
        match tree:
            case Char(spans):
                sequences = tuple(each for span in spans for each in utf8_spans(span))
                self._character(start, end, sequences, {})
            case Chain(parts):
                self._chain(start, end, list(parts))
            case Either(options):
                for option in options:
                    self._chain(start, end, [option])
            case Repeat(part, least, most):
                self._repeat(start, end, part, least, most)
        return start, end

    def _character(self, start: int, end: int, sequences: Sequences, known: Known) -> None:
        """One of these sequences of bytes; what ends alike shares its states (`known`)."""
        ways: dict[Span, list[tuple[Span, ...]]] = {}
        for first, *rest in sequences:
            ways.setdefault(first, []).append(tuple(rest))
        for (low, high), given in ways.items():
            rests = tuple(given)
            if rests == ((),):
                self.edges[start].append((low, high, end))
                continue
            if rests not in known:
                known[rests] = self.state()
                self._character(known[rests], end, rests, known)
            self.edges[start].append((low, high, known[rests]))

    def _chain(self, start: int, end: int, parts: list[Tree]) -> int:
        """Joins the parts between the two; the state before the last of them."""
        at = before = start
        for part in parts:
            first, last = self.build(part)
            self.free[at].append(first)
            before, at = first, last
        self.free[at].append(end)
        return before

    def _repeat(self, start: int, end: int, part: Tree, least: int, most: int | None) -> None:
        if most is None:
            at = self._chained(start, [part] * (least - 1))
            first, last = self.build(part)
            self.free[at] += [first] if least else [first, end]
            self.free[last] += [first, end]
            return
        at = self._chained(start, [part] * least)
        for _ in range(most - least):
            self.free[at].append(end)
            at = self._chained(at, [part])
        self.free[at].append(end)

    def _chained(self, start: int, parts: list[Tree]) -> int:
        end = self.state()
        self._chain(start, end, parts)
        return end

    def closure(self, states: list[int]) -> frozenset[int]:
        """All states that can be reached from these without a byte."""
        found, open_ = set(states), list(states)
        while open_:
            for target in self.free[open_.pop()]:
                if target not in found:
                    found.add(target)
                    open_.append(target)
        self.work += len(found) + 1
        return frozenset(found)

    def byte_classes(self) -> Array:
        """The number of each byte's class, ascending, [256]; no edge tells a class apart."""
        starts = np.zeros(257, int)
        for low, high, _ in (edge for each in self.edges for edge in each):
            starts[low] = starts[high + 1] = 1
        starts[0] = 0
        return np.cumsum(starts[:256])

    def targets(
        self, states: Iterable[int], members: Row[int], num_classes: int
    ) -> list[list[int]]:
        """Where each class of bytes leads from any of the states."""
        onto: list[list[int]] = [[] for _ in range(num_classes)]
        for low, high, target in (edge for state in states for edge in self.edges[state]):
            for number in range(members[low], members[high] + 1):
                onto[number].append(target)
                self.work += 1
        return onto


# -- characters as bytes ----------------------------------------------------------------------

LENGTHS = (0x7F, 0x7FF, 0xFFFF, 0x10FFFF)  # the last character of one, two, three, four bytes


def utf8_spans(span: Span) -> Iterator[tuple[Span, ...]]:
    """A span of characters as sequences of spans of bytes, each independent of the others."""
    low, high = span
    for last in LENGTHS:
        if low <= min(last, high):
            yield from _same_length(low, min(last, high))
            low = last + 1


def _same_length(low: int, high: int) -> Iterator[tuple[Span, ...]]:
    """Cut where a byte in front changes while those behind it do not run from end to end."""
    for rest in (6, 12, 18):
        mask = (1 << rest) - 1
        if low & ~mask == high & ~mask:
            break
        if low & mask:
            yield from _same_length(low, low | mask)
            yield from _same_length((low | mask) + 1, high)
            return
        if high & mask != mask:
            yield from _same_length(low, (high & ~mask) - 1)
            yield from _same_length(high & ~mask, high)
            return
    yield tuple(zip(chr(low).encode(), chr(high).encode(), strict=True))
