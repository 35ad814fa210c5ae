"""What a reader sees of their progress, and what they can do with it."""

from functools import partial

import streamlit as st

from ui import charts
from ui.charts import go
from ui.practice import answers, bank, rounds
from ui.practice.kept import progress
from ui.words.language import tr

UPLOAD = "progress-import"


@st.fragment
def show(large: bool = False) -> None:
    """Chapter by chapter; to carry off, to bring back, to forget.  In the lecture view a line."""
    progress.mount()
    if progress.problem():
        st.warning(progress.problem())
    _say()
    if large:
        return
    _carry_off()
    alt = tr("每章答对了几题", "How many questions of each chapter are answered correctly")
    charts.show(_bars(), "progress-bars", alt)
    _say_changes()
    _bring_back()


def in_short(name: str) -> str:
    """Of a chapter, for its line on the home page; empty before the first answer."""
    if name not in bank.names():
        return ""
    right, answered, num_items = answers.right_of(name)
    return (
        tr(f"自测 {right} / {num_items}", f"self-check {right} / {num_items}") if answered else ""
    )


def _bars() -> go.Figure:
    names = rounds.chapter_names()
    counts = [answers.right_of(name) for name in names]
    figure = charts.bars(
        list(names.values()),
        [100 * right / num_items for right, _, num_items in counts],
        tr("答对的题（%）", "answered correctly (%)"),
        texts=[f"{right} / {num_items}" for right, _, num_items in counts],
        top=100.0,
        height=90 + 24 * len(names),
    )
    figure.update_yaxes(dtick=1)  # every chapter by name
    return figure


def changes() -> list[tuple[str, bool, bool | None]]:
    """Of each chapter that was asked before it began: its number, whether the answer was right
    then, and whether it is now; None while its twin in the self-check is open."""
    marks, found = answers.marks(), []
    for name, item in bank.beforehand().items():
        _, option = progress.beforehand(item)
        if option is not None:
            now = answers.is_right(item.after) if item.after in marks else None
            found.append((name, item.options[option].right, now))
    return found


def _say_changes() -> None:
    rows = changes()
    if not rows:
        return
    words = {True: tr("对", "right"), False: tr("错", "wrong"), None: tr("还没答", "not yet")}
    names = rounds.chapter_names()
    head = tr("同一件事，问两遍 | 学之前 | 现在", "The same idea, asked twice | Before | Now")
    lines = [f"| {names[name]} | {words[then]} | {words[now]} |" for name, then, now in rows]
    learnt = sum(now is True and not then for _, then, now in rows)
    with st.container(key="progress-changes"):
        st.markdown(
            tr(
                f"开头答错、现在答对的有 **{learnt}** 章。",
                f"Wrong before the chapter and right now: **{learnt}**.",
            )
        )
        st.markdown("\n".join([f"| {head} |", "|---|---|---|", *lines]))


def _say() -> None:
    marks = answers.marks()
    wrong = [key for key in marks if not answers.is_right(key)]
    sure = sum(marks[key].sure for key in wrong)
    st.markdown(
        tr(
            f"答过 {len(marks)} 题，对 {len(marks) - len(wrong)} 题；"
            f"答错的 {len(wrong)} 题里，有 {sure} 题当时很有把握。",
            f"{len(marks)} answered, {len(marks) - len(wrong)} correctly; of the {len(wrong)} "
            f"wrong ones you were sure of {sure}.",
        )
    )


def _carry_off() -> None:
    marks = dict(answers.marks())  # a file is made outside the session
    rows = [(item, marks.get(key)) for key, item in bank.all_items().items()]
    with st.container(horizontal=True, gap="small", key="progress-out"):
        st.download_button(
            tr("导出进度（JSON）", "Export progress (JSON)"),
            lambda: progress.written(marks),
            "progress.json",
            "application/json",
            key="progress-export",
            icon=":material/download:",
            on_click="ignore",
        )
        st.download_button(
            tr("成绩表（CSV）", "Table of results (CSV)"),
            lambda: progress.table(rows),
            "results.csv",
            "text/csv",
            key="progress-csv",
            icon=":material/table:",
            on_click="ignore",
        )
        with st.popover(tr("清空", "Reset"), icon=":material/delete:"):
            st.markdown(
                tr(
                    "这个浏览器里记下的全部答案都会删掉，无法恢复。",
                    "Deletes all answers kept in this browser, for good.",
                )
            )
            st.button(
                tr("全部删掉", "Delete everything"), key="progress-reset", on_click=progress.reset
            )


def _bring_back() -> None:
    number = st.session_state.get("_progress_uploads", 0)
    given = st.file_uploader(
        tr("导入进度文件（JSON）", "Import a progress file (JSON)"),
        type=["json"],
        key=f"{UPLOAD}-{number}",
    )
    if given is not None:
        _import(given.getvalue(), number)
    tone, words = st.session_state.get("_progress_said", ("", ""))
    if words:
        partial(st.warning if tone == "bad" else st.success)(words)


def _import(content: bytes, number: int) -> None:
    """Take a file in, once; the uploader is made anew for the next."""
    try:
        stored = progress.read(content)
    except progress.ProgressError as error:
        said = (
            "bad",
            tr(f"没有导入，原来的进度还在。{error}", f"Not imported; nothing is lost. {error}"),
        )
    else:
        answers.put(stored.marks)
        said = ("good", _taken(len(stored.marks), stored.num_unknown))
    st.session_state["_progress_said"] = said
    st.session_state["_progress_uploads"] = number + 1
    st.rerun(scope="fragment")


def _taken(num_marks: int, num_unknown: int) -> str:
    words = tr(f"导入了 {num_marks} 题。", f"{num_marks} questions imported.")
    left = tr(
        f"另有 {num_unknown} 题这个版本里没有，略过了。",
        f" {num_unknown} more are not in this version and were left out.",
    )
    return words + (left if num_unknown else "")
