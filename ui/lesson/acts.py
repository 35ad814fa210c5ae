"""The acts of a chapter: which one is on the page, and the ways to the others.

`part=` in the URL names an act; without it the first one is there.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import streamlit as st

from ui.course import chapters, links, state
from ui.course.chapters import Chapter
from ui.course.prose import Prose
from ui.page import frame
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


def header(here: Chapter, text: Prose, acts: Sequence[Act], act: Act) -> None:
    """The chapter's title, and a link for each of its acts."""
    with st.container(key="chapter-header", gap=None):
        st.title(f"{here.number}  {text.title}", anchor=False)
        with st.container(horizontal=True, gap="small", key="acts"):
            for each in acts:
                name = each.name + (tr(" · 深入", " · deeper") if each.deeper else "")
                with st.container(
                    key=f"act-{'here' if each is act else each.code}", width="content"
                ):
                    links.link(here, name, part=each.code)


def onward(here: Chapter, text: Prose, acts: Sequence[Act], act: Act) -> None:
    """Back and on: to the acts beside this one, or to the chapters."""
    at = acts.index(act)
    before, after = chapters.neighbours(here.stem)
    if at + 1 == len(acts) and "onward" in text.sections:
        st.markdown(text.filled("onward"))
    with st.container(horizontal=True, horizontal_alignment="distribute", key="onward"):
        if at > 0:
            links.link(here, "← " + acts[at - 1].name, part=acts[at - 1].code)
        elif before:
            links.link(before, "← " + before.title(languages.current()))
        else:
            links.home_link("← " + tr("首页", "Home"))
        if at + 1 < len(acts):
            links.link(here, acts[at + 1].name + " →", part=acts[at + 1].code)
        elif after:
            links.link(after, after.title(languages.current()) + " →")
        else:
            links.home_link(tr("回到首页", "Back home") + " →")


def lecture_bar(here: Chapter, text: Prose, acts: Sequence[Act], act: Act) -> None:
    """The line under an act in the lecture view."""
    at = acts.index(act)
    codes = [each.code for each in acts]
    frame.lecture_bar(
        f"**{act.name}** · {here.number} {text.title}",
        back=codes[at - 1] if at > 0 else None,
        onward=codes[at + 1] if at + 1 < len(codes) else None,
        first=codes[0],
    )
