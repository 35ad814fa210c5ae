"""Behind a figure: how it is computed, what it leaves out, what real engines call it."""

from typing import Literal

import streamlit as st

from ui.course.sources import sources
from ui.words.language import tr

Mark = Literal["computed", "here", "measured", "gpu"]
MARKS: tuple[Mark, ...] = ("computed", "here", "measured", "gpu")


def how(formula: str, title: str = "", key: str | None = None) -> None:
    """ "How is this computed?": a line that opens the formula with the current values."""
    label = title or tr("这是怎么算出来的？", "How is this computed?")
    with st.expander(label, key=key, icon=":material/function:"):
        st.markdown(formula)


def mark_words(mark: Mark, source: str = "") -> str:
    """Where a number comes from, in words; what was measured elsewhere by a row of the sources."""
    match mark:
        case "computed":
            return tr("此处计算", "Computed here")
        case "here":
            return tr(f"在这台机器上实测：{source}", f"Measured on this machine: {source}")
        case "measured":
            where = sources()[source].title
            return tr(f"他处实测：{where}", f"Measured elsewhere: {where}")
        case "gpu":
            return tr("需要 GPU，此处未执行", "Needs a GPU, not executed here")


def leaves_out(text: str, mark: Mark = "computed", source: str = "") -> None:
    """The honest line of a figure: where it comes from; it opens what the figure leaves out."""
    if mark not in MARKS:
        raise ValueError(f"mark {mark!r}: expected one of {', '.join(MARKS)}")
    lead = tr("这张图假设什么、省略什么", "What this figure assumes and leaves out")
    with st.expander(f":gray-badge[{mark_words(mark, source)}] :small[{lead}]", type="compact"):
        st.markdown(f":small[{text}]")


def flags(table: str) -> None:
    """From the model to the real thing: a table of flags and metric names, opened on demand."""
    label = tr("在真实的引擎里", "In the real engines")
    with st.expander(label, icon=":material/terminal:", key="flags"):
        st.markdown(table)
