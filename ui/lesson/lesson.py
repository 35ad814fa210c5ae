"""A chapter: its acts, of which the one that the URL names is drawn."""

from collections.abc import Callable
from pathlib import Path
from typing import cast

import streamlit as st

from sim.errors import SimError
from ui.controls import live
from ui.course import chapters, glossary, state
from ui.lesson import acts, quoting
from ui.lesson.acts import Act
from ui.lesson.choosing import Choosing
from ui.lesson.places import Places
from ui.lesson.saying import Saying
from ui.lesson.showing import Showing
from ui.page import frame
from ui.practice.kept import tab
from ui.words import language as languages
from ui.words import problems


class Lesson(Saying, Choosing, Showing):
    """A page: its acts, of which the one that the URL names is drawn."""

    def act(
        self, code: str, name: str, deeper: bool = False
    ) -> Callable[[Callable[[], None]], Callable[[], None]]:
        """Register a function as the next act; `code` stands in the URL, `name` in the header."""

        def register(draw: Callable[[], None]) -> Callable[[], None]:
            self.acts.append(Act(code, name, draw, deeper))
            return draw

        return register

    def moved_to(self, stem: str, *codes: str) -> None:
        """Acts that are part of another chapter now: their old addresses lead there."""
        if state.wanted("part") in codes:
            frame.lead_on(chapters.Chapter(stem))

    def show(self) -> None:
        """Draw the header, the act that the URL names, and the ways onward."""
        act = self._current_act()
        state.settle("part", act.code, self.acts[0].code)
        if not self.large:
            acts.header(self.here, self.acts, act)
        self._places = Places(self.large)
        live.begin()
        try:
            act.draw()
        except SimError as error:  # a setting that cannot be simulated: say so, keep the controls
            self.problem(problems.error(error))
        if self.large:
            self._other_figure()
            acts.lecture_bar(self.here, self.acts, act)
        else:
            acts.onward(self.here, self.text, self.acts, act)
        glossary.mount()
        state.write()
        tab.note("page")
        if self._leading:
            with self._at.leading:
                st.fragment(self._follow)(act)


def open(script: str) -> Lesson:
    """Begin a page: its title, the reader's language, the frame around it."""
    unseen = quoting.standing_in()
    if unseen is not None:
        return cast(Lesson, unseen)
    path = Path(script)
    frame.begin(path.stem, lambda: chapters.Chapter(path.stem).title(languages.current()))
    return Lesson(path)
