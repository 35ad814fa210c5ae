"""Chapter 13 in a browser: mechanisms on one by one, and a format watched token by token."""

from playwright.sync_api import Page, expect

from tests.browser import helpers

EVIL = '<img src=x onerror="document.title=1">('


def type_format(page: Page, text: str) -> None:
    box = page.get_by_label("Regex or JSON Schema")
    box.fill(text)
    box.press("Enter")
    helpers.settle(page)


def test_a_format_is_written_token_by_token_with_the_state_of_its_automaton(new_page):
    page = new_page("en", viewport=(1280, 720), warm=True)
    helpers.visit(page, "/systems", part="format")
    player = page.locator(".player")
    note = player.locator(".note")
    expect(player).to_have_attribute("data-painter", "grammar")
    expect(note).to_contain_text("State 0: 1 of 2,048 tokens may follow")
    box = note.bounding_box()
    assert box is not None
    assert box["y"] + box["height"] <= 720  # in view together with figure and controls
    total = int(player.get_attribute("data-steps"))

    player.locator('[data-act="forward"]').click()
    helpers.expect_step(page, 1)
    expect(note).to_contain_text("State 1")
    page.keyboard.press("ArrowLeft")
    helpers.expect_step(page, 0)
    page.keyboard.press("End")
    helpers.expect_step(page, total - 1)
    expect(note).to_contain_text("The text is complete.")
    expect(page.get_by_text("The text is complete and in the format.")).to_be_visible()
    player.locator('[data-act="table"]').click()
    expect(player.locator("table")).to_contain_text("forbidden")


def test_without_the_mask_it_stops_where_the_format_breaks(new_page):
    page = new_page("en", viewport=(1280, 720), warm=True)
    helpers.visit(page, "/systems", part="format", mask=0)
    expect(page.locator(".player .note")).to_contain_text("the format is broken")
    expect(page.get_by_text("The model did what it always does")).to_be_visible()


def test_what_is_forced_is_jumped_over(new_page):
    page = new_page("en", viewport=(1280, 720), warm=True)
    helpers.visit(page, "/systems", part="format", jump=1)
    expect(page.locator(".player .note")).to_contain_text("only one text can follow")
    expect(page.locator(".player")).to_contain_text("passes: 0")


def test_a_format_of_any_kind_is_text_and_nothing_else(new_page):
    page = new_page("en", viewport=(1280, 720), warm=True)
    helpers.visit(page, "/systems", part="format")
    title = page.title()
    for text, said in (
        (EVIL, "this group is not closed"),
        ("(a|b)*a(a|b){30}", "Its automaton has more than"),
        ('{"type":"date"}', 'The type is "date"'),
    ):
        type_format(page, text)
        expect(page.get_by_text(said)).to_be_visible()
        expect(page.locator(".player")).to_have_attribute("data-step", "0")
        assert helpers.faults(page) == []
        assert page.title() == title
        assert page.locator("[data-testid=stMain] img").count() == 0
    type_format(page, r"[a-c]{3}\d")
    expect(page.get_by_text("The text is complete and in the format.")).to_be_visible()


def test_cards_and_bars_follow_the_mechanisms_while_they_are_dragged(new_page):
    page = new_page("en", viewport=(1280, 720), warm=True)
    helpers.visit(page, "/systems", on=0)
    cards = page.locator("[data-testid=stMetricValue]")
    expect(cards.nth(0)).to_have_text("149")
    helpers.slider(page, "Mechanisms switched on").focus()
    page.keyboard.press("End")
    expect(cards.nth(0)).to_have_text("710")
    expect(page.locator(".js-plotly-plot").first).to_contain_text("541 ms")
