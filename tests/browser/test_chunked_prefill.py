"""Chapter 9 in a browser: two servers above each other, played, stepped back and scrubbed."""

from playwright.sync_api import Page, expect

from tests.browser import helpers
from tests.browser.verbs import button, data, note, player, scrub


def where(page: Page) -> list[tuple[float, float]]:
    """Moment of the common clock and own step, for both players."""
    return [(data(page, "moment", n), data(page, "step", n)) for n in (0, 1)]


def test_the_same_document_whole_and_in_chunks_on_one_clock(new_page):
    page = new_page("en", viewport=(1280, 720), warm=True)
    helpers.visit(page, "/chunked_prefill", part="chunks")
    assert where(page) == [(0, 0), (0, 0)]

    button(page, "autopause").click()
    button(page, "play").click()  # it stops where the document comes in, below
    expect(player(page)).to_have_attribute("data-playing", "true")
    expect(player(page)).to_have_attribute("data-playing", "false")
    expect(note(page, 1)).to_contain_text("Prefill: D 509 (509 of 8,192)")
    came = data(page, "moment")
    assert came == data(page, "moment", 1) > 0

    for _ in range(6):  # six chunks and six tokens later nobody above has moved
        page.keyboard.press("ArrowRight")
    (moment, above), (_, below) = where(page)
    assert moment == came + 6
    assert below == above + 7
    expect(note(page, 1)).to_contain_text("instead of 11.4 ms")

    page.keyboard.press("ArrowLeft")
    assert where(page) == [(moment - 1, above), (moment - 1, below - 1)]

    button(page, "next").click()  # on to the end of the freeze
    expect(note(page, 0)).to_contain_text("Prefill: D 8,192. First token: D")
    assert data(page, "step", 0) < data(page, "step", 1)
    expect(note(page, 0)).to_contain_text("413 ms instead of 11.4 ms")

    scrub(page, 0.99)
    assert data(page, "moment", 0) == data(page, "moment", 1) == data(page, "moments") - 1
    expect(note(page, 0)).to_contain_text("Done: A, B and C")


def test_the_switch_changes_the_run_and_keeps_the_moment(new_page):
    page = new_page("en", viewport=(1280, 720), warm=True)
    helpers.visit(page, "/chunked_prefill", part="hook", step=9)
    expect(note(page, 0)).to_contain_text("Prefill: D 8,192")
    gap = page.locator("[data-testid=stMetric]").nth(2)
    expect(gap).to_contain_text("413 ms")
    page.locator(".st-key-controls").get_by_text("Chunked prefill", exact=True).click()
    expect(gap).to_contain_text("29.9 ms")
    helpers.expect_step(page, 9)
    expect(note(page, 0)).to_contain_text("Prefill: D 509")
    helpers.expect_address(page, "/chunked_prefill", chunked=1)
