"""Terms, explained where they stand.

In any Markdown a term is a link to `#term-<id>`: `[预填充](#term-prefill)`.  `mount`, called once
per page, adds one small component that shows the definition on hover, focus and tap; likewise where
a number from elsewhere comes from (`sources`).  The words come from `assets/glossary.csv`.
"""

import csv
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

import streamlit as st

from ui.course.sources import sources
from ui.files import ASSETS
from ui.words.language import current, tr

FILE = ASSETS / "glossary.csv"
FOLDER = ASSETS / "glossary"
TERM = re.compile(r"\(#term-([\w-]+)\)")


@dataclass(frozen=True)
class Term:
    """One row of the glossary."""

    id: str
    zh: str
    en: str
    definition_zh: str
    definition_en: str
    chapter: str  # the stem of the first that marks it: 05_batching
    source: str

    def name(self, language: str) -> str:
        return self.zh if language == "zh" else self.en

    def definition(self, language: str) -> str:
        return self.definition_zh if language == "zh" else self.definition_en


@cache
def terms() -> dict[str, Term]:
    """All terms by id, in the order of the file."""
    with FILE.open(encoding="utf-8", newline="") as file:
        rows = [Term(**row) for row in csv.DictReader(file)]
    return {term.id: term for term in rows}


def link(term_id: str, text: str = "") -> str:
    """The Markdown of a term, by default under its own name."""
    term = terms()[term_id]
    return f"[{text or term.name(current())}](#term-{term_id})"


def unknown_terms(text: str) -> list[str]:
    """Ids used in a Markdown text that the glossary does not have."""
    return [term_id for term_id in TERM.findall(text) if term_id not in terms()]


def incomplete_terms(known: Iterable[Term]) -> list[str]:
    """Ids of terms that lack a name, a definition, a chapter or a source."""
    return [term.id for term in known if not all(value.strip() for value in vars(term).values())]


def mount() -> None:
    """Make the terms and sources of this page explain themselves.  Call once per page, anywhere."""
    data = {"words": cards(), "open": tr("打开来源", "Open the source")}
    _component()(key="glossary", data=data, height="content")


def cards() -> dict[str, list[str]]:
    """What a link leads to -> the name on its card, what the card tells, and a source's address."""
    language = current()
    of_terms = {
        f"term-{term.id}": [term.name(language), term.definition(language)]
        for term in terms().values()
    }
    of_sources = {
        f"source-{one.id}": [one.title, "\n".join(one.details()), one.address]
        for one in sources().values()
    }
    return of_terms | of_sources


def _component() -> Any:
    """Registered anew per server run, since a component belongs to the running app."""
    return st.components.v2.component(
        "glossary",
        html=(FOLDER / "glossary.html").read_text(encoding="utf-8"),
        css=(FOLDER / "glossary.css").read_text(encoding="utf-8"),
        js=(FOLDER / "glossary.js").read_text(encoding="utf-8"),
        isolate_styles=False,
    )
