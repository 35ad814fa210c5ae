"""A live slider: numbers and the first figure follow the hand, all else follows its release.

A test moves the hand and waits for what the reader would see while the slider is still held.
"""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, WebSocketRoute, expect

from benchmarks.support.browser import serving
from tests.browser import helpers
from tests.browser.helpers import expect_address, slider
from tests.browser.verbs import CARDS, RESULT, values

RATE = "Arrivals per s"
FIRST_CHART, SECOND_CHART = (
    "[class*=st-key-17_workbench-timeline]",
    "[class*=st-key-17_workbench-load]",
)
ANSWER = ".st-key-live-answer"
LAST = re.compile("40")  # of the places of the slider


@pytest.fixture
def simulator(new_page) -> Page:
    page = new_page("en", warm=True)
    helpers.visit(page, "/workbench")
    return page


class Scale:
    """Where a slider is on the screen."""

    def __init__(self, page: Page, name: str):
        box = page.locator("[data-testid=stSlider]").filter(has_text=name)
        box.scroll_into_view_if_needed()
        track = box.bounding_box()
        value = box.locator("[data-testid=stSliderThumbValue]").bounding_box()
        assert track
        assert value
        self.left, self.width = track["x"], track["width"]
        self.thumb = value["x"] + value["width"] / 2
        self.y = value["y"] + value["height"] + 8  # the value stands above the thumb

    def at(self, share: float) -> float:
        return self.left + share * self.width


class Hand:
    """A mouse on a slider."""

    def __init__(self, page: Page, name: str):
        self.mouse, self.scale = page.mouse, Scale(page, name)
        self.to_start()
        self.mouse.down()

    def to(self, share: float) -> None:
        self.mouse.move(self.scale.at(share), self.scale.y)

    def to_start(self) -> None:
        self.mouse.move(self.scale.thumb, self.scale.y)

    def let_go(self) -> None:
        self.mouse.up()


def shown(page: Page, place: str) -> str:
    return page.locator(place).inner_text()


def expect_other(page: Page, place: str, than: str) -> None:
    expect(page.locator(place)).not_to_have_text(than, use_inner_text=True)


class Line:
    """What goes between browser and server: heard, lost or held up as a test wants it."""

    def __init__(self, page: Page):
        self.told: list[bytes] = []  # what the browser said of a hand
        self.loses: Callable[[], bool] = lambda: False
        self.held_up: list[str | bytes] | None = None
        page.route_web_socket("**/_stcore/stream", self._connect)

    def _connect(self, browser: WebSocketRoute) -> None:
        self.browser, server = browser, browser.connect_to_server()

        def to_server(message: str | bytes) -> None:
            if isinstance(message, bytes) and b'"hand"' in message:
                self.told.append(message)
                if self.loses():
                    return
            server.send(message)

        def to_browser(message: str | bytes) -> None:
            if self.held_up is None:
                browser.send(message)
            else:
                self.held_up.append(message)

        browser.on_message(to_server)
        server.on_message(to_browser)

    @property
    def places(self) -> list[str]:
        """Where the browser said the hand is; what it has said again counts once."""
        found = [re.search(rb'"place":(\d+)', message) for message in self.told]
        return list(dict.fromkeys(match[1].decode() for match in found if match))

    def knows_the_hand_is_gone(self) -> bool:
        """Whether the server has been told and has answered, though the browser may not know."""
        last = self.told[-1] if self.told else b""
        number = re.search(rb'"number":(\d+)', last)
        if number is None or b'"held":false' not in last:
            return False
        answer = b'"answered": %s' % number[1]
        return any(
            answer in message for message in self.held_up or [] if isinstance(message, bytes)
        )

    def hold_up(self) -> None:
        self.held_up = []

    def go_on(self) -> None:
        messages, self.held_up = self.held_up or [], None
        for message in messages:
            self.browser.send(message)


def test_numbers_and_first_figure_follow_the_hand_the_rest_and_the_address_its_release(simulator):
    page = simulator
    first, second = page.locator(FIRST_CHART), page.locator(SECOND_CHART)
    cards, result = shown(page, CARDS), shown(page, RESULT)
    drawn, drawn_second = first.inner_html(), second.inner_text()
    hand = Hand(page, RATE)
    hand.to(1.0)
    expect_other(page, CARDS, cards)
    expect(first.locator(".main-svg").first).to_be_visible()
    page.wait_for_function(
        "([place, drawn]) => document.querySelector(place).innerHTML !== drawn",
        arg=[FIRST_CHART, drawn],
    )
    assert shown(page, RESULT) == result
    assert second.inner_text() == drawn_second
    expect_address(page, "/workbench")
    at_the_end = values(page)

    hand.let_go()
    expect_address(page, "/workbench", rate=40)
    expect_other(page, RESULT, result)
    helpers.settle(page)
    assert values(page) == at_the_end
    page.reload()
    helpers.settle(page)
    expect(slider(page, RATE)).to_have_attribute("aria-valuetext", LAST)
    assert values(page) == at_the_end


