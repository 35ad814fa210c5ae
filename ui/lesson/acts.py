"""The acts of a chapter: which one is on the page, and the ways to the others.

`part=` in the URL names an act; without it the first one is there.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import streamlit as st

from ui.course import chapters, links, state
from ui.course.chapters import Chapter
from ui.course.prose import Prose
from ui.page import beforehand, frame
from ui.words import language as languages
from ui.words.language import tr


@dataclass(frozen=True)
class Act:
    code: str
    name: str
    draw: Callable[[], None]
    deeper: bool


def current(acts: Sequence[Act]) -> Act:
    """The one that the URL names."""
    wanted = state.wanted("part")
    return next((act for act in acts if act.code == wanted), acts[0])


def header(here: Chapter, acts: Sequence[Act], act: Act) -> None:
    """The chapter's title, its main line as links, and one entry for all that goes deeper."""
    with st.container(key="chapter-header", gap=None):
        st.title(here.heading(languages.current()), anchor=False)
        with st.container(horizontal=True, gap="small", key="acts"):
            for each in main_line(acts):
                key = f"act-here-{each.code}" if each is act else f"act-{each.code}"
                with st.container(key=key, width="content"):
                    links.link(here, each.name, part=each.code)
            _deeper(here, [each for each in acts if each.deeper], act)
            if act is acts[0]:
                beforehand.offer(here)


def _deeper(here: Chapter, acts: Sequence[Act], act: Act) -> None:
    if not acts:
        return
    name = tr("深入", "Deeper") + (f" · {act.name}" if act.deeper else "")
    key = f"act-here-{act.code}" if act.deeper else "act-deeper"
    with st.container(key=key, width="content"), st.popover(name, key="deeper"):
        for each in acts:
            links.link(here, each.name, part=each.code)


def main_line(acts: Sequence[Act]) -> list[Act]:
    """Without what goes beyond the course."""
    return [act for act in acts if not act.deeper]


def beside(acts: Sequence[Act], act: Act) -> tuple[Act | None, Act | None]:
    """The acts of the main line before and after this one, which may be a deeper one itself."""
    at = acts.index(act)
    return (
        next((one for one in reversed(acts[:at]) if not one.deeper), None),
        next((one for one in acts[at + 1 :] if not one.deeper), None),
    )


def onward(here: Chapter, text: Prose, acts: Sequence[Act], act: Act) -> None:
    """Back and on: to the acts beside this one, or to the chapters."""
    back, on = beside(acts, act)
    before, after = chapters.neighbours(here.stem)
    if on is None and "onward" in text.sections:
        st.markdown(text.filled("onward"))
    with st.container(horizontal=True, horizontal_alignment="distribute", key="onward"):
        if back:
            links.link(here, "← " + back.name, part=back.code)
        elif before:
            links.link(before, "← " + before.title(languages.current()))
        else:
            links.home_link("← " + tr("首页", "Home"))
        if on:
            links.link(here, on.name + " →", part=on.code)
        elif after:
            links.link(after, after.title(languages.current()) + " →")
        else:
            links.home_link(tr("回到首页", "Back home") + " →")


def lecture_bar(here: Chapter, acts: Sequence[Act], act: Act) -> None:
    """The line under an act in the lecture view."""
    back, on = beside(acts, act)
    frame.lecture_bar(
        f"**{act.name}** · {here.heading(languages.current())}",
        back=back.code if back else None,
        onward=on.code if on else None,
        first=acts[0].code,
    )
