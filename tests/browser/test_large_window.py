"""A large window: the figure takes what it gives, and lines of text stay short enough to read."""

import pytest

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
