"""A regular expression as a tree: the part of the language that needs no memory.

Characters, `.`, classes `[a-z]` and `[^"]`, the escapes `\\d \\w \\s \\n \\r \\t \\f \\v \\a \\xNN
\\uNNNN`, groups, `|`, and `* + ? {m} {m,} {m,n}`.  The whole text has to match, so a `^` at the
start and a `$` at the end change nothing, nor does it matter whether a repetition is lazy.  What
goes beyond a finite automaton is refused with its place, flags, too.  Errors count from 1.

Source: Thompson 1968; the syntax is that of Python's `re`, and so are the classes (of all scripts).
"""

from dataclasses import dataclass
from functools import cache
from typing import NoReturn

from sim.errors import SimError, require

MAX_DEPTH = 20  # groups within groups
MAX_REPEATS = 256
MAX_SIZE = 20_000  # spans of characters, once every repetition is written out

LAST = 0x10FFFF
SURROGATES = (0xD800, 0xDFFF)  # no UTF-8 holds them
SPECIAL = set("\\.[]{}()|*+?^$")

Span = tuple[int, int]  # of code points, both ends included


@dataclass(frozen=True)
class Char:
    """One character out of these spans, which ascend and do not touch."""

    spans: tuple[Span, ...]


@dataclass(frozen=True)
class Chain:
    """One part after the other; without parts, nothing."""

    parts: tuple["Tree", ...]


@dataclass(frozen=True)
class Either:
    options: tuple["Tree", ...]


@dataclass(frozen=True)
class Repeat:
    """`most` None: as often as you like."""

    part: "Tree"
    least: int
    most: int | None


Tree = Char | Chain | Either | Repeat


def parse(text: str) -> Tree:
    """The tree of a pattern.

    Raises:
        SimError: `pattern_nothing_to_repeat`, `pattern_repeat_unreadable`,
            `pattern_repeat_backwards`, `pattern_repeat_too_often`, `pattern_group_open`,
            `pattern_group_not_open`, `pattern_class_open`, `pattern_class_empty`,
            `pattern_range_backwards`, `pattern_escape_unknown`, `pattern_unsupported`,
            `pattern_too_deep`, `pattern_too_large`; with `place`, and `value` where there is one.
    """
    reader = _Reader(text)
    tree = reader.either(depth=0)
    if not reader.ended:
        reader.fail("pattern_group_not_open")
    require(size(tree) <= MAX_SIZE, "pattern_too_large", value=size(tree), limit=MAX_SIZE)
    return tree


def size(tree: Tree) -> int:
    """Spans of characters in the pattern, with every repetition written out."""
    match tree:
        case Char(spans):
            return len(spans)
        case Chain(parts) | Either(parts):
            return sum(map(size, parts))
        case Repeat(part, least, most):
            return max(size(part), 1) * max(least if most is None else most, 1)


def quoted(text: str) -> str:
    """A pattern for exactly this text."""
    return "".join(f"\\{letter}" if letter in SPECIAL else letter for letter in text)


def union(spans: list[Span]) -> tuple[Span, ...]:
    """The same characters in ascending spans that do not touch."""
    joined: list[Span] = []
    for low, high in sorted(spans):
        if joined and low <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(joined[-1][1], high))
        else:
            joined.append((low, high))
    return tuple(joined)


def complement(spans: tuple[Span, ...]) -> tuple[Span, ...]:
    """All other characters."""
    taken = union([*spans, SURROGATES])
    lows = [0, *(high + 1 for _, high in taken)]
    highs = [*(low - 1 for low, _ in taken), LAST]
    return tuple((low, high) for low, high in zip(lows, highs, strict=True) if low <= high)


@cache
def escaped(letter: str) -> tuple[Span, ...]:
    """The characters of one of the classes `d w s D W S`, as `re` has them."""
    if letter.isupper():
        return complement(escaped(letter.lower()))
    belongs = {"d": str.isdecimal, "s": str.isspace, "w": lambda one: one.isalnum() or one == "_"}
    found = [code for code in range(LAST + 1) if belongs[letter](chr(code))]
    return union([(code, code) for code in found])


CONTROLS = {"n": "\n", "r": "\r", "t": "\t", "f": "\f", "v": "\v", "a": "\a"}
HEX = {"x": 2, "u": 4, "U": 8}  # how many digits follow


