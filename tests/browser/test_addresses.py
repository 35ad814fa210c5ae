"""A link is a state: moved controls, another language, copied links, hostile ones, the way back."""

from playwright.sync_api import Page, expect

from tests.browser import helpers
from tests.browser.helpers import expect_address, expect_step, nudge, slider
from tests.browser.verbs import (
    CARDS,
    PLAYER,
    RESULT,
    act_link,
    button,
    chapter_link,
    choose_language,
    values,
)

GUESS = ".st-key-predict-utilization"
EARLY_STEP = 5


def test_a_moved_control_changes_prose_figure_and_address(new_page):
    page = new_page("en", warm=True)
    helpers.visit(page, "/batching", part="sandbox")
    before = page.locator(RESULT).inner_text()
    nudge(page, "Requests", "Home")
    expect_address(page, "/batching", part="sandbox", requests=1)
    expect(page.locator(RESULT)).not_to_have_text(before, use_inner_text=True)
    expect(page.locator(PLAYER)).not_to_have_attribute("data-steps", "0")


def test_a_moved_control_changes_the_cards(new_page):
    page = new_page("en", warm=True)
    helpers.visit(page, "/workbench")
    before, said = values(page), page.locator(RESULT).inner_text()
    nudge(page, "Batch limit", "Home")
    expect_address(page, "/workbench", seqs=1)
    expect(page.locator(RESULT)).not_to_have_text(said, use_inner_text=True)
    assert values(page) != before


def test_another_language_changes_words_alone(new_page):
    page = new_page("zh", warm=True)
    helpers.visit(page, "/batching")
    nudge(page, "B 写多少 token")
    expect_address(page, "/batching", longest=101)
    page.locator(GUESS).get_by_role("spinbutton").fill("80")
    page.keyboard.press("Enter")
    page.locator(GUESS).get_by_role("button", name="画上我的预测").click()
    expect(page.locator(GUESS).get_by_role("button", name="重新预测")).to_be_visible()
    page.locator(f"{PLAYER} .scrub").fill(str(EARLY_STEP))
    note = page.locator(f"{PLAYER} .note")
    before = note.inner_text()

    choose_language(page, "English")
    expect(page.locator("html")).to_have_attribute("lang", "en")
    expect_address(page, "/batching", longest=101, lang="en")
    expect(slider(page, "Tokens that B writes")).to_have_value("101")
    expect(page.locator(GUESS).get_by_role("button", name="Guess again")).to_be_visible()
    expect(note).not_to_have_text(before)
    expect_step(page, EARLY_STEP)

    act_link(page, "compare").click()
    expect_address(page, "/batching", longest=101, lang="en", part="compare")
    choose_language(page, "中文")
    expect_address(page, "/batching", longest=101, lang="zh", part="compare")
    act_link(page, "hook").click()
    expect(page.locator(GUESS).get_by_role("button", name="重新预测")).to_be_visible()
    expect_step(page, EARLY_STEP)


def test_a_link_gives_another_reader_the_same_numbers_in_either_language(new_page):
    page = new_page("en", warm=True)
    helpers.visit(page, "/workbench")
    nudge(page, "Batch limit", "Home")
    expect_address(page, "/workbench", seqs=1)
    nudge(page, "Prompt tokens")
    expect_address(page, "/workbench", seqs=1, prompt=1000)
    helpers.settle(page)
    numbers, said = values(page), page.locator(RESULT).inner_text()

    other = new_page("en")
    other.goto(page.url)
    expect(other.locator(RESULT)).to_have_text(said, use_inner_text=True, timeout=helpers.WAIT_MS)
    helpers.settle(other)
    assert values(other) == numbers

    chinese = new_page("zh", warm=True)
    chinese.goto(page.url)
    helpers.settle(chinese)
    assert values(chinese) == numbers
    expect(chinese.locator("html")).to_have_attribute("lang", "zh-CN")


