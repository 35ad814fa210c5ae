"""Self-check: a few questions at the end of a chapter, with an answer to every answer.

The items live in `assets/quiz/NN.json`, both languages side by side; `load` reads them and names
file, item and field where one is wrong.  `judge` decides without any drawing; `show` draws.
Options are shuffled by item and reader, so the order survives reruns and a change of language.
What a reader answered is kept for the session.  Nothing is scored: every option has a feedback
that says why it tempts, and the question can be tried again.
"""

import json
import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

import streamlit as st

from ui.language import current, tr

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "assets" / "quiz"
KINDS = ("single", "several", "numeric", "order")
MIN_OPTIONS = 3

Kind = Literal["single", "several", "numeric", "order"]
Answer = Any  # single: option index; several, order: list of indices; numeric: float


class QuizError(ValueError):
    """An item is not written as it should be; the message names file, item and field."""

    def __init__(self, file: str, item: str, field: str, expected: str):
        super().__init__(f"{file}, item {item}, field {field}: {expected}")


@dataclass(frozen=True)
class Words:
    """One text in both languages."""

    zh: str
    en: str

    def here(self) -> str:
        return tr(self.zh, self.en)


@dataclass(frozen=True)
class Option:
    """One possible answer, whether it is right, and why somebody would (not) choose it."""

    text: Words
    right: bool
    feedback: Words
    misconception: int | None  # the row of the list of misconceptions this lure stands for


@dataclass(frozen=True)
class Value:
    """A number that is recognized, and what to say to it."""

    value: float
    tolerance: float
    feedback: Words

    def matches(self, number: float) -> bool:
        return abs(number - self.value) <= self.tolerance


@dataclass(frozen=True)
class Link:
    """A page in a given state: where the reader can see it."""

    page: str
    query: Mapping[str, str]


@dataclass(frozen=True)
class Item:
    """One question about one idea."""

    id: str
    kind: Kind
    question: Words
    options: tuple[Option, ...]  # for "order" in the right order
    answer: Value | None  # numeric
    lures: tuple[Value, ...]  # numeric: wrong numbers with a reason
    otherwise: Words | None  # numeric: any other number
    unit: str
    sources: tuple[str, ...]
    engine_version: str
    link: Link | None


@dataclass(frozen=True)
class Verdict:
    """Whether an answer is right, and the remarks on it, in the order they are shown."""

    right: bool
    remarks: tuple[Words, ...]
    missing: int = 0  # several: right options not ticked
    right_so_far: bool = False  # several: nothing wrong was ticked


# Reading


@cache
def load(name: str, folder: Path = FOLDER) -> tuple[Item, ...]:
    """The items of `assets/quiz/<name>.json`, checked."""
    file = folder / f"{name}.json"
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise QuizError(file.name, "-", where, f"not JSON: {error.msg}") from error
    raw_items = content.get("items") if isinstance(content, dict) else None
    if not isinstance(raw_items, list) or not raw_items:
        raise QuizError(file.name, "-", "items", "expected a list of items")
    items = tuple(_item(file.name, number, raw) for number, raw in enumerate(raw_items, start=1))
    seen: set[str] = set()
    for item in items:
        if item.id in seen:
            raise QuizError(file.name, item.id, "id", "used twice")
        seen.add(item.id)
    return items


class _Reader:
    """Takes fields out of one JSON object and says where one is wrong."""

    def __init__(self, file: str, item: str, raw: object, at: str = ""):
        self.file, self.item, self.at = file, item, at
        if not isinstance(raw, dict):
            raise self.error("", "expected an object")
        self.raw = raw

    def error(self, field: str, expected: str) -> QuizError:
        path = ".".join(part for part in (self.at, field) if part) or "-"
        return QuizError(self.file, self.item, path, expected)

    def text(self, field: str, default: str | None = None) -> str:
        value = self.raw.get(field, default)
        if not isinstance(value, str) or (default is None and not value.strip()):
            raise self.error(field, "expected a text")
        return value

    def words(self, field: str) -> Words:
        both = self.inner(field)
        return Words(zh=both.text("zh"), en=both.text("en"))

    def number(self, field: str) -> float:
        value = self.raw.get(field)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.error(field, "expected a number")
        return float(value)

    def truth(self, field: str) -> bool:
        value = self.raw.get(field)
        if not isinstance(value, bool):
            raise self.error(field, "expected true or false")
        return value

    def inner(self, field: str) -> "_Reader":
        path = ".".join(part for part in (self.at, field) if part)
        return _Reader(self.file, self.item, self.raw.get(field), path)

    def each(self, field: str) -> "list[_Reader]":
        values = self.raw.get(field, [])
        if not isinstance(values, list):
            raise self.error(field, "expected a list")
        path = ".".join(part for part in (self.at, field) if part)
        return [
            _Reader(self.file, self.item, value, f"{path}[{index}]")
            for index, value in enumerate(values)
        ]

    def texts(self, field: str) -> tuple[str, ...]:
        values = self.raw.get(field)
        if not isinstance(values, list) or not values:
            raise self.error(field, "expected a list of texts, at least one")
        if not all(isinstance(value, str) and value.strip() for value in values):
            raise self.error(field, "expected a list of texts")
        return tuple(values)


