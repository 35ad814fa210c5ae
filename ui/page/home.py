"""The home page: a figure that lives, three questions, the chapters as cards, what has been done.

There is no chapter list beside it: the cards are the list.
"""

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

import streamlit as st

from sim.engine import Setup
from ui.course import chapters, glossary, links, outline, prose, state, visited
from ui.course.chapters import Chapter
from ui.files import ASSETS
from ui.page import frame, miniatures
from ui.practice import bank, progress_view
from ui.practice.kept import progress, tab
from ui.results import runs
from ui.subjects.batching import race
from ui.subjects.batching.race import Lane
from ui.words import language as languages
from ui.words.language import tr

STYLE = ASSETS / "home" / "home.css"
QUESTIONS = {"why": "batching", "phases": "prefill_decode", "paging": "fragmentation"}
MINUTES_AN_ACT = 4
MINUTES_A_QUESTION = 0.5

Run = tuple[Lane, Lane]  # static batching, continuous batching


def show(script: str, setups: Mapping[str, Setup], tick_seconds: float) -> None:
    """`setups`: the same requests under "static" and "continuous" batching."""
    frame.begin(links.HOME, lambda: _text(script).title)
    pictures = _pictures(setups["static"], setups["continuous"], tick_seconds)
    st.html(f"<style>{STYLE.read_text('utf-8')}\n{pictures}</style>")
    text = _text(script)
    run = race.lanes(setups, tick_seconds)
    with st.container(key="home", gap="small"):
        _opening(text, run, setups)
        _questions(text, run)
        _cards(text)
        _foot(text)
    glossary.mount()
    progress.mount()
    state.write()
    tab.note("page")


@lru_cache(maxsize=2)
def _pictures(static: Setup, continuous: Setup, tick_seconds: float) -> str:
    run = runs.grid(static, tick_seconds), runs.grid(continuous, tick_seconds)
    return miniatures.style(chapters.in_order(), run)


def _text(script: str) -> prose.Prose:
    return prose.read(Path(script), languages.current())


# -- the first screen --------------------------------------------------------------------------


def _opening(text: prose.Prose, run: Run, setups: Mapping[str, Setup]) -> None:
    before, after = (runs.summary(setups[name]) for name in ("static", "continuous"))
    numbers = {"requests": before.num_served, "slots": run[0].grid.num_slots}
    with st.container(key="home-head", horizontal=True, horizontal_alignment="distribute"):
        st.title(text.title, anchor=False)
        frame.language_switch()
    with st.container(key="home-lead", horizontal=True, vertical_alignment="center"):
        st.markdown(text.filled("lead"))
        with st.container(
            key="start", horizontal=True, vertical_alignment="center", width="content"
        ):
            _ways_in(text)
    alt = text.filled("race_alt", **numbers, static=before.num_steps, continuous=after.num_steps)
    with st.container(key="race-figure", gap=None):
        race.show(run, alt)
        st.caption(text.filled("race_caption", **numbers))


def _ways_in(text: prose.Prose) -> None:
    """The one button, and for who has been here before, back to where they were."""
    with st.container(key="begin", width="content"):
        links.link(chapters.in_order()[0], text.filled("start"))
    last = visited.last()
    if last is not None:
        act = last.act.zh if languages.current() == "zh" else last.act.en
        where = last.chapter.within(act)
        with st.container(key="continue", width="content"):
            links.link(last.chapter, text.filled("continue", where=where), part=last.act.code)


# -- below ---------------------------------------------------------------------------------------


def _questions(text: prose.Prose, run: Run) -> None:
    static, continuous = (lane.grid for lane in run)
    numbers = {"why": {"saved": len(static.steps) - len(continuous.steps)}}
    with st.container(key="questions"):
        for column, (name, answered_by) in zip(
            st.columns(3, gap="large"), QUESTIONS.items(), strict=True
        ):
            with column:
                st.subheader(text.section(name).heading, anchor=False)
                st.markdown(text.filled(name, **numbers.get(name, {})))
                chapter = next(one for one in chapters.in_order() if one.stem.endswith(answered_by))
                links.link(chapter, f"{_named(chapter)} →")


def _cards(text: prose.Prose) -> None:
    st.subheader(text.section("chapters").heading, anchor=False)
    rule = {"act": MINUTES_AN_ACT, "items": round(1 / MINUTES_A_QUESTION)}
    st.caption(text.filled("chapters", **rule))
    with st.container(key="map"):
        for group, members in chapters.listed():
            for chapter in members:
                with st.container(key=f"card-{chapter.number:02}", gap=None):
                    _card(chapter, group.zh if languages.current() == "zh" else group.en)


def _card(chapter: Chapter, group: str) -> None:
    language = languages.current()
    st.caption(chapter.within(group))
    links.link(chapter, chapter.title(language))
    st.markdown(chapter.teaser(language))
    said = [words for words in (_length(chapter), *_done(chapter)) if words]
    if said:
        st.caption(" · ".join(said))


def minutes(chapter: Chapter) -> int | None:
    """How long its main line takes: so much for each act, and for each question of its self-check.
    None for a chapter without one: it is looked at, not worked through."""
    name = f"{chapter.number:02}"
    if name not in bank.names():
        return None
    num_acts, num_items = len(outline.main_line(chapter)), len(bank.load(name))
    return round(MINUTES_AN_ACT * num_acts + MINUTES_A_QUESTION * num_items)


def _length(chapter: Chapter) -> str:
    needed = minutes(chapter)
    return tr(f"约 {needed} 分钟", f"about {needed} min") if needed else ""


def _done(chapter: Chapter) -> list[str]:
    """What this reader has done of it; nothing before they have begun."""
    seen = visited.acts_of(chapter)
    acts = [act.code for act in outline.main_line(chapter)]
    num_seen = sum(code in seen for code in acts)
    opened = tr(f"看过 {num_seen} / {len(acts)} 幕", f"{num_seen} / {len(acts)} acts seen")
    return [opened if num_seen else "", progress_view.in_short(f"{chapter.number:02}")]


def _foot(text: prose.Prose) -> None:
    with st.container(key="home-foot"):
        teach, trust = st.columns(2, gap="large")
        with teach:
            st.subheader(text.section("teach").heading, anchor=False)
            st.markdown(text.filled("teach"))
            first = chapters.in_order()[0]
            links.link(first, tr("打开讲课视图 →", "Open the lecture view →"), view="lecture")
        with trust:
            st.subheader(text.section("trust").heading, anchor=False)
            st.markdown(text.filled("trust"))


def _named(chapter: Chapter) -> str:
    return chapter.heading(languages.current())
