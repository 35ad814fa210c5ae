"""The chapter list: one line per chapter, in reading order; titles come from the prose."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from ui import prose

ROOT = Path(__file__).parent.parent


@dataclass(frozen=True)
class Group:
    """Chapters under one heading of the list."""

    zh: str
    en: str
    stems: tuple[str, ...]


# fmt: off
GROUPS = (
    Group("一次请求", "One request", ("01_pipeline", "02_prefill_decode", "03_latency")),
    Group("许多请求", "Many requests", ("04_simulator", "05_batching")),
    Group("显存", "Memory", ("06_kv_cache", "07_fragmentation", "08_prefix_cache")),
    Group("更快", "Faster", ("09_chunked_prefill", "10_spec_decode", "11_cuda_graph",
                             "12_quantization")),
    Group("系统与诊断", "Systems and diagnosis", ("13_systems", "14_clinic", "15_quiz")),
)
# fmt: on


@dataclass(frozen=True)
class Chapter:
    """A page that exists."""

    stem: str

    @property
    def number(self) -> int:
        return int(self.stem.split("_", 1)[0])

    @property
    def page(self) -> str:
        """What `st.page_link` wants."""
        return f"pages/{self.stem}.py"

    @cached_property
    def script(self) -> Path:
        return ROOT / self.page

    def text(self, language: str) -> prose.Prose:
        return prose.read(self.script, language)

    def title(self, language: str) -> str:
        return self.text(language).title

    def teaser(self, language: str) -> str:
        return self.text(language).filled("teaser")


def listed() -> list[tuple[Group, list[Chapter]]]:
    """The groups with the chapters that exist; a group without any is left out."""
    groups = [
        (group, [Chapter(stem) for stem in group.stems if Chapter(stem).script.exists()])
        for group in GROUPS
    ]
    return [(group, chapters) for group, chapters in groups if chapters]


def in_order() -> list[Chapter]:
    return [chapter for _, chapters in listed() for chapter in chapters]


def neighbours(stem: str) -> tuple[Chapter | None, Chapter | None]:
    """The chapter before and the one after."""
    chapters = in_order()
    at = [chapter.stem for chapter in chapters].index(stem)
    before = chapters[at - 1] if at > 0 else None
    after = chapters[at + 1] if at + 1 < len(chapters) else None
    return before, after
