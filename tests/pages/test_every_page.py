"""Every act of every page runs, in both languages, wherever its controls stand."""

from typing import Any

import pytest
from streamlit.runtime.state.common import TESTING_KEY
from streamlit.testing.v1 import AppTest

from tests.chapters import EVERY_ACT, LANGUAGES, act_name

both_languages = pytest.mark.parametrize("language", LANGUAGES)
every_act = pytest.mark.parametrize(("chapter", "act"), EVERY_ACT, ids=act_name)
# The self-checks are made of one widget, which `tests/ui/test_quiz.py` moves.
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
    """The page's own: the sidebar belongs to the frame, questions to `tests/ui/test_quiz.py`."""
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
    return options if len(options) <= FEW else [options[0], options[len(options) // 2], options[-1]]


def move(app: AppTest, control: Any, value: object) -> None:
    if control.type not in SCALES + SWITCHES and value in control.options:
        # An option as the reader sees it: already formatted.
        control.root.session_state[TESTING_KEY][control.id] = str
    control.set_value(value).run()
    assert errors(app) == [], f"{control.label} at {value!r}"


def sweep(app: AppTest, done: set[str]) -> None:
    """Move every control through its places and back, and those that appear on the way as well."""
    for control in controls(app):
        if control.id in done:
            continue
        done.add(control.id)
        start = control.value
        for value in places(control):
            move(app, now(app, control), value)
            sweep(app, done)
        move(app, now(app, control), start)


def now(app: AppTest, control: Any) -> Any:
    """The same control after a rerun."""
    return next((other for other in controls(app) if other.id == control.id), control)


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


@every_act
@pytest.mark.usefixtures("short_runs")
def test_an_address_full_of_nonsense_does_no_harm(open_page, chapter, act):
    app = open_page(chapter.file, lang="en", part=act)
    keys = [
        control.key.rpartition(":")[2]  # the widget of `slots` is called 05_batching:slots
        for control in controls(app)
        if control.key
    ]
    for nonsense in ("-1", "1e999", "nan", "", "x" * 500, "<b>&"):
        query = dict.fromkeys(keys, nonsense) | {"lang": nonsense, "part": act}
        app.query_params = {key: value for key, value in query.items() if value}
        assert errors(app.run()) == []
    query = dict.fromkeys(keys, "nonsense") | {"lang": "nonsense", "part": "nonsense"}
    assert errors(open_page(chapter.file, **query)) == []


def test_the_real_engines_stand_below_a_chapter_opened_on_demand(open_page):
    app = open_page("pages/05_batching.py", lang="en", part="compare")
    (engines,) = [box for box in app.expander if box.label == "In the real engines"]
    assert "--max-num-seqs" in engines.markdown[0].value
