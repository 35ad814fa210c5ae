"""The radix tree of chapter 8 in a browser: it grows, is cut and loses leaves, step by step."""

import re

from playwright.sync_api import expect

from tests.browser import helpers


def test_the_tree_plays_stops_at_cuts_and_evictions_steps_back_and_scrubs(new_page):
    page = new_page("en", viewport=(1280, 720), warm=True)
    helpers.visit(page, "/prefix_cache", part="tree")
    player = page.locator(".player")
    note = player.locator(".note")
    expect(player).to_have_attribute("data-painter", "tree")
    expect(player).to_have_attribute("data-steps", "33")
    expect(note).to_contain_text("6 requests wait; the tree is empty")

    player.locator('[data-act="autopause"]').click()
    player.locator('[data-act="play"]').click()  # it stops where a node is cut
    expect(player).to_have_attribute("data-playing", "true")
    expect(player).to_have_attribute("data-playing", "false")
    helpers.expect_step(page, 6)
    expect(note).to_contain_text("a node is cut in two after 8 tokens")
    box = note.bounding_box()
    assert box is not None
    assert box["y"] + box["height"] <= 720  # in view together with figure and controls

    page.keyboard.press("ArrowRight")
    expect(note).to_contain_text("C's prompt is computed")
    page.keyboard.press("ArrowLeft")
    helpers.expect_step(page, 6)
    player.locator('[data-act="next"]').click()
    player.locator('[data-act="next"]').click()
    expect(note).to_contain_text("the least recently used leaf is evicted whole and frees 3")

    scrub = player.locator(".scrub")
    scrub.focus()
    page.keyboard.press("End")
    helpers.expect_step(page, 32)
    expect(player.locator(".step")).to_contain_text("33 of 66 tokens found")
    scrub.evaluate(
        "(scrub) => { scrub.value = 8; scrub.dispatchEvent(new Event('input', {bubbles: true})) }"
    )
    helpers.expect_step(page, 8)
    page.keyboard.press("Home")
    helpers.expect_step(page, 0)


def test_a_node_is_told_by_mouse_and_table_and_pointing_does_not_move_the_reader(new_page):
    page = new_page("en", viewport=(1280, 720), warm=True)
    helpers.visit(page, "/prefix_cache", part="tree", step=7)
    player = page.locator(".player")
    helpers.expect_step(page, 7)
    box = player.locator(".stage canvas").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 40, box["y"] + 66)
    expect(player.locator(".tip")).to_have_text(
        re.compile(r"You are a kind tutor \. What is\s*tokens: 8 · locked · locks: 1")
    )
    page.mouse.down()
    page.mouse.up()
    helpers.expect_step(page, 7)
    player.locator('[data-act="table"]').click()
    row = player.locator("tbody tr[aria-current]")
    expect(row).to_contain_text("Running: B C")
    expect(row).to_contain_text("batching ?")


def test_another_order_and_another_language_keep_the_moment(new_page):
    page = new_page("en", viewport=(1280, 720), warm=True)
    helpers.visit(page, "/prefix_cache", part="tree", slots=18, step=9)
    helpers.expect_step(page, 9)
    page.locator(".st-key-controls").get_by_text("Longest prefix").click()
    expect(page.locator(".player .note")).to_contain_text("G does not fit")
    helpers.expect_step(page, 9)
    helpers.visit(page, "/prefix_cache", part="tree", slots=18, step=9, order="lpm", lang="zh")
    helpers.expect_step(page, 9)
    expect(page.locator(".player .note")).to_contain_text("G 放不下")
