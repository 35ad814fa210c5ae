"""What all parts of an act share while it is drawn: its text, its places, what the reader chose."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar, cast

import streamlit as st

from ui.course import chapters, links
from ui.course.state import Parse
from ui.lesson import acts
from ui.lesson.acts import Act
from ui.lesson.places import Places
from ui.words import language as languages

Progress = Callable[[int, int], None]  # (done, in all)
Method = TypeVar("Method", bound=Callable[..., None])


def stands_still(method: Method) -> Method:
    """A part of an act that does not follow a slider: nothing to do in a rehearsal."""

    @wraps(method)
    def draw(act: "Stage", *given: Any, **more: Any) -> None:
        if not act.rehearses:
            method(act, *given, **more)

    return cast(Method, draw)


class Stage:
    """One page while it is being drawn."""

    def __init__(self, script: Path):
        self.script = script
        self.here = chapters.Chapter(script.stem)
        self.text = self.here.text(languages.current())
        self.large = links.is_lecture()
        self.acts: list[Act] = []
        self.rehearses = False
        self._answers: dict[str, Any] = {}  # what the reader has chosen, given and guessed
        self._drawn: dict[str, tuple[Any, Parse]] = {}  # control -> where it starts, how it reads
        self._quoted: Mapping[str, str] | None = None  # settings that stand in for the controls
        self._front: Sequence[str] = ()  # controls beside the figure, whatever their group
        self._followed: Sequence[str] = ()
        self._leading: list[Callable[[], Any]] = []  # draws what follows a slider
        self._num_leading = 0
        self._places: Places | None = None

    @stands_still
    def problem(self, message: str, section: str = "") -> None:
        """Something the reader should know, if there is something; `section` says what now."""
        if message:
            after = self.text.filled(section) if section else ""
            with self._at.figure:
                st.warning(f"{message}  \n{after}".strip())

    @contextmanager
    def waiting(self, words: str) -> Iterator[None]:
        """Says above the figure what is being done, for as long as it takes."""
        if self.rehearses:
            yield
            return
        with self._at.figure, st.spinner(words):
            yield

    def progress(self, words: str) -> Progress:
        """A bar above the figure while something is computed: call it with (done, in all)."""
        if self.rehearses:
            return lambda done, total: None
        with self._at.figure:
            place = st.empty()

        def report(done: int, total: int) -> None:
            if done < total:
                place.progress(done / total, words)
            else:
                place.empty()

        return report

    @property
    def _at(self) -> Places:
        if self._places is None:
            raise RuntimeError("a chapter is drawn inside its acts, from chapter.show() on")
        return self._places

    def _current_act(self) -> Act:
        return acts.current(self.acts)
