"""Chapter 10 in a browser: a round is played step by step, on the reader's own text."""

import re

from playwright.sync_api import Page, expect

from tests.browser import helpers

FOREIGN = '🙂 مرحبا <img src=x onerror="document.title=1">'


def type_text(page: Page, text: str) -> None:
    box = page.get_by_label("Go on from this text")
    box.fill(text)
    box.press("Enter")
    helpers.settle(page)


def test_a_round_is_proposed_checked_rejected_and_corrected(new_page):
    page = new_page("en", viewport=(1280, 720), warm=True)
    helpers.visit(page, "/spec_decode")
    player = page.locator(".player")
    note = player.locator(".note")
    expect(player).to_have_attribute("data-painter", "tape")
    expect(note).to_contain_text("Step 1 of the draft: it proposes A")
    total = int(player.get_attribute("data-steps"))

    player.locator('[data-act="autopause"]').click()
    player.locator('[data-act="play"]').click()  # it stops at the rejection
    expect(player).to_have_attribute("data-playing", "true")
    expect(player).to_have_attribute("data-playing", "false")
    expect(note).to_contain_text("the draw says: rejected")
    rejected = int(player.get_attribute("data-step"))
    page.keyboard.press("ArrowRight")
    expect(note).to_contain_text("3 accepted and one correction make 4.")
    page.keyboard.press("ArrowLeft")
    helpers.expect_step(page, rejected)
    box = note.bounding_box()
    assert box is not None
    assert box["y"] + box["height"] <= 720  # in view together with figure and controls

    page.keyboard.press("End")
    helpers.expect_step(page, total - 1)
    page.keyboard.press("Home")
    helpers.expect_step(page, 0)
    player.locator('[data-act="table"]').click()
    expect(player.locator("table")).to_contain_text("proposed")


def test_other_settings_are_other_rounds_and_a_link_leads_back_to_the_step(new_page):
    page = new_page("en", viewport=(1280, 720), warm=True)
    helpers.visit(page, "/spec_decode", step=8)
    helpers.expect_step(page, 8)
    before = page.locator(".player .note").text_content()
    helpers.nudge(page, "Proposals k", "ArrowLeft")
    expect(page.locator(".player .note")).not_to_have_text(before or "")
    helpers.expect_step(page, 8)


def test_text_of_any_kind_is_text_and_nothing_else(new_page):
    page = new_page("en", viewport=(1280, 720), warm=True)
    helpers.visit(page, "/spec_decode")
    title = page.title()
    for text in (FOREIGN, "", "**b** $x$ `c`"):
        type_text(page, text)
        expect(page.locator(".player")).to_have_attribute("data-step", "0")
        assert helpers.faults(page) == []
        assert page.title() == title
        assert page.locator("[data-testid=stMain] img").count() == 0
    type_text(page, "🙂" * 200)
    expect(page.get_by_text("only the first 160 are used")).to_be_visible()
    expect(page.get_by_text("are not used.")).to_be_visible()


def test_the_point_falls_below_1_while_the_batch_is_dragged(new_page):
    page = new_page("en", viewport=(1280, 720), warm=True)
    helpers.visit(page, "/spec_decode", part="load")
    cards = page.locator("[data-testid=stMetricValue]")
    expect(cards.nth(2)).to_have_text("1.98×")
    helpers.slider(page, "Batch").focus()
    page.keyboard.press("End")
    expect(cards.nth(2)).to_have_text(re.compile(r"^0\.\d+×"))


def test_the_proof_is_computed_on_demand_with_the_readers_text(new_page):
    page = new_page("en", viewport=(1280, 720), warm=True)
    helpers.visit(page, "/spec_decode", part="proof", text="static batching")
    page.get_by_text("Greedy speculation writes the same tokens").click()
    expect(page.get_by_text("They agree.")).to_be_visible()