def _item(file: str, number: int, raw: object) -> Item:
    name = raw.get("id") if isinstance(raw, dict) else None
    reader = _Reader(file, str(name or f"number {number}"), raw)
    kind = reader.text("kind")
    if kind not in KINDS:
        raise reader.error("kind", f"expected one of {', '.join(KINDS)}")
    numeric = kind == "numeric"
    item = Item(
        id=reader.text("id"),
        kind=kind,  # type: ignore[arg-type]  # checked just above
        question=reader.words("question"),
        options=tuple(_option(part, kind) for part in reader.each("options")),
        answer=_value(reader.inner("answer")) if numeric else None,
        lures=tuple(_value(part) for part in reader.each("lures")),
        otherwise=reader.words("otherwise") if numeric else None,
        unit=reader.inner("answer").text("unit", "") if numeric else "",
        sources=reader.texts("source"),
        engine_version=reader.text("engine_version", ""),
        link=_link(reader.inner("link")) if "link" in reader.raw else None,
    )
    _check_options(reader, item)
    return item


def _option(reader: _Reader, kind: str) -> Option:
    row = reader.number("misconception") if "misconception" in reader.raw else None
    return Option(
        text=reader.words("text"),
        right=kind == "order" or reader.truth("right"),
        feedback=reader.words("feedback"),
        misconception=None if row is None else int(row),
    )


def _value(reader: _Reader) -> Value:
    tolerance = reader.number("tolerance")
    if tolerance < 0:
        raise reader.error("tolerance", "expected zero or more")
    return Value(reader.number("value"), tolerance, reader.words("feedback"))


def _link(reader: _Reader) -> Link:
    query = reader.inner("query")
    return Link(reader.text("page"), {key: query.text(key) for key in query.raw})


def _check_options(reader: _Reader, item: Item) -> None:
    num_right = sum(option.right for option in item.options)
    if item.kind == "numeric":
        if item.options:
            raise reader.error("options", "a numeric item has none")
    elif len(item.options) < MIN_OPTIONS:
        raise reader.error("options", f"expected {MIN_OPTIONS} or more")
    elif item.kind == "single" and num_right != 1:
        raise reader.error("options", f"expected one right option, found {num_right}")
    elif item.kind == "several" and num_right == 0:
        raise reader.error("options", "expected at least one right option")


# Judging


def judge(item: Item, answer: Answer) -> Verdict:
    """What to say to an answer.  Needs no page."""
    return _JUDGES[item.kind](item, answer)


def _judge_single(item: Item, answer: int) -> Verdict:
    option = item.options[answer]
    return Verdict(option.right, (option.feedback,))


def _judge_several(item: Item, answer: Sequence[int]) -> Verdict:
    missing = sum(option.right for option in item.options) - sum(
        item.options[index].right for index in answer
    )
    wrong = [index for index in answer if not item.options[index].right]
    remarks = tuple(item.options[index].feedback for index in wrong or sorted(answer))
    return Verdict(not wrong and missing == 0, remarks, missing, right_so_far=not wrong)


def _judge_numeric(item: Item, answer: float) -> Verdict:
    assert item.answer is not None
    assert item.otherwise is not None
    if item.answer.matches(answer):
        return Verdict(True, (item.answer.feedback,))
    remarks = [lure.feedback for lure in item.lures if lure.matches(answer)]
    return Verdict(False, (remarks[0] if remarks else item.otherwise,))


