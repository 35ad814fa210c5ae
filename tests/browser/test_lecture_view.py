"""A lecture is light in a dark hall too, and a remote control goes on whatever was touched last."""

import pytest
from playwright.sync_api import expect

from tests.browser import helpers

NEXT = ".st-key-lecture-PageDown button"
BACK = ".st-key-lecture-PageUp button"


def test_the_lecture_view_is_light_and_the_page_dark_again_afterwards(new_page):
    page = new_page("en", "dark", viewport=(1280, 720), warm=True)
    helpers.visit(page, "/batching", part="compare")
    dark = helpers.background(page)
    page.get_by_role("link", name="Lecture view").click()
    expect(page.locator(NEXT)).to_be_visible()
    helpers.settle(page)
    assert helpers.background(page) == "rgb(255, 255, 255)"
    assert helpers.barriers(page) == []
    page.get_by_role("button", name="Leave the lecture view").click()
    expect(page.locator("h1")).to_be_visible()
    helpers.settle(page)
    assert helpers.background(page) == dark


@pytest.mark.parametrize("touched", ["slider", "player"])
def test_a_remote_control_goes_on_whatever_was_touched_last(new_page, touched):
    page = new_page("en", viewport=(1280, 720), warm=True)
    helpers.visit(page, "/batching", part="compare", width=4, view="lecture")
    if touched == "slider":
        page.get_by_role("slider", name="Slots").focus()
    else:
        page.locator(".player").click()
    page.keyboard.press("PageDown")
    expect(page.locator(BACK)).to_be_enabled()
    page.wait_for_url("**part=shapes**")
    assert "width=4" in page.url
    page.keyboard.press("PageUp")
    page.wait_for_url("**part=compare**")
    assert "width=4" in page.url


def test_a_press_that_comes_while_the_bar_is_drawn_anew_is_not_lost(new_page):
    page = new_page("en", warm=True)
    helpers.visit(page, "/batching", view="lecture")
    page.evaluate(
        """() => {
          const bar = document.querySelector('.st-key-lecture-bar'), place = bar.parentElement;
          bar.remove();
          setTimeout(() => place.append(bar), 300);
        }"""
    )
    page.keyboard.press("PageDown")
    helpers.expect_address(page, "/batching", part="compare", view="lecture")
