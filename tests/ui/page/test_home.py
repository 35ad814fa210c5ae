"""Home: a card and a picture of its own for every chapter, true minutes, the way back."""

import json
import runpy
from xml.etree import ElementTree

import pytest

from tests.chapters import HOME
from tests.ui.visits import BATCHING, data_of, go, links, opened, text_of
from ui.course import chapters, outline
from ui.page import home, miniatures
from ui.practice import bank
from ui.results import runs

EVERY_CHAPTER = chapters.in_order()
every_chapter = pytest.mark.parametrize("chapter", EVERY_CHAPTER, ids=lambda one: one.stem)


def name(chapter):
    return chapter.stem.split("_", 1)[1]


@pytest.fixture(scope="module")
def run():
    """What the figure of home shows."""
    setups, tick_seconds = app_setups()
    return tuple(runs.grid(setup, tick_seconds) for setup in setups.values())


def app_setups():
    caught = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(home, "show", lambda script, setups, tick: caught.append((setups, tick)))
        runpy.run_path(str(HOME.script))
    return caught[0]


# -- the first screen --------------------------------------------------------------------------


@pytest.mark.parametrize("language", ["zh", "en"])
def test_the_figure_says_in_words_what_it_shows(language):
    data = data_of(opened(lang=language), "race")
    for lane in data["lanes"]:
        assert str(lane["ticks"]) in data["alt"]
    assert str(len(data["letters"])) in data["alt"]


def test_the_one_button_leads_to_the_first_chapter():
    assert links(opened().main)[0][0] == name(EVERY_CHAPTER[0])


def test_the_steps_that_continuous_batching_saves_are_those_of_the_figure():
    app = opened(lang="en")
    static, continuous = (lane["ticks"] for lane in data_of(app, "race")["lanes"])
    assert f"all done {static - continuous} steps earlier" in text_of(app)


# -- the cards -----------------------------------------------------------------------------------


def test_there_is_a_card_for_every_chapter_in_order():
    shown = [page for page, label, _ in links(opened(lang="en").main)]
    cards = shown[1 + len(home.QUESTIONS) : -1]
    assert cards == [name(chapter) for chapter in EVERY_CHAPTER]


@every_chapter
def test_a_chapter_has_a_picture_of_its_own_that_stays_within_its_frame(chapter, run):
    assert name(chapter) in miniatures.PICTURES
    picture = ElementTree.fromstring(miniatures.of(chapter, run))
    boxes = [box for box in picture.iter("{http://www.w3.org/2000/svg}rect") if "x" in box.attrib]
    for box in boxes:
        x, y, width, height = (float(box.attrib[side]) for side in ("x", "y", "width", "height"))
        assert min(x, y) >= 0
        assert x + width <= miniatures.WIDTH
        assert y + height <= miniatures.HEIGHT


def test_no_two_pictures_are_the_same_and_none_comes_from_elsewhere(run):
    pictures = [miniatures.of(chapter, run) for chapter in EVERY_CHAPTER]
    assert len(set(pictures)) == len(pictures)
    for picture in pictures:
        assert "href" not in picture
        assert picture.count("http") == 1  # the name of SVG itself


def test_a_chapter_without_a_picture_shows_its_number(run):
    assert ">17</text>" in miniatures.of(chapters.Chapter("17_waiting"), run)


@every_chapter
def test_minutes_are_those_of_its_main_acts_and_its_questions(chapter):
    number = f"{chapter.number:02}"
    if number not in bank.names():
        assert home.minutes(chapter) is None
        return
    acts, items = len(outline.main_line(chapter)), len(bank.load(number))
    needed = home.minutes(chapter)
    assert needed is not None
    assert abs(needed - (acts * home.MINUTES_AN_ACT + items * home.MINUTES_A_QUESTION)) <= 0.5
    assert 10 <= needed <= 40


# -- what the reader has done ---------------------------------------------------------------------


def continued(app):
    return [(page, query) for page, label, query in links(app.main) if label.startswith("Continue")]


def test_a_first_visit_has_nothing_to_continue():
    assert continued(opened(lang="en")) == []


def test_home_leads_back_to_the_act_that_was_opened_last():
    app = opened(BATCHING, part="compare", width=5, lang="en")
    app.switch_page("app.py")
    go(app)
    ((page, query),) = continued(app)
    assert page == "batching"
    assert set(query.split("&")) == {"part=compare", "width=5", "lang=en"}


def test_a_card_says_how_many_acts_were_seen():
    app = opened(BATCHING, part="compare", lang="en")
    app.switch_page("app.py")
    go(app)
    said = [caption.value for caption in app.main.caption if "acts seen" in caption.value]
    main_line = outline.main_line(chapters.Chapter("05_batching"))
    assert said == [
        f"about {home.minutes(chapters.Chapter('05_batching'))} min · "
        f"1 / {len(main_line)} acts seen"
    ]


def test_what_the_browser_is_told_to_keep_is_json():
    app = opened(BATCHING, part="compare")
    assert json.dumps(data_of(app, "frame")["visited"]) == '["batching/compare"]'
