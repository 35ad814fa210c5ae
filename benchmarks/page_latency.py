"""How soon a moved control is seen: key press to changed numbers and to drawn charts, in Chromium.

`python -m benchmarks.page_latency` moves one control of each act back and forth, waits each time
until the page is at rest, and prints one JSON line per act: median and p95 in milliseconds from the
key press to the last change of the numbers (`numbers_ms`) and of the charts (`charts_ms`).  Runs
that this reader has seen are kept by the server, so every press asks for a new one.
"""

import json

import numpy as np

from benchmarks.support.browser import chromium, serving

PRESSES = 20
REST_MS = 700
IDLE = '[data-testid="stApp"][data-test-script-state="notRunning"]'
ACTS = {  # act: (address, label of a slider): each chapter's heaviest control that one would drag
    "sampler": ("/pipeline?lang=en&part=sampler", "Temperature"),
    "roofline": ("/prefill_decode?lang=en&part=roofline", "Context of each"),
    "load": ("/latency?lang=en&part=load", "Arrivals per s"),
    "simulator, cards and two charts": ("/workbench?lang=en&part=explore", "Length spread"),
    "batching, one player": ("/batching?lang=en&part=hook", "Tokens that B writes"),
    "batching, player and chart": ("/batching?lang=en&part=sandbox", "Requests"),
    "KV of a batch": ("/kv_cache?lang=en&part=batch", "Length of the chats"),
    "waste": ("/fragmentation?lang=en&part=waste", "Block size"),
    "capacity": ("/prefix_cache?lang=en&part=capacity", "Tokens the cache holds"),
    "budget": ("/chunked_prefill?lang=en&part=budget", "Token budget of a step"),
    "speculation": ("/spec_decode?lang=en&part=worth", "Acceptance a"),
    "launches": ("/cuda_graph?lang=en&part=when", "Requests decoding"),
    "formats": ("/quantization?lang=en&part=speed", "Context of each"),
    "rounding": ("/quantization?lang=en&part=round", "Outlier, times"),
    "ablation": ("/systems?lang=en&part=hook", "Mechanisms switched on"),
}
UNDER_MORE = {"Length spread"}
WATCH = """() => {
  const last = (window.lastChange = { numbers: 0, charts: 0 });
  const isChart = (node) => node.parentElement?.closest(".js-plotly-plot") ?? null;
  new MutationObserver((changes) => {
    for (const { target } of changes) {
      last[isChart(target) ? "charts" : "numbers"] = performance.now();
    }
  }).observe(document.querySelector("[data-testid=stMain]"), {
    subtree: true, childList: true, characterData: true, attributes: true,
    attributeFilter: ["d", "transform", "x", "y", "style"],
  });
  window.addEventListener("keydown", () => { window.pressedAt = performance.now(); }, true);
}"""


def main() -> None:
    with serving("app.py") as address, chromium() as browser:
        for act, (path, label) in ACTS.items():
            tab = browser.new_page(viewport={"width": 1280, "height": 720}, locale="en-US")
            tab.goto(address + path)
            tab.wait_for_selector(IDLE)
            slider = tab.get_by_role("slider", name=label)
            if label in UNDER_MORE:
                tab.get_by_role("button", name="More").click()
            slider.focus()
            tab.wait_for_timeout(2000)
            tab.evaluate(WATCH)
            delays = [_press(tab) for _ in range(PRESSES)]
            print(json.dumps({"act": act} | _row(delays)))
            tab.close()


def _press(tab) -> dict[str, float]:  # type: ignore[no-untyped-def]
    tab.evaluate("Object.assign(window.lastChange, { numbers: 0, charts: 0 })")
    tab.keyboard.press("ArrowRight")
    tab.wait_for_timeout(REST_MS)
    tab.wait_for_selector(IDLE)
    return tab.evaluate("""() => Object.fromEntries(Object.entries(window.lastChange).map(
        ([what, at]) => [what, at ? at - window.pressedAt : NaN]))""")


def _row(delays: list[dict[str, float]]) -> dict[str, float]:
    row: dict[str, float] = {}
    for what in ("numbers", "charts"):
        values = np.array([delay[what] for delay in delays], dtype=float)
        if not np.all(np.isnan(values)):
            row[f"{what}_median_ms"] = round(float(np.nanmedian(values)))
            row[f"{what}_p95_ms"] = round(float(np.nanpercentile(values, 95)))
    return row


if __name__ == "__main__":
    main()