class _Reader:
    """Recursive descent; `at` is the next character."""

    def __init__(self, text: str):
        self.text = text
        self.at = 0

    @property
    def ended(self) -> bool:
        return self.at == len(self.text)

    @property
    def next(self) -> str:
        """The next character, empty at the end."""
        return self.text[self.at : self.at + 1]

    def takes(self, what: str) -> bool:
        """Step over `what` if it comes next."""
        found = self.text.startswith(what, self.at)
        self.at += len(what) if found else 0
        return found

    def fail(self, code: str, place: int | None = None, **values: object) -> NoReturn:
        raise SimError(code, place=(self.at if place is None else place) + 1, **values)

    def either(self, depth: int) -> Tree:
        options = [self.chain(depth)]
        while self.takes("|"):
            options.append(self.chain(depth))
        return options[0] if len(options) == 1 else Either(tuple(options))

    def chain(self, depth: int) -> Tree:
        parts: list[Tree] = []
        while not self.ended and self.next not in "|)":
            if self._is_anchor():
                self.at += 1
            else:
                parts.append(self.repeated(depth))
        return parts[0] if len(parts) == 1 else Chain(tuple(parts))

    def _is_anchor(self) -> bool:
        at_start, at_end = self.at == 0, self.at == len(self.text) - 1
        return (self.next == "^" and at_start) or (self.next == "$" and at_end)

    def repeated(self, depth: int) -> Tree:
        part = self.one(depth)
        place = self.at
        times = self._times()
        if times is None:
            return part
        self.takes("?")  # lazy: of a text as a whole it says the same
        if self.next and self.next in "*+?{":  # possessive, or a slip
            self.fail("pattern_unsupported", value=self.text[place : self.at + 1])
        return Repeat(part, *times)

    def _times(self) -> tuple[int, int | None] | None:
        simple: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}
        for sign, times in simple.items():
            if self.takes(sign):
                return times
        place = self.at
        if not self.takes("{"):
            return None
        end = self.text.find("}", self.at)
        low, comma, high = self.text[self.at : max(end, self.at)].partition(",")
        if not _is_number(low) or (high and not _is_number(high)):
            self.fail("pattern_repeat_unreadable", place)
        least = int(low)
        most = int(high) if high else None if comma else least
        if most is not None and most < least:
            self.fail("pattern_repeat_backwards", place)
        if max(least, most or 0) > MAX_REPEATS:
            self.fail("pattern_repeat_too_often", place, limit=MAX_REPEATS)
        self.at = end + 1
        return least, most

    def one(self, depth: int) -> Tree:
        place = self.at
        if self.takes("("):
            return self._group(place, depth + 1)
        if self.takes("["):
            return Char(self._class(place))
        if self.takes("."):
            return Char(complement(((0x0A, 0x0A),)))
        if self.takes("\\"):
            return Char(self._escape(place))
        if self.next in "*+?{":
            self.fail("pattern_nothing_to_repeat")
        if self.next in "^$":
            self.fail("pattern_unsupported", value=self.next)
        return Char((self._letter(),))

    def _group(self, place: int, depth: int) -> Tree:
        if depth > MAX_DEPTH:
            self.fail("pattern_too_deep", place, limit=MAX_DEPTH)
        if self.takes("?") and not self.takes(":"):
            self.fail("pattern_unsupported", place, value="(?" + self.next)
        inside = self.either(depth)
        if not self.takes(")"):
            self.fail("pattern_group_open", place)
        return inside

    def _letter(self) -> Span:
        code = ord(self.next)
        if SURROGATES[0] <= code <= SURROGATES[1]:
            self.fail("pattern_unsupported", value="\ufffd")
        self.at += 1
        return code, code

    def _escape(self, place: int) -> tuple[Span, ...]:
        letter = self.next
        self.at += 1
        if letter and letter in "dwsDWS":
            return escaped(letter)
        if letter in CONTROLS:
            letter = CONTROLS[letter]
        elif letter in HEX:
            letter = self._coded(letter, place)
        elif letter.isdecimal() and letter.isascii():
            self.fail("pattern_unsupported", place, value="\\" + letter)  # a back reference
        elif not letter or letter.isalnum():
            self.fail("pattern_escape_unknown", place, value="\\" + letter)
        return ((ord(letter), ord(letter)),)

    def _coded(self, kind: str, place: int) -> str:
        """The character with the code that follows."""
        digits = self.text[self.at : self.at + HEX[kind]]
        known = len(digits) == HEX[kind] and set(digits) <= set("0123456789abcdefABCDEF")
        code = int(digits, 16) if known else LAST + 1
        if code > LAST or SURROGATES[0] <= code <= SURROGATES[1]:
            self.fail("pattern_escape_unknown", place, value=f"\\{kind}{digits}")
        self.at += HEX[kind]
        return chr(code)

    def _class(self, place: int) -> tuple[Span, ...]:
        negated = self.takes("^")
        spans: list[Span] = []
        first = True
        while first or self.next != "]":
            if self.ended:
                self.fail("pattern_class_open", place)
            spans += self._span(place)
            first = False
        self.at += 1
        found = union(spans)
        found = complement(found) if negated else found
        if not found:
            self.fail("pattern_class_empty", place)
        return found

    def _span(self, class_place: int) -> list[Span]:
        """A character or a range of a class; a class within the class as it is."""
        place = self.at
        low, ends_no_range = self._member()
        if not (self.next == "-" and self.text[self.at + 1 : self.at + 2] not in ("]", "")):
            return list(low)
        self.at += 1
        high, ends_none_either = self._member()
        if ends_no_range or ends_none_either or low[0][0] > high[0][0]:
            self.fail("pattern_range_backwards", place)
        (start, _), (_, end) = low[0], high[0]
        parts = [(start, min(end, SURROGATES[0] - 1)), (max(start, SURROGATES[1] + 1), end)]
        return [(one, other) for one, other in parts if one <= other]

    def _member(self) -> tuple[tuple[Span, ...], bool]:
        """A character of a class, or a class within it, which no range can begin or end with."""
        place = self.at
        if self.takes("\\"):
            is_class = bool(self.next) and self.next in "dwsDWS"
            return self._escape(place), is_class
        return (self._letter(),), False


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= 6
