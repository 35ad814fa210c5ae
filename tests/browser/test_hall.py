"""A hall: two processes behind Debian's nginx.  Whatever happens to a server, nothing is lost.

Each reader stays with one process.  When theirs dies, is replaced, stands still, or the network
goes, the page comes back by itself and says so in one line.
"""

import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.browser import helpers
from tests.browser.conftest import LOCALES, free_port, is_healthy
from tests.browser.helpers import expect_address, expect_step, slider
from tests.browser.test_live_slider import Hand
from tests.browser.test_quiz_page import EXAM_ITEM, answer_one
from tests.browser.test_real_traffic import azure
from tests.browser.verbs import RESULT, button, expect_playing, step_of, values
from tests.chapters import ROOT

LINE = "#tab-line"
BACK = {"en": "Connected again", "zh": "又连上了"}
# Every line that was said, since it goes by itself.
WRITE_DOWN = """
window.said = [];
new MutationObserver(() => {
  const words = document.getElementById('tab-line')?.textContent;
  if (words && said.at(-1) !== words) said.push(words);
}).observe(document, {subtree: true, childList: true, characterData: true});
"""
HAS_SAID = "words => said.some(line => line.includes(words))"
RATE = "每秒到达"
GUESS = ".st-key-predict-utilization"
START_SECONDS = 60
EXAM = {"part": "exam", "seed": 7, "items": 5, "minutes": 30}
PAUSE_SECONDS, OFFLINE_SECONDS = 20, 10


class Hall:
    """`make hall PROCESSES=2`, with ports of its own."""

    def __init__(self, log: Path):
        self.port = free_port()
        self.ports = self._two_free()
        self.log = log
        given = {"HALL_PORT": self.port, "FIRST_PORT": self.ports[0], "PROCESSES": 2}
        self.running = subprocess.Popen(
            [sys.executable, "-m", "deploy.hall"],
            cwd=ROOT,
            env=os.environ | {key: str(value) for key, value in given.items()},
            stdout=log.open("w"),
            stderr=subprocess.STDOUT,
        )
        self.wait_for("The course:")

    @staticmethod
    def _two_free() -> tuple[int, int]:
        first = free_port()
        return first, first + 1

    @property
    def url(self) -> str:
        return f"http://localhost:{self.port}"

    def wait_for(self, words: str, times: int = 1) -> None:
        deadline = time.monotonic() + START_SECONDS
        while self.log.read_text().count(words) < times:
            assert self.running.poll() is None, self.log.read_text()
            assert time.monotonic() < deadline, self.log.read_text()
            time.sleep(0.1)

    def wait_until_healthy(self, port: int) -> None:
        deadline = time.monotonic() + START_SECONDS
        while not is_healthy(f"http://127.0.0.1:{port}"):
            assert time.monotonic() < deadline, self.log.read_text()
            time.sleep(0.1)

    def send(self, number: signal.Signals, port: int) -> None:
        """To the process at this port."""
        os.kill(int(re.findall(rf"^{port} is (\d+)$", self.log.read_text(), re.M)[-1]), number)

    def stop(self) -> None:
        self.running.terminate()
        self.running.wait(timeout=30)


@pytest.fixture(scope="module")
def hall(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hall]:
    if not shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin"):
        pytest.skip("nginx is not installed")
    running = Hall(tmp_path_factory.mktemp("hall") / "hall.log")
    yield running
    running.stop()


Reader = Callable[..., Page]


@pytest.fixture
def reader(hall: Hall, browser: Browser) -> Iterator[Reader]:
    """A reader of the hall; `at` says with which process."""
    contexts: list[BrowserContext] = []

    def come(at: int, language: str = "en") -> Page:
        context = browser.new_context(base_url=hall.url, locale=LOCALES[language])
        contexts.append(context)
        cookie = f"{hall.ports[at]}.{secrets.token_hex(16)}"
        context.add_init_script(WRITE_DOWN)
        hall.wait_until_healthy(hall.ports[at])
        context.add_cookies([{"name": "hall", "value": cookie, "url": hall.url}])
        return context.new_page()

    yield come
    for context in contexts:
        context.close()


def process_of(page: Page) -> int:
    (cookie,) = (one for one in page.context.cookies() if one["name"] == "hall")
    return int(cookie["value"].partition(".")[0])


def expect_back(page: Page, language: str = "en") -> None:
    """The one line that says so, and the page at rest."""
    page.wait_for_function(HAS_SAID, arg=BACK[language], timeout=helpers.WAIT_MS)
    page.evaluate("said.length = 0")
    helpers.settle(page)


# -- who is where ------------------------------------------------------------------------------


def answer(hall: Hall, path: str, cookie: str = "") -> tuple[str, dict[str, str]]:
    """The hall's cookie as it is set, "" for not at all, and the other headers."""
    request = urllib.request.Request(hall.url + path, headers={"Accept-Encoding": "gzip"})
    if cookie:
        request.add_header("Cookie", cookie)
    with urllib.request.urlopen(request, timeout=10) as given:
        headers = given.headers
    cookies = [one.partition(";")[0] for one in headers.get_all("Set-Cookie", [])]
    return next((one for one in cookies if one.startswith("hall=")), ""), dict(headers.items())


def test_readers_spread_and_each_stays_with_their_process(hall):
    cookies = [answer(hall, "/")[0] for _ in range(4)]
    assert {int(cookie.removeprefix("hall=")[:-33]) for cookie in cookies} == set(hall.ports)
    for cookie in cookies:
        assert answer(hall, "/_stcore/health", cookie)[0] == ""  # nothing new to say


