"""Chapter text: one Markdown file per language, cut into named sections.

`## Heading {#name}` opens a section (the heading may be empty); `{{fit}}` is a blank that the page
fills with a number from its run.
"""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

SECTION = re.compile(r"^## (.*?)\s*\{#(\w+)\}\s*$", re.MULTILINE)
BLANK = re.compile(r"\{\{(\w+)\}\}")


class ProseError(ValueError):
    """A section or a blank that does not exist, or a number nobody asked for."""


@dataclass(frozen=True)
class Section:
    heading: str
    body: str

    @property
    def blanks(self) -> set[str]:
        return set(BLANK.findall(self.body))


@dataclass(frozen=True)
class Prose:
    """The text of a page in one language; sections in the order of the file."""

    title: str
    sections: dict[str, Section]

    def section(self, name: str) -> Section:
        if name not in self.sections:
            raise ProseError(f"no section {{#{name}}} under “{self.title}”")
        return self.sections[name]

    def filled(self, name: str, **numbers: object) -> str:
        """The body of a section with its blanks filled in: no blank left, no number to spare."""
        section = self.section(name)
        if section.blanks != set(numbers):
            raise ProseError(
                f"section {{#{name}}}: blanks {sorted(section.blanks)}, numbers {sorted(numbers)}"
            )
        return BLANK.sub(lambda blank: str(numbers[blank[1]]), section.body).strip()


def path(script: str | Path, language: str) -> Path:
    return Path(script).with_suffix(f".{language}.md")


def read(script: str | Path, language: str) -> Prose:
    """The text that stands beside a page, in one language."""
    file = path(script, language)
    return _read(file, file.stat().st_mtime_ns)


@cache
def _read(file: Path, modified: int) -> Prose:
    head, *rest = SECTION.split(file.read_text(encoding="utf-8"))
    sections = {
        name: Section(heading.strip(), body.strip())
        for heading, name, body in zip(rest[0::3], rest[1::3], rest[2::3], strict=True)
    }
    return Prose(head.strip().removeprefix("# "), sections)
