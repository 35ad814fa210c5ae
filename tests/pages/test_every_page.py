"""Every act of every page runs, in both languages, wherever its controls stand."""

from typing import Any

import pytest
from streamlit.runtime.state.common import TESTING_KEY
from streamlit.testing.v1 import AppTest

from tests.chapters import EVERY_ACT, LANGUAGES, act_name

both_languages = pytest.mark.parametrize("language", LANGUAGES)
every_act = pytest.mark.parametrize(("chapter", "act"), EVERY_ACT, ids=act_name)
# The self-checks are made of one widget, which `tests/ui/practice/test_quiz.py` moves.
every_act_of_its_own = pytest.mark.parametrize(
    ("chapter", "act"), [pair for pair in EVERY_ACT if pair[1] != "check"], ids=act_name
)

CHOICES = ("selectbox", "radio", "button_group", "select_slider")
SWITCHES = ("toggle", "checkbox")
SCALES = ("slider", "number_input")
FEW = 5  # options of which each is tried; of more, the first, the last and one between
KINDS = SCALES + SWITCHES + CHOICES


def errors(app: AppTest) -> list[str]:
    return [f"{box.message}\n{''.join(box.stack_trace)}" for box in app.exception]


def controls(app: AppTest) -> list[Any]:
    """The page's own: the sidebar belongs to the frame, questions to `ui/practice/test_quiz`."""
    every = [control for kind in KINDS for control in app.main.get(kind)]
    return [control for control in every if not (control.key or "").startswith("quiz-")]


def places(control: Any) -> list[object]:
    """Where else a control can stand: at either end, the other way, at another option."""
    if control.type in SCALES:
        is_range = isinstance(control.value, (list, tuple))
        ends = [end for end in (control.min, control.max) if end is not None]
        return [(end, end) for end in ends] if is_range else ends or [1.0]
    if control.type in SWITCHES:
        return [not control.value]
    options = list(control.options)
    few = options if len(options) <= FEW else [options[0], options[len(options) // 2], options[-1]]
    here = None if control.value is None else control.format_func(control.value)
    return [option for option in few if option != here]


def put(control: Any, value: object) -> None:
    """Move a control; the page runs later."""
    if control.type not in SCALES + SWITCHES and value in control.options:
        # An option as the reader sees it: already formatted.
        control.root.session_state[TESTING_KEY][control.id] = str
    control.set_value(value)


def sweep(app: AppTest, done: set[str]) -> None:
    """Move every control through its places and back, and those that appear on the way as well.

    The way back is one run with the next move.
    """
    for control, start in [(control, control.value) for control in controls(app)]:
        if name(control) in done:
            continue
        done.add(name(control))
        if now(app, control) is None:  # it is there where the last one stood
            run(app, f"back to where {control.label} is")
        for value in places(control):
            put(now(app, control) or control, value)
            run(app, f"{control.label} at {value!r}")
            sweep(app, done)
        put(now(app, control) or control, start)


def run(app: AppTest, where: str) -> None:
    assert errors(app.run()) == [], where


def name(control: Any) -> str:
    """What stays of a control when its page makes it anew: 14_clinic.1:step1 is still step1."""
    return (control.key or control.id).rpartition(":")[2]


def now(app: AppTest, control: Any) -> Any:
    """The same control after a rerun, if it is still there."""
    return next((other for other in controls(app) if name(other) == name(control)), None)


@both_languages
@every_act
def test_runs_in_both_languages(open_page, chapter, act, language):
    app = open_page(chapter.file, lang=language, part=act)
    assert errors(app) == []
    assert len(app.main) > 0


@every_act_of_its_own
@pytest.mark.usefixtures("short_runs")
def test_runs_wherever_its_controls_stand(open_page, chapter, act):
    # In Chinese: AppTest formats options outside the session, where the language is the default.
    app = open_page(chapter.file, lang="zh", part=act)
    sweep(app, set())
    run(app, "all back")


@every_act
@pytest.mark.usefixtures("short_runs")
def test_an_address_full_of_nonsense_does_no_harm(open_page, chapter, act):
    app = open_page(chapter.file, lang="en", part=act)
    keys = [
        control.key.rpartition(":")[2]  # the widget of `slots` is called 05_batching:slots
        for control in controls(app)
        if control.key
    ]
    for nonsense in ("-1", "1e999", "nan", "<b>&" * 100):
        app.query_params = dict.fromkeys(keys, nonsense) | {"lang": nonsense}
        if act:
            app.query_params["part"] = act
        run(app, nonsense)
    query = dict.fromkeys(keys, "nonsense") | {"lang": "nonsense", "part": "nonsense"}
    assert errors(open_page(chapter.file, **query)) == []


def test_the_real_engines_stand_below_a_chapter_opened_on_demand(open_page):
    app = open_page("pages/05_batching.py", lang="en", part="compare")
    (engines,) = [box for box in app.expander if box.label == "In the real engines"]
    assert "--max-num-seqs" in engines.markdown[0].value
