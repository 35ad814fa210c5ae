"""Around every page: it opens at the top, Back is never dead, the list shows where one is."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser import helpers
from tests.browser.helpers import expect_address
from tests.browser.verbs import act_link, chapter_link, choose_language
from tests.chapters import CHAPTERS

MAIN = "[data-testid=stMain]"
PHONE = (390, 844)
TO_THE_END = f"document.querySelector('{MAIN}').scrollTo(0, 1e6)"
SCROLLED = f"document.querySelector('{MAIN}').scrollTop"
ICON = re.compile(r"\b[a-z]+(_[a-z]+)+\b")  # keyboard_arrow_right, present_to_all
IN_VIEW = """link => {
  const box = link.getBoundingClientRect(), list = link.closest('[data-testid=stSidebarContent]');
  const foot = document.querySelector('.st-key-lecture-link').getBoundingClientRect();
  const isFoot = link.closest('.st-key-lecture-link');
  const bottom = isFoot ? list.getBoundingClientRect().bottom : foot.top;
  return box.top >= list.getBoundingClientRect().top && box.bottom <= bottom + 1;
}"""


# -- the top ---------------------------------------------------------------------------------------


def scroll_down(page: Page) -> None:
    page.evaluate(TO_THE_END)
    assert page.evaluate(SCROLLED) > 0


def expect_top(page: Page) -> None:
    helpers.settle(page)
    assert page.evaluate(SCROLLED) == 0


def test_every_way_onward_leads_to_the_top(new_page):
    page = new_page("en", warm=True)
    helpers.visit(page, "/systems", part="pressure")
    scroll_down(page)
    page.locator(".st-key-onward a").last.click()
    expect_address(page, "/systems", part="format")
    expect_top(page)

    scroll_down(page)
    page.locator(".st-key-onward a").first.click()
    expect_address(page, "/systems", part="why")  # the main line, not the deeper act it came from
    expect_top(page)

    chapter_link(page, "batching").click()
    expect_address(page, "/batching")
    act_link(page, "check").click()
    expect_address(page, "/batching", part="check")
    helpers.settle(page)
    scroll_down(page)
    page.locator("[class*=st-key-quiz-item] [role=radiogroup] label").first.click()
    page.get_by_role("link", name="Show me").first.click()
    expect(page.locator(".st-key-figure")).to_be_visible()
    expect_top(page)


def test_a_moved_control_leaves_the_page_where_it_is(new_page):
    page = new_page("zh", "light", viewport=(1280, 480), warm=True)
    helpers.visit(page, "/batching", part="sandbox")
    page.evaluate(f"document.querySelector('{MAIN}').scrollTo(0, 60)")
    helpers.nudge(page, "槽位数")
    expect_address(page, "/batching", part="sandbox", slots=5)
    helpers.settle(page)
    assert page.evaluate(SCROLLED) > 0


# -- Back ------------------------------------------------------------------------------------------


def test_back_after_another_language_leads_to_the_page_before(new_page):
    page = new_page("zh", warm=True)
    helpers.visit(page, "/")
    page.locator('.st-key-map a[href^="kv_cache"]').click()
    expect_address(page, "/kv_cache")
    helpers.settle(page)
    choose_language(page, "English")
    expect_address(page, "/kv_cache", lang="en")
    helpers.settle(page)
    page.go_back()
    expect_address(page, "/", lang="en")
    expect(page.locator("html")).to_have_attribute("lang", "en")
    helpers.settle(page)
    page.go_forward()
    expect_address(page, "/kv_cache", lang="en")
    expect(page.get_by_role("heading", name="The KV cache")).to_be_visible()


# -- the chapter list --------------------------------------------------------------------------


@pytest.mark.parametrize("language", ["zh", "en"])
def test_the_whole_list_and_the_lecture_link_are_in_view_at_900_px(new_page, language):
    page = new_page(language, viewport=(1440, 900), warm=True)
    helpers.visit(page, "/summary")
    for place in (".st-key-chapter-list a", ".st-key-lecture-link a"):
        links = page.locator(place)
        for at in range(links.count()):
            assert links.nth(at).evaluate(IN_VIEW)


@pytest.mark.parametrize("chapter", [CHAPTERS[0], CHAPTERS[-1]], ids=str)
def test_the_list_shows_the_current_chapter_however_low_the_window(new_page, chapter):
    page = new_page("en", viewport=(1280, 560), warm=True)
    helpers.visit(page, chapter.path)
    here = page.locator('.st-key-chapter-list a[aria-current="page"]')
    expect(here).to_have_count(1)
    assert here.get_attribute("href").startswith(chapter.path.strip("/"))
    assert here.evaluate(IN_VIEW)
    assert page.locator(".st-key-lecture-link a").evaluate(IN_VIEW)


# -- names, and a phone ------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/batching", "/simulator?part=explore", "/quiz?part=progress"])
def test_no_name_contains_the_name_of_an_icon(new_page, path):
    page = new_page("zh", warm=True)
    helpers.visit(page, path)
    said = page.locator("body").aria_snapshot().splitlines()
    names = [line for line in said if "/url:" not in line]
    assert [line for line in names if ICON.search(line)] == []


def test_on_a_phone_the_handle_of_the_list_stands_on_a_bar_and_covers_nothing(new_page):
    page = new_page("zh", viewport=PHONE, warm=True)
    helpers.visit(page, "/batching")
    header = page.locator("[data-testid=stHeader]")
    bottom = header.bounding_box()["height"]
    assert page.get_by_role("heading", level=1).bounding_box()["y"] >= bottom
    page.evaluate(f"document.querySelector('{MAIN}').scrollTo(0, 300)")
    assert header.evaluate("bar => getComputedStyle(bar).backgroundColor") == "rgb(255, 255, 255)"
    handle = page.locator("[data-testid=stExpandSidebarButton]").bounding_box()
    assert handle["y"] + handle["height"] <= bottom + 1
