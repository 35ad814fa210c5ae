"""The course on two sheets of paper: a row for each chapter, then tables.

On the screen a row leads to its chapter; on paper only the sheets are left (assets/parts.css).
"""

from collections.abc import Mapping, Sequence

import streamlit as st

from ui.controls import turns
from ui.course import links
from ui.course.chapters import Chapter
from ui.files import ASSETS
from ui.words.language import current, tr

SCRIPT = ASSETS / "print.js"


@st.fragment
def show(rows: Mapping[str, str], tables: Sequence[str], one_by_one: bool = False) -> None:
    """Draw the sheets where called; in the lecture view one row at a time, and no table.

    `rows`: stem of the chapter -> four paragraphs.
    """
    if one_by_one:
        stems = list(rows)
        at = turns.standing("summary", len(stems))
        _draw(stems[at], rows[stems[at]])
        back, onward = tr("上一章", "Previous chapter"), tr("下一章", "Next chapter")
        turns.buttons("summary", len(stems), back, onward)
        return
    _print_button()
    with st.container(key="sheets", gap="small"):
        for stem, text in rows.items():
            _draw(stem, text)
        for number, table in enumerate(tables):
            with st.container(key=f"sheets-table-{number}"):
                st.markdown(table)


def _draw(stem: str, text: str) -> None:
    question, number, keep, formula = text.split("\n\n")
    chapter = Chapter(stem)
    with st.container(key=f"summary-{chapter.number:02}"):
        short, long = st.columns([0.3, 0.7], gap="medium")
        with short, st.container(gap=None):
            links.link(chapter, chapter.name(current()))
            st.markdown(number)
        long.markdown(f"**{question}**\n\n{keep}\n\n{formula}")


def _print_button() -> None:
    component = st.components.v2.component(
        "print_button",
        html='<button type="button" class="print-button"></button>',
        js=SCRIPT.read_text(encoding="utf-8"),
        isolate_styles=False,
    )
    with st.container(key="print"):
        component(
            key="print-button",
            data={"label": tr("打印", "Print")},
            height="content",
            width="content",
        )
