"""Bytes as people have them, as lines that say something; chats put fences around."""

import re
from collections.abc import Iterator

from sim.errors import SimError, require
from ui.words import encodings

MAX_BYTES = 10_000_000
MAX_METRICS_BYTES = 5_000_000  # both texts; a server with many models has 300,000
MAX_LINES = 100_000  # of them it has two thousand
SHOWN_LETTERS = 40  # of what is quoted from a text

FENCE = re.compile(r"\s*(?:```|~~~)\S*\s*")
LINE_END = re.compile(r"\r\n|\n|\r")


def decoded(data: bytes) -> str:
    """The text of a file.

    Raises:
        SimError: `brought_too_large`, `brought_compressed`, `brought_not_text`,
            `brought_too_long`.
    """
    weigh(data)
    require(not data.startswith((b"\x1f\x8b", b"PK\x03\x04")), "brought_compressed")
    try:
        text = encodings.decoded(data)
    except UnicodeDecodeError as error:
        raise SimError("brought_not_text") from error
    num_lines = text.count("\n") + 1
    require(num_lines <= MAX_LINES, "brought_too_long", given=num_lines, most=MAX_LINES)
    return text


def weigh(data: bytes | str, most: int = MAX_BYTES) -> None:
    """Raises: SimError: `brought_too_large`."""
    require(len(data) <= most, "brought_too_large", given=len(data), most=most)


def lines(text: str) -> Iterator[tuple[int, str]]:
    """(number from 1, line) of every line that says something; fences are none."""
    for number, line in enumerate(LINE_END.split(text), start=1):
        if line and not line.isspace() and not FENCE.fullmatch(line):
            yield number, line


def without_fences(text: str) -> str:
    """The same lines, at the same numbers, with those of a fence empty."""
    if "```" not in text and "~~~" not in text:
        return text
    return "\n".join("" if FENCE.fullmatch(line) else line for line in LINE_END.split(text))


def shown(line: str) -> str:
    """As much of a line as a message can show."""
    return line.strip()[:SHOWN_LETTERS]
