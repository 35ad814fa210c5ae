"""Chapter 1 in a browser: a text of the reader's own goes through the stations, step by step."""

from playwright.sync_api import expect

from tests.browser import helpers


def test_a_text_travels_from_the_reader_to_the_screen(new_page):
    page = new_page("en", viewport=(1280, 720), warm=True)
    helpers.visit(page, "/pipeline")
    player = page.locator(".player")
    note = player.locator(".note")
    expect(note).to_have_text("Your text. Characters: 12; bytes in UTF-8: 21.")
    expect(player).to_have_attribute("data-painter", "pipeline")

    player.locator('[data-act="play"]').click()  # it stops where the text is cut into tokens
    expect(note).to_contain_text("Tokenized.")
    expect(player).to_have_attribute("data-playing", "false")
    page.keyboard.press("ArrowRight")
    expect(note).to_contain_text("Nobody else waits")
    page.keyboard.press("ArrowRight")
    expect(note).to_contain_text("Prefill, layer 1")
    page.keyboard.press("ArrowLeft")
    expect(note).to_contain_text("Nobody else waits")

    next_event = player.locator('[data-act="next"]')
    next_event.click()  # the prefill is through
    expect(note).to_contain_text("The last position gives the logits.")
    next_event.click()
    expect(note).to_contain_text("Token 1 is there, and no decode step has run.")
    page.keyboard.press("End")
    expect(note).to_contain_text("Done.")
    box = note.bounding_box()
    assert box is not None
    assert box["y"] + box["height"] <= 720  # in view together with figure and controls


def test_another_text_is_another_way_at_the_same_moment(new_page):
    page = new_page("en", viewport=(1280, 720), warm=True)
    helpers.visit(page, "/pipeline", step=1)
    player = page.locator(".player")
    expect(player.locator(".note")).to_contain_text("Tokens: 8,")
    field = page.get_by_role("textbox", name="Your text")
    field.fill("猫🙂 <b>x</b>")
    field.press("Enter")
    expect(player.locator(".note")).not_to_contain_text("Tokens: 8,")
    helpers.expect_step(page, 1)
    expect(page.locator(".st-key-act b")).to_have_count(0)  # text stays text


def test_many_requests_share_the_stations(new_page):
    page = new_page("en", viewport=(1280, 720), warm=True)
    helpers.visit(page, "/pipeline", part="many")
    player = page.locator(".player")
    expect(player).to_have_attribute("data-painter", "crowd")
    expect(player.locator(".note")).to_have_text("Requests that have come, all in the queue: 8.")
    player.locator('[data-act="forward"]').click()
    expect(player.locator(".note")).to_contain_text("In the same pass: prefill of A")
    player.locator('[data-act="table"]').click()
    expect(player.locator(".table tbody tr[aria-current]")).to_contain_text("E, F, G, H")


def test_a_claim_is_proved_where_the_reader_asks_for_it(new_page):
    page = new_page("en", viewport=(1280, 720), warm=True)
    helpers.visit(page, "/pipeline", part="prefill")
    panel = page.locator(".st-key-proof-paged")
    panel.locator("summary").click()
    expect(panel).to_contain_text("every bit is the same")
    expect(panel.locator("table tbody tr")).to_have_count(4)
