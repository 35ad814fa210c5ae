"""One server and one Chromium for all browser tests; every page they open is watched.

    def test_something(new_page):
        page = new_page(language="en", theme="dark")
        helpers.visit(page, "/batching", part="hook", slots=4)

When the test ends, each page must have been clean: no error in the console, no exception in a
script, no answer of 400 or more, no request to another origin.  A failed test shows what the
server said meanwhile and keeps a screenshot.
"""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    Response,
    expect,
    sync_playwright,
)

from benchmarks.support.browser import CHROMIUM as CHROMIUM_FLAGS
from tests.chapters import ROOT

CHROMIUMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
LOCALES = {"zh": "zh-CN", "en": "en-US"}
START_SECONDS = 60
expect.set_options(timeout=20_000)  # four times playwright's: a busy machine is slow, not wrong

# What stands for a family that the app names.  Plain ones are the app's own letters with Noto's
# Chinese; wide ones are wider than any it names, with another Chinese font.
Fonts = dict[str, str]
PLAIN_FONTS: Fonts = {"PingFang SC": "Noto Sans CJK SC"}
WIDE_FONTS: Fonts = {"Source Sans": "DejaVu Sans", "PingFang SC": "WenQuanYi Zen Hei"}
WRITE_IN = """
for (const [family, local] of Object.entries(%s)) {
  const source = `local("${local}"), local("${local} Regular")`;
  document.fonts.add(new FontFace(family, source, {weight: "100 900"}));
}
"""
MISSING_FONTS = """wanted => [...document.fonts]
  .filter(font => font.status === 'error')
  .map(font => wanted[font.family.replaceAll('"', '')])
  .filter(Boolean)"""

# On a deep link Streamlit first looks for its server below the page's own path: that 404, and no
# other, is expected.
PROBE = re.compile(r"/[^/]+/_stcore/(health|host-config)$")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)


