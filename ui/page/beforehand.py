"""What do you think now?  One question at the door of a chapter, folded into its header.

It is skipped with one click, is never graded and gets no reply: at the end of the chapter the
self-check asks the same with other numbers, and the progress page shows what has changed.  Who came
by a link that carries state is not asked; nor is anybody before the browser has handed over what it
keeps, so that a reload does not ask again.
"""

import streamlit as st

from ui.course import state
from ui.course.chapters import Chapter
from ui.practice import answers, bank
from ui.practice.bank import Item
from ui.practice.judge import shuffled
from ui.practice.kept import progress
from ui.words.language import tr, worded


def offer(chapter: Chapter) -> None:
    """Draw the question of this chapter where called, if it has one and it is open."""
    item = bank.beforehand().get(f"{chapter.number:02}")
    if item is not None and is_asked(item):
        with (
            st.container(key="act-beforehand", width="content"),
            st.popover(tr("先想一想", "What do you think now?"), key="beforehand"),
            st.form("beforehand-form", border=False),
        ):
            _ask(item)


def is_asked(item: Item) -> bool:
    is_open = progress.beforehand(item)[0] == "open"
    return is_open and progress.is_known() and not state.came_by_link()


def _ask(item: Item) -> None:
    st.markdown(item.question.here())
    key = worded(f"beforehand-{item.id}")
    st.radio(
        item.question.here(),
        shuffled(item, answers.seed()),
        index=None,
        format_func=lambda index: item.options[index].text.here(),
        key=key,
        label_visibility="collapsed",
    )
    st.markdown(
        tr(
            ":small[不计分，现在也不公布答案。学完这一章会再问一次，进度页会显示变化。]",
            ":small[Not graded, and no answer now. The self-check asks again, and the progress "
            "page shows what has changed.]",
        )
    )
    with st.container(horizontal=True, gap="small"):
        st.form_submit_button(tr("记下", "Keep"), type="primary", on_click=_keep, args=(item, key))
        st.form_submit_button(tr("跳过", "Skip"), type="tertiary", on_click=_skip, args=(item,))


def _keep(item: Item, key: str) -> None:
    """Nothing chosen is skipped: the next click would ask for the same."""
    state.moved()
    progress.keep_beforehand(item, st.session_state.get(key))


def _skip(item: Item) -> None:
    state.moved()
    progress.keep_beforehand(item, None)
