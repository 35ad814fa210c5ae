"""What surrounds every page: chapter list, language, style sheet, lecture view."""

import base64
from collections.abc import Callable
from functools import cache
from pathlib import Path

import streamlit as st

from ui import player
from ui.course import chapters, links, state, visited
from ui.files import ASSETS
from ui.practice.kept import progress, tab
from ui.words import language as languages
from ui.words.language import LANGUAGES, tr

STYLES = [ASSETS / name for name in ("style.css", "parts.css")]
SCRIPT = ASSETS / "frame.js"
LECTURE_STYLE = ASSETS / "lecture.css"
LECTURE_SCRIPT = ASSETS / "lecture.js"
LEAD_ON = ASSETS / "lead_on.js"
NAME_ZH, NAME_EN = "大模型推理服务", "How LLMs are served"


def begin(name: str, title: Callable[[], str]) -> None:
    """Open a page: URL, language, title, style, chapter list.  The first call of every page."""
    state.open_page(name)
    tab.begin()
    st.set_page_config(
        page_title=f"{title()} · {tr(NAME_ZH, NAME_EN)}",
        page_icon=_icon(),
        layout="wide",
        initial_sidebar_state="collapsed" if links.is_lecture() else "auto",
    )
    styles = [*STYLES, LECTURE_STYLE] if links.is_lecture() else STYLES
    st.html("<style>" + "\n".join(map(_text_of, styles)) + "</style>")
    _browser_half(name)
    if links.is_lecture():
        _lecture_script()
    elif name != links.HOME:  # it has its own
        with st.sidebar:
            _sidebar(name)


def lead_on(chapter: chapters.Chapter) -> None:
    """Instead of this page: another one, at what the address says.  In the browser's history it
    takes this page's place, so that Back does not come here again."""
    component = st.components.v2.component(
        "lead_on", html="<span hidden></span>", js=_text_of(LEAD_ON)
    )
    component(
        key="lead-on", data={"path": chapter.path, "query": state.handed_on()}, height="content"
    )
    st.stop()


def lecture_bar(title: str, back: str | None, onward: str | None, first: str) -> None:
    """The one line under a lecture act: where we are, and how to go on, back, or out."""
    with st.container(horizontal=True, gap="small", key="lecture-bar", vertical_alignment="center"):
        st.markdown(title)
        _turn(tr("上一幕", "Back"), "PageUp", back, first)
        _turn(tr("下一幕", "Next"), "PageDown", onward, first)
        st.button(
            tr("重置", "Reset"), key="lecture-reset", on_click=_reset, icon=":material/restart_alt:"
        )
        st.button(tr("退出讲课视图", "Leave the lecture view"), key="lecture-exit", on_click=_leave)


def _turn(label: str, shortcut: str, code: str | None, first: str) -> None:
    st.button(
        label,
        key=f"lecture-{shortcut}",
        shortcut=shortcut,
        disabled=code is None,
        on_click=state.set_value,
        args=("part", code, first),
    )


def _reset() -> None:
    state.reset()
    player.rewind()


def _leave() -> None:
    state.moved()
    st.query_params.pop("view", None)


def language_switch() -> None:
    st.session_state["_language_switch"] = languages.current()
    st.segmented_control(
        "中文 / English",
        list(LANGUAGES),
        key="_language_switch",
        format_func=LANGUAGES.__getitem__,
        label_visibility="collapsed",
        required=True,
        on_change=_switch_language,
    )


def _sidebar(here: str) -> None:
    language = languages.current()
    language_switch()
    with st.container(key="chapter-list", gap=None):
        links.home_link(tr("首页", "Home"))
        for group, members in chapters.listed():
            st.caption(group.zh if language == "zh" else group.en)
            for chapter in members:
                links.link(chapter, chapter.name(language))
    with st.container(key="lecture-link"):
        st.page_link(
            chapters.Chapter(here).page,
            label=tr("讲课视图", "Lecture view"),
            icon=":material/present_to_all:",
            query_params=state.query_of(here, view="lecture"),
        )


def _switch_language() -> None:
    state.switch_language(st.session_state["_language_switch"])


@cache
def _icon() -> str:
    """The icon as part of the page.  As a file it would be one that the next rerun may take away
    before the browser has asked for it."""
    data = (ASSETS / "icon.png").read_bytes()
    return f"data:image/png;base64,{base64.b64encode(data).decode()}"


@cache
def _text_of(file: Path) -> str:
    return file.read_text(encoding="utf-8")


def _browser_half(name: str) -> None:
    """What `assets/frame.js` does: `<html lang>`, which Streamlit leaves at "en", among others."""
    part = state.wanted("part")
    place = visited.here(name, part)
    if place is not None and part in (None, place.act.code):  # else it may have moved elsewhere
        visited.note(place)
    component = st.components.v2.component(
        "frame", html="<span hidden></span>", js=_text_of(SCRIPT)
    )
    data = {
        "code": "zh-CN" if languages.current() == "zh" else "en",
        "place": place.key if place is not None else name,
        "visited": visited.kept(),
        "forgets": progress.was_reset(),
    }
    with st.container(key="frame"):
        component(key="frame-component", data=data, height="content")


def _lecture_script() -> None:
    """Light whatever the system prefers; PageDown and PageUp go to the acts whatever has focus."""
    component = st.components.v2.component(
        "lecture_script", html="<span hidden></span>", js=_text_of(LECTURE_SCRIPT)
    )
    with st.container(key="lecture-script"):
        component(key="lecture-script-component", height="content")
