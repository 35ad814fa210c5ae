"""Timelines in a real browser: zoom, tips, and two players on one clock.

They are shown by a page of their own, `apps/timelines.py`.
"""

import re
from collections.abc import Callable, Iterator
from urllib.parse import urlencode, urlsplit

import pytest
from playwright.sync_api import Browser, Page, ViewportSize, expect

from tests.browser import helpers
from tests.browser.conftest import Server, Watch
from tests.browser.verbs import button, data, player, scrub

PAIR = {"show": "pair"}


@pytest.fixture(scope="module")
def timelines(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    log = tmp_path_factory.mktemp("timelines") / "streamlit.log"
    running = Server(log, "tests/browser/apps/timelines.py")
    try:
        running.wait_until_healthy()
        yield running
    finally:
        running.stop()


@pytest.fixture
def visit(timelines: Server, browser: Browser) -> Iterator[Callable[..., Page]]:
    """Opens the page with these parameters; when the test ends it must have been clean."""
    watches: list[Watch] = []

    def open_one(query: dict[str, object], width: int = 1280, **options) -> Page:
        viewport: ViewportSize = {"width": width, "height": 720}
        page = browser.new_context(
            base_url=timelines.url, locale="en-US", viewport=viewport, **options
        ).new_page()
        watches.append(Watch(page, urlsplit(timelines.url).netloc))
        page.goto("/?" + urlencode(query))
        helpers.settle(page)
        return page

    yield open_one
    assert [entry for watch in watches for entry in watch.seen] == []


def where(page: Page) -> list[tuple[float, ...]]:
    """Where both players of a pair stand: moment of the clock, own step, time."""
    return [tuple(data(page, name, n) for name in ("moment", "step", "time")) for n in (0, 1)]


def expect_moment(page: Page, moment: int, number: int = 0) -> None:
    expect(player(page, number)).to_have_attribute("data-moment", str(moment))


def expect_zoom(page: Page, zoom: float) -> None:
    expect(player(page)).to_have_attribute("data-zoom", str(zoom))


def point(page: Page, share: float, row: float, number: int = 0) -> tuple[float, float]:
    """A place in a picture: a share of its width, a share of its height."""
    box = player(page, number).locator(".stage canvas").bounding_box()
    assert box is not None
    return box["x"] + share * box["width"], box["y"] + row * box["height"]


def test_a_timeline_is_stepped_played_and_read_as_a_table(visit):
    page = visit({"show": "requests"})
    first = data(page, "time")
    button(page, "forward").click()
    page.keyboard.press("ArrowRight")
    expect_moment(page, 2)
    assert data(page, "time") > first
    button(page, "autopause").click()
    page.keyboard.press("Space")
    expect(player(page)).to_have_attribute("data-playing", "true")
    expect(player(page)).to_have_attribute("data-playing", "false")  # somebody is done
    assert "is done" in player(page).locator(".note").inner_text()
    expect(player(page).locator(".spoken")).to_contain_text("is done")
    page.keyboard.press("End")
    expect_moment(page, int(data(page, "moments")) - 1)
    button(page, "table").click()
    row = player(page).locator("tbody tr[aria-current]")
    expect(row).to_contain_text("B · decode")
    assert player(page).locator("tbody tr:visible").count() == data(page, "moments")


def test_zoom_works_with_keys_buttons_and_the_wheel_and_follows_the_cursor(visit):
    page = visit({"show": "requests"})
    button(page, "zoom_in").click()
    expect_zoom(page, 2)
    page.keyboard.press("+")
    expect_zoom(page, 4)
    page.keyboard.press("-")
    expect_zoom(page, 2)
    page.mouse.move(*point(page, 0.5, 0.5))
    page.keyboard.down("Control")
    page.mouse.wheel(0, -240)
    page.keyboard.up("Control")
    expect_zoom(page, 8)
    page.mouse.wheel(0, -240)  # without Ctrl the wheel is the page's
    expect_zoom(page, 8)

    scrub = player(page).locator(".scrub")
    band = "scrub => parseFloat(scrub.style.getPropertyValue('--view-from'))"
    assert scrub.evaluate(band) < 10
    page.keyboard.press("End")
    assert scrub.evaluate(band) == 87.5  # the last eighth
    page.keyboard.press("0")
    expect_zoom(page, 1)
    expect(button(page, "zoom_out")).to_be_disabled()


def test_what_does_not_fit_is_told_by_mouse_finger_and_keyboard(visit):
    page = visit({"show": "requests"}, has_touch=True)
    button(page, "forward").click()
    page.keyboard.press("End")
    tip = player(page).locator(".tip")
    expect(tip).to_be_hidden()
    page.mouse.move(*point(page, 0.3, 0.12))
    expect(tip).to_have_text(re.compile(r"A · decode\s*0\.\d+ s – 0\.\d+ s"))
    page.mouse.move(5, 5)
    expect(tip).to_be_hidden()

    page.touchscreen.tap(*point(page, 0.12, 0.55))
    expect(tip).to_contain_text("D · queue")
    assert data(page, "moment") == data(page, "moments") - 1  # a tap goes nowhere
    player(page).locator(".stage canvas").focus()
    expect(tip).to_contain_text("A · decode")
    page.keyboard.press("ArrowDown")
    expect(tip).to_contain_text("B · decode")
    expect(player(page).locator(".spoken")).to_contain_text("B · decode")
    page.keyboard.press("Home")
    expect(tip).to_contain_text("B · prefill")
    page.keyboard.press("Escape")
    expect(tip).to_be_hidden()


def test_two_players_on_one_clock_move_together_by_time(visit):
    page = visit(PAIR)
    assert page.locator(".bar:visible").count() == 1  # the upper one leads
    button(page, "forward").click()
    for _ in range(8):
        page.keyboard.press("ArrowRight")
    for number in (0, 1):
        expect_moment(page, 9, number)
    upper, lower = data(page, "step", 0), data(page, "step", 1)
    assert 0 < upper < lower < 9  # a long prefill above, its chunks below
    assert data(page, "time", 0) == data(page, "time", 1)
    expect(page.get_by_text(f"lower: {lower:.0f}", exact=True)).to_be_visible()  # the server heard

    scrub(page, 0.6)
    moment = int(data(page, "moment", 1))
    assert moment > 9
    expect_moment(page, moment, 0)
    page.keyboard.press("Space")
    expect(player(page)).to_have_attribute("data-playing", "true")
    page.keyboard.press("Space")
    assert data(page, "moment", 0) == data(page, "moment", 1) >= moment
    page.keyboard.press("Home")
    expect_moment(page, 0)


def test_a_copied_link_opens_linked_players_at_the_same_moment(visit):
    page = visit(PAIR, permissions=["clipboard-read", "clipboard-write"])
    button(page, "next").click()
    button(page, "forward").click()
    button(page, "forward").click()
    shown = [
        (data(page, "moment", n), data(page, "step", n), data(page, "time", n)) for n in (0, 1)
    ]
    button(page, "copy").click()
    expect(player(page).locator(".notice")).to_contain_text("copied")
    link = page.evaluate("navigator.clipboard.readText()")
    query = dict(part.split("=") for part in urlsplit(link).query.split("&"))
    assert query == {"show": "pair", "step": str(int(shown[0][0]))}

    page = visit(query)
    assert where(page) == shown
    expect(page.get_by_text(f"upper: {shown[0][1]:.0f}", exact=True)).to_be_visible()
    expect(page.get_by_text(f"lower: {shown[1][1]:.0f}", exact=True)).to_be_visible()


@pytest.mark.parametrize(("width", "view"), [(390, ""), (1280, "lecture")])
def test_timelines_fit_a_phone_and_a_lecture_hall_and_everybody_can_use_them(visit, width, view):
    page = visit(PAIR | {"view": view, "step": 12}, width, reduced_motion="reduce")
    expect_moment(page, 12)
    assert helpers.faults(page) == []
    assert helpers.barriers(page) == []
    expect(button(page, "play")).to_have_attribute("aria-disabled", "true")
    button(page, "forward").click()
    page.keyboard.press("Space")
    expect_moment(page, 14, 1)
    assert player(page).get_attribute("data-playing") == "false"
    size = (
        player(page)
        .locator(".note")
        .evaluate("note => parseFloat(getComputedStyle(note).fontSize)")
    )
    assert size >= (18 if view else 14)
