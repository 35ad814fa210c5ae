"""Predict first: the reader commits to a guess before seeing the result.

The question stands beside the figure in its starting state.  Nothing is locked, one click skips,
and a link that carries state is never asked.  The answer is a number, one of a few curves, or up /
same / down per metric; afterwards it stands beside what the run gives, with the reason for the
gap.  There is no right and wrong mark and no score.

Where the act has a player, the figure plays to the answer first: until it is there, what speaks of
it is drawn, but behind a veil that only the browser knows (`veiled`).

In the lecture view the lecturer asks and reveals, which plays the figure, with a guess of the hall
or without; between the two the result stays away (`hides_result`).

Long because each of the three kinds of guesses is asked, kept, compared and worded.
"""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Literal

import streamlit as st

from ui import charts
from ui.course import state
from ui.practice.kept import progress
from ui.words.language import tr, worded
from ui.words.numbers import significant

State = Literal["open", "answered", "skipped", "not_asked"]
Veil = Literal["", "coming", "unknown"]  # the figure plays to it; was the question asked before?
Answers = Mapping[str, float | str]

VALUE = "value"  # the key of the answer to a question with a single answer
TRENDS = ("up", "same", "down")
NEARLY_EQUAL = 1e-9


@dataclass(frozen=True)
class Value:
    """Guess one number."""

    low: float
    high: float
    unit: str = ""
    digits: int = 0  # after the decimal point
    truth: float | None = None  # what the run gives


@dataclass(frozen=True)
class Choice:
    """Guess which curve, or which point."""

    options: Mapping[str, str]  # code -> words in the current language
    truth: str | None = None


@dataclass(frozen=True)
class Trends:
    """Guess for every metric: up, about the same, or down."""

    metrics: Mapping[str, str]  # code -> words in the current language
    truth: Mapping[str, str] = field(default_factory=dict)  # code -> "up", "same", "down"


Kind = Value | Choice | Trends


@dataclass(frozen=True)
class Prediction:
    """Where a question stands, and what was answered: {"value": 60.0} or {"ttft": "down", ...}."""

    state: State
    answers: Answers = field(default_factory=dict)
    hides_result: bool = False
    veil: Veil = ""

    def veiled(self, name: str) -> AbstractContextManager[object]:
        """Around what would give the result away before it is there."""
        return st.container(key=f"{self.veil}-{name}", gap="small") if self.veil else nullcontext()

    @property
    def is_away(self) -> bool:
        """Whether the result is still to come."""
        return self.state == "open" or bool(self.veil)

    @property
    def answered(self) -> bool:
        return self.state == "answered"

    @property
    def value(self) -> float | str | None:
        """The answer to a question with a single answer."""
        return self.answers.get(VALUE)


def ask(
    key: str,
    question: str,
    kind: Kind,
    outcome: str = "",
    lecture: bool = False,
    from_link: bool | None = None,
    plays: bool = False,
) -> Prediction:
    """Draw the question, or what became of it, where called; `plays`: a figure plays to the answer.

    `outcome` is the sentence that explains the gap; it may contain Markdown.  A reader who came by
    a link that carries state is not asked, and nothing is drawn; `from_link` overrides the URL.
    """
    kept = _kept(key)
    if kept["state"] == "answered" and not _fits(kind, kept["answers"]):
        kept |= {"state": "open", "answers": {}}  # it was another question
    by_link = state.came_by_link() if from_link is None else from_link
    if by_link and kept["state"] in ("open", "skipped") and not kept["asked"]:
        return Prediction("not_asked", veil="" if progress.is_known() else "unknown")
    progress.guesses().setdefault(_name(key), {})
    veil: Veil = "coming" if kept["coming"] and plays else ""
    with st.container(key=f"predict-{key}", gap="small"):
        if kept["state"] == "open":
            _draw_open(key, question, kind, kept, lecture)
        else:
            _draw_after(key, question, kind, kept, outcome, lecture, veil)
    hides = lecture and kept["state"] == "open"
    return Prediction(kept["state"], kept["answers"], hides, veil)


def trend(before: float, after: float, tolerance: float = 0.05) -> str:
    """ "up", "same" or "down"; a change within `tolerance` of the old value counts as the same."""
    change = after - before
    if abs(change) <= max(tolerance * abs(before), NEARLY_EQUAL):
        return "same"
    return "up" if change > 0 else "down"


def trend_words(code: str) -> str:
    """The word with its arrow, so that neither stands alone."""
    return {
        "up": tr("↑ 上升", "↑ up"),
        "same": tr("= 基本不变", "= about the same"),
        "down": tr("↓ 下降", "↓ down"),
    }[code]


# The question


