"""The layout of an act: containers, made when their first part is drawn."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from ui.course import chapters, links
from ui.words import language as languages
from ui.words.language import tr

ORDER = ("", *chapters.NAMES)


class Places:
    """Where the parts of an act go: text left, controls and figure right and staying in view.

    Text said before the first control is the introduction; on a narrow screen it stands above the
    figure, and the rest below.
    """

    def __init__(self, large: bool):
        self._popover: DeltaGenerator | None = None
        self._slots: dict[str, DeltaGenerator] = {}  # within the popover: where a group would be
        self._groups: dict[str, DeltaGenerator] = {}  # and those that are there
        self._leading: DeltaGenerator | None = None
        self.figures: list[str] = []  # of the act, in order; linked players are one
        self.leading_figure = ""
        if large:
            self.whole = st.container(key="lecture-act", gap="small")
            with self.whole:
                self._controls = st.container(horizontal=True, gap="medium", key="controls")
                self._figure = st.container(key="figure", gap="small")
                self._intro = self._rest = st.container(key="text")
        else:
            self.whole = st.container(key="act")
            with self.whole:
                left, right = st.columns([0.37, 0.63], gap="large")
                with left:
                    self._intro = st.container(key="intro", gap="small")
                    self._rest = st.container(key="rest", gap="small")
                with right:
                    self._controls = st.container(horizontal=True, gap="medium", key="controls")
                    self._figure = st.container(key="figure", gap="small")
        self._started = False

    @property
    def text(self) -> DeltaGenerator:
        return self._rest if self._started else self._intro

    @property
    def controls(self) -> DeltaGenerator:
        self._started = True
        return self._controls

    @property
    def figure(self) -> DeltaGenerator:
        self._started = True
        return self._figure

    @property
    def leading(self) -> DeltaGenerator:
        """What follows a slider stands together, where the first part of it is drawn."""
        if self._leading is None:
            self._leading = self.figure.container(key="leading", gap="small")
        return self._leading

    def advanced(self, group: str | None = None) -> DeltaGenerator:
        """A popover at the end of the row of controls, made when first needed; within it, the
        place of a group: the stem of a chapter, or words."""
        if self._popover is None:
            with self._controls:
                popover = st.popover(tr("更多", "More"), icon=":material/tune:")
            self._popover = popover.container(key="advanced", gap="medium")
        if group is None:
            return self._popover
        if group not in self._groups:
            with self._slot(group if group in chapters.NAMES else ""):
                self._groups[group] = _group(group, len(self._groups))
        return self._groups[group]

    def _slot(self, name: str) -> DeltaGenerator:
        """Own words first, then chapter by chapter: a place is made when it or a later one is
        needed."""
        assert self._popover is not None
        while name not in self._slots:
            self._slots[ORDER[len(self._slots)]] = self._popover.container()
        return self._slots[name]


def _group(name: str, number: int) -> DeltaGenerator:
    """Controls under their chapter's name, which leads there if the chapter exists."""
    with st.container(key=f"group-{number}", gap="xsmall"):
        if name not in chapters.NAMES:
            st.markdown(f"**{name}**")
        elif chapters.Chapter(name).exists:
            chapter = chapters.Chapter(name)
            links.link(chapter, chapter.name(languages.current()))
        else:
            st.markdown(f"**{chapters.Chapter(name).name(languages.current())}**")
        return st.container(horizontal=True, gap="medium", key=f"group-{number}-controls")
