"""The step player under a reader's hands: buttons, keys, the scrubber, a changed setting."""

import re

from playwright.sync_api import expect

from tests.browser import helpers
from tests.browser.helpers import expect_address, expect_step, nudge
from tests.browser.verbs import PLAYER, button, data, expect_playing, last_step, step_of

GUESS = ".st-key-predict-utilization"


def test_the_player_plays_pauses_at_events_steps_jumps_and_scrubs(new_page):
    page = new_page("en", warm=True)
    helpers.visit(page, "/batching", part="compare")
    expect_playing(page, False)
    expect_step(page, 0)
    note = page.locator(f"{PLAYER} .note")
    first_note = note.inner_text()

    page.locator(f"{PLAYER} .speed").select_option("8")
    button(page, "play").click()
    expect_playing(page, True)
    expect_playing(page, False)  # by itself: something happened
    event = step_of(page)
    assert 0 < event < last_step(page)
    expect(note).not_to_have_text(first_note)
    expect(page.locator(f"{PLAYER} .spoken")).to_contain_text(note.inner_text().split("\n")[0])

    button(page, "forward").click()
    expect_step(page, event + 1)
    button(page, "back").click()
    button(page, "back").click()
    expect_step(page, event - 1)
    button(page, "next").click()
    expect_step(page, event)
    button(page, "next").click()
    assert step_of(page) > event
    button(page, "previous").click()
    expect_step(page, event)

    page.locator(f"{PLAYER} .scrub").fill("20")
    expect_step(page, 20)
    button(page, "table").click()
    rows = page.locator(f"{PLAYER} .table tbody tr")
    expect(rows.filter(visible=True)).to_have_count(21)
    expect(page.locator(f"{PLAYER} .stage canvas")).to_be_hidden()

    button(page, "autopause").click()
    button(page, "play").click()
    expect_playing(page, True)
    button(page, "play").click()
    expect_playing(page, False)
    button(page, "play").click()
    expect(page.locator(PLAYER)).to_have_attribute(
        "data-step", str(last_step(page)), timeout=helpers.WAIT_MS
    )
    expect_playing(page, False)
    button(page, "reset").click()
    expect_step(page, 0)


def test_keys_move_the_player_but_not_while_somebody_types(new_page):
    page = new_page("en", warm=True)
    helpers.visit(page, "/batching")
    page.keyboard.press("ArrowRight")  # nobody has touched the player
    expect_step(page, 0)
    button(page, "forward").click()
    expect_step(page, 1)
    for key, expected in (("ArrowRight", 2), ("ArrowLeft", 1), ("End", last_step(page))):
        page.keyboard.press(key)
        expect_step(page, expected)
    page.keyboard.press("Home")
    expect_step(page, 0)
    page.keyboard.press("Space")
    expect_playing(page, True)
    page.keyboard.press("Space")
    expect_playing(page, False)

    stands = step_of(page)
    field = page.locator(GUESS).get_by_role("spinbutton")
    field.click()
    for key in ("4", "2", "Home", "ArrowRight", "5", "End", "Space"):
        page.keyboard.press(key)
    assert field.input_value().strip().startswith("452")
    expect_step(page, stands)
    expect_playing(page, False)


def test_with_reduced_motion_the_player_only_steps(new_page):
    page = new_page("en", reduced_motion="reduce")
    helpers.visit(page, "/batching")
    expect(button(page, "play")).to_have_attribute("aria-disabled", "true")
    button(page, "forward").click()
    page.keyboard.press("Space")  # at once, not a moment later, and no further
    assert step_of(page) == 2
    assert page.locator(PLAYER).get_attribute("data-playing") == "false"


def test_a_changed_setting_keeps_the_moment_and_says_so(new_page):
    page = new_page("en", warm=True)
    helpers.visit(page, "/batching")
    page.locator(f"{PLAYER} .scrub").fill("60")
    nudge(page, "Tokens that B writes")
    expect(page.locator(f"{PLAYER} .notice")).to_contain_text("61")
    expect_step(page, 60)
    nudge(page, "Tokens that B writes", "Home")
    expect(page.locator(PLAYER)).to_have_attribute("data-steps", re.compile(r"^\d\d$"))
    expect_step(page, last_step(page))


def test_one_request_is_followed_to_its_first_token_back_and_on(new_page):
    page = new_page("en", warm=True)
    helpers.visit(page, "/latency")
    note = page.locator(f"{PLAYER} .note")
    button(page, "autopause").click()  # nothing stops it on the way
    page.locator(f"{PLAYER} .speed").select_option("8")
    button(page, "play").click()
    expect_step(page, last_step(page))
    expect_playing(page, False)

    page.keyboard.press("Home")
    button(page, "next").click()
    expect(note).to_contain_text("part of the next")
    button(page, "next").click()
    expect(note).to_contain_text("this is the TTFT")
    first_token = step_of(page)
    button(page, "back").click()
    expect(note).to_contain_text("Token 1 is sampled")
    expect_step(page, first_token - 1)
    sampled = data(page, "time")

    button(page, "forward").click()
    button(page, "forward").click()
    expect(note).to_contain_text("A decode step: token 1 goes in")
    assert data(page, "time") > sampled  # only after token 1
    box = page.locator(f"{PLAYER} .scrub").bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    expect(note).to_contain_text("Prefill is done")
    assert 0 < data(page, "time") < sampled

    nudge(page, "Tokens in B's prompt", "End")
    expect_address(page, "/latency", prompt=8000)
    button(page, "next").click()
    expect(note).to_contain_text("this is the TTFT")
    assert data(page, "time") > 4 * sampled
