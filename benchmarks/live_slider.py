"""How well the page follows a dragged slider, and how soon it has settled after, in Chromium.

`python -m benchmarks.live_slider` drags a slider of the simulator to and fro, lets it go, waits
until the page is at rest, and prints one JSON line: `updates_per_s` counts how often cards and
first chart have both changed while the slider is held; `settled_ms` is the time from its release to
the last change of any number or chart of the page.
"""

import json
import time
from typing import Any

import numpy as np

from benchmarks.support.browser import chromium, serving

ADDRESS, LABEL = "/workbench?lang=en&part=explore", "Arrivals per s"
DRAGS = 8
DRAG_SECONDS = 3.0
SWEEP_SECONDS = 1.5  # from one end of the slider to the other
MOVES_PER_SECOND = 60
REST_MS = 1500
IDLE = '[data-testid="stApp"][data-test-script-state="notRunning"]'
PLACES = np.linspace(0.15, 0.85, DRAGS)  # where it is let go, as a share of the slider
FOLLOWERS = (".st-key-leading .st-key-cards", ".st-key-leading .js-plotly-plot")
# Cards change one by one and a chart is drawn in several goes, but each run puts up a new chart.
WATCH = """followers => {
  const main = document.querySelector("[data-testid=stMain]");
  const looks = followers.map(() => null);
  window.updates = followers.map(() => 0);
  const look = (follower) => {
    const element = document.querySelector(follower);
    return element?.matches(".js-plotly-plot") ? element : element?.textContent;
  };
  new MutationObserver((changes) => {
    followers.forEach((follower, at) => {
      const now = look(follower);
      if (now && now !== looks[at]) [looks[at], window.updates[at]] = [now, window.updates[at] + 1];
    });
    const inSlider = ({ target }) =>
      (target.closest ? target : target.parentElement)?.closest("[data-testid=stSlider]");
    if (!changes.every(inSlider)) window.changedAt = performance.now();
  }).observe(main, {
    subtree: true, childList: true, characterData: true, attributes: true,
    attributeFilter: ["d", "transform", "x", "y"],
  });
  addEventListener("pointerup", () => { window.releasedAt = performance.now(); }, true);
}"""


def main() -> None:
    with serving("app.py") as address, chromium() as browser:
        tab = browser.new_page(viewport={"width": 1280, "height": 720}, locale="en-US")
        tab.goto(address + ADDRESS)
        tab.wait_for_selector(IDLE)
        tab.wait_for_timeout(2000)
        tab.evaluate(WATCH, FOLLOWERS)
        slider = tab.locator("[data-testid=stSlider]").filter(has_text=LABEL)
        _drag(tab, slider, 0.5)  # the runs of its places are simulated once and kept
        drags = [_drag(tab, slider, place) for place in PLACES]
    rates, delays = zip(*drags, strict=True)
    result = {
        "updates_per_s": round(float(np.median(rates)), 1),
        "settled_median_ms": round(float(np.median(delays))),
        "settled_p95_ms": round(float(np.percentile(delays, 95))),
    }
    print(json.dumps(result))


def _drag(tab: Any, slider: Any, release: float) -> tuple[float, float]:
    """One drag that ends at a share of the slider: updates per second, ms until settled."""
    track = slider.bounding_box()
    thumb = slider.locator("[data-testid=stSliderThumbValue]").bounding_box()
    y = thumb["y"] + thumb["height"] + 8
    tab.mouse.move(thumb["x"] + thumb["width"] / 2, y)
    tab.mouse.down()
    before, start = tab.evaluate("[...window.updates]"), time.monotonic()
    while (passed := time.monotonic() - start) < DRAG_SECONDS:
        phase = passed / SWEEP_SECONDS % 2
        tab.mouse.move(track["x"] + track["width"] * min(phase, 2 - phase), y)
        tab.wait_for_timeout(1000 / MOVES_PER_SECOND)
    updates = np.subtract(tab.evaluate("[...window.updates]"), before)
    tab.mouse.move(track["x"] + track["width"] * release, y)
    tab.mouse.up()
    tab.wait_for_timeout(REST_MS)
    tab.wait_for_selector(IDLE)
    return min(updates) / passed, tab.evaluate("window.changedAt - window.releasedAt")


if __name__ == "__main__":
    main()
