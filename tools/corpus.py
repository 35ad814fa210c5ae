"""The course's own prose as plain paragraphs: what the tiny model learns to write.

Chapters and home page (Markdown), the self-checks (JSON) and the glossary (CSV), in both languages.
A paragraph's own hash decides whether it is held out: it stays where it is when the course grows.
"""

import csv
import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
LANGUAGES = ("zh", "en")
COLON = {"zh": "：", "en": ": "}
HELD_OUT_PERCENT = 10
SHORTEST = 24  # bytes; what is shorter is a label, not a paragraph


class Paragraph(NamedTuple):
    language: str
    text: str


def paragraphs() -> list[Paragraph]:
    """Every paragraph once, in the order of the files."""
    found = [*_chapters(), *_self_checks(), *_glossary()]
    return [
        paragraph for paragraph in dict.fromkeys(found) if len(paragraph.text.encode()) >= SHORTEST
    ]


def is_held_out(text: str) -> bool:
    """True for about one paragraph in ten, always the same ones."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8]) % 100 < HELD_OUT_PERCENT


def clean(markdown: str) -> str:
    """Markdown without its marks.  A blank that a run would fill becomes N."""
    gone = r"```.*?```|\$\$.*?\$\$|^\|.*?$|^\{\{\w+\}\}$"  # a blank alone: the rows of a table
    text = re.sub(gone, "", markdown, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"\{\{\w+\}\}", "N", text)
    text = re.sub(r"\s*\{#\w+\}", "", text)  # the name of a section
    text = re.sub(r"!?\[(.*?)\]\(.*?\)", r"\1", text)  # a link leaves its words
    text = re.sub(r"^(?:#+|[-*]|>)(?: +|$)", "", text, flags=re.MULTILINE)
    return re.sub(r"\*\*|[`$]", "", text).strip()


def _chapters() -> Iterator[Paragraph]:
    for file in sorted([*ROOT.glob("app.*.md"), *ROOT.glob("pages/*.md")]):
        language = file.suffixes[-2].removeprefix(".")
        text = re.sub(r"^(#.*)\n\n(?!#)", r"\1\n", file.read_text("utf-8"), flags=re.MULTILINE)
        yield from (Paragraph(language, clean(block)) for block in text.split("\n\n"))


def _self_checks() -> Iterator[Paragraph]:
    for file in sorted(ROOT.glob("assets/quiz/*.json")):
        yield from _both_languages(json.loads(file.read_text("utf-8")))


def _both_languages(node: object) -> Iterator[Paragraph]:
    """Every {"zh": ..., "en": ...} at any depth."""
    if isinstance(node, dict):
        if isinstance(node.get("zh"), str):
            yield from (Paragraph(language, clean(node[language])) for language in LANGUAGES)
        else:
            yield from _both_languages(list(node.values()))
    elif isinstance(node, list):
        for child in node:
            yield from _both_languages(child)


def _glossary() -> Iterator[Paragraph]:
    with (ROOT / "assets" / "glossary.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            for language in LANGUAGES:
                text = row[language] + COLON[language] + row[f"definition_{language}"]
                yield Paragraph(language, clean(text))
