"""Chapter 12 in a browser: weights go to their levels, an outlier spoils them, a batch turns."""

from playwright.sync_api import expect

from tests.browser import helpers


def test_one_scale_after_the_other(new_page):
    page = new_page("en", viewport=(1280, 720), warm=True)
    helpers.visit(page, "/quantization", part="round", sharing="group")
    player = page.locator(".player")
    note = player.locator(".note")
    expect(player).to_have_attribute("data-painter", "rounding")
    expect(note).to_contain_text("not rounded yet")

    player.locator('[data-act="forward"]').click()
    expect(note).to_contain_text("The largest weight of this group is")
    page.keyboard.press("ArrowRight")
    expect(note).to_contain_text("16 weights go to the nearest level")
    page.keyboard.press("ArrowLeft")
    expect(note).to_contain_text("The largest weight of this group is")
    box = note.bounding_box()
    assert box is not None
    assert box["y"] + box["height"] <= 720  # in view together with figure and controls

    page.keyboard.press("End")
    helpers.expect_step(page, 8)
    player.locator('[data-act="table"]').click()
    rows = page.locator(".player .table tbody tr:visible")
    expect(rows).to_have_count(9)
    expect(rows.nth(8)).to_contain_text("49–64")


def test_an_outlier_sends_its_channel_to_zero_at_the_same_step(new_page):
    page = new_page("en", viewport=(1280, 720), warm=True)
    helpers.visit(page, "/quantization", part="round", sharing="channel", step=2)
    note = page.locator(".player .note")
    expect(note).to_contain_text("64 weights go to the nearest level")
    slider = page.locator(".st-key-controls").get_by_role("slider")
    for _ in range(4):
        slider.press("ArrowRight")
    expect(note).to_contain_text("63 of them to 0")
    helpers.expect_step(page, 2)


def test_a_larger_batch_turns_int4_into_a_loss(new_page):
    page = new_page("en", viewport=(1280, 720), warm=True)
    helpers.visit(page, "/quantization", part="speed")
    values = page.locator(".st-key-cards [data-testid=stMetricValue]")

    def milliseconds(at):
        return float(values.nth(at).inner_text().split()[0])

    expect(values).to_have_count(4)
    assert milliseconds(3) < milliseconds(0) / 2
    page.get_by_role("link", name="A crowd").click()
    expect(page.locator(".st-key-controls")).to_contain_text("256")
    expect(values.nth(0)).not_to_have_text("17.8 ms")
    helpers.settle(page)
    assert milliseconds(3) > milliseconds(0)


def test_the_model_goes_on_from_the_readers_own_words(new_page):
    page = new_page("en", viewport=(1280, 720), warm=True)
    helpers.visit(page, "/quantization", part="text")
    field = page.locator(".st-key-controls").get_by_role("textbox")
    figure = page.locator(".st-key-12_quantization-texts")
    expect(figure).to_contain_text("original")
    before = figure.inner_text()
    field.fill("预填充")
    field.press("Enter")
    expect(figure).not_to_have_text(before)