def _judge_order(item: Item, answer: Sequence[int]) -> Verdict:
    wrong = [index for place, index in enumerate(answer) if index != place]
    if wrong:
        return Verdict(False, (item.options[wrong[0]].feedback,))
    return Verdict(True, tuple(option.feedback for option in item.options))


_JUDGES: dict[str, Callable[[Item, Any], Verdict]] = {
    "single": _judge_single,
    "several": _judge_several,
    "numeric": _judge_numeric,
    "order": _judge_order,
}


def shuffled(item: Item, seed: int) -> list[int]:
    """The order in which this reader sees the options, on every run and in either language."""
    order = list(range(len(item.options)))
    random.Random(f"{item.id}:{seed}").shuffle(order)
    return order


def progress(name: str) -> tuple[int, int]:
    """How many items this reader has answered rightly so far, of how many."""
    items = load(name)
    answers = [(item, _kept_answer(name, item)) for item in items]
    done = sum(answer is not None and judge(item, answer).right for item, answer in answers)
    return done, len(items)


# Drawing


@st.fragment
def show(name: str, one_by_one: bool = False) -> None:
    """Draw the items of a chapter where called.  An answer reruns the self-check alone.

    `one_by_one` shows a single item with ways to the next and the one before: a lecture hall sees
    no more than one question at a time.
    """
    items = load(name)
    if one_by_one:
        at = min(_answers().get(_place(name), 0), len(items) - 1)
        _draw_numbered(name, items, at)
        with st.container(horizontal=True, gap="small"):
            _turn(name, tr("上一题", "Previous question"), at - 1, len(items))
            _turn(name, tr("下一题", "Next question"), at + 1, len(items))
    else:
        for at in range(len(items)):
            _draw_numbered(name, items, at)


def _draw_numbered(name: str, items: Sequence[Item], at: int) -> None:
    with st.container(key=f"quiz-item-{name}-{items[at].id}", gap="small"):
        _draw(name, items[at], f"{at + 1} / {len(items)}")


def _turn(name: str, label: str, to: int, num_items: int) -> None:
    st.button(
        label,
        key=f"quiz-turn-{name}-{label}",
        disabled=not 0 <= to < num_items,
        on_click=_answers().__setitem__,
        args=(_place(name), to),
    )


def _draw(name: str, item: Item, number: str) -> None:
    with st.container(horizontal=True, gap="medium", vertical_alignment="center"):
        st.markdown(f":small[{number}]")
        _ask_certainty(name, item)
    st.markdown(item.question.here())
    _ASKERS[item.kind](name, item)
    answer = _kept_answer(name, item)
    if answer is None:
        return
    verdict = judge(item, answer)
    tone = "right" if verdict.right else "wrong"
    with st.container(key=f"quiz-feedback-{tone}-{name}-{item.id}", gap="xsmall"):
        _say_verdict(verdict, sure=_is_sure(name, item))
        _say_sources(item)
        with st.container(horizontal=True, gap="medium", vertical_alignment="center"):
            _show_me(item)
            st.button(
                tr("再试一次", "Try again"),
                key=f"quiz-retry-{name}-{item.id}",
                type="tertiary",
                icon=":material/refresh:",
                on_click=_forget,
                args=(name, item),
            )


def _say_verdict(verdict: Verdict, sure: bool) -> None:
    if not verdict.right:
        st.markdown(_verdict_line(verdict, sure))
    for words in verdict.remarks:
        st.markdown(words.here())


