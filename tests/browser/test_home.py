"""The home page in a browser: a figure that lives, holds still when asked, and a way back."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser import helpers
from tests.browser.helpers import expect_address
from tests.browser.verbs import choose_language

RACE = ".race"
SCREENS = [(1280, 720), (1440, 900), (1920, 1080)]
CURRENT_TICK = "race => Number(race.dataset.tick)"
GROWS = "([race, from]) => Number(race.dataset.tick) > from"


def tick(page: Page) -> int:
    return page.locator(RACE).evaluate(CURRENT_TICK)


def expect_to_move(page: Page) -> None:
    handle = page.locator(RACE).element_handle()
    page.wait_for_function(GROWS, arg=[handle, tick(page)], timeout=helpers.WAIT_MS)


def expect_to_stand(page: Page) -> None:
    expect(page.locator(RACE)).to_have_attribute("data-running", "false")
    before = tick(page)
    helpers.settle(page)
    assert tick(page) == before


def test_the_figure_moves_by_itself_and_a_click_or_space_holds_it(new_page):
    page = new_page("zh", warm=True)
    helpers.visit(page, "/")
    expect_to_move(page)
    page.locator(f"{RACE} canvas").first.click()
    expect_to_stand(page)
    page.locator(f"{RACE} button").focus()
    page.keyboard.press("Space")
    expect_to_move(page)
    page.keyboard.press("Space")
    expect_to_stand(page)


def test_who_wants_little_motion_sees_the_finished_run_and_may_still_play_it(new_page):
    page = new_page("en", reduced_motion="reduce")
    helpers.visit(page, "/")
    expect_to_stand(page)
    assert tick(page) > 0
    page.get_by_role("button", name="Play").click()
    expect_to_move(page)


@pytest.mark.parametrize("language", ["zh", "en"])
@pytest.mark.parametrize("screen", SCREENS, ids=str)
def test_the_first_screen_has_the_figure_and_the_button_whole(new_page, language, screen):
    page = new_page(language, viewport=screen, warm=True)
    helpers.visit(page, "/")
    for place in (f"{RACE} canvas >> nth=0", ".st-key-begin a"):
        box = page.locator(place).bounding_box()
        assert box["y"] >= 0
        assert box["y"] + box["height"] <= screen[1]
    assert page.locator(f"{RACE} canvas").first.get_attribute("aria-label")


def test_home_is_light(new_page):
    """The chart library is the heaviest part of a page, and home has no chart."""
    page = new_page("zh")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    helpers.visit(page, "/")
    assert asked
    assert [url for url in asked if "plotly" in url.lower()] == []


def test_another_session_continues_at_the_act_that_was_opened_last(new_page):
    page = new_page("zh", warm=True)
    helpers.visit(page, "/batching", part="compare")
    helpers.visit(page, "/")  # a new session: the server has forgotten everything
    onward = page.locator(".st-key-continue a")
    expect(onward).to_contain_text("连续批")
    choose_language(page, "English")
    expect(onward).to_contain_text("Continuous")
    expect(page.locator(".st-key-map").get_by_text("1 / 4 acts seen")).to_have_count(1)
    onward.click()
    expect_address(page, "/batching", part="compare", lang="en")


def test_a_card_is_one_large_link(new_page):
    page = new_page("en", warm=True)
    helpers.visit(page, "/")
    card = page.locator(".st-key-card-07")
    card.scroll_into_view_if_needed()
    box = card.bounding_box()
    page.mouse.click(box["x"] + 20, box["y"] + 20)  # on its picture
    expect_address(page, "/fragmentation")


def test_a_lecturer_goes_straight_to_the_lecture_view(new_page):
    page = new_page("en", warm=True)
    helpers.visit(page, "/")
    page.get_by_role("link", name="Open the lecture view").click()
    expect_address(page, "/pipeline", view="lecture")
