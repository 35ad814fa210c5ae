"""The course on two sheets: reached from home, and printed on either paper in either language."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser import helpers
from tests.browser.helpers import expect_address

MARGIN = "10mm"
PAPERS = {"A4": 190, "Letter": 196}  # mm between the margins
PX_PER_MM = 96 / 25.4
PDF_PAGE = re.compile(rb"/Type\s*/Page\b")
ROWS = '[class*="st-key-summary-"], .st-key-sheets tr'
NOT_PRINTED = (
    "[data-testid=stSidebar]",
    "[data-testid=stHeader]",
    ".st-key-acts",
    ".st-key-intro",
    ".st-key-onward",
    ".st-key-print",
)

# What sticks out of the paper, and what may be cut in two.
PRINTED_FAULTS = """rows => {
  const main = document.querySelector('[data-testid=stMain]'), found = [];
  for (const box of main.querySelectorAll('*'))
    if (box.getBoundingClientRect().right > innerWidth + 1) found.push('wide: ' + box.outerHTML);
  for (const row of main.querySelectorAll(rows))
    if (getComputedStyle(row).breakInside !== 'avoid') found.push('cut: ' + row.innerText);
  for (const text of main.querySelectorAll('.st-key-sheets :is(p, td, th, code)'))
    if (getComputedStyle(text).color !== 'rgb(0, 0, 0)') found.push('pale: ' + text.innerText);
  return found;
}"""


def num_sheets(page: Page, paper: str) -> int:
    margins = dict.fromkeys(("top", "right", "bottom", "left"), MARGIN)
    return len(PDF_PAGE.findall(page.pdf(format=paper, margin=margins)))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("language", "title"), [("zh", "一门课，两张纸"), ("en", "The course on two sheets")]
)
def test_home_leads_to_two_sheets_that_print_whole_and_alone(new_page, language, title):
    page = new_page(language, "dark", warm=True)
    helpers.visit(page, "/")
    page.locator(".st-key-map").get_by_role("link", name=title).click()
    expect(page.get_by_role("heading", name=title)).to_be_visible()
    expect_address(page, "/summary")
    helpers.settle(page)
    for place in NOT_PRINTED:
        expect(page.locator(place)).to_be_visible()
    page.emulate_media(media="print")
    for paper, width in PAPERS.items():
        assert num_sheets(page, paper) == 2
        page.set_viewport_size({"width": int(width * PX_PER_MM), "height": 900})
        assert page.evaluate(PRINTED_FAULTS, ROWS) == []
        for place in NOT_PRINTED:
            expect(page.locator(place)).to_be_hidden()


def test_a_button_prints_and_a_row_leads_to_its_chapter(new_page):
    page = new_page("en", warm=True)
    helpers.visit(page, "/summary")
    page.evaluate("window.print = () => document.body.classList.add('printed')")
    page.get_by_role("button", name="Print").click()
    expect(page.locator("body.printed")).to_be_attached()
    page.locator(".st-key-summary-05").get_by_role("link", name="05 Batching").click()
    expect_address(page, "/batching")