def test_back_takes_a_drag_back(simulator):
    page = simulator
    cards = shown(page, CARDS)
    hand = Hand(page, RATE)
    hand.to(0.6)
    hand.to(1.0)
    hand.let_go()
    expect_address(page, "/workbench", rate=40)
    expect_other(page, CARDS, cards)
    page.go_back()
    expect_address(page, "/workbench")
    expect(page.locator(CARDS)).to_have_text(cards, use_inner_text=True)
    expect(slider(page, RATE)).to_have_attribute("aria-valuetext", "8")


def test_a_hand_that_comes_back_to_where_it_began_has_changed_nothing(simulator):
    page = simulator
    cards, result = shown(page, CARDS), shown(page, RESULT)
    hand = Hand(page, RATE)
    hand.to(1.0)
    expect_other(page, CARDS, cards)
    hand.to_start()
    expect(page.locator(CARDS)).to_have_text(cards, use_inner_text=True)
    hand.let_go()
    expect(page.locator(ANSWER)).to_contain_text('"moving": false')
    helpers.settle(page)
    assert shown(page, RESULT) == result
    expect_address(page, "/workbench")


def test_one_request_is_on_its_way_and_of_those_that_wait_the_newest_wins(new_page):
    page = new_page("en")
    line = Line(page)
    helpers.visit(page, "/workbench")
    cards = shown(page, CARDS)
    hand = Hand(page, RATE)
    line.hold_up()
    for share in (0.6, 0.7, 0.8, 0.9, 1.0):
        hand.to(share)
    (first,) = line.places
    line.go_on()
    expect_other(page, CARDS, cards)
    hand.let_go()
    expect_address(page, "/workbench", rate=40)
    assert line.places == [first, "12"]  # the last of the thirteen, counted from 0


def test_what_the_browser_says_before_it_knows_the_new_address_takes_no_move_back(new_page):
    page = new_page("en")
    line = Line(page)
    helpers.visit(page, "/workbench")
    line.hold_up()
    slider(page, RATE).focus()
    page.keyboard.press("End")
    while not line.knows_the_hand_is_gone():  # which the browser says at the old address
        page.wait_for_timeout(100)
    line.go_on()
    expect_address(page, "/workbench", rate=40)


def test_a_request_without_an_answer_is_said_again_after_a_second(new_page):
    page = new_page("en")
    line = Line(page)
    helpers.visit(page, "/workbench")
    cards = shown(page, CARDS)
    line.loses = lambda: len(line.told) == 1
    hand = Hand(page, RATE)
    hand.to(1.0)
    expect_other(page, CARDS, cards)
    assert len(line.told) == 2
    hand.let_go()
    expect_address(page, "/workbench", rate=40)


def test_a_key_that_is_held_is_followed_and_its_release_writes_the_address(simulator):
    page = simulator
    cards = shown(page, CARDS)
    slider(page, RATE).focus()
    for _ in range(3):  # pressed, and repeated while it is held
        page.keyboard.down("ArrowRight")
    expect_other(page, CARDS, cards)
    expect_address(page, "/workbench")
    page.keyboard.up("ArrowRight")
    expect_address(page, "/workbench", rate=15)
    for key, rate in (("Home", 0.5), ("PageUp", 1), ("ArrowUp", 2), ("ArrowLeft", 1), ("End", 40)):
        page.keyboard.press(key)
        expect_address(page, "/workbench", rate=rate)
    expect(slider(page, RATE)).to_be_focused()


def test_a_finger_is_followed_too(new_page):
    page = new_page("en", viewport=(390, 844), has_touch=True)
    helpers.visit(page, "/workbench")
    cards = shown(page, CARDS)
    scale = Scale(page, RATE)
    finger = page.context.new_cdp_session(page)

    def touch(kind: str, *points: float) -> None:
        where = [{"x": x, "y": scale.y} for x in points]
        finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": where})

    touch("touchStart", scale.thumb)
    touch("touchMove", scale.at(0.7))
    touch("touchMove", scale.at(1.0))
    expect_other(page, CARDS, cards)
    expect_address(page, "/workbench")
    touch("touchEnd")
    expect_address(page, "/workbench", rate=40)


ALONE_AT_8 = """() => {
  const sliders = [...document.querySelectorAll("input[type=range]")];
  return sliders.length === 1 && sliders[0].value === "8";
}"""


def test_a_page_that_allows_less_goes_on_following_and_puts_the_thumb_back(browser):
    script = Path(__file__).with_name("clamped_page.py")
    with serving(str(script)) as address:
        page = browser.new_page(base_url=address)
        helpers.visit(page, "/")
        served = page.get_by_text("served")
        expect(served).to_have_text("4 served")
        hand = Hand(page, "Wanted")
        hand.to(0.9)
        expect(served).to_have_text("8 served")
        hand.to(1.0)  # again 8: the page has nothing new to show
        hand.to(0.0)
        expect(served).to_have_text("1 served")
        hand.to(1.0)
        expect(served).to_have_text("8 served")
        hand.let_go()
        page.wait_for_function(ALONE_AT_8)  # another slider than the one that was dragged
        expect_address(page, "/", n=8)
        expect(served).to_have_text("8 served")
        page.close()