def test_a_copied_link_opens_at_its_step(new_page):
    page = new_page("en", warm=True)
    helpers.visit(page, "/batching", part="compare", width=4, step=12)
    expect_step(page, 12)
    expect_address(page, "/batching", part="compare", width=4, step=12)
    button(page, "forward").click()
    expect_step(page, 13)
    nudge(page, "Slots")
    expect_address(page, "/batching", part="compare", width=5)
    expect_step(page, 13)


def test_a_hostile_address_is_clamped_and_cleaned(new_page):
    page = new_page("en", warm=True)
    hostile = {"slots": 999, "requests": "abc", "spread": "nan", "arrival": "<b>x</b>"}
    helpers.visit(page, "/batching", part="sandbox", lang="xx", step="²", A="1", **hostile)
    expect_address(page, "/batching", part="sandbox", slots=12)
    places = [slider(page, name) for name in ("Slots", "Requests", "Length spread")]
    assert [place.input_value() for place in places] == ["12", "24", "4"]
    assert helpers.faults(page) == []
    helpers.visit(page, "/batching", part="sandbox", slots=7)  # typed by hand
    expect(slider(page, "Slots")).to_have_value("7")


def test_back_and_forward_walk_moves_acts_and_pages_in_the_chosen_language(new_page):
    page = new_page("zh", warm=True)
    helpers.visit(page, "/")
    choose_language(page, "English")
    expect_address(page, "/", lang="en")
    page.locator('.st-key-map a[href^="batching"]').click()
    expect_address(page, "/batching", lang="en")
    act_link(page, "sandbox").click()
    expect_address(page, "/batching", lang="en", part="sandbox")
    expect(slider(page, "Slots")).to_have_value("4")
    nudge(page, "Slots")
    expect_address(page, "/batching", lang="en", part="sandbox", slots=5)
    nudge(page, "Requests")
    expect_address(page, "/batching", lang="en", part="sandbox", slots=5, requests=25)
    chapter_link(page, "simulator").click()
    expect_address(page, "/simulator", lang="en")
    helpers.settle(page)

    walked: list[tuple[str, dict[str, object], str | None]] = [
        ("/batching", {"part": "sandbox", "slots": 5, "requests": 25}, "5 25"),
        ("/batching", {"part": "sandbox", "slots": 5}, "5 24"),
        ("/batching", {"part": "sandbox"}, "4 24"),
        ("/batching", {}, None),
        ("/", {}, None),
    ]
    for place in walked:
        page.go_back()
        expect_place(page, *place)
    for place in reversed(walked[:-1]):
        page.go_forward()
        expect_place(page, *place)
    page.go_forward()
    expect_address(page, "/simulator", lang="en")
    expect(page.locator(CARDS)).to_be_visible()


def expect_place(page: Page, path: str, query: dict[str, object], sliders: str | None) -> None:
    expect_address(page, path, lang="en", **query)
    if sliders:
        slots, requests = sliders.split()
        expect(slider(page, "Slots")).to_have_value(slots)
        expect(slider(page, "Requests")).to_have_value(requests)
    helpers.settle(page)
    assert page.locator("html").get_attribute("lang") == "en"
    expect_address(page, path, lang="en", **query)  # nothing was added afterwards


def test_going_elsewhere_and_back_by_the_chapter_list_keeps_values(new_page):
    page = new_page("en", warm=True)
    helpers.visit(page, "/batching", part="sandbox")
    nudge(page, "Slots")
    expect_address(page, "/batching", part="sandbox", slots=5)
    page.locator(f"{PLAYER} .scrub").fill(str(EARLY_STEP))
    expect_step(page, EARLY_STEP)
    helpers.settle(page)
    chapter_link(page, "simulator").click()
    expect_address(page, "/simulator")
    expect(page.locator(CARDS)).to_be_visible()
    chapter_link(page, "batching").click()
    expect_address(page, "/batching", part="sandbox", slots=5)
    expect(slider(page, "Slots")).to_have_value("5")
    expect_step(page, EARLY_STEP)
