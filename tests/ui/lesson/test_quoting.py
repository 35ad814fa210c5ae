"""Quoting: a page is read, not drawn, and its numbers are those that it says itself."""

from inspect import signature

import pytest
from streamlit.testing.v1 import AppTest

from tests.chapters import ROOT
from ui.course import chapters, prose
from ui.lesson import Lesson, quoting
from ui.words import language

PAGE = """
from ui import lesson
from ui.lesson import tr

chapter = lesson.open(__file__)


@chapter.act("count", tr("数", "Count"))
def count():
    steps = chapter.slide("steps", "Steps", 1, 9, start=4)
    chapter.say("said", steps=steps, twice=2 * steps)


chapter.show()
"""


@pytest.fixture
def page(tmp_path, monkeypatch):
    """A chapter of its own, in an otherwise empty course."""
    monkeypatch.setattr(language, "current", lambda: "en")
    script = tmp_path / "pages" / "01_count.py"
    script.parent.mkdir()
    script.write_text(PAGE, encoding="utf-8")
    script.with_suffix(".en.md").write_text("# Count\n\n## {#said}\n{{steps}} {{twice}}\n")
    monkeypatch.setattr(chapters, "ROOT", tmp_path)
    return script


def test_a_number_is_quoted_from_where_the_controls_start(page):
    places = {"ours": "count/said/twice", "steps": "count/said/steps"}
    assert quoting.quote("01_count", places) == {"ours": 8, "steps": 4}


def test_a_chapter_that_opens_with_another_setting_is_quoted_with_it(page):
    assert quoting.quote("01_count", {"steps": "count/said/steps"}) == {"steps": 4}
    page.write_text(PAGE.replace("start=4", "start=7"), encoding="utf-8")
    assert quoting.quote("01_count", {"steps": "count/said/steps"}) == {"steps": 7}


@pytest.mark.parametrize("place", ["nowhere/said/twice", "count/nowhere/twice", "count/said/no"])
def test_a_place_that_does_not_exist_is_an_error(page, place):
    with pytest.raises(KeyError):
        quoting.quote("01_count", {"ours": place})


def test_what_is_read_needs_no_reader_and_leaves_nobody_standing_in(page):
    lesson = quoting.Unseen(prose.read(page, "en"))
    quoting.read(page, lesson)
    assert list(lesson.acts) == ["count"]
    assert quoting.standing_in() is None


def test_a_page_that_fails_leaves_nobody_standing_in(page):
    page.write_text("from ui import lesson\nlesson.open(__file__)\n1 / 0\n", encoding="utf-8")
    with pytest.raises(ZeroDivisionError):
        quoting.read(page, quoting.Unseen(prose.read(page, "en")))
    assert quoting.standing_in() is None


def test_the_sheets_draw_nothing_of_the_chapters_that_they_quote():
    quoting._said.cache_clear()  # else nothing is played at all
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60).run()
    app.switch_page("pages/16_summary.py").run()
    assert quoting._said.cache_info().misses > 10
    assert not app.exception
    assert [*app.main.slider, *app.main.metric, *app.main.selectbox] == []


def test_an_unseen_lesson_can_be_asked_for_all_that_a_lesson_can():
    for name in dir(Lesson):
        if not name.startswith("_"):
            verb, ours = getattr(Lesson, name), getattr(quoting.Unseen, name)
            assert list(signature(verb).parameters) == list(signature(ours).parameters), name


def test_a_page_that_opens_in_a_state_that_cannot_be_simulated_is_an_error_of_ours(page):
    wrong = PAGE.replace(
        "    chapter.say(", '    require(False, "rate_not_positive")\n    chapter.say('
    )
    page.write_text("from sim.errors import require\n" + wrong, encoding="utf-8")
    with pytest.raises(RuntimeError, match="01_count"):
        quoting.quote("01_count", {"steps": "count/said/steps"})
