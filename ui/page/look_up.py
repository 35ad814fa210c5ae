"""Lists that are searched: each entry under its chapter, in the lecture view one at a time."""

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from ui.controls import turns
from ui.course import chapters, links
from ui.words.language import current, tr

MAX_LETTERS = 60  # of what is looked for


@dataclass(frozen=True)
class Entry:
    chapter: str  # the stem of the one it stands under
    text: str  # Markdown
    searched: str  # in which words are found, of both languages


@st.fragment
def show(name: str, entries: Sequence[Entry], example: str, large: bool = False) -> None:
    """Draw a field for the search and what is found.  `name` keeps lists apart."""
    wanted = st.text_input(
        tr("查找", "Search"),
        max_chars=MAX_LETTERS,
        key=f"look-up-search-{name}",
        placeholder=example,
        on_change=turns.go,
        args=(name, 0),
    )
    found = matching(entries, wanted or "")
    if not found:
        st.markdown(tr("没有找到。", "Nothing found."))
    elif large:
        at = turns.standing(name, len(found))
        st.markdown(f":small[{at + 1} / {len(found)}]")
        with st.container(key=f"look-up-entry-{name}"):
            st.markdown(found[at].text)
        back, onward = tr("上一个", "Previous one"), tr("下一个", "Next one")
        turns.buttons(name, len(found), back, onward)
    else:
        for stem, group in by_chapter(found).items():
            _group(stem, group)


def matching(entries: Sequence[Entry], wanted: str) -> list[Entry]:
    """Those with all of these words."""
    words = wanted.casefold().split()
    return [one for one in entries if all(word in one.searched.casefold() for word in words)]


def by_chapter(entries: Sequence[Entry]) -> dict[str, list[Entry]]:
    """Stem -> its entries, in reading order."""
    groups: dict[str, list[Entry]] = {chapter.stem: [] for chapter in chapters.in_order()}
    for entry in entries:
        groups[entry.chapter].append(entry)
    return {stem: group for stem, group in groups.items() if group}


def _group(stem: str, entries: Sequence[Entry]) -> None:
    chapter = chapters.Chapter(stem)
    with st.container(key=f"look-up-group-{stem}", gap="xsmall"):
        links.link(chapter, chapter.name(current()))
        st.markdown("\n\n".join(entry.text for entry in entries))
