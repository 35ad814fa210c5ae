"""What was measured elsewhere: each number with its source, told where it is quoted.

In any Markdown a quoted number is a link to `#source-<id>`: `[20–26%](#source-paged-kernel)`.  The
card that `glossary` mounts tells on what it was measured, against what, and what speaks against it.
The rows come from `assets/sources.csv`; tests/ui/course/test_sources.py holds the prose to them.
"""

import csv
import re
from dataclasses import dataclass
from functools import cache

from ui.files import ASSETS
from ui.words.language import tr

FILE = ASSETS / "sources.csv"
SOURCE = re.compile(r"\(#source-([\w-]+)\)")
UNITS = {  # those with a name in each language
    "times": ("倍", "times"),
    "×": ("倍", "×"),
    "tokens/s": ("token/s", "tokens/s"),
    "points": ("分", "points"),
}


@dataclass(frozen=True)
class Source:
    """One row.  Texts are empty where there is nothing to say; lists are separated by "; "."""

    id: str
    used: str  # stems of the chapters that quote it, in reading order; "app" is home
    values: str  # numbers as quoted; none where only words are quoted
    unit: str  # of all values, or one for each
    on_zh: str  # hardware, model, load
    on_en: str
    against_zh: str  # the baseline
    against_en: str
    mind_zh: str  # the condition, or what speaks against it
    mind_en: str
    title: str
    address: str
    published: str
    read: str  # the day it was looked up
    extent: str  # "whole" or "part": how much of it could be read then

    @property
    def chapters(self) -> list[str]:
        return self.used.split("; ")

    @property
    def quoted(self) -> list[str]:
        return self.values.split("; ") if self.values else []

    @property
    def units(self) -> list[str]:
        """One for each value."""
        units = self.unit.split("; ")
        return units * len(self.quoted) if len(units) == 1 else units

    @property
    def numbers(self) -> list[float]:
        return [float(value.replace(",", "")) for value in self.quoted]

    def value_words(self) -> str:
        """The numbers with their units, in the reader's language."""
        words = [tr(*UNITS.get(unit, (unit, unit))) for unit in self.units]
        if len(set(words)) == 1:
            return " ".join([tr("、", ", ").join(self.quoted), words[0]]).strip()
        pairs = zip(self.quoted, words, strict=True)
        return tr("、", ", ").join(f"{value} {unit}".strip() for value, unit in pairs)

    def details(self) -> list[str]:
        """What a reader should know of it, a line each, in the reader's language."""
        on, against, mind = (
            tr(self.on_zh, self.on_en),
            tr(self.against_zh, self.against_en),
            tr(self.mind_zh, self.mind_en),
        )
        extent = {
            "whole": tr("全文读过", "read in full"),
            "part": tr("只读到一部分", "read in part"),
        }[self.extent]
        lines = [
            tr(f"测的是：{on}", f"Measured on: {on}")
            if self.quoted
            else tr(f"说的是：{on}", f"About: {on}"),
            against and tr(f"相比：{against}", f"Compared with: {against}"),
            mind and tr(f"注意：{mind}", f"Mind: {mind}"),
            tr(
                f"发表：{self.published}；查阅：{self.read}，{extent}",
                f"Published: {self.published}; looked up: {self.read}, {extent}",
            ),
        ]
        return [line for line in lines if line]


@cache
def sources() -> dict[str, Source]:
    """All rows by id, in the order of the file."""
    with FILE.open(encoding="utf-8", newline="") as file:
        rows = [Source(**row) for row in csv.DictReader(file)]
    return {row.id: row for row in rows}
