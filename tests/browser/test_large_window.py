"""The figure takes what a window gives and is seen whole; lines of text stay short."""

import pytest
from playwright.sync_api import expect

from tests.browser import helpers

WIDTHS = """() => ['.st-key-figure', '.st-key-intro'].map(
  name => document.querySelector(name).getBoundingClientRect().width)"""
FULL_HD, DESK = (1920, 1080), (1440, 900)


@pytest.mark.parametrize("path", ["/batching", "/quantization", "/simulator"])
def test_the_figure_grows_with_the_window_and_lines_stay_short(new_page, path):
    page = new_page("en", warm=True, viewport=DESK)
    helpers.visit(page, path)
    at_the_desk, _ = page.evaluate(WIDTHS)
    helpers.resize(page, *FULL_HD)
    figure, text = page.evaluate(WIDTHS)
    assert figure > 1.3 * at_the_desk
    assert text < 34 * 18
    assert figure > 1.5 * text
    assert helpers.faults(page) == []


FIGURES = """() => {
  const players = [...document.querySelectorAll('[data-testid=stBidiComponentIsolated]')].map(
    host => host.shadowRoot?.querySelector('.stage') ?? null);
  const charts = [...document.querySelectorAll('.st-key-figure [data-testid=stPlotlyChart]')];
  const boxes = [...players, ...charts].filter(Boolean).map(one => one.getBoundingClientRect());
  return [Math.max(...boxes.map(box => box.height)), Math.max(...boxes.map(box => box.bottom))];
}"""


@pytest.mark.parametrize(("path", "part"), [("/latency", "gaps"), ("/batching", "compare")])
def test_a_higher_window_has_a_higher_figure_and_it_is_seen_whole(new_page, path, part):
    page = new_page("zh", warm=True, viewport=(1440, 720))
    helpers.visit(page, path, part=part)
    low, _ = page.evaluate(FIGURES)
    helpers.resize(page, *DESK)
    high, bottom = page.evaluate(FIGURES)
    assert high > 1.1 * low
    assert bottom <= DESK[1]


def test_further_settings_come_in_a_drawer_that_leaves_the_figure_free(new_page):
    page = new_page("en", warm=True, viewport=DESK)
    helpers.visit(page, "/workbench")
    page.get_by_role("button", name="More").click()
    drawer = page.locator("[data-testid=stPopoverBody]").bounding_box()
    figure = page.locator(".st-key-figure").bounding_box()
    assert drawer["x"] + drawer["width"] < figure["x"]
    assert (drawer["y"], drawer["height"]) == (0, DESK[1])
    page.keyboard.press("Escape")
    expect(page.locator("[data-testid=stPopoverBody]")).to_have_count(0)