def test_what_streamlit_serves_is_compressed_and_kept(hall):
    with urllib.request.urlopen(hall.url, timeout=10) as page:
        (script,) = re.findall(rb'src="\./(static/js/index[^"]*)"', page.read())
    _, headers = answer(hall, "/" + script.decode())
    assert headers["Content-Encoding"] == "gzip"
    assert "immutable" in headers["Cache-Control"]


# -- a process dies ----------------------------------------------------------------------------


class Class:
    """Three readers of one process: one watches a run, one drags a slider, one sits an exam."""

    def __init__(self, reader: Reader):
        self.playing, self.dragging, self.sitting = reader(0), reader(0, "zh"), reader(0)

    def begin(self) -> None:
        page = self.playing
        helpers.visit(page, "/batching")
        page.locator(GUESS).get_by_role("spinbutton").fill("80")
        page.keyboard.press("Enter")
        page.locator(GUESS).get_by_role("button", name="Draw my guess").click()
        expect(page.locator(GUESS).get_by_role("button", name="Guess again")).to_be_visible()
        helpers.settle(page)
        helpers.visit(self.dragging, "/workbench", prompt=1000)
        page = self.sitting
        helpers.visit(page, "/quiz", **EXAM)
        page.get_by_role("button", name="Start").click()
        expect(page.locator(".countdown")).to_contain_text("29:")
        answer_one(page, "Next question")
        self.question = page.locator(EXAM_ITEM).get_attribute("class")

    @property
    def pages(self) -> tuple[Page, Page, Page]:
        return self.playing, self.dragging, self.sitting

    def do(self, share: float, act: Callable[[], None]) -> None:
        """Let the three be at it while this happens, the slider held at a share of its way; then
        wait for them to be back."""
        button(self.playing, "reset").click()
        button(self.playing, "play").click()
        expect_playing(self.playing, True)
        for page in self.pages:
            page.evaluate("said.length = 0")
        rate = slider(self.dragging, RATE)
        before = rate.input_value()
        hand = Hand(self.dragging, RATE)
        hand.to(share)
        expect(rate).not_to_have_value(before)
        self.rate = rate.get_attribute("aria-valuetext")
        act()
        expect(self.dragging.locator(LINE)).to_be_visible(timeout=helpers.WAIT_MS)
        hand.let_go()
        for page, language in zip(self.pages, ("en", "zh", "en"), strict=True):
            expect_back(page, language)

    def expect_nothing_lost(self) -> None:
        page = self.playing
        expect_address(page, "/batching")
        expect(page.locator(GUESS).get_by_role("button", name="Guess again")).to_be_visible()
        assert step_of(page) > 0
        page = self.dragging
        expect_address(page, "/workbench", prompt=1000, rate=self.rate)
        expect(slider(page, RATE)).to_have_attribute("aria-valuetext", self.rate or "")
        page = self.sitting
        expect(page.get_by_text("1 of 5 answered")).to_be_visible()
        expect(page.locator(EXAM_ITEM)).to_have_attribute("class", self.question or "")
        expect(page.locator(".countdown")).to_contain_text(re.compile("2[89]:"))


@pytest.mark.timeout(400)  # three readers, each gone and back twice, on a busy machine
def test_nothing_is_lost_when_a_process_is_killed_and_when_all_are_replaced(hall, reader):
    readers = Class(reader)
    readers.begin()
    assert {process_of(page) for page in readers.pages} == {hall.ports[0]}
    readers.do(0.4, lambda: hall.send(signal.SIGKILL, hall.ports[0]))
    readers.expect_nothing_lost()
    assert {process_of(page) for page in readers.pages} == {hall.ports[1]}
    hall.wait_for(f"{hall.ports[0]} is", times=2)

    readers.do(0.7, lambda: hall.running.send_signal(signal.SIGHUP))
    hall.wait_for("All processes are new")
    readers.expect_nothing_lost()


def test_a_file_that_was_brought_is_brought_again(hall, reader):
    page = reader(0)
    helpers.visit(page, "/workbench", part="trace")
    helpers.upload(page, azure(40), "trace.csv")
    expect(page.locator(RESULT)).to_contain_text("40")
    helpers.settle(page)
    numbers = values(page)
    hall.send(signal.SIGKILL, hall.ports[0])
    expect_back(page)
    expect(page.locator(RESULT)).to_contain_text("40")
    helpers.settle(page)
    assert values(page) == numbers


# -- nobody answers for a while ----------------------------------------------------------------


@pytest.mark.timeout(300)
def test_a_server_that_stands_still_and_a_network_that_goes_lose_nothing(hall, reader):
    waiting, away = reader(0), reader(1, "zh")
    for page, label in ((waiting, "Slots"), (away, "槽位数")):
        helpers.visit(page, "/batching", part="sandbox")
        helpers.nudge(page, label)
        expect_address(page, "/batching", part="sandbox", slots=5)
        button(page, "forward").click()
        expect_step(page, 1)
        helpers.settle(page)

    hall.send(signal.SIGSTOP, hall.ports[0])
    try:
        stopped = time.monotonic()
        helpers.nudge(waiting, "Slots")
        expect(waiting.locator(LINE)).to_contain_text("does not answer")
        away.context.set_offline(True)
        expect(away.locator(LINE)).to_contain_text("断了")
        button(away, "forward").click()
        away.wait_for_timeout(1000 * OFFLINE_SECONDS)
        away.context.set_offline(False)
        waiting.wait_for_timeout(1000 * max(0, PAUSE_SECONDS + stopped - time.monotonic()))
    finally:
        hall.send(signal.SIGCONT, hall.ports[0])
    for page, language in ((waiting, "en"), (away, "zh")):
        expect_back(page, language)
    expect_address(waiting, "/batching", part="sandbox", slots=6)
    expect_step(waiting, 1)
    expect_address(away, "/batching", part="sandbox", slots=5)
    expect_step(away, 2)
