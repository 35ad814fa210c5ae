"""Progress stays in the reader's own browser; an exam is the same for all who have its link."""

import json
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser import helpers

ALONE = ".st-key-quiz-item-05-one_request_alone"
WHY = ".st-key-quiz-item-05-why_continuous"
KEY = "llm-serving-progress"
MESSAGE = "[data-testid=stAlert]"


def answer_one_wrongly_and_one_rightly(page: Page) -> None:
    helpers.visit(page, "/batching", part="check")
    page.locator(ALONE).get_by_text("Hardly anything").click()
    expect(page.locator('[class*="st-key-quiz-feedback-right"]')).to_be_visible()
    page.locator(WHY).get_by_text("I am sure").click()
    page.locator(WHY).get_by_text("It makes each request decode faster").click()
    expect(page.locator('[class*="st-key-quiz-feedback-wrong"]')).to_be_visible()
    helpers.settle(page)


def kept(page: Page) -> dict:
    return json.loads(page.evaluate(f"localStorage.getItem('{KEY}')") or "{}").get("marks", {})


def upload(page: Page, content: bytes) -> None:
    file = {"name": "progress.json", "mimeType": "application/json", "buffer": content}
    page.locator("input[type=file]").set_input_files(file)  # type: ignore[arg-type]


def test_progress_survives_a_reload_and_shows_on_the_home_page(new_page):
    page = new_page("en")
    answer_one_wrongly_and_one_rightly(page)
    assert set(kept(page)) == {"05/one_request_alone", "05/why_continuous"}
    helpers.visit(page, "/")  # a new session: the server has forgotten everything
    expect(page.locator(".st-key-done-05")).to_contain_text("self-check 1 / ")
    helpers.visit(page, "/batching", part="check")
    expect(page.locator(WHY)).to_contain_text("You were sure")
    helpers.visit(page, "/quiz", part="practice")
    expect(page.get_by_text("Last time you were sure, and wrong")).to_be_visible()
    expect(page.locator(".st-key-quiz-item-practice-05-why_continuous")).to_be_visible()
    assert helpers.barriers(page) == []


def test_progress_is_carried_to_another_browser_as_a_file(new_page, tmp_path):
    page = new_page("en")
    answer_one_wrongly_and_one_rightly(page)
    helpers.visit(page, "/quiz", part="progress")
    expect(page.get_by_text("2 answered, 1 rightly")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("button", name="Export progress").click()
    file = tmp_path / "progress.json"
    download.value.save_as(file)

    other = new_page("en")
    helpers.visit(other, "/quiz", part="progress")
    expect(other.get_by_text("0 answered")).to_be_visible()
    upload(other, file.read_bytes())
    expect(other.get_by_text("2 questions imported.")).to_be_visible()
    expect(other.get_by_text("2 answered, 1 rightly")).to_be_visible()
    helpers.settle(other)
    assert kept(other) == kept(page)

    upload(other, b'{"version": 1, "marks": {"05/why_continuous": {"answer": 99}}}')
    expect(other.locator(MESSAGE)).to_contain_text("marks.05/why_continuous.answer")
    expect(other.get_by_text("2 answered, 1 rightly")).to_be_visible()


def test_reset_forgets_everything_in_the_browser_too(new_page):
    page = new_page("en")
    answer_one_wrongly_and_one_rightly(page)
    helpers.visit(page, "/quiz", part="progress")
    expect(page.get_by_text("2 answered")).to_be_visible()
    page.get_by_text("Reset", exact=True).click()
    page.get_by_role("button", name="Delete everything").click()
    expect(page.get_by_text("0 answered")).to_be_visible()
    helpers.settle(page)
    assert kept(page) == {}
    helpers.visit(page, "/quiz", part="progress")
    expect(page.get_by_text("0 answered")).to_be_visible()


def test_two_tabs_add_to_each_other(new_page):
    page = new_page("en")
    helpers.visit(page, "/batching", part="check")
    tab = page.context.new_page()
    helpers.visit(tab, "/batching", part="check")
    page.locator(ALONE).get_by_text("Hardly anything").click()
    expect(page.locator('[class*="st-key-quiz-feedback-"]')).to_be_visible()
    helpers.settle(page)
    tab.locator(WHY).get_by_text("It makes each request decode faster").click()
    expect(tab.locator('[class*="st-key-quiz-feedback-"]')).to_be_visible()
    helpers.settle(tab)
    assert set(kept(tab)) == {"05/one_request_alone", "05/why_continuous"}


@pytest.mark.parametrize("text", ["[", '{"version": 1, "marks": []}', "x" * 300_000])
def test_what_was_tampered_with_in_the_browser_is_told_and_left_behind(new_page, text):
    page = new_page("en")
    helpers.visit(page, "/")
    page.evaluate(f"text => localStorage.setItem('{KEY}', text)", text)
    helpers.visit(page, "/quiz", part="progress")
    expect(page.locator(MESSAGE)).to_contain_text("cannot be read")
    expect(page.get_by_text("0 answered")).to_be_visible()


def test_two_readers_with_one_link_sit_the_same_paper(new_page):
    papers = []
    for language, start, onward in (("en", "Start", "Next question"), ("zh", "开始", "下一题")):
        page = new_page(language)
        helpers.visit(page, "/quiz", part="exam", seed=7, items=5)
        page.get_by_role("button", name=start).click()
        expect(page.locator(".countdown")).to_contain_text("1")
        seen = []
        for at in range(5):
            item = page.locator('[class*="st-key-quiz-item-exam"]')
            expect(item).to_contain_text(f"{at + 1} / 5")
            seen.append(item.get_attribute("class"))
            page.get_by_role("button", name=onward).click() if at < 4 else None
        papers.append(seen)
    assert papers[0] == papers[1]


def test_an_exam_judges_when_it_is_handed_in_and_gives_a_table(new_page):
    page = new_page("en")
    helpers.visit(page, "/quiz", part="exam", seed=7, items=5)
    page.get_by_role("button", name="Start").click()
    page.locator('[class*="st-key-quiz-item-exam"]').get_by_role("radio").first.check(force=True)
    expect(page.get_by_text("1 of 5 answered")).to_be_visible()
    expect(page.locator('[class*="st-key-quiz-feedback-"]')).to_have_count(0)
    page.get_by_role("button", name="Hand in").click()
    expect(page.locator('[class*="st-key-quiz-feedback-"]')).to_have_count(1)
    with page.expect_download() as download:
        page.get_by_role("button", name="Table of results").click()
    rows = Path(download.value.path()).read_text().splitlines()
    assert len(rows) == 1 + 5
    assert sum(row.endswith(",,,") for row in rows) == 4
    helpers.settle(page)
    assert helpers.barriers(page) == []
