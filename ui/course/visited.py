"""Where this reader has been: the acts they opened, and the last one.

The session knows it, and their own browser keeps it: `assets/frame.js` writes it there, and
`ui.practice.kept.progress` hands it over once per session.  What comes from there is hostile until
it is read: acts that the course does not have are dropped.
"""

import json
from dataclasses import dataclass
from typing import Any

import streamlit as st

from ui.course import chapters, outline
from ui.course.chapters import Chapter
from ui.course.outline import Heading

MAX_LETTERS = 20_000


@dataclass(frozen=True)
class Place:
    """An act of a chapter."""

    chapter: Chapter
    act: Heading

    @property
    def key(self) -> str:
        """As it is kept: the number of a chapter may change, its name does not."""
        return f"{_name(self.chapter)}/{self.act.code}"


def here(stem: str, part: str | None) -> Place | None:
    """The act that is on the page; without a part of the course's it is the first one."""
    chapter = Chapter(stem)
    acts = outline.of(chapter) if chapter.exists else ()
    return (
        Place(chapter, next((act for act in acts if act.code == part), acts[0])) if acts else None
    )


def note(place: Place) -> None:
    _seen().pop(place.key, None)  # the last one stands last
    _seen()[place.key] = place


def last() -> Place | None:
    return next(reversed(_seen().values()), None)


def acts_of(chapter: Chapter) -> set[str]:
    """The codes of those that were opened."""
    return {place.act.code for place in _seen().values() if place.chapter == chapter}


def kept() -> list[str]:
    """For the browser to keep, the last one last."""
    return list(_seen())


def came_back(text: str) -> None:
    """What the browser had kept from earlier sessions; this session's own is the newer."""
    earlier = [place for key in _keys(text) if (place := _place(key)) is not None]
    now = dict(_seen())
    _seen().clear()
    _seen().update({place.key: place for place in earlier if place.key not in now} | now)


def forget() -> None:
    _seen().clear()


def _seen() -> dict[str, Place]:
    return st.session_state.setdefault("_visited", {})


def _keys(text: str) -> list[str]:
    if len(text) > MAX_LETTERS:
        return []
    try:
        given: Any = json.loads(text or "[]")
    except (ValueError, RecursionError):
        return []
    return [key for key in given if isinstance(key, str)] if isinstance(given, list) else []


def _place(key: str) -> Place | None:
    name, _, code = key.partition("/")
    for chapter in chapters.in_order():
        if _name(chapter) == name:
            acts = [act for act in outline.of(chapter) if act.code == code]
            return Place(chapter, acts[0]) if acts else None
    return None


def _name(chapter: Chapter) -> str:
    return chapter.stem.split("_", 1)[1]
