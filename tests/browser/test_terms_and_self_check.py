"""Terms explain themselves by pointer, keyboard and finger; the self-check answers and leads on."""

from playwright.sync_api import expect

from tests.browser import helpers

TERM = '[data-testid=stMain] a[href^="#term-"]'
CARD = "#glossary-card"
RADIO = ".st-key-quiz-item-05-one_request_alone"
FEEDBACK = '[class*="st-key-quiz-feedback-"]'


def test_a_term_shows_its_card_under_the_pointer_and_on_focus(new_page):
    page = new_page("zh", warm=True)
    helpers.visit(page, "/batching")
    address = page.url
    card, term = page.locator(CARD), page.locator(TERM).first
    expect(term).to_have_attribute("aria-describedby", "glossary-definition-term-request")
    term.hover()
    expect(card).to_contain_text("用户发来的一次提问")
    page.mouse.move(2, 2)
    expect(card).to_be_hidden()

    term.focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Shift+Tab")
    expect(card).to_be_visible()
    page.keyboard.press("Escape")
    expect(card).to_be_hidden()
    page.keyboard.press("Enter")
    expect(card).to_be_visible()
    assert page.url == address


def test_a_finger_opens_a_card_and_closes_it_elsewhere(new_page):
    page = new_page("en", viewport=(390, 844), has_touch=True, is_mobile=True)
    helpers.visit(page, "/batching")
    page.locator(TERM).first.tap()
    card = page.locator(CARD)
    expect(card).to_be_visible()
    box = card.bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390
    page.locator("h1").first.tap()
    expect(card).to_be_hidden()


def test_the_card_of_a_number_from_elsewhere_leads_on_to_its_source(new_page):
    page = new_page("en", warm=True)
    helpers.visit(page, "/cuda_graph")
    page.locator('a[href="#source-gpt-fast"]').focus()
    page.keyboard.press("Enter")
    expect(page.locator(CARD)).to_contain_text("Measured on: Llama-7B, A100")
    way = page.get_by_role("link", name="Open the source")
    expect(way).to_be_focused()
    expect(way).to_have_attribute("href", "https://pytorch.org/blog/accelerating-generative-ai-2/")
    page.keyboard.press("Escape")
    expect(page.locator(CARD)).to_be_hidden()
    expect(page.locator('a[href="#source-gpt-fast"]')).to_be_focused()


def test_an_answer_survives_a_change_of_language(new_page):
    page = new_page("zh", warm=True)
    helpers.visit(page, "/batching", part="check")
    page.locator(RADIO).get_by_text("几乎不变").click()
    expect(page.locator(FEEDBACK)).to_contain_text("好处要等并发上来才出现")
    page.get_by_text("English", exact=True).click()
    expect(page.locator(FEEDBACK)).to_contain_text("The gain appears with concurrency.")
    page.locator("h1").first.hover()
    helpers.settle(page)
    assert helpers.barriers(page) == []


def test_show_me_leads_into_the_state_that_shows_it(new_page):
    page = new_page("en", warm=True)
    helpers.visit(page, "/batching", part="check")
    page.locator(RADIO).get_by_text("Hardly anything").click()
    page.locator(FEEDBACK).get_by_role("link", name="Show me").click()
    expect(page.get_by_role("slider", name="Requests")).to_have_value("1")
