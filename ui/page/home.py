"""The home page: a first thing to do, the chapter map, what a reader will be able to explain."""

from pathlib import Path

import streamlit as st

from ui.course import chapters, glossary, links, prose, state
from ui.page import frame
from ui.practice import progress, progress_view
from ui.words import language as languages
from ui.words.language import tr


def show(script: str) -> None:
    frame.begin(links.HOME, lambda: _text(script).title)
    text = _text(script)
    with st.container(key="home"):
        st.title(text.title, anchor=False)
        st.markdown(text.filled("lead"))
        with st.container(key="start"):
            first = chapters.in_order()[0]
            title = first.title(languages.current())
            links.link(first, text.filled("start", chapter=title))
        chapter_map, promises = st.columns([0.52, 0.48], gap="large")
        with chapter_map:
            _map()
        with promises:
            _section(text, "able")
            _section(text, "trust")
    glossary.mount()
    progress.mount()
    state.write()


def _text(script: str) -> prose.Prose:
    return prose.read(Path(script), languages.current())


def _section(text: prose.Prose, name: str) -> None:
    st.subheader(text.section(name).heading, anchor=False)
    st.markdown(text.filled(name))


def _done(chapter: chapters.Chapter) -> None:
    """How far this reader is with its self-check, once they have begun."""
    words = progress_view.in_short(f"{chapter.number:02}")
    if words:
        with st.container(key=f"done-{chapter.number:02}"):
            st.markdown(f":gray-badge[{words}]")


def _map() -> None:
    language = languages.current()
    st.subheader(tr("章节", "Chapters"), anchor=False)
    with st.container(key="map", gap="small"):
        for group, members in chapters.listed():
            st.caption(group.zh if language == "zh" else group.en)
            for chapter in members:
                with st.container(gap=None):
                    links.link(chapter, chapter.heading(language))
                    _done(chapter)
                    st.markdown(chapter.teaser(language))
