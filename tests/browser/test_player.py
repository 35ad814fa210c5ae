"""The step player under a reader's hands: buttons, keys, the scrubber, a changed setting."""

import re

from playwright.sync_api import expect

from tests.browser import helpers
from tests.browser.helpers import expect_address, expect_step, nudge
from tests.browser.verbs import PLAYER, button, data, expect_playing, last_step, step_of

GUESS = ".st-key-predict-utilization"
COMING = '[class*="st-key-coming-"]'
# How many different colours stand in a column of the picture, at a share of its width.
COLOURS_AT = """(canvas, share) => {
  const {data} = canvas.getContext('2d').getImageData(
    Math.floor(canvas.width * share), 0, 1, canvas.height);
  const found = new Set();
  for (let i = 0; i < data.length; i += 4) found.add(data.slice(i, i + 4).join(' '));
  return found.size;
}"""


def colours_at(page, share):
    return page.locator(f"{PLAYER} .stage canvas").first.evaluate(COLOURS_AT, share)


def guess(page, number):
    field = page.locator(GUESS).get_by_role("spinbutton")
    field.fill(str(number))
    field.press("Enter")
    page.locator(f"{GUESS}-done button").click()


def test_the_player_plays_pauses_at_events_steps_jumps_and_scrubs(new_page):
    page = new_page("en", warm=True)
    helpers.visit(page, "/batching", part="compare")
    expect_playing(page, False)
    expect_step(page, 0)
    note = page.locator(f"{PLAYER} .note")
    first_note = note.inner_text()

    expect(button(page, "autopause")).to_have_attribute("aria-checked", "false")
    button(page, "autopause").click()
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
    page.locator(f"{PLAYER} .speed").select_option("2")
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


def test_a_player_opens_on_the_run_to_come_and_an_open_question_is_not_answered_by_it(new_page):
    page = new_page("en", warm=True)
    helpers.visit(page, "/batching")
    expect_step(page, 0)
    assert colours_at(page, 0.3) > colours_at(page, 0.9) + 1
    page.locator(f"{GUESS}-skip button").click()
    expect(page.locator(f"{GUESS}-again")).to_be_visible()
    expect_step(page, 0)
    assert colours_at(page, 0.9) >= colours_at(page, 0.3)
    helpers.visit(page, "/prefix_cache", part="tree")  # without an axis, too
    assert colours_at(page, 0.3) > 3


def test_a_click_tells_what_is_there_and_leaves_the_moment_alone(new_page):
    page = new_page("en", warm=True)
    helpers.visit(page, "/pipeline")
    box = page.locator(f"{PLAYER} .stage canvas").bounding_box()
    tip = page.locator(f"{PLAYER} .tip")
    page.mouse.click(box["x"] + box["width"] * 0.06, box["y"] + 34)
    expect(tip).to_contain_text("your text")
    page.mouse.click(box["x"] + box["width"] * 0.5, box["y"] + box["height"] * 0.6)
    expect(tip).to_be_hidden()
    expect_step(page, 0)


def test_keys_work_on_a_picture_that_was_reached_by_the_tab_key(new_page):
    page = new_page("en", warm=True)
    helpers.visit(page, "/chunked_prefill")
    page.locator(".st-key-controls").get_by_role("switch").or_(
        page.locator(".st-key-controls input[type=checkbox]")
    ).first.focus()
    for _ in range(30):
        page.keyboard.press("Tab")
        if page.evaluate("() => document.activeElement.shadowRoot?.activeElement?.tagName") == (
            "CANVAS"
        ):
            break
    page.keyboard.press("ArrowRight")
    expect_step(page, 1)
    page.keyboard.press("End")
    expect_step(page, last_step(page))
    page.keyboard.press("Home")
    expect_step(page, 0)


def test_the_scrubber_stays_within_its_figure(new_page):
    page = new_page("en", warm=True)
    for path in ("/batching", "/chunked_prefill", "/fragmentation", "/pipeline"):
        helpers.visit(page, path)
        scrub = page.locator(f"{PLAYER} .scrub").first.bounding_box()
        stage = page.locator(f"{PLAYER} .stage").first.bounding_box()
        assert scrub["x"] >= stage["x"] - 0.5, path
        assert scrub["x"] + scrub["width"] <= stage["x"] + stage["width"] + 0.5, path


def test_after_a_guess_the_figure_plays_to_the_answer_and_a_reload_keeps_it(new_page):
    page = new_page("en", warm=True)
    helpers.visit(page, "/batching")
    page.locator(f"{PLAYER} .speed").select_option("4")
    guess(page, 40)
    expect_playing(page, True)
    expect(page.locator(COMING).first).to_be_attached()
    expect(page.locator(f"{COMING} p").filter(visible=True)).to_have_count(0)
    expect_step(page, last_step(page))
    expect(page.locator(COMING)).to_have_count(0)
    expect(page.locator(GUESS)).to_contain_text("46.7%")
    page.reload()
    expect(page.locator(f"{GUESS}-again")).to_be_visible()
    expect_step(page, last_step(page))
    expect_playing(page, False)


def test_who_does_not_wait_is_shown_the_result_at_once(new_page):
    page = new_page("en", warm=True)
    helpers.visit(page, "/batching")
    guess(page, 40)
    page.locator(f"{GUESS}-now button").click()
    expect(page.locator(COMING)).to_have_count(0)
    expect(page.locator(GUESS)).to_contain_text("46.7%")


def test_with_reduced_motion_the_figure_jumps_to_the_answer(new_page):
    page = new_page("en", reduced_motion="reduce")
    helpers.visit(page, "/batching")
    guess(page, 40)
    expect(page.locator(f"{GUESS}-again")).to_be_visible()
    expect_step(page, last_step(page))
    expect(page.locator(GUESS)).to_contain_text("46.7%")


def test_a_moved_slider_and_a_reload_lose_neither_the_question_nor_the_result(new_page):
    page = new_page("en", warm=True)
    helpers.visit(page, "/batching")
    nudge(page, "Tokens that B writes")
    expect_address(page, "/batching", longest=101)
    page.reload()
    expect(page.locator(f"{GUESS}-done")).to_be_visible()
    expect(page.get_by_text("slot utilization is")).to_have_count(0)
