"""The whole glossary, to be searched: each term under the chapter that first marks it."""

from collections.abc import Sequence
from functools import cache

import streamlit as st

from ui.controls import turns
from ui.course import chapters, glossary, links
from ui.course.glossary import Term
from ui.words.language import current, tr

MAX_LETTERS = 60  # of what is looked for


@st.fragment
def show(large: bool = False) -> None:
    """Draw a field for the search and what is found; in the lecture view one term at a time."""
    wanted = st.text_input(
        tr("查找", "Search"),
        max_chars=MAX_LETTERS,
        key="glossary-search",
        placeholder=tr("例如：块、TTFT、prefix", "For example: block, TTFT, 前缀"),
        on_change=turns.go,
        args=("glossary", 0),
    )
    found = matching(wanted or "")
    if not found:
        st.markdown(tr("没有这样的词。", "No such term."))
    elif large:
        at = turns.standing("glossary", len(found))
        st.markdown(f":small[{at + 1} / {len(found)}]")
        with st.container(key="glossary-entry"):
            st.markdown(_entry(found[at]))
        back, onward = tr("上一个", "Previous one"), tr("下一个", "Next one")
        turns.buttons("glossary", len(found), back, onward)
    else:
        for stem, terms in by_chapter(found).items():
            _group(stem, terms)


def matching(wanted: str) -> list[Term]:
    """Terms with all of these words in a name or a definition, of either language."""
    words = wanted.casefold().split()
    return [term for term in glossary.terms().values() if all(w in _text(term) for w in words)]


def by_chapter(terms: Sequence[Term]) -> dict[str, list[Term]]:
    """Stem -> its terms, in reading order."""
    groups: dict[str, list[Term]] = {chapter.stem: [] for chapter in chapters.in_order()}
    for term in terms:
        groups[term.chapter].append(term)
    return {stem: group for stem, group in groups.items() if group}


def _group(stem: str, terms: Sequence[Term]) -> None:
    chapter = chapters.Chapter(stem)
    with st.container(key=f"glossary-group-{stem}", gap="xsmall"):
        links.link(chapter, chapter.name(current()))
        st.markdown("\n\n".join(map(_entry, terms)))


def _entry(term: Term) -> str:
    """Its name here, its name in the other language, what it means."""
    here, other = term.name(current()), term.name("en" if current() == "zh" else "zh")
    names = f"**{here}**" if here == other else f"**{here}** · {other}"
    return f"{names}  \n{term.definition(current())}"


@cache
def _text(term: Term) -> str:
    """What is searched, in small letters."""
    return " ".join((term.zh, term.en, term.definition_zh, term.definition_en)).casefold()
