"""Home and every act of every chapter in a real browser: clean, open to all, fit to lecture."""

import pytest
from playwright.sync_api import expect

from tests.browser import helpers
from tests.chapters import CHAPTERS, EVERY_ACT, act_name

every_act = pytest.mark.parametrize(("chapter", "act"), EVERY_ACT, ids=act_name)
every_chapter_act = pytest.mark.parametrize(
    ("chapter", "act"), [pair for pair in EVERY_ACT if pair[0] in CHAPTERS], ids=act_name
)

PHONE = (390, 844)
PROJECTOR = (1280, 720)
PROJECTOR_AT_150_PERCENT = (853, 480)
LECTURE_TEXT_PX = 18


@every_act
def test_is_clean_and_open_to_everybody_by_day_and_night_on_desk_and_phone(new_page, chapter, act):
    page = new_page("zh", "light", warm=True)
    helpers.visit(page, chapter.path, part=act)
    assert language_of(page) == "zh"
    assert helpers.faults(page) == []
    assert helpers.barriers(page) == []
    light = helpers.background(page)
    helpers.switch_theme(page, "dark")
    assert helpers.background(page) != light
    assert helpers.barriers(page) == []
    helpers.resize(page, *PHONE)
    assert helpers.faults(page) == []


def test_home_in_english_is_as_clean(new_page):
    check_english(new_page("zh", warm=True), "/", "")


@every_chapter_act
def test_a_link_in_english_is_as_clean_and_its_lecture_view_fits_one_screen(new_page, chapter, act):
    page = new_page("zh", warm=True)
    check_english(page, chapter.path, act)
    page.get_by_role("link", name="Lecture view").click()
    expect(page.get_by_role("button", name="Leave the lecture view")).to_be_visible()
    helpers.settle(page)
    assert helpers.faults(page) == []
    assert helpers.overflow(page) <= 1
    size = helpers.smallest_figure_text(page)
    assert size is None or size >= LECTURE_TEXT_PX
    helpers.resize(page, *PROJECTOR_AT_150_PERCENT)
    assert helpers.overflow(page) <= 1


def check_english(page, path: str, act: str) -> None:
    """By a link, on a phone and a desk.  Its words are the longer ones."""
    page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
    helpers.visit(page, path, part=act, lang="en")
    assert language_of(page) == "en"
    assert helpers.faults(page) == []
    helpers.resize(page, *PROJECTOR)
    assert helpers.faults(page) == []


def language_of(page) -> str:
    """What screen readers are told: zh for zh-CN."""
    return page.locator("html").get_attribute("lang").split("-")[0]
