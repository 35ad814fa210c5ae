"""Home and every act of every chapter in a real browser: clean, open to all, fit to lecture."""

import pytest
from playwright.sync_api import expect

from tests.browser import helpers, verbs
from tests.chapters import CHAPTERS, EVERY_ACT, act_name

every_act = pytest.mark.parametrize(("chapter", "act"), EVERY_ACT, ids=act_name)

PHONE = (390, 844)
PROJECTOR = (1280, 720)
PROJECTOR_AT_150_PERCENT = (853, 480)
LECTURE_TEXT_PX = 18


@every_act
def test_is_clean_and_open_to_everybody_in_both_languages_and_fits_phone_and_lecture(
    new_page, chapter, act
):
    """One load, since that costs most; the rest changes under the reader, from link to lecture."""
    page = new_page("zh", "light", viewport=PHONE, warm=True)
    helpers.visit(page, chapter.path, part=act)
    assert language_of(page) == "zh"
    assert helpers.faults(page) == []

    helpers.resize(page, *PROJECTOR)
    assert helpers.faults(page) == []
    assert helpers.barriers(page) == []

    verbs.choose_language(page, "English")  # its words are the longer ones
    page.mouse.move(0, 0)
    expect(page.locator("html")).to_have_attribute("lang", "en")
    helpers.settle(page)
    assert helpers.faults(page) == []
    light = helpers.background(page)
    helpers.switch_theme(page, "dark")
    assert helpers.background(page) != light
    assert helpers.faint(page) == []
    helpers.resize(page, *PHONE)
    assert helpers.faults(page) == []

    if chapter in CHAPTERS:
        helpers.resize(page, *PROJECTOR)
        check_lecture(page)


def check_lecture(page) -> None:
    page.get_by_role("link", name="Lecture view").click()
    expect(page.get_by_role("button", name="Leave the lecture view")).to_be_visible()
    helpers.settle(page)
    assert helpers.faults(page) == []
    assert helpers.overflow(page) <= 1
    size = helpers.smallest_figure_text(page)
    assert size is None or size >= LECTURE_TEXT_PX
    helpers.resize(page, *PROJECTOR_AT_150_PERCENT)
    assert helpers.overflow(page) <= 1


def language_of(page) -> str:
    """What screen readers are told: zh for zh-CN."""
    return page.locator("html").get_attribute("lang").split("-")[0]
