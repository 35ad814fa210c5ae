"""Verbs for browser tests: visit a page, wait for a condition, look for faults."""

import mimetypes
from urllib.parse import parse_qsl, urlencode, urlsplit

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, TimeoutError, expect

WAIT_MS = 60_000
ADDRESS_MS = 15_000
AXE = Axe()
AXE_REPORT = {"resultTypes": ["violations"]}
QUIET_MS = 250  # longer than the delay after which a slider reports its value

# Connected, not running, nothing still loading or fading, every chart drawn, no change for a while.
SETTLED = """([quiet, patience]) => new Promise((resolve, reject) => {
  const done = () => {
    const app = document.querySelector('[data-testid=stApp]');
    const charts = [...document.querySelectorAll('[data-testid=stPlotlyChart]')];
    return app?.dataset.testScriptState === 'notRunning'
      && app?.dataset.testConnectionState === 'CONNECTED'
      && document.querySelector('[data-testid=stMain] [data-testid=stElementContainer]')
      && !document.querySelector('[data-testid=stSkeleton], [data-stale=true]')
      && charts.every(chart => chart.querySelector('.main-svg'))
      && !document.getAnimations().some(
        one => one instanceof CSSTransition && one.playState === 'running');
  };
  const begun = performance.now();
  let changed = begun;
  const observer = new MutationObserver(() => { changed = performance.now() });
  observer.observe(document,
    {subtree: true, childList: true, attributes: true, characterData: true});
  const give_up = why => {
    const {testScriptState, testConnectionState} =
      document.querySelector('[data-testid=stApp]')?.dataset ?? {};
    const stale = document.querySelectorAll('[data-stale=true]').length;
    observer.disconnect();
    reject(new Error(`${why}: ${testScriptState}, ${testConnectionState}, ${stale} stale`));
  };
  const look = () => {
    const app = document.querySelector('[data-testid=stApp]');
    if (app?.dataset.testConnectionState === 'DISCONNECTED_FOREVER') give_up('cut off for good');
    else if (performance.now() - begun > patience) give_up('the page never stood still');
    else if (!done() || performance.now() - changed < quiet) setTimeout(look, 25);
    else {
      observer.disconnect();
      resolve(true);
    }
  };
  look();
})"""

GO_ON = """url => {
  history.pushState({}, '', url);
  dispatchEvent(new PopStateEvent('popstate', {state: {}}));
}"""

ADDRESS_IS = """([path, query]) => location.pathname === path
  && JSON.stringify([...new URLSearchParams(location.search)].sort()) === JSON.stringify(query)
"""

FAULTS = """() => {
  const main = document.querySelector('[data-testid=stMain]'), text = main.innerText, found = [];
  if (text.includes('**')) found.push('literal **');
  if (text.includes('{{')) found.push('a blank nobody filled in');
  if (main.querySelector('del')) found.push('strikethrough');
  const html = document.documentElement;
  const wide = Math.max(html.scrollWidth - innerWidth, main.scrollWidth - main.clientWidth);
  if (wide > 1) found.push(`scrolls sideways by ${wide} px`);
  for (const svg of main.querySelectorAll('.js-plotly-plot .main-svg')) {
    const frame = svg.getBoundingClientRect();
    for (const text of svg.querySelectorAll('text')) {
      const box = text.getBoundingClientRect();
      const isCut = box.left < frame.left - 1 || box.right > frame.right + 1;
      if (box.width && isCut) found.push(`cut off: ${text.textContent}`);
    }
  }
  for (const box of document.querySelectorAll('[data-testid=stException]'))
    found.push('exception: ' + box.innerText.split('\\n').slice(0, 3).join(' '));
  return found;
}"""

BACKGROUND = """() =>
  getComputedStyle(document.querySelector('[data-testid=stApp]')).backgroundColor
"""

# The page itself, and every box of its layout that scrolls or cuts off on its own.
OVERFLOW = """() => {
  const main = document.querySelector('[data-testid=stMain]');
  const boxes = [...main.querySelectorAll(
    '[data-testid=stMainBlockContainer], [data-testid=stLayoutWrapper], ' +
    '[data-testid=stVerticalBlock], [data-testid=stHorizontalBlock]')];
  const cutting = boxes.filter(box => getComputedStyle(box).overflowY !== 'visible');
  return Math.max(...[main, ...cutting].map(box => box.scrollHeight - box.clientHeight));
}"""

SMALLEST_FIGURE_TEXT = """() => {
  const sizes = [...document.querySelectorAll('[data-testid=stMain] .js-plotly-plot text')]
    .filter(text => text.textContent.trim() && text.getBoundingClientRect().width)
    .map(text => parseFloat(getComputedStyle(text).fontSize));
  return sizes.length ? Math.min(...sizes) : null;
}"""


