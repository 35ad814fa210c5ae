"""Bytes as people have them, as lines: encodings by their marks, fences, prompts, what was cut.

PowerShell writes UTF-16, editors put a mark in front, chats put fences around; what a terminal
showed has the command in front and a prompt behind.
"""

import codecs
import re
from collections.abc import Iterator

from sim.errors import SimError, require

MAX_BYTES = 10_000_000
MAX_LINES = 100_000  # a server with many models has two thousand
SHOWN_LETTERS = 40  # of what is quoted from a text

MARKS = (  # the longer one first: UTF-32 begins like UTF-16
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
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
        text = data.decode(_encoding(data))
    except UnicodeDecodeError as error:
        raise SimError("brought_not_text") from error
    num_lines = text.count("\n") + 1
    require(num_lines <= MAX_LINES, "brought_too_long", given=num_lines, most=MAX_LINES)
    return text


def weigh(data: bytes) -> None:
    """Raises: SimError: `brought_too_large`."""
    require(len(data) <= MAX_BYTES, "brought_too_large", given=len(data), most=MAX_BYTES)


def _encoding(data: bytes) -> str:
    for mark, name in MARKS:
        if data.startswith(mark):
            return name
    head = data[:1000]
    if head[1::2].count(0) > len(head) / 4:  # Latin letters, each with an empty byte behind
        return "utf-16-le"
    return "utf-16-be" if head[::2].count(0) > len(head) / 4 else "utf-8"


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
