"""Every act of every page runs, in both languages, wherever its controls stand."""

from collections.abc import Iterator
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from tests.chapters import EVERY_ACT, LANGUAGES, act_name

both_languages = pytest.mark.parametrize("language", LANGUAGES)
every_act = pytest.mark.parametrize(("chapter", "act"), EVERY_ACT, ids=act_name)

CHOICES = ("selectbox", "radio", "button_group", "select_slider")
SWITCHES = ("toggle", "checkbox")
SCALES = ("slider", "number_input")


def errors(app: AppTest) -> list[str]:
    return [f"{box.message}\n{''.join(box.stack_trace)}" for box in app.exception]


def controls(app: AppTest, kind: str) -> list[Any]:
    """The page's own: the sidebar belongs to the frame."""
    return list(app.main.get(kind))


def positions(app: AppTest) -> Iterator[tuple[str, int, object]]:
    """(kind, which one, value): every other place a control of the page itself can stand at."""
    for kind in SCALES:
        for index, control in enumerate(controls(app, kind)):
            is_range = isinstance(control.value, (list, tuple))
            for end in (control.min, control.max):
                if end is not None:
                    yield kind, index, (end, end) if is_range else end
    for kind in SWITCHES:
        for index, control in enumerate(controls(app, kind)):
            yield kind, index, not control.value
    for kind in CHOICES:
        for index, control in enumerate(controls(app, kind)):
            for option in control.options:
                yield kind, index, option


def move(app: AppTest, kind: str, index: int, value: object) -> None:
    present = controls(app, kind)
    if index < len(present):  # the last move may have put it away
        present[index].set_value(value).run()


@both_languages
@every_act
def test_runs_in_both_languages(open_page, chapter, act, language):
    app = open_page(chapter.file, lang=language, part=act)
    assert errors(app) == []
    assert len(app.main) > 0


@every_act
def test_runs_wherever_its_controls_stand(open_page, chapter, act):
    app = open_page(chapter.file, lang="en", part=act)
    for kind, index, value in list(positions(app)):
        move(app, kind, index, value)
        assert errors(app) == [], f"{kind} {index} at {value!r}"


@every_act
def test_an_address_full_of_nonsense_does_no_harm(open_page, chapter, act):
    app = open_page(chapter.file, lang="en", part=act)
    keys = [
        control.key.rpartition(":")[2]  # the widget of `slots` is called 05_batching:slots
        for kind in SCALES + CHOICES + SWITCHES
        for control in controls(app, kind)
        if control.key
    ]
    for nonsense in ("-1", "1e999", "nan", "", "x" * 500, "<b>&"):
        query = dict.fromkeys(keys, nonsense) | {"lang": nonsense, "part": nonsense}
        assert errors(open_page(chapter.file, **query)) == []
