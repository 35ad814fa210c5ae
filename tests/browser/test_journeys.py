"""What readers and lecturers do, from the first click on, in a real browser.

Nothing here waits for a time: every step waits for what the reader would see.
"""

import re
from itertools import pairwise

from playwright.sync_api import expect

from tests.browser import helpers
from tests.browser.helpers import expect_address, expect_step, nudge, slider
from tests.browser.verbs import (
    CARDS,
    PLAYER,
    RESULT,
    act_link,
    chapter_link,
    expect_playing,
    last_step,
    values,
)

GUESS = ".st-key-predict-utilization"
TRENDS = ".st-key-predict-batch"
DESK, PHONE = (1280, 720), (390, 844)


# -- the way in --------------------------------------------------------------------------------


def test_home_leads_to_batching_and_on_to_the_simulator(new_page):
    page = new_page("en", warm=True)
    helpers.visit(page, "/")
    start = page.locator(".st-key-begin a")
    promised = "/" + start.get_attribute("href")
    start.click()
    expect_address(page, promised)
    chapter_link(page, "batching").click()
    expect_address(page, "/batching")
    expect(page.locator(PLAYER)).to_be_visible()
    chapter_link(page, "simulator").click()
    expect_address(page, "/simulator")
    expect(page.locator(CARDS)).to_be_visible()
    chapter_link(page, "batching").click()
    expect_address(page, "/batching")
    page.locator(".st-key-onward a").last.click()
    expect_address(page, "/batching", part="compare")
    page.locator(".st-key-onward a").first.click()
    expect_address(page, "/batching")


# -- presets, predictions ------------------------------------------------------------------------


def test_presets_lead_into_the_state_they_promise(new_page):
    page = new_page("en", warm=True)
    helpers.visit(page, "/workbench", prompt=4000)
    before = values(page)
    page.locator(".st-key-preset-preset_overload a").click()
    expect_address(page, "/workbench", rate=20, seqs=32)
    expect(slider(page, "Prompt tokens")).to_have_attribute("aria-valuetext", re.compile("500"))
    assert values(page) != before
    page.go_back()
    expect_address(page, "/workbench", prompt=4000)
    expect(slider(page, "Prompt tokens")).to_have_attribute("aria-valuetext", re.compile("4,000"))


def test_show_me_of_the_self_check_leads_into_a_state(new_page):
    page = new_page("en", warm=True)
    helpers.visit(page, "/batching", part="check")
    page.locator("[class*=st-key-quiz-item] [role=radiogroup] label").first.click()
    link = page.get_by_role("link", name="Show me").first
    promised = dict(pair.split("=") for pair in link.get_attribute("href").split("?")[1].split("&"))
    assert "part" in promised
    link.click()
    expect_address(page, "/batching", **promised)
    page.go_back()
    expect_address(page, "/batching", part="check")
    expect(page.get_by_role("link", name="Show me").first).to_be_visible()


def test_a_guess_is_asked_answered_and_compared(new_page):
    page = new_page("en", warm=True)
    helpers.visit(page, "/simulator")
    charts = page.locator("[data-testid=stPlotlyChart]")
    num_charts = charts.count()
    done = page.locator(TRENDS).get_by_role("button", name="Draw my guess")
    expect(done).to_be_disabled()
    groups = page.locator(f"{TRENDS} [role=radiogroup]")
    for at in range(3):
        groups.nth(at).get_by_text("↑").click()
    expect(done).to_be_enabled()
    done.click()
    expect(page.locator(TRENDS).get_by_role("button", name="Guess again")).to_be_visible()
    expect(page.locator(TRENDS).get_by_role("table")).to_be_visible()
    expect(charts).to_have_count(num_charts + 1)
    page.locator(".st-key-controls").get_by_role("radio", name="64", exact=True).click()
    expect_address(page, "/simulator", limit=64)
    expect(page.locator(TRENDS).get_by_role("table")).to_be_visible()


def test_a_guess_is_skipped_with_one_click_and_not_asked_of_who_comes_by_a_link(new_page):
    page = new_page("en", warm=True)
    helpers.visit(page, "/batching")
    result = page.locator(RESULT).get_by_text("slot-steps")
    expect(result).to_be_hidden()
    page.locator(GUESS).get_by_role("button", name="Skip").click()
    expect(result).to_be_visible()
    helpers.visit(page, "/batching", longest=30)
    expect(result).to_be_visible()
    expect(page.locator(GUESS)).to_have_count(0)


