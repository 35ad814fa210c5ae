"""Chapter 1 in a browser: a text of the reader's own goes through the stations, step by step."""

from itertools import pairwise

import pytest
from playwright.sync_api import expect

from tests.browser import helpers

BYTES = {f"{byte:02X}" for byte in range(256)}


def test_a_text_travels_from_the_reader_to_the_screen(new_page):
    page = new_page("en", viewport=(1280, 720), warm=True)
    helpers.visit(page, "/pipeline")
    player = page.locator(".player")
    note = player.locator(".note")
    expect(note).to_have_text("Your text. Characters: 12; bytes in UTF-8: 21.")
    expect(player).to_have_attribute("data-painter", "pipeline")

    player.locator('[data-act="autopause"]').click()
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


@pytest.mark.parametrize(("width", "height", "view"), [(853, 480, "lecture"), (390, 844, "")])
def test_the_names_of_tokens_stand_apart_however_little_room_there_is(
    new_page, width, height, view
):
    page = new_page("zh", viewport=(width, height), warm=True)
    helpers.visit(page, "/pipeline", part="prefill", view=view)
    boxes = [box.bounding_box() for box in page.locator(".ytick text").all()]
    assert len(boxes) > 2
    for above, below in pairwise(sorted(boxes, key=lambda box: box["y"])):
        assert above["y"] + 0.8 * above["height"] <= below["y"]  # glyphs fill most of their box
    assert helpers.faults(page) == []


def test_the_axis_of_the_sampler_is_whole_in_a_lecture(new_page):
    page = new_page("zh", viewport=(1280, 720), warm=True)
    helpers.visit(page, "/pipeline", part="sampler", view="lecture")
    chart = page.locator(".js-plotly-plot").bounding_box()
    for tick in page.locator(".xtick text").all():
        box = tick.bounding_box()
        assert box["y"] + box["height"] <= chart["y"] + chart["height"] + 1


def test_the_digits_of_bytes_fit_their_cells_on_a_phone(new_page):
    page = new_page("zh", viewport=(390, 844), warm=True)
    helpers.visit(page, "/pipeline", part="bytes", came=5)
    digits = [text for text in page.locator(".bartext").all() if text.text_content() in BYTES]
    boxes = [text.bounding_box() for text in digits]
    rows = {round(box["y"]) for box in boxes}
    assert len(boxes) >= 18
    for row in rows:
        line = sorted((box for box in boxes if round(box["y"]) == row), key=lambda box: box["x"])
        assert all(left["x"] + left["width"] <= right["x"] for left, right in pairwise(line))


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
