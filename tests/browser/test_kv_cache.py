"""Chapter 6 in a browser: KV grows token by token and goes all at once, step by step."""

from playwright.sync_api import expect

from tests.browser import helpers


def test_kv_grows_with_every_step_and_goes_with_its_request(new_page):
    page = new_page("en", viewport=(1280, 720), warm=True)
    helpers.visit(page, "/kv_cache", part="growth")
    player = page.locator(".player")
    note = player.locator(".note")
    expect(note).to_have_text("A 30 tokens · 15.0 MiB.")

    player.locator('[data-act="next"]').click()  # B comes in
    expect(note).to_have_text("A 37 + B 16 = 53 tokens · 26.5 MiB.")
    page.keyboard.press("ArrowRight")
    expect(note).to_have_text("A 38 + B 17 = 55 tokens · 27.5 MiB.")
    page.keyboard.press("ArrowLeft")
    expect(note).to_have_text("A 37 + B 16 = 53 tokens · 26.5 MiB.")
    box = note.bounding_box()
    assert box is not None
    assert box["y"] + box["height"] <= 720  # in view together with figure and controls

    next_event = player.locator('[data-act="next"]')
    next_event.click()  # C comes
    next_event.click()  # A is done
    expect(note).to_contain_text("A done: gives back 59.")
    page.keyboard.press("ArrowRight")
    expect(note).to_have_text("B 39 + C 74 = 113 tokens · 56.5 MiB.")


def test_a_smaller_model_per_token_keeps_the_moment_and_quarters_the_bytes(new_page):
    page = new_page("en", viewport=(1280, 720), warm=True)
    helpers.visit(page, "/kv_cache", part="growth", step=3)
    note = page.locator(".player .note")
    expect(note).to_have_text("A 33 tokens · 16.5 MiB.")
    page.locator(".st-key-controls").get_by_text("Llama-3.1-8B").click()
    expect(note).to_have_text("A 33 tokens · 4.12 MiB.")
    helpers.expect_step(page, 3)
