"""Self-check: a few questions at the end of a chapter, with an answer to every answer.

`bank` reads the questions, `judge` judges, `answers` keeps what the reader gave; here
they are drawn.  Feedback appears by itself, and a question can be tried again.

Long because every kind of question is drawn here, in one round that they share.
"""

import re
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from urllib.parse import urlsplit

import streamlit as st

from ui import charts
from ui.controls import turns
from ui.course import links
from ui.files import ROOT
from ui.practice import answers
from ui.practice.answers import Sheet
from ui.practice.bank import LARGEST_NUMBER, Answer, Item, load, plain
from ui.practice.exhibits import evidence, quiz_curves
from ui.practice.judge import Verdict, judge, solution
from ui.practice.kept import progress, tab
from ui.words.language import current, tr, worded


@st.fragment
def show(name: str, one_by_one: bool = False) -> None:
    """Draw the items of a chapter where called.  An answer reruns the self-check alone.

    `one_by_one` shows a single item with ways to the next and the one before: a lecture hall sees
    no more than one question at a time.
    """
    sheet, items = Sheet(name), load(name)
    if one_by_one:
        draw_one(sheet, items)
    else:
        for at, item in enumerate(items):
            draw(sheet, item, f"{at + 1} / {len(items)}")
    progress.mount()
    tab.note("check")


def draw_one(sheet: Sheet, items: Sequence[Item], beside: Callable[[], None] | None = None) -> None:
    """One item of several, ways to the next and the one before, and what stands `beside` them."""
    at = turns.standing(sheet.name, len(items))
    draw(sheet, items[at], f"{at + 1} / {len(items)}")
    with st.container(
        horizontal=True, gap="small", vertical_alignment="center", key=f"quiz-ways-{sheet.name}"
    ):
        _ways(sheet, items)
        if beside:
            beside()


def _ways(sheet: Sheet, items: Sequence[Item]) -> None:
    back, onward = tr("上一题", "Previous question"), tr("下一题", "Next question")
    turns.buttons(sheet.name, len(items), back, onward)


def draw(sheet: Sheet, item: Item, number: str) -> None:
    """One item with whatever the reader has answered on this sheet."""
    with st.container(key=f"quiz-item-{sheet.of(item)}", gap="small"):
        with st.container(horizontal=True, gap="medium", vertical_alignment="center"):
            st.markdown(f":small[{number}]")
            _ask_certainty(sheet, item)
        st.markdown(item.question.here())
        with _beside_exhibit(sheet, item):
            _ASKERS[item.kind](sheet, item)
        given = answers.given(sheet, item)
        if sheet.judges and given.answer is not None:
            _answer(sheet, item, judge(item, given.answer), given.sure)
        elif sheet.judges and not sheet.is_open:
            _blank(sheet, item)


def _blank(sheet: Sheet, item: Item) -> None:
    """What would have been right, for a question that was handed in without an answer."""
    right = solution(item)
    with st.container(key=f"quiz-feedback-blank-{sheet.of(item)}", gap="xsmall"):
        said = _in_words(item, right)
        st.markdown(tr(f"没有作答。答案：{said}", f"Not answered. The answer: {said}"))
        for words in judge(item, right).remarks:
            st.markdown(words.here())
        _say_sources(item)
        _show_me(item)


def _in_words(item: Item, answer: Answer) -> str:
    """An answer as a reader would say it."""
    if item.kind == "numeric":
        return f"{answer:g} {item.unit}".strip()
    places = answer if isinstance(answer, list) else [answer]
    between = " → " if item.kind == "order" else tr("；", "; ")
    return between.join(item.options[place].text.here() for place in places)


def _beside_exhibit(sheet: Sheet, item: Item) -> AbstractContextManager[object]:
    """Draw what is to be read first; where the answers go: beneath it, in the lecture view beside
    it, so that both are seen."""
    if not item.exhibit:
        return nullcontext()
    if not (links.is_lecture() and evidence.is_narrow(item.exhibit)):
        evidence.show(item.exhibit, sheet.of(item))
        return nullcontext()
    exhibit, options = st.columns(2)
    with exhibit:
        evidence.show(item.exhibit, sheet.of(item))
    return options