def settle(page: Page) -> None:
    """Wait until the page stands still.

    After an action whose result is known, `expect` that result instead.
    """
    page.wait_for_selector("[data-testid=stApp]", timeout=WAIT_MS)
    page.evaluate(SETTLED, [QUIET_MS, WAIT_MS])


def visit(page: Page, path: str, **query: object) -> None:
    """Load an address with its state, as a reader with a link does; an empty value is left out."""
    page.goto(_joined(path, query))
    settle(page)


def go_on(page: Page, path: str, **query: object) -> None:
    """To another address of a course that is open, as Back does: the same reader, no load.

    Nothing tells when the server has begun to answer: `expect` what only the new page has.
    """
    if page.url == "about:blank":
        page.goto(_joined(path, query))
    else:
        page.evaluate(GO_ON, _joined(path, query))


def _joined(path: str, query: dict[str, object]) -> str:
    given = {key: str(value) for key, value in query.items() if value != ""}
    return path + ("?" + urlencode(given) if given else "")


def address(page: Page) -> tuple[str, dict[str, str]]:
    """Path and parameters."""
    parts = urlsplit(page.url)
    return parts.path, dict(parse_qsl(parts.query, keep_blank_values=True))


def expect_address(page: Page, path: str, **query: object) -> None:
    """Wait until the address bar shows this page with exactly these parameters."""
    wanted = {key: str(value) for key, value in query.items()}
    try:
        entries = [list(pair) for pair in sorted(wanted.items())]
        page.wait_for_function(ADDRESS_IS, arg=[path, entries], timeout=ADDRESS_MS)
    except TimeoutError:
        found = address(page)
        assert found == (path, wanted), f"expected {path} {wanted}, found {found}"


def slider(page: Page, name: str) -> Locator:
    return page.locator(".st-key-controls").get_by_role("slider", name=name)


def nudge(page: Page, name: str, key: str = "ArrowRight") -> None:
    """Move a slider by one key press; its value reaches the server a moment later."""
    slider(page, name).focus()
    page.keyboard.press(key)


def choose(page: Page, label: str, option: str) -> None:
    """Take an option of a row of buttons or of a list.

    An open list closes when the page scrolls, so the page scrolls first.
    """
    row, box = page.get_by_role("radiogroup", name=label), page.get_by_role("combobox", name=label)
    row.or_(box).evaluate("choice => choice.scrollIntoView({block: 'center'})")
    settle(page)
    if row.is_visible():
        row.get_by_role("radio", name=option).click()
    else:
        box.click()
        page.get_by_role("option", name=option).click()


def upload(page: Page, content: bytes, name: str) -> None:
    """Give a file to the one place of the page that takes files."""
    kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
    file = {"name": name, "mimeType": kind, "buffer": content}
    page.locator("input[type=file]").set_input_files(file)  # type: ignore[arg-type]


def expect_step(page: Page, step: int) -> None:
    expect(page.locator(".player")).to_have_attribute("data-step", str(step))


def resize(page: Page, width: int, height: int) -> None:
    page.set_viewport_size({"width": width, "height": height})
    settle(page)


def switch_theme(page: Page, theme: str) -> None:
    """The reader's system turns dark or light under the open page."""
    page.emulate_media(color_scheme=theme)  # type: ignore[arg-type]
    settle(page)


def background(page: Page) -> str:
    return page.evaluate(BACKGROUND)


def faults(page: Page) -> list[str]:
    """What a glance may miss: stray marks, sideways scrolling, an exception on the page."""
    return page.evaluate(FAULTS)


def overflow(page: Page) -> int:
    """Pixels of the page that are not in view without scrolling."""
    return page.evaluate(OVERFLOW)


def smallest_figure_text(page: Page) -> float | None:
    """The smallest type in a chart in px; None without a chart."""
    return page.evaluate(SMALLEST_FIGURE_TEXT)


def barriers(page: Page) -> list[str]:
    """What axe calls serious or critical, one line each: the rule and where it is broken."""
    return _broken(page, {})


def faint(page: Page) -> list[str]:
    """Of the barriers those that a theme can bring: text too close to what is behind it."""
    return _broken(page, {"runOnly": ["color-contrast"]})


def _broken(page: Page, rules: dict) -> list[str]:
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE.axe_script)
    violations = page.evaluate("rules => axe.run(rules)", rules | AXE_REPORT)["violations"]
    return [
        f"{found['id']} ({found['impact']}): {found['help']}: "
        + " | ".join(_where(node) for node in found["nodes"][:4])
        for found in violations
        if found["impact"] in {"serious", "critical"}
    ]


def _where(node: dict) -> str:
    why = [check["message"] for check in node["any"] + node["all"] + node["none"]]
    return f"{node['html'][:160]} {' '.join(why)[:200]}"