# -- the lecture hall, paper, a phone ------------------------------------------------------------


def test_a_lecturer_enters_walks_asks_reveals_resets_and_leaves(new_page):
    page = new_page("en", warm=True)
    helpers.visit(page, "/batching")
    page.locator(".st-key-lecture-link a").click()
    expect_address(page, "/batching", view="lecture")
    bar = page.locator(".st-key-lecture-bar")
    expect(bar).to_be_visible()
    expect(page.locator("[data-testid=stSidebar]")).to_be_hidden()
    expect_playing(page, False)

    page.get_by_role("button", name="Ask", exact=True).click()
    field = page.locator(GUESS).get_by_role("spinbutton")
    field.fill("80")
    field.press("Enter")
    page.locator(GUESS).get_by_role("button", name="Reveal").click()
    expect_playing(page, True)
    page.keyboard.press("End")
    page.get_by_role("button", name="Guess and result").click()
    expect(page.get_by_role("dialog").locator("[data-testid=stPlotlyChart]")).to_be_visible()
    page.keyboard.press("Escape")

    for part in ("compare", "shapes"):
        page.keyboard.press("PageDown")
        expect_address(page, "/batching", view="lecture", part=part)
    page.keyboard.press("PageUp")
    expect_address(page, "/batching", view="lecture", part="compare")
    expect(page.locator(PLAYER)).to_be_visible()

    page.keyboard.press("End")  # the one player of the screen needs no touch
    expect_step(page, last_step(page))
    nudge(page, "Slots")
    expect_address(page, "/batching", view="lecture", part="compare", width=4)
    bar.get_by_role("button", name="Reset").click()
    expect_address(page, "/batching", view="lecture", part="compare")
    expect(slider(page, "Slots")).to_have_value("3")
    expect_step(page, 0)
    expect_playing(page, False)

    bar.get_by_role("button", name="Leave").click()
    expect_address(page, "/batching", part="compare")
    expect(page.locator("[data-testid=stSidebar]")).to_be_visible()
    act_link(page, "shapes").click()
    expect_address(page, "/batching", part="shapes")
    page.go_back()
    page.go_back()
    expect_address(page, "/batching", view="lecture", part="compare")
    expect(bar).to_be_visible()


def test_paper_shows_text_and_figure_without_sidebar_and_controls(new_page):
    page = new_page("en", warm=True)
    helpers.visit(page, "/batching", part="compare")
    for place in ("[data-testid=stSidebar]", ".st-key-controls", ".st-key-acts", ".st-key-onward"):
        expect(page.locator(place)).to_be_visible()
    page.emulate_media(media="print")
    for place in ("[data-testid=stSidebar]", ".st-key-controls", ".st-key-acts", ".st-key-onward"):
        expect(page.locator(place)).to_be_hidden()
    expect(page.locator(f"{PLAYER} .stage canvas")).to_be_visible()
    expect(page.locator(RESULT)).to_be_visible()


def test_a_phone_shows_the_introduction_then_the_figure_then_the_rest(new_page):
    page = new_page("en", warm=True)
    helpers.visit(page, "/batching", part="compare")
    boxes = ".st-key-intro", ".st-key-figure", f"{RESULT} > *"
    intro, figure, rest = [page.locator(box).first.bounding_box() for box in boxes]
    assert figure["x"] > intro["x"] + intro["width"] - 1
    assert figure["y"] < rest["y"]
    helpers.resize(page, *PHONE)
    stacked = [page.locator(box).first.bounding_box() for box in boxes]
    for upper, lower in pairwise(stacked):
        assert upper["y"] + upper["height"] <= lower["y"] + 1
    assert all(box["width"] <= PHONE[0] for box in stacked)


def test_on_a_phone_a_guess_is_asked_before_its_figure(new_page):
    page = new_page("en", viewport=PHONE, warm=True)
    helpers.visit(page, "/batching")
    order = ".st-key-intro", '[class*="st-key-predict-"]', ".st-key-figure"
    for upper, lower in pairwise(page.locator(box).first.bounding_box() for box in order):
        assert upper["y"] + upper["height"] <= lower["y"] + 1