def _answer(sheet: Sheet, item: Item, verdict: Verdict, sure: bool) -> None:
    tone = "right" if verdict.right else "wrong"
    with st.container(key=f"quiz-feedback-{tone}-{sheet.of(item)}", gap="xsmall"):
        _say_verdict(verdict, sure)
        _say_sources(item)
        with st.container(horizontal=True, gap="medium", vertical_alignment="center"):
            _show_me(item)
            if sheet.is_open:
                st.button(
                    tr("再试一次", "Try again"),
                    key=f"quiz-retry-{sheet.of(item)}",
                    type="tertiary",
                    icon=":material/refresh:",
                    on_click=answers.forget,
                    args=(sheet, item),
                )


def _say_verdict(verdict: Verdict, sure: bool) -> None:
    if not verdict.right:
        st.markdown(_verdict_line(verdict, sure))
    for words in verdict.remarks:
        st.markdown(words.here())
    for option in verdict.missed:
        said = tr("，没有选到。", " was not ticked. ")
        st.markdown(f"“{option.text.here()}”{said}{option.feedback.here()}")


def _verdict_line(verdict: Verdict, sure: bool) -> str:
    if verdict.missed and verdict.right_so_far:
        num_missed = len(verdict.missed)
        return tr(
            f"还不完整：有 {num_missed} 项没有选到。",
            f"Not complete yet: {num_missed} more to tick.",
        )
    if sure:
        return tr(
            "还不对。你原本很有把握，所以这一题最值得到图里看一看。",
            "Not quite. You were sure, so this one is most worth a look at the figure.",
        )
    return tr("还不对。", "Not quite.")


def _say_sources(item: Item) -> None:
    links = tr("、", ", ").join(_source_link(source) for source in item.sources)
    version = tr(f"（{item.engine_version}）", f" ({item.engine_version})")
    line = tr("来源：", "Source: ") + links + (version if item.engine_version else "")
    st.markdown(f":small[{line}]")


def _source_link(source: str) -> str:
    """`vllm #4252` for an issue, else the host; what is not an address stays as it is."""
    if not source.startswith("http"):
        return source
    issue = re.fullmatch(r"https://github\.com/[^/]+/([^/]+)/(?:issues|pull)/(\d+)", source)
    label = f"{issue[1]} #{issue[2]}" if issue else urlsplit(source).netloc.removeprefix("www.")
    return f"[{label}]({source})"


def _show_me(item: Item) -> None:
    """A link into the state that shows it, if that page is there yet."""
    if item.link is None or not (ROOT / "pages" / f"{item.link.page}.py").exists():
        return
    st.page_link(
        f"pages/{item.link.page}.py",
        label=tr("在图里看", "Show me"),
        icon=":material/visibility:",
        query_params={**item.link.query, "lang": current()},
    )


# Asking: each kind with a widget of its own, told where it stands on every run


def _ask_certainty(sheet: Sheet, item: Item) -> None:
    given = answers.given(sheet, item)
    key = f"quiz-sure-{sheet.of(item)}"
    st.session_state[key] = given.sure
    st.checkbox(
        tr("我很有把握", "I am sure"),
        key=key,
        disabled=not sheet.is_open or (sheet.judges and given.answer is not None),
        on_change=lambda: answers.say_sure(sheet, item, st.session_state[key]),
    )


def _ask_single(sheet: Sheet, item: Item) -> None:
    key = _widget(sheet, item, answers.given(sheet, item).answer)
    st.radio(
        plain(item.question.here()),
        sheet.order(item),
        index=None,
        format_func=lambda index: item.options[index].text.here(),
        key=key,
        label_visibility="collapsed",
        disabled=not sheet.is_open,
        on_change=_take,
        args=(sheet, item, key),
    )


