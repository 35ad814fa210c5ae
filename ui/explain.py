"""Behind a figure: how it is computed, what it leaves out, what real engines call it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import streamlit as st

from ui.language import tr

Mark = Literal["computed", "measured", "gpu"]
MARKS: tuple[Mark, ...] = ("computed", "measured", "gpu")


@dataclass(frozen=True)
class Flag:
    """One idea of a chapter as the real engines name it; an empty text where they have no name."""

    idea: str
    vllm: str = ""  # flag or behaviour of `vllm serve`; several are separated by commas
    sglang: str = ""
    metrics: str = ""  # Prometheus names, separated by commas


def how(formula: str, title: str = "", key: str | None = None) -> None:
    """ "How is this computed?": a line that opens the formula with the current values."""
    label = title or tr("这是怎么算出来的？", "How is this computed?")
    with st.expander(label, key=key, icon=":material/function:"):
        st.markdown(formula)


def mark_words(mark: Mark, source: str = "") -> str:
    """Where a number comes from, in words."""
    match mark:
        case "computed":
            return tr("此处计算", "Computed here")
        case "measured":
            where = source or tr("来源见正文", "source in the text")
            return tr(f"他处实测：{where}", f"Measured elsewhere: {where}")
        case "gpu":
            return tr("需要 GPU，此处未执行", "Needs a GPU, not executed here")


def leaves_out(text: str, mark: Mark = "computed", source: str = "") -> None:
    """The honest line of a figure: where it comes from, and what it leaves out."""
    if mark not in MARKS:
        raise ValueError(f"mark {mark!r}: expected one of {', '.join(MARKS)}")
    lead = tr("本图的假设与省略：", "What this figure assumes and leaves out: ")
    st.markdown(f":gray-badge[{mark_words(mark, source)}] :small[{lead}{text}]")


def flags(rows: Sequence[Flag], engine_version: str = "") -> None:
    """From the model to the real thing: idea, flags, metric names."""
    with st.expander(
        tr("在真实的引擎里", "In the real engines"), icon=":material/terminal:", key="flags"
    ):
        st.markdown(flags_table(rows))
        if engine_version:
            st.markdown(f":small[{engine_version}]")


def flags_table(rows: Sequence[Flag]) -> str:
    """The table of `flags` in Markdown."""
    heads = [tr("想法", "Idea"), "vLLM", "SGLang", tr("指标", "Metrics")]
    lines = [_row(heads), _row(["---"] * len(heads))]
    lines += [
        _row([row.idea, _code(row.vllm), _code(row.sglang), _code(row.metrics)]) for row in rows
    ]
    return "\n".join(lines)


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _code(names: str) -> str:
    """Flags and metric names in code type; words stay words."""
    parts = [part.strip() for part in names.split(",") if part.strip()]
    is_code = [" " not in part or part.startswith("-") for part in parts]
    shown = [f"`{part}`" if code else part for part, code in zip(parts, is_code, strict=True)]
    return ", ".join(shown) or "–"
