"""What the tests know about the chapters.

It is read from the files, so that a new chapter is tested without a change here.
"""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
LANGUAGES = ("zh", "en")
ACT = re.compile(r"""chapter\.act\(\s*["'](\w+)["']""")


@dataclass(frozen=True)
class Chapter:
    script: Path

    @property
    def file(self) -> str:
        """What `switch_page` wants: pages/05_batching.py."""
        return self.script.relative_to(ROOT).as_posix()

    @property
    def path(self) -> str:
        """Its address: pages/05_batching.py is served at /batching."""
        return "/" if self.script.name == "app.py" else "/" + self.script.stem.split("_", 1)[1]

    @property
    def source(self) -> str:
        return self.script.read_text(encoding="utf-8")

    @property
    def acts(self) -> list[str]:
        """Codes for `part=`, in order; a page without acts is one act without a code."""
        return ACT.findall(self.source) or [""]

    def prose(self, language: str) -> Path:
        return self.script.with_suffix(f".{language}.md")

    def __str__(self) -> str:
        return self.script.stem


HOME = Chapter(ROOT / "app.py")
CHAPTERS = [Chapter(script) for script in sorted((ROOT / "pages").glob("[0-9]*.py"))]
EVERY_ACT = [(chapter, act) for chapter in [HOME, *CHAPTERS] for act in chapter.acts]


def act_name(value: object) -> str:
    """How pytest shows one parameter of EVERY_ACT."""
    return str(value) or "whole"