def _ask_curve(sheet: Sheet, item: Item) -> None:
    """The curves stand in the figure in the order of the options, A first.

    In the lecture view the options stand beside the figure: it is seen whole.
    """
    order = sheet.order(item)
    letters = {index: chr(ord("A") + place) for place, index in enumerate(order)}
    lettered = {letters[index]: item.options[index].curve for index in order}
    words = {index: f"{letters[index]}  {item.options[index].text.here()}" for index in order}
    is_lecture = links.is_lecture()
    figure, options = st.columns([3, 2]) if is_lecture else (st.container(), st.container())
    with figure:
        charts.show(
            quiz_curves.figure(item.figure, lettered, large=is_lecture),
            f"quiz-curves-{sheet.of(item)}",
            alt="; ".join(words.values()),
        )
    key = _widget(sheet, item, answers.given(sheet, item).answer)
    options.radio(
        plain(item.question.here()),
        order,
        index=None,
        format_func=words.__getitem__,
        key=key,
        label_visibility="collapsed",
        disabled=not sheet.is_open,
        on_change=_take,
        args=(sheet, item, key),
    )


def _ask_several(sheet: Sheet, item: Item) -> None:
    given = answers.given(sheet, item)
    for index in sheet.order(item):
        key = f"{_widget_name(sheet, item)}-{index}"
        st.session_state[key] = index in given.draft
        st.checkbox(
            item.options[index].text.here(),
            key=key,
            disabled=not sheet.is_open,
            on_change=_tick,
            args=(sheet, item, index, key),
        )
    if sheet.judges and given.answer is None:
        st.button(
            tr("核对", "Check"),
            key=f"{_widget_name(sheet, item)}-check",
            disabled=not given.draft,
            on_click=answers.give,
            args=(sheet, item, list(given.draft), given.draft),
        )


def _ask_numeric(sheet: Sheet, item: Item) -> None:
    key = _widget(sheet, item, answers.given(sheet, item).answer)
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        st.number_input(
            plain(item.question.here()),
            value=None,
            min_value=-LARGEST_NUMBER,
            max_value=LARGEST_NUMBER,
            placeholder=tr("输入一个数，按回车", "A number, then Enter"),
            key=key,
            format="%g",
            label_visibility="collapsed",
            width=260,
            disabled=not sheet.is_open,
            on_change=_take,
            args=(sheet, item, key),
        )
        if item.unit:
            st.markdown(item.unit)


def _ask_order(sheet: Sheet, item: Item) -> None:
    key = _widget(sheet, item, list(answers.given(sheet, item).draft))
    st.multiselect(
        plain(item.question.here()),
        sheet.order(item),
        format_func=lambda index: item.options[index].text.here(),
        placeholder=tr("按先后顺序逐个选择", "Pick them one by one, in order"),
        key=key,
        label_visibility="collapsed",
        disabled=not sheet.is_open,
        on_change=_take_order,
        args=(sheet, item, key),
    )


_ASKERS: dict[str, Callable[[Sheet, Item], None]] = {
    "single": _ask_single,
    "several": _ask_several,
    "numeric": _ask_numeric,
    "order": _ask_order,
    "curve": _ask_curve,
}


def _widget_name(sheet: Sheet, item: Item) -> str:
    return f"quiz-answer-{sheet.of(item)}"


def _widget(sheet: Sheet, item: Item, value: object) -> str:
    key = worded(_widget_name(sheet, item))
    st.session_state[key] = value
    return key


def _take(sheet: Sheet, item: Item, key: str) -> None:
    answers.give(sheet, item, st.session_state[key])


def _take_order(sheet: Sheet, item: Item, key: str) -> None:
    chosen = list(st.session_state[key])
    answers.give(sheet, item, chosen if len(chosen) == len(item.options) else None, chosen)


def _tick(sheet: Sheet, item: Item, index: int, key: str) -> None:
    others = set(answers.given(sheet, item).draft) - {index}
    ticked = sorted(others | ({index} if st.session_state[key] else set()))
    answers.give(sheet, item, ticked if ticked and not sheet.judges else None, ticked)