# The server


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def is_healthy(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/_stcore/health", timeout=2) as answer:
            return answer.status == 200
    except (urllib.error.URLError, OSError):
        return False


class Server:
    """The app, or another script, under `streamlit run`, as a reader's machine starts it."""

    def __init__(self, log: Path, script: str = "serve.py"):
        port = free_port()
        self.url = f"http://localhost:{port}"
        self.log = log
        command = [sys.executable, "-m", "streamlit", "run", script]
        options = ["--server.headless", "true", "--server.port", str(port)]
        options += ["--browser.serverAddress", "localhost", "--server.fileWatcherType", "none"]
        with log.open("w") as file:
            self.process = subprocess.Popen(
                [*command, *options],
                cwd=ROOT,
                env=os.environ | {"PYTHONPATH": str(ROOT)},
                stdout=file,
                stderr=subprocess.STDOUT,
            )

    def wait_until_healthy(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        while not is_healthy(self.url):
            if self.process.poll() is not None or time.monotonic() > deadline:
                pytest.fail(f"the app did not start:\n{self.log.read_text()}", pytrace=False)
            time.sleep(0.1)

    def stop(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    running = Server(tmp_path_factory.mktemp("server") / "streamlit.log")
    try:
        running.wait_until_healthy()
        yield running
    finally:
        running.stop()


# The browser


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A Chromium from PATH, or else the one playwright has downloaded."""
    chromium = next(filter(None, map(shutil.which, CHROMIUMS)), None)
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=chromium, args=CHROMIUM_FLAGS)
        yield running
        running.close()


class Watch:
    """Writes down what a page must not do."""

    def __init__(self, page: Page, origin: str):
        self.page, self.origin = page, origin
        self.seen: list[str] = []
        self.hears: dict[str, Callable[..., None]] = {
            "console": self._console,
            "pageerror": lambda error: self.seen.append(f"page error: {error}"),
            "response": self._response,
            "request": lambda request: self._address(request.url),
            "websocket": lambda socket: self._address(socket.url),
        }
        for event, hear in self.hears.items():
            page.on(event, hear)  # type: ignore[call-overload]

    def end(self) -> None:
        for event, hear in self.hears.items():
            self.page.remove_listener(event, hear)

    def _console(self, message: ConsoleMessage) -> None:
        # A failed load is judged by its response, where the address is known for certain.
        if message.type == "error" and "Failed to load resource" not in message.text:
            self.seen.append(f"console: {message.text}")

    def _response(self, response: Response) -> None:
        is_probe = response.status == 404 and PROBE.search(urlsplit(response.url).path)
        if response.status >= 400 and not is_probe:
            self.seen.append(f"answer {response.status}: {response.url}")

    def _address(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme in {"http", "https", "ws", "wss"} and parts.netloc != self.origin:
            self.seen.append(f"off the origin: {url}")


# What a reader answered is of no concern to the next reader of a warm tab.
FORGET = """() => {
  if (location.protocol !== 'http:') return;
  const kept = Object.keys(localStorage).filter(key => key.startsWith('llm-serving-'));
  for (const key of kept) localStorage.removeItem(key);
  sessionStorage.clear();
}"""

NewPage = Callable[..., Page]


def _new_context(browser: Browser, server: Server, language: str, **options) -> BrowserContext:
    return browser.new_context(base_url=server.url, locale=LOCALES[language], **options)


def _new_tab(browser: Browser, server: Server, fonts: Fonts) -> Page:
    context = _new_context(browser, server, "zh")
    context.add_init_script(WRITE_IN % json.dumps(fonts))
    return context.new_page()


@pytest.fixture(scope="session")
def warm_tabs(server: Server, browser: Browser) -> Iterator[dict[str, list[Page]]]:
    """Tabs per language that a test may take and give back.

    They have Streamlit's scripts compiled: a visit costs 1 s of computing, and 6 s in a new tab.
    """
    contexts = {language: _new_context(browser, server, language) for language in LOCALES}
    yield {language: [context.new_page()] for language, context in contexts.items()}
    for context in contexts.values():
        context.close()


@pytest.fixture(scope="session")
def open_tabs() -> Iterator[dict[str, Page]]:
    """Tabs in which the course stays open from test to test, by the letters they are written in."""
    tabs: dict[str, Page] = {}
    yield tabs
    for page in tabs.values():
        page.context.close()


@pytest.fixture
def new_page(
    server: Server,
    browser: Browser,
    warm_tabs: dict[str, list[Page]],
    open_tabs: dict[str, Page],
    request: pytest.FixtureRequest,
    tmp_path: Path,
) -> Iterator[NewPage]:
    """Opens pages: `new_page(language="zh", theme="light", viewport=(1280, 720))`.

    `language` is the browser's.  Each page is a reader of its own with nothing in store;
    `warm=True` saves seconds by using a tab that other tests have used, with its local storage.
    With `fonts` it is written in those letters, and is the same reader's who goes on from act to
    act: no load, so it saves more.
    Further keyword arguments go to playwright's `new_context`, as in `reduced_motion="reduce"`.  A
    test that provokes a fault on purpose takes it out of `page.watch.seen`.
    """
    said_before = server.log.stat().st_size
    opened: list[tuple[Page, Watch]] = []
    taken: list[tuple[str, Page]] = []
    kept: list[tuple[str, Page]] = []
    own_contexts: list[BrowserContext] = []

    def open_one(
        language: str = "zh",
        theme: str = "light",
        viewport: tuple[int, int] = (1280, 720),
        warm: bool = False,
        fonts: Fonts | None = None,
        **options,
    ) -> Page:
        if fonts is not None:
            key = json.dumps(fonts)
            page = open_tabs.pop(key, None) or _new_tab(browser, server, fonts)
            kept.append((key, page))
        elif warm and warm_tabs[language]:
            page = warm_tabs[language].pop()
            taken.append((language, page))
        else:
            context = _new_context(browser, server, language, **options)
            own_contexts.append(context)
            page = context.new_page()
        page.emulate_media(media="screen", color_scheme=theme)  # type: ignore[arg-type]
        page.set_viewport_size({"width": viewport[0], "height": viewport[1]})
        watch = Watch(page, urlsplit(server.url).netloc)
        page.watch = watch  # type: ignore[attr-defined]
        opened.append((page, watch))
        return page

    yield open_one

    failed = request.node.stash.get(FAILED, False)
    said = server.log.read_bytes()[said_before:].decode(errors="replace")
    if failed:
        _show(request.node, opened, said, tmp_path)
    stay = [] if failed else [page for _, page in kept]
    for page, watch in opened:
        watch.end()
        page.evaluate(FORGET)
        if page not in stay:
            page.goto("about:blank")
    for language, page in taken:
        warm_tabs[language].append(page)
    open_tabs.update(kept)
    for context in own_contexts:
        context.close()
    seen = [entry for _, watch in opened for entry in watch.seen]
    if seen and not failed:
        pytest.fail("\n".join([*dict.fromkeys(seen), "server log:", said]), pytrace=False)


# What a failed test shows

FAILED = pytest.StashKey[bool]()
REPORT = pytest.StashKey[pytest.TestReport]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.when == "call":
        item.stash[FAILED] = report.failed
        item.stash[REPORT] = report
    return report


def _show(item: pytest.Item, opened: list[tuple[Page, Watch]], said: str, folder: Path) -> None:
    report = item.stash[REPORT]
    for number, (page, watch) in enumerate(opened, start=1):
        if page.is_closed():
            continue
        picture = folder / f"page{number}.png"
        page.screenshot(path=picture)
        report.sections.append((f"page {number}", f"{page.url}\n{picture}"))
        report.sections.append((f"page {number} did", "\n".join(watch.seen) or "nothing wrong"))
    report.sections.append(("server log", said or "(silent)"))
