"""Progress stays in the reader's own browser; an exam is the same for all who have its link."""

import json
import time
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.browser import helpers

ALONE = ".st-key-quiz-item-05-one_request_alone"
WHY = ".st-key-quiz-item-05-why_continuous"
FEEDBACK = '[class*="st-key-quiz-feedback-"]'
EXAM_ITEM = '[class*="st-key-quiz-item-exam"]'
KEY = "llm-serving-progress"
# As if the sitting that the browser keeps had begun so long ago that this is the time left.
LEAVE_SECONDS = """seconds => {
  const kept = JSON.parse(localStorage.getItem('llm-serving-exam'));
  kept.started = Date.now() / 1000 - 60 * kept.paper.minutes + seconds;
  localStorage.setItem('llm-serving-exam', JSON.stringify(kept));
}"""
MESSAGE = "[data-testid=stAlert]"
BOTH = {"05/one_request_alone", "05/why_continuous"}


def answer_rightly(page: Page) -> None:
    page.locator(ALONE).get_by_text("Hardly anything").click()
    expect(page.locator(f"{ALONE} {FEEDBACK}")).to_contain_text("concurrency")
    helpers.settle(page)


def answer_wrongly(page: Page) -> None:
    page.locator(WHY).get_by_text("I am sure").click()
    page.locator(WHY).get_by_text("It makes each request decode faster").click()
    expect(page.locator(f"{WHY} {FEEDBACK}")).to_contain_text("You were sure")
    helpers.settle(page)


def answer_one(page: Page, way: str) -> None:
    """Take the first option of the first question of the exam that has options to choose from."""
    with_options = page.locator(EXAM_ITEM).get_by_role("radio")
    while with_options.count() == 0:
        page.get_by_role("button", name=way).click()
        helpers.settle(page)
    with_options.first.check(force=True)
    expect(page.get_by_text("1 of 5 answered")).to_be_visible()
    helpers.settle(page)


def kept(page: Page) -> dict:
    return json.loads(page.evaluate(f"localStorage.getItem('{KEY}')") or "{}").get("marks", {})