def _verdict_line(verdict: Verdict, sure: bool) -> str:
    if verdict.missing and verdict.right_so_far:
        return tr(
            f"还不完整：有 {verdict.missing} 项没有选到。",
            f"Not complete yet: {verdict.missing} more to tick.",
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


def _ask_certainty(name: str, item: Item) -> None:
    key = f"quiz-sure-{name}-{item.id}"
    st.session_state[key] = _is_sure(name, item)
    st.checkbox(
        tr("我很有把握", "I am sure"), key=key, on_change=_keep_sure, args=(name, item, key)
    )


def _ask_single(name: str, item: Item) -> None:
    key = _widget(name, item, _kept_answer(name, item))
    st.radio(
        plain(item.question.here()),
        shuffled(item, _seed()),
        index=None,
        format_func=lambda index: item.options[index].text.here(),
        key=key,
        label_visibility="collapsed",
        on_change=_take,
        args=(name, item, key),
    )


def _ask_several(name: str, item: Item) -> None:
    ticked = _kept_draft(name, item)
    for index in shuffled(item, _seed()):
        key = f"{_widget_name(name, item)}-{index}"
        st.session_state[key] = index in ticked
        st.checkbox(
            item.options[index].text.here(),
            key=key,
            on_change=_tick,
            args=(name, item, index, key),
        )
    if _kept_answer(name, item) is None:
        st.button(
            tr("核对", "Check"),
            key=f"{_widget_name(name, item)}-check",
            disabled=not ticked,
            on_click=_take_ticks,
            args=(name, item),
        )


def _ask_numeric(name: str, item: Item) -> None:
    key = _widget(name, item, _kept_answer(name, item))
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        st.number_input(
            plain(item.question.here()),
            value=None,
            placeholder=tr("输入一个数，按回车", "A number, then Enter"),
            key=key,
            format="%g",
            label_visibility="collapsed",
            width=260,
            on_change=_take,
            args=(name, item, key),
        )
        if item.unit:
            st.markdown(item.unit)


def _ask_order(name: str, item: Item) -> None:
    key = _widget(name, item, _kept_draft(name, item))
    st.multiselect(
        plain(item.question.here()),
        shuffled(item, _seed()),
        format_func=lambda index: item.options[index].text.here(),
        placeholder=tr("按先后顺序逐个选择", "Pick them one by one, in order"),
        key=key,
        label_visibility="collapsed",
        on_change=_take_order,
        args=(name, item, key),
    )


_ASKERS: dict[str, Callable[[str, Item], None]] = {
    "single": _ask_single,
    "several": _ask_several,
    "numeric": _ask_numeric,
    "order": _ask_order,
}


# What this reader answered.  It is kept for the session, apart from pages, so that an item may
# stand on two of them.  The kept answer leads and the widgets follow: none is lost with a widget.


def _answers() -> dict[str, Answer]:
    return st.session_state.setdefault("_quiz_answers", {})


def _place(name: str) -> str:
    """Under what the question shown in the lecture view is kept."""
    return f"{name}/*"


def _kept_answer(name: str, item: Item) -> Answer:
    return _answers().get(f"{name}/{item.id}")


def _kept_draft(name: str, item: Item) -> list[int]:
    """Options ticked or ordered so far, before the answer is given."""
    return _answers().get(f"{name}/{item.id}/draft", [])


def _keep(name: str, item: Item, answer: Answer, draft: Sequence[int] = ()) -> None:
    _answers()[f"{name}/{item.id}"] = answer
    _answers()[f"{name}/{item.id}/draft"] = list(draft)


def _is_sure(name: str, item: Item) -> bool:
    return bool(_answers().get(f"{name}/{item.id}/sure", False))


def _keep_sure(name: str, item: Item, key: str) -> None:
    _answers()[f"{name}/{item.id}/sure"] = st.session_state[key]


def _widget_name(name: str, item: Item) -> str:
    return f"quiz-answer-{name}-{item.id}"


def _widget(name: str, item: Item, value: Answer) -> str:
    key = _widget_name(name, item)
    st.session_state[key] = value
    return key


def _take(name: str, item: Item, key: str) -> None:
    _keep(name, item, st.session_state[key])


def _take_order(name: str, item: Item, key: str) -> None:
    chosen = list(st.session_state[key])
    _keep(name, item, chosen if len(chosen) == len(item.options) else None, chosen)


def _tick(name: str, item: Item, index: int, key: str) -> None:
    others = set(_kept_draft(name, item)) - {index}
    _keep(name, item, None, sorted(others | ({index} if st.session_state[key] else set())))


def _take_ticks(name: str, item: Item) -> None:
    ticked = _kept_draft(name, item)
    _keep(name, item, ticked or None, ticked)


def _forget(name: str, item: Item) -> None:
    _keep(name, item, None)


def _seed() -> int:
    """Drawn once per reader."""
    return int(st.session_state.setdefault("_quiz_seed", random.randrange(1_000_000)))


def plain(text: str) -> str:
    """Markdown links as their words, for names that are read aloud."""
    return re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", text)
