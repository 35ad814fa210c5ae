"""The chapter list: one line per chapter, in reading order; titles come from the prose."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from ui.course import prose
from ui.files import ROOT


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
    Group("系统与诊断", "Systems and diagnosis", ("13_systems", "17_workbench", "14_clinic")),
    Group("复习", "Review", ("15_quiz", "16_summary")),
)

# What each is about in a word or two, for headings of settings; also where no page exists yet.
NAMES = {
    "01_pipeline": ("全流程", "Pipeline"),
    "02_prefill_decode": ("预填充与解码", "Prefill and decode"),
    "03_latency": ("延迟", "Latency"),
    "04_simulator": ("模拟器", "Simulator"),
    "05_batching": ("批处理", "Batching"),
    "06_kv_cache": ("KV 缓存", "KV cache"),
    "07_fragmentation": ("分页", "Paging"),
    "08_prefix_cache": ("前缀缓存", "Prefix cache"),
    "09_chunked_prefill": ("分块预填充", "Chunked prefill"),
    "10_spec_decode": ("投机解码", "Speculative decoding"),
    "11_cuda_graph": ("CUDA Graph", "CUDA graphs"),
    "12_quantization": ("量化", "Quantization"),
    "13_systems": ("系统", "Systems"),
    "14_clinic": ("诊断", "Clinic"),
    "15_quiz": ("测验", "Quiz"),
    "16_summary": ("总结", "Summary"),
    "17_workbench": ("工作台", "Workbench"),
}
# fmt: on
UNNUMBERED = {"17_workbench"}  # a place to work in, no chapter of the course


@dataclass(frozen=True)
class Chapter:
    """A chapter; the text of one that does not exist yet cannot be read."""

    stem: str

    @property
    def number(self) -> int:
        return int(self.stem.split("_", 1)[0])

    @property
    def page(self) -> str:
        """What `st.page_link` wants."""
        return f"pages/{self.stem}.py"

    @property
    def path(self) -> str:
        """Its address below that of the course."""
        return self.stem.split("_", 1)[1]

    @cached_property
    def script(self) -> Path:
        return ROOT / self.page

    @property
    def exists(self) -> bool:
        return self.script.exists()

    @property
    def is_numbered(self) -> bool:
        return self.stem not in UNNUMBERED

    def name(self, language: str) -> str:
        """Its number and what it is about: "05  Batching"; its title, if it has no short name."""
        zh, en = NAMES.get(self.stem) or (self.title("zh"), self.title("en"))
        name = zh if language == "zh" else en
        return f"{self.number:02}  {name}" if self.is_numbered else name

    def heading(self, language: str) -> str:
        """Its number and title, as the list of chapters and its own page show them."""
        title = self.title(language)
        return f"{self.number}  {title}" if self.is_numbered else title

    def text(self, language: str) -> prose.Prose:
        return prose.read(self.script, language)

    def title(self, language: str) -> str:
        return self.text(language).title

    def teaser(self, language: str) -> str:
        return self.text(language).filled("teaser")


def listed() -> list[tuple[Group, list[Chapter]]]:
    """The groups with the chapters that exist; a group without any is left out."""
    groups = [
        (group, [Chapter(stem) for stem in group.stems if Chapter(stem).exists]) for group in GROUPS
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