def test_progress_survives_reload_export_and_import_until_it_is_reset(new_page):
    page = new_page("en", warm=True)
    helpers.visit(page, "/batching", part="check")
    answer_rightly(page)
    answer_wrongly(page)
    assert set(kept(page)) == BOTH

    helpers.visit(page, "/")  # a new session: the server has forgotten everything
    expect(page.locator(".st-key-card-05")).to_contain_text("self-check 1 / ")
    helpers.visit(page, "/batching", part="check")
    expect(page.locator(f"{WHY} {FEEDBACK}")).to_contain_text("You were sure")
    helpers.visit(page, "/quiz", part="practice")
    expect(page.get_by_text("Last time you were sure, and wrong")).to_be_visible()
    expect(page.locator(".st-key-quiz-item-practice-05-why_continuous")).to_be_visible()

    helpers.visit(page, "/quiz", part="progress")
    expect(page.get_by_text("2 answered, 1 correctly")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("button", name="Export progress").click()
    file = Path(download.value.path()).read_bytes()

    page.get_by_text("Reset", exact=True).click()
    page.get_by_role("button", name="Delete everything").click()
    expect(page.get_by_text("0 answered")).to_be_visible()
    helpers.settle(page)
    assert kept(page) == {}
    helpers.visit(page, "/quiz", part="progress")
    expect(page.get_by_text("0 answered")).to_be_visible()

    helpers.upload(page, file, "progress.json")
    expect(page.get_by_text("2 questions imported.")).to_be_visible()
    expect(page.get_by_text("2 answered, 1 correctly")).to_be_visible()
    helpers.settle(page)
    assert set(kept(page)) == BOTH
    broken = b'{"version": 1, "marks": {"05/why_continuous": {"answer": 99}}}'
    helpers.upload(page, broken, "progress.json")
    expect(page.locator(MESSAGE)).to_contain_text("marks.05/why_continuous.answer")
    expect(page.get_by_text("2 answered, 1 correctly")).to_be_visible()
    assert helpers.barriers(page) == []


def test_the_question_at_the_door_is_folded_asked_once_and_kept(new_page):
    page, door = new_page("en"), ".st-key-act-beforehand"
    helpers.visit(page, "/fragmentation")
    expect(page.locator(door)).to_be_visible()
    page.locator(door).get_by_role("button").first.click()
    page.locator('[data-testid="stForm"] label').filter(has_text="14").first.click()
    page.get_by_role("button", name="Keep", exact=True).click()
    expect(page.locator(door)).to_have_count(0)
    helpers.visit(page, "/quiz", part="progress")  # a new session: the browser has kept it
    row = page.locator(".st-key-progress-changes tr").filter(has_text="07")
    expect(row).to_contain_text("right")
    expect(row).to_contain_text("not yet")
    helpers.visit(page, "/fragmentation")
    helpers.settle(page)
    expect(page.locator(door)).to_have_count(0)
    helpers.visit(page, "/batching", longest=60)
    helpers.settle(page)
    expect(page.locator(door)).to_have_count(0)  # a link that carries state asks nothing


def test_two_tabs_add_to_each_other(new_page):
    page = new_page("en")
    helpers.visit(page, "/batching", part="check")
    tab = page.context.new_page()
    helpers.visit(tab, "/batching", part="check")
    answer_rightly(page)
    answer_wrongly(tab)
    assert set(kept(tab)) == BOTH


def test_what_was_tampered_with_in_the_browser_is_told_and_left_behind(new_page):
    page = new_page("en", warm=True)
    helpers.visit(page, "/")
    page.evaluate(f"localStorage.setItem('{KEY}', '[')")
    helpers.visit(page, "/quiz", part="progress")
    expect(page.locator(MESSAGE)).to_contain_text("cannot be read")
    expect(page.get_by_text("0 answered")).to_be_visible()


def test_an_exam_is_the_same_for_two_readers_and_judges_when_it_is_handed_in(new_page):
    papers: list[list[str | None]] = []
    for language, start, onward in (("zh", "开始", "下一题"), ("en", "Start", "Next question")):
        page = new_page(language, warm=True)
        helpers.visit(page, "/quiz", part="exam", seed=7, items=5)
        page.get_by_role("button", name=start).click()
        expect(page.locator(".countdown")).to_contain_text("14:")
        papers.append([])
        for at in range(5):
            item = page.locator(EXAM_ITEM)
            expect(item).to_contain_text(f"{at + 1} / 5")
            papers[-1].append(item.get_attribute("class"))
            if at < 4:
                page.get_by_role("button", name=onward).click()
    assert papers[0] == papers[1]

    answer_one(page, "Previous question")
    expect(page.locator(FEEDBACK)).to_have_count(0)
    expect(page.get_by_label("Paper number")).to_be_hidden()  # nobody changes the paper meanwhile
    page.get_by_role("button", name="Hand in", exact=True).click()
    expect(page.get_by_text("4 not answered.")).to_be_visible()
    expect(page.locator(FEEDBACK)).to_have_count(0)
    page.get_by_role("button", name="Hand it in").click()
    expect(page.locator(FEEDBACK)).to_have_count(5)
    expect(page.get_by_text("Not answered. The answer:")).to_have_count(4)
    expect(page.get_by_label("Paper number")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("button", name="Table of results").click()
    rows = Path(download.value.path()).read_text().splitlines()
    assert len(rows) == 1 + 5
    assert sum(row.endswith(",,,") for row in rows) == 4
    helpers.settle(page)
    assert helpers.barriers(page) == []


def test_an_exam_goes_on_after_a_reload_and_hands_itself_in_when_its_time_is_up(new_page):
    page = new_page("en", warm=True)
    link = {"part": "exam", "seed": 7, "items": 5, "minutes": 5}
    helpers.visit(page, "/quiz", **link)
    page.get_by_role("button", name="Start").click()
    expect(page.locator(".countdown")).to_contain_text("4:")
    answer_one(page, "Next question")

    page.evaluate(LEAVE_SECONDS, 230)
    began = time.monotonic()
    helpers.visit(page, "/")
    helpers.visit(page, "/quiz", **link)
    took = time.monotonic() - began
    expect(page.locator(".countdown")).to_contain_text("3:")
    expect(page.get_by_text("1 of 5 answered")).to_be_visible()
    assert kept(page) == {}

    page.evaluate(LEAVE_SECONDS, 4 + 2 * took)  # until after the visit, on any machine
    helpers.visit(page, "/quiz", **link)
    expect(page.locator(".countdown")).to_contain_text("0:")
    expect(page.locator(".st-key-exam-result")).to_contain_text("in 5.0 minutes", timeout=60_000)
    expect(page.locator(FEEDBACK)).to_have_count(5)
    helpers.settle(page)
    assert len(kept(page)) == 1

    helpers.visit(page, "/quiz", **link)
    expect(page.locator(".st-key-exam-result")).to_contain_text("in 5.0 minutes")
    page.get_by_role("button", name="Sit it again").click()
    expect(page.locator(".countdown")).to_contain_text("4:")
    expect(page.get_by_text("0 of 5 answered")).to_be_visible()


def test_a_question_about_curves_is_seen_whole_in_a_small_lecture_hall(new_page):
    page = new_page("en", viewport=(853, 480), warm=True)
    helpers.visit(page, "/quiz", part="exam", seed=10, items=5, view="lecture")
    page.get_by_role("button", name="Start").click()
    expect(page.locator(".js-plotly-plot .main-svg").first).to_be_visible()
    helpers.settle(page)
    assert helpers.overflow(page) <= 1
    expect(page.locator(EXAM_ITEM).get_by_role("radio")).to_have_count(3)
    expect(page.get_by_role("button", name="Hand in")).to_be_in_viewport(ratio=1)
    size = helpers.smallest_figure_text(page)
    assert size is not None
    assert size >= 18