def _draw_open(key: str, question: str, kind: Kind, kept: dict, lecture: bool) -> None:
    if lecture and not kept["asked"]:
        with st.container(horizontal=True, gap="small"):
            _button(key, "ask", tr("提问", "Ask"), _set_asked, "primary")
            _button(key, "skip", tr("直接看结果", "Show the result"), _skip)
        return
    st.markdown(f"{question}  \n" + ("" if lecture else _invitation()))
    answers = _draw_kind(key, question, kind)
    complete = len(answers) == _num_answers(kind)
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        st.button(
            tr("揭晓", "Reveal") if lecture else tr("画上我的预测", "Draw my guess"),
            key=f"predict-{key}-done",
            type="primary",
            disabled=not complete and not lecture,
            on_click=_finish,
            args=(key, kind),
        )
        if not lecture:
            _button(key, "skip", tr("跳过", "Skip"), _skip, "tertiary")


def _invitation() -> str:
    return tr(
        ":small[先猜一猜：不计分，也不影响你做别的。]",
        ":small[Take a guess first. It is not graded and locks nothing.]",
    )


def _button(
    key: str, name: str, label: str, action: Callable[[str], None], kind: str = "secondary"
) -> None:
    st.button(label, key=f"predict-{key}-{name}", type=kind, on_click=action, args=(key,))  # type: ignore[arg-type]


def _draw_kind(key: str, question: str, kind: Kind) -> dict[str, float | str]:
    """The input; the answers given so far."""
    match kind:
        case Value():
            return _draw_value(key, question, kind)
        case Choice():
            return _draw_choice(key, question, kind)
        case Trends():
            return _draw_trends(key, kind)


def _num_answers(kind: Kind) -> int:
    return len(kind.metrics) if isinstance(kind, Trends) else 1


def _draw_value(key: str, question: str, kind: Value) -> dict[str, float | str]:
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        number = st.number_input(
            question,
            min_value=float(kind.low),
            max_value=float(kind.high),
            value=None,
            placeholder=_range(kind),
            format=f"%.{kind.digits}f",
            key=_widget(key, VALUE),
            label_visibility="collapsed",
            width=200,
            on_change=_draft,
            args=(key, VALUE),
        )
        if kind.unit:
            st.markdown(kind.unit)
    return {} if number is None else {VALUE: number}


def _range(kind: Value) -> str:
    return f"{kind.low:.{kind.digits}f} – {kind.high:.{kind.digits}f}"


def _draw_choice(key: str, question: str, kind: Choice) -> dict[str, float | str]:
    code = st.radio(
        question,
        list(kind.options),
        index=None,
        format_func=lambda code: kind.options[code],
        key=_widget(key, VALUE),
        label_visibility="collapsed",
        on_change=_draft,
        args=(key, VALUE),
    )
    return {} if code is None else {VALUE: code}


def _draw_trends(key: str, kind: Trends) -> dict[str, float | str]:
    with st.container(horizontal=True, gap="medium", key=f"predict-trends-{key}"):
        codes = {metric: _draw_trend(key, metric, words) for metric, words in kind.metrics.items()}
    return {metric: code for metric, code in codes.items() if code is not None}


def _draw_trend(key: str, metric: str, words: str) -> str | None:
    return st.radio(
        words,
        list(TRENDS),
        index=None,
        horizontal=True,
        format_func=trend_words,
        key=_widget(key, metric),
        width="content",
        on_change=_draft,
        args=(key, metric),
    )


# The answer, beside what the run gives


def _draw_after(
    key: str, question: str, kind: Kind, kept: dict, outcome: str, large: bool, veil: Veil
) -> None:
    answered = kept["state"] == "answered"
    if answered:
        st.markdown(question)
    if veil:
        with st.container(key=f"watching-{key}", horizontal=True, vertical_alignment="center"):
            st.markdown(tr("看图：正在放到答案处。", "Watch the figure: it plays to the answer."))
            _button(key, "now", tr("直接看结果", "Just show me"), arrived, "tertiary")
    with Prediction("answered", veil=veil).veiled(f"answer-{key}"):
        if answered:
            _draw_comparison(key, kind, kept["answers"], large)
        if outcome:
            st.markdown(outcome)
    label = tr("重新预测", "Guess again") if answered else tr("还是先猜一猜", "Guess after all")
    _button(key, "again", label, _again, "tertiary")


def _draw_comparison(key: str, kind: Kind, answers: Answers, large: bool) -> None:
    guess = answers.get(VALUE)
    if not isinstance(kind, Value) or kind.truth is None or not isinstance(guess, int | float):
        st.markdown(comparison(kind, answers))
        return
    labels = (
        tr("你的预测 ", "your guess ") + _number(kind, guess),
        tr("算出来 ", "computed ") + _with_unit(_result(kind.truth), kind.unit),
    )
    figure = charts.number_line(kind.low, kind.high, guess, kind.truth, labels, large=large)
    alt = comparison(kind, answers).replace("  \n", tr("；", "; "))
    charts.show(figure, f"predict-{key}-line", alt)


