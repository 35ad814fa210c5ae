"""Chapter 2 in a browser: one prefill and its decode steps, shapes that follow the slider, a
measurement."""

from playwright.sync_api import expect

from tests.browser import helpers


def test_one_prefill_then_token_by_token(new_page):
    page = new_page("en", viewport=(1280, 720), warm=True)
    helpers.visit(page, "/prefill_decode", part="steps")
    player = page.locator(".player")
    note = player.locator(".note")
    expect(player).to_have_attribute("data-painter", "passes")
    expect(note).to_contain_text("Prefill: 12 rows go through the weights together")

    player.locator('[data-act="forward"]').click()
    expect(note).to_contain_text("Decode: 1 row, and the weights are read again")
    expect(note).to_contain_text("KV rows read: 12, written: 1.")
    page.keyboard.press("ArrowRight")
    expect(note).to_contain_text("KV rows read: 13, written: 1.")
    page.keyboard.press("ArrowLeft")
    expect(note).to_contain_text("KV rows read: 12, written: 1.")
    box = note.bounding_box()
    assert box is not None
    assert box["y"] + box["height"] <= 720  # in view together with figure and controls

    player.locator('[data-act="play"]').click()
    expect(player).to_have_attribute("data-step", "9")
    expect(player).to_have_attribute("data-playing", "false")
    expect(note).to_contain_text("done: A.")
    page.keyboard.press("Home")
    expect(player).to_have_attribute("data-step", "0")


def test_more_requests_bring_more_rows_and_more_kv_at_the_same_step(new_page):
    page = new_page("en", viewport=(1280, 720), warm=True)
    helpers.visit(page, "/prefill_decode", part="steps", step=4)
    note = page.locator(".player .note")
    expect(note).to_contain_text("KV rows read: 15, written: 1.")
    page.locator(".st-key-controls").get_by_role("slider").nth(1).press("ArrowRight")
    expect(note).to_contain_text("KV rows read: 30, written: 2.")
    helpers.expect_step(page, 4)
    page.locator('.player [data-act="table"]').click()
    rows = page.locator(".player .table tbody tr:visible")
    expect(rows).to_have_count(5)
    expect(rows.nth(4)).to_contain_text("A 15 / 1; B 15 / 1")


def test_decode_makes_the_rows_few_and_a_batch_makes_them_many(new_page):
    page = new_page("en", viewport=(1280, 720), warm=True)
    helpers.visit(page, "/prefill_decode", part="hook")
    rows = page.locator(".st-key-cards [data-testid=stMetricValue]").first
    expect(rows).to_have_text("2,048")
    page.locator(".st-key-controls").get_by_text("Decode", exact=True).click()
    expect(rows).to_have_text("1")
    page.locator(".st-key-controls").get_by_role("slider").nth(1).press("ArrowRight")
    expect(rows).to_have_text("2")


def test_a_measurement_says_how_far_it_is_and_stays_when_one_comes_back(new_page):
    page = new_page("en", viewport=(1280, 720), warm=True)
    helpers.visit(page, "/prefill_decode", part="measured")
    page.get_by_role("button", name="Measure", exact=True).click()
    expect(page.get_by_role("progressbar")).to_be_visible()
    values = page.locator(".st-key-cards [data-testid=stMetricValue]")
    expect(values).to_have_count(2, timeout=helpers.WAIT_MS)
    before = values.all_text_contents()
    page.get_by_role("link", name="Step by step").first.click()
    expect(page.locator(".player")).to_be_visible()
    page.locator(".st-key-acts").get_by_role("button", name="Deeper").click()
    page.get_by_role("link", name="Measured here").first.click()
    expect(values).to_have_text(before)
