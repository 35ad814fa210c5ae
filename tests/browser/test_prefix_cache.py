"""Chapter 8 in a browser: the cache on and off, a prompt looked up, a pool walked through."""

from playwright.sync_api import expect

from tests.browser import helpers


def shelves(page):
    return page.locator('.player[data-painter="shelves"]')


def test_a_guess_then_the_cache_shortens_ttft_and_leaves_itl(new_page):
    page = new_page("en", viewport=(1280, 720), warm=True)
    helpers.visit(page, "/prefix_cache", part="hook")
    cards = page.locator(".st-key-cards")
    expect(cards).to_contain_text("110 ms")
    chart = page.locator("[data-testid=stPlotlyChart]")
    expect(chart).to_have_count(1)  # the other one would give the answer away
    page.get_by_text("Prefix cache", exact=True).click()
    expect(cards).to_contain_text("36.7 ms")
    expect(cards).to_contain_text("110 ms without")
    expect(cards).to_contain_text("18.4 ms without")


def test_one_word_is_looked_up_block_by_block(new_page):
    page = new_page("en", viewport=(1280, 720), warm=True)
    helpers.visit(page, "/prefix_cache", part="chain")
    player = shelves(page)
    note = player.locator(".note")
    expect(note).to_contain_text("none is looked up yet")
    player.locator('[data-act="next"]').click()  # the first miss
    expect(player).to_have_attribute("data-step", "1")
    expect(note).to_contain_text("From this block on everything is computed")
    page.keyboard.press("ArrowRight")
    expect(note).to_contain_text("The very same tokens, but h1 has changed")
    page.keyboard.press("ArrowLeft")
    expect(player).to_have_attribute("data-step", "1")
    box = note.bounding_box()
    assert box is not None
    assert box["y"] + box["height"] <= 720  # in view together with figure and controls
    page.keyboard.press("End")
    expect(player).to_have_attribute("data-step", "7")


def test_ones_own_words_are_looked_up_and_stay_words(new_page):
    page = new_page("en", viewport=(1280, 720), warm=True)
    helpers.visit(page, "/prefix_cache", part="chain", edit="own")
    field = page.get_by_label("Your prompt")
    field.fill("<img src=x onerror=alert(1)> **x** $y$")
    field.press("Enter")
    player = shelves(page)
    expect(page.get_by_text("0 blocks are found")).to_be_visible()
    expect(player).to_have_attribute("data-steps", "5")
    field.fill("word " * 60)
    field.press("Enter")
    expect(page.get_by_text("160").first).to_be_visible()  # so many letters are taken


def test_a_pool_is_walked_to_the_eviction_and_a_larger_one_keeps_more(new_page):
    page = new_page("en", viewport=(1280, 720), warm=True)
    helpers.visit(page, "/prefix_cache", part="pool", step=2)
    player = shelves(page)
    note = player.locator(".note")
    expect(note).to_have_text(
        "B comes, finds S1, S2, S3 and takes 1 block from the head of the queue."
    )
    scrub = player.locator(".scrub")
    scrub.focus()
    for _ in range(8):
        page.keyboard.press("ArrowRight")
    expect(player).to_have_attribute("data-step", "10")
    expect(note).to_contain_text("evicts A4, B4, S3")
    box = note.bounding_box()
    assert box is not None
    assert box["y"] + box["height"] <= 720
    player.locator('[data-act="table"]').click()
    expect(player.locator(".table")).to_contain_text("3 ×1 · D6 D · prefill")
    helpers.visit(page, "/prefix_cache", part="pool", blocks=15, step=13)
    expect(shelves(page).locator(".note")).to_contain_text("E comes, finds S1, S2, S3")


def test_show_me_of_the_self_check_opens_the_step_it_speaks_of(new_page):
    page = new_page("en", viewport=(1280, 720), warm=True)
    helpers.visit(page, "/prefix_cache", part="pool", step=6)
    expect(shelves(page).locator(".note")).to_contain_text("B leaves")
