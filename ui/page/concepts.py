"""The concept table: a sentence for each, and the chapter that shows it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import streamlit as st

from ui.controls import turns
from ui.course import links
from ui.course.chapters import Chapter
from ui.course.prose import Prose
from ui.words.language import current, tr


@dataclass(frozen=True)
class Row:
    """A concept."""

    code: str
    name: str
    sentence: str
    chapter: Chapter


def rows(text: Prose, concepts: Mapping[str, str]) -> list[Row]:
    """Section of the prose -> stem of its chapter.  A heading is a name, its body the sentence."""
    return [
        Row(section, text.section(section).heading, text.filled(section), Chapter(stem))
        for section, stem in concepts.items()
    ]


@st.fragment
def show(rows: Sequence[Row], one_by_one: bool = False) -> None:
    """Draw them where called; in the lecture view one at a time."""
    if not one_by_one:
        for row in rows:
            _draw(row)
        return
    at = turns.standing("concepts", len(rows))
    st.markdown(f":small[{at + 1} / {len(rows)}]")
    _draw(rows[at])
    back, onward = tr("上一个", "Previous one"), tr("下一个", "Next one")
    turns.buttons("concepts", len(rows), back, onward)


def _draw(row: Row) -> None:
    with st.container(key=f"concept-{row.code}"):
        name, sentence = st.columns([0.32, 0.68], gap="medium")
        with name, st.container(gap=None):
            st.markdown(f"**{row.name}**")
            if row.chapter.exists:
                links.link(row.chapter, row.chapter.name(current()))
        sentence.markdown(row.sentence)
