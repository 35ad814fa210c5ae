"""What another chapter says, quoted: its page is read and an act of it played, without drawing.

So a number that stands on two pages is computed by one of them, with the settings that it opens
with, and cannot drift apart.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, lru_cache
from pathlib import Path
from threading import Lock
from types import CodeType
from typing import Any

from sim.engine import Setup
from sim.errors import SimError
from ui import tiny_model
from ui.course import chapters, prose
from ui.practice.predict import Kind, Prediction
from ui.words import language
from ui.words.numbers import in_words

KEPT = 64  # acts, in a language each

Said = dict[str, dict[str, Any]]  # section -> its blanks


class Unseen:
    """Stands in for a `Lesson`: its controls stand where they start, nothing is drawn, and what an
    act says is noted in `said`."""

    def __init__(self, text: prose.Prose):
        self.text = text
        self.large = False
        self.acts: dict[str, Callable[[], None]] = {}
        self.said: Said = {}

    def act(self, code: str, name: str, deeper: bool = False) -> Callable[..., Any]:
        def register(draw: Callable[[], None]) -> Callable[[], None]:
            self.acts[code] = draw
            return draw

        return register

    def moved_to(self, stem: str, *codes: str) -> None:
        pass

    def show(self) -> None:
        pass

    # -- controls

    def slide(
        self, key: str, label: str, low: float, high: float, start: float, **more: Any
    ) -> Any:
        return start

    def pick(self, key: str, label: str, values: Sequence[float], start: float, **more: Any) -> Any:
        return start

    def number(self, key: str, label: str, low: int, high: int, start: int, **more: Any) -> Any:
        return start

    def toggle(self, key: str, label: str, start: bool = False, **more: Any) -> bool:
        return start

    def choose(
        self,
        key: str,
        label: str,
        options: Mapping[str, str] | Sequence[object],
        start: str,
        **more: Any,
    ) -> str:
        return start

    def front(self, *keys: str, live: Sequence[str] = ()) -> None:
        pass

    def write(
        self, label: str, start: str = tiny_model.SAMPLE, is_prompt: bool = True, **more: Any
    ) -> str:
        return start

    def press(self, key: str, label: str, words: str, compute: Callable[..., Any]) -> Any:
        return None

    def upload(self, key: str, label: str, types: Sequence[str]) -> bytes | None:
        return None

    def paste(self, key: str, label: str, most: int) -> str:
        return ""

    def kept_as_a(self, choose: Callable[[], Any]) -> Any:
        return None

    # -- words and pictures

    def words(self, section: str, **numbers: object) -> str:
        self.said[section] = numbers
        return self.text.filled(section, **numbers)

    def say(
        self, section: str, after: object = None, hidden_by: object = None, **numbers: object
    ) -> None:
        self.words(section, **numbers)

    def explain(self, section: str, **numbers: object) -> None:
        self.words(section, **numbers)

    def leaves_out(
        self, section: str, mark: str = "computed", source: str = "", **numbers: object
    ) -> None:
        self.words(section, **numbers)

    def flags(self, section: str = "flags", **numbers: object) -> None:
        self.words(section, **numbers)

    def presets(self, presets: Mapping[str, Mapping[str, object]]) -> None:
        for section, values in presets.items():
            blanks = self.text.section(section).blanks
            self.words(section, **{name: in_words(values[name]) for name in blanks})

    def problem(self, message: str, section: str = "") -> None:
        pass

    def leads(self, ways: Mapping[str, str]) -> None:
        pass

    def prove(self, claim: str, text: str | None = None) -> None:
        pass

    def play(self, frames: Any, key: str, clock: str | None = None, **more: Any) -> int:
        return 0

    def draw(
        self,
        figure: Any,
        key: str,
        alt: str,
        height: int | None = None,
        after: Prediction | None = None,
        opens: str | None = None,
    ) -> None:
        pass

    def cards(self, given: Sequence[Any]) -> None:
        pass

    def predict(self, key: str, question: str, kind: Kind, outcome: str) -> Prediction:
        return Prediction("not_asked")

    def take_along(self, setup: Setup, memory_utilization: float | None = None) -> None:
        pass

    def quiz(self, name: str | None = None) -> None:
        pass

    def place(self, draw: Callable[[], None]) -> None:
        pass

    @contextmanager
    def waiting(self, words: str) -> Iterator[None]:
        yield

    def progress(self, words: str) -> Callable[[int, int], None]:
        return lambda done, total: None


_standing_in: ContextVar[Unseen | None] = ContextVar("standing_in", default=None)


def standing_in() -> Unseen | None:
    """Who answers for the lesson while a page is read and not drawn."""
    return _standing_in.get()


def read(script: Path, lesson: Unseen) -> dict[str, Any]:
    """Run the code of a page with `lesson` for its chapter; the answer is what the page defines."""
    token = _standing_in.set(lesson)
    try:
        page: dict[str, Any] = {"__name__": script.stem, "__file__": str(script)}
        exec(_code(script, script.stat().st_mtime_ns), page)
        return page
    finally:
        _standing_in.reset(token)


@cache
def _code(script: Path, modified: int) -> CodeType:
    return compile(script.read_text(encoding="utf-8"), str(script), "exec")


_one_at_a_time = Lock()


def quote(stem: str, places: Mapping[str, str]) -> dict[str, object]:
    """Numbers that a chapter says in the states in which its acts open.

    `places`: our blank -> "act/section/blank" there.
    """
    script = chapters.Chapter(stem).script
    found: dict[str, object] = {}
    for blank, place in places.items():
        act, section, there = place.split("/")
        with _one_at_a_time:  # a class that comes together waits once
            said = _said(script, act, language.current(), script.stat().st_mtime_ns)
        found[blank] = said[section][there]
    return found


@lru_cache(maxsize=KEPT)
def _said(script: Path, act: str, code: str, modified: int) -> Said:
    lesson = Unseen(prose.read(script, code))
    read(script, lesson)
    try:
        lesson.acts[act]()
    except SimError as error:  # no reader has set anything: the page opens in a wrong state
        raise RuntimeError(f"{script.stem} cannot open its act {act}") from error
    return lesson.said
