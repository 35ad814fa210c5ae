"""Links inside the course: to a chapter as this reader left it, or into a stated state of it."""

from collections.abc import Mapping

import streamlit as st

from ui.course import state
from ui.course.chapters import Chapter

HOME = "app"


def is_lecture() -> bool:
    return state.parameter("view") == "lecture"


def link(chapter: Chapter, label: str, **changes: str | None) -> None:
    """A link to a chapter in the state in which this reader left it, but for the changes."""
    st.page_link(chapter.page, label=label, query_params=state.query_of(chapter.stem, **changes))


def fresh_link(chapter: Chapter, label: str, part: str, values: Mapping[str, object]) -> None:
    """A link into one stated state of a chapter, whatever the reader left there."""
    query = state.ambient() | {"part": part} | {key: str(value) for key, value in values.items()}
    st.page_link(chapter.page, label=label, query_params=query)


def home_link(label: str) -> None:
    st.page_link("app.py", label=label, query_params=state.query_of(HOME))