def comparison(kind: Kind, answers: Answers) -> str:
    """Guess and result side by side, in Markdown."""
    match kind:
        case Value():
            truth = "" if kind.truth is None else _with_unit(_result(kind.truth), kind.unit)
            return _compare(_number(kind, answers.get(VALUE)), truth)
        case Choice():
            codes = (str(answers.get(VALUE, "")), kind.truth or "")
            return _compare(*(kind.options.get(code, "") for code in codes))
        case Trends():
            return _compare_trends(kind, answers)


def _number(kind: Value, number: float | str | None) -> str:
    if number is None:
        return ""
    return _with_unit(f"{float(number):,.{kind.digits}f}", kind.unit)


def _result(truth: float) -> str:
    """A count as it is, a measured value to three digits."""
    return f"{truth:,}" if isinstance(truth, int) else significant(truth)


def _with_unit(number: str, unit: str) -> str:
    return f"{number}{unit}" if unit in ("", "%") else f"{number} {unit}"


def _compare(guess: str, truth: str) -> str:
    said = tr(f"你的预测：{guess}", f"Your guess: {guess}")
    if not truth:
        return said
    return said + "  \n" + tr(f"算出来的：{truth}", f"Computed: {truth}")


def _compare_trends(kind: Trends, answers: Answers) -> str:
    head = tr("指标 | 你的预测 | 算出来的", "Metric | Your guess | Computed")
    rows = [f"| {head} |", "|---|---|---|"]
    for metric, words in kind.metrics.items():
        guess, truth = str(answers.get(metric, "")), kind.truth.get(metric, "")
        cells = [trend_words(code) if code in TRENDS else "–" for code in (guess, truth)]
        rows.append(f"| {words} | {cells[0]} | {cells[1]} |")
    return "\n".join(rows)


# What this reader did.  Kept for the session, so that a page change or a language loses nothing.


def standing(key: str) -> State:
    """Where a question stands, before it is drawn."""
    return _kept(key)["state"]


def is_coming(key: str) -> bool:
    """Whether the figure is on its way to the answer."""
    return bool(_kept(key)["coming"])


def arrived(key: str) -> None:
    """The figure has come to the answer, or the reader does not wait for it."""
    _keep(key, coming=False)


def _name(key: str) -> str:
    return f"{state.here()}.{key}"


def _kept(key: str) -> dict:
    blank = {"state": "open", "asked": False, "answers": {}, "drafts": {}, "coming": False}
    return {**blank, **progress.guesses().get(_name(key), {})}


def _keep(key: str, **changes: object) -> None:
    state.moved()
    progress.guesses()[_name(key)] = {**_kept(key), **changes}


def _fits(kind: Kind, answers: Answers) -> bool:
    """Whether these are answers to this question: the browser's store is anybody's to write."""
    match kind:
        case Value():
            guess = answers.get(VALUE)
            return isinstance(guess, int | float) and kind.low <= guess <= kind.high
        case Choice():
            return answers.get(VALUE) in kind.options
        case Trends():
            return set(answers) == set(kind.metrics) and set(answers.values()) <= set(TRENDS)


def _widget(key: str, part: str) -> str:
    """The widget's key; the draft is put back where a widget was dropped."""
    name = worded(f"predict-{key}-{part}")
    if name not in st.session_state:
        st.session_state[name] = _kept(key)["drafts"].get(part)
    return name


def _draft(key: str, part: str) -> None:
    drafts = {**_kept(key)["drafts"], part: st.session_state[_widget(key, part)]}
    _keep(key, drafts=drafts)


def _set_asked(key: str) -> None:
    _keep(key, asked=True)


def _finish(key: str, kind: Kind) -> None:
    """Take what stands in the widgets now: the last answer may have come with this very click."""
    parts = list(kind.metrics) if isinstance(kind, Trends) else [VALUE]
    given = {part: st.session_state.get(_widget(key, part)) for part in parts}
    answers = {part: answer for part, answer in given.items() if answer is not None}
    if len(answers) == len(parts):
        _keep(key, state="answered", answers=answers, coming=True)
    else:  # a lecturer reveals what nobody has guessed
        _keep(key, state="skipped", answers={}, coming=True)


def _skip(key: str) -> None:
    _keep(key, state="skipped", answers={}, coming=False)


def _again(key: str) -> None:
    _keep(key, state="open", asked=True, answers={}, coming=False)
