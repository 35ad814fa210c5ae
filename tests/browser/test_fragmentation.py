"""Chapter 7 in a browser: memory slot by slot, two memories on one clock, tables one can follow."""

from playwright.sync_api import expect

from tests.browser import helpers

D_WAITS = "D needs 1.0 GB in one piece; 1.1 GB are free, but the largest hole has 0.6 GB"


def player(page, painter):
    return page.locator(f'.player[data-painter="{painter}"]')


def test_d_finds_no_hole_and_waits_until_b_is_done(new_page):
    page = new_page("en", viewport=(1280, 720), warm=True)
    helpers.visit(page, "/fragmentation", part="hook")
    holes = player(page, "memory_map")
    note = holes.locator(".note")
    expect(note).to_have_text("A gets 0.8 GB in one piece.")

    holes.locator('[data-act="autopause"]').click()
    holes.locator('[data-act="play"]').click()  # arrivals close upon each other are one stop
    expect(holes).to_have_attribute("data-playing", "true")
    expect(holes).to_have_attribute("data-playing", "false")
    expect(note).to_contain_text(D_WAITS)
    page.keyboard.press("Home")
    expect(note).to_have_text("A gets 0.8 GB in one piece.")
    scrub = holes.locator(".scrub")
    scrub.focus()
    for _ in range(7):
        page.keyboard.press("ArrowRight")
    expect(holes).to_have_attribute("data-step", "7")
    expect(note).to_contain_text(D_WAITS)
    box = note.bounding_box()
    assert box is not None
    assert box["y"] + box["height"] <= 720  # in view together with figure and controls
    page.keyboard.press("End")
    expect(note).to_have_text("D is done and gives 1.0 GB back.")


def test_a_drag_over_the_picture_does_not_move_the_clock_and_pointing_tells_what_is_there(new_page):
    page = new_page("en", viewport=(1280, 720), warm=True)
    helpers.visit(page, "/fragmentation", part="hook", step=7)
    holes = player(page, "memory_map")
    canvas = holes.locator(".stage canvas")
    box = canvas.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 40, box["y"] + 40)
    expect(holes.locator(".tip")).to_contain_text("A · holds a token")
    page.mouse.down()
    page.mouse.move(box["x"] + 300, box["y"] + 40)
    page.mouse.up()
    page.mouse.move(box["x"] + 301, box["y"] + 40)
    expect(holes).to_have_attribute("data-step", "7")
    expect(holes.locator(".tip")).to_contain_text("free, but too small · 0.5 GB")


def test_both_memories_walk_on_one_clock_and_a_click_follows_another_request(new_page):
    page = new_page("en", viewport=(1280, 720), warm=True)
    helpers.visit(page, "/fragmentation", part="paged", step=9)
    above, below = player(page, "memory_map"), player(page, "block_tables")
    expect(above.locator(".note")).to_contain_text(D_WAITS)
    expect(below.locator(".note")).to_have_text("A takes block 15.")
    expect(below).to_have_attribute("data-chosen", "A")
    box = below.locator(".note").bounding_box()
    assert box is not None
    assert box["y"] + box["height"] <= 720

    canvas = below.locator(".stage canvas")
    place = canvas.bounding_box()
    assert place is not None
    block = place["width"] / 17
    canvas.click(position={"x": 12.5 * block, "y": place["height"] - 35})  # block 13 is D's
    expect(below).to_have_attribute("data-chosen", "D")
    canvas.focus()
    page.keyboard.press("ArrowUp")
    expect(below).to_have_attribute("data-chosen", "C")

    page.locator('.player [data-act="next"]').first.click()  # C stays chosen while it is there
    expect(above).to_have_attribute("data-step", "12")
    expect(below).to_have_attribute("data-step", "12")
    expect(below).to_have_attribute("data-chosen", "C")


def test_a_smaller_pool_keeps_the_moment_and_preempts_earlier(new_page):
    page = new_page("en", viewport=(1280, 720), warm=True)
    helpers.visit(page, "/fragmentation", part="full", step=4)
    note = player(page, "block_tables").locator(".note")
    expect(note).not_to_contain_text("preempted")
    for _ in range(2):
        helpers.nudge(page, "Blocks in the pool", "ArrowLeft")
        helpers.settle(page)
    expect(note).to_contain_text("C, the newest, is preempted; the KV of 15 tokens is dropped")
    expect(player(page, "block_tables")).to_have_attribute("data-step", "4")


def test_a_fork_copies_at_the_first_write_in_either_language(new_page):
    page = new_page("en", viewport=(1280, 720), warm=True)
    helpers.visit(page, "/fragmentation", part="fork", step=1)
    note = player(page, "block_tables").locator(".note")
    expect(note).to_have_text("B and C fork from A: same blocks, nothing is copied.")
    page.locator('.player [data-act="forward"]').click()
    expect(note).to_contain_text("A is to write into shared block 3: copied to 4 first")
    page.get_by_text("中文", exact=True).click()
    expect(note).to_contain_text("A 要写共用的块 3，先复制成块 4")
