"""What a first visit weighs and how long it takes: home, then chapter 1, over a slow line.

`python -m benchmarks.first_visit` opens home in a fresh Chromium held to 10 Mbit/s and a quarter of
its speed, then the address of chapter 1 (a new session, which is sent all messages anew).  It
prints one JSON line for each: kB that came over HTTP and (unpacked) over the WebSocket until then,
the five largest files, seconds until the page could be used.  `python -m benchmarks.first_visit
app.py` measures the course without its web server.
"""

import json
import sys
import time
from typing import Any

from benchmarks.support.browser import chromium, serving

BYTES_PER_SECOND = 10e6 / 8
SLOWER = 4
IDLE = '[data-testid="stApp"][data-test-script-state="notRunning"]'
PLACES = {"home": "/?lang=en", "chapter 1": "/pipeline?lang=en"}
REST_MS = 4000  # for what is fetched while the reader reads


def main() -> None:
    script = sys.argv[1] if len(sys.argv) > 1 else "serve.py"
    with serving(script) as address, chromium() as browser:
        _warm(browser, address)
        tab = browser.new_context(locale="en-US").new_page()
        line = tab.context.new_cdp_session(tab)
        sizes: dict[str, float] = {}
        _count(line, sizes)
        _slow_down(line)
        for place, path in PLACES.items():
            began = time.perf_counter()
            tab.goto(address + path, wait_until="commit")
            tab.wait_for_selector(f"{IDLE} h1", timeout=120_000)
            tab.wait_for_selector(IDLE)
            seconds = time.perf_counter() - began
            in_time = sum(sizes.values())
            tab.wait_for_timeout(REST_MS)
            largest = sorted(sizes.items(), key=lambda item: -item[1])[:5]
            print(
                json.dumps(
                    {
                        "after": place,
                        "usable_s": round(seconds, 1),
                        "kB_when_usable": round(in_time / 1e3),
                        "kB": round(sum(sizes.values()) / 1e3),
                        "largest": {name: round(size / 1e3) for name, size in largest},
                    }
                )
            )


def _warm(browser: Any, address: str) -> None:
    """Somebody else was here before: the server has read its pages."""
    tab = browser.new_page()
    for path in PLACES.values():
        tab.goto(address + path)
        tab.wait_for_selector(IDLE)
    tab.context.close()


def _count(line: Any, sizes: dict[str, float]) -> None:
    """Bytes as they came over the line, by the name of the file."""
    names: dict[str, str] = {}

    def answered(event: Any) -> None:
        names[event["requestId"]] = event["response"]["url"].split("?")[0].rsplit("/", 1)[-1]

    def finished(event: Any) -> None:
        name = names.get(event["requestId"], "") or "page"
        sizes[name] = sizes.get(name, 0) + event["encodedDataLength"]

    def heard(event: Any) -> None:  # as base64
        size = len(event["response"]["payloadData"]) * 3 / 4
        sizes["WebSocket"] = sizes.get("WebSocket", 0) + size

    line.on("Network.responseReceived", answered)
    line.on("Network.loadingFinished", finished)
    line.on("Network.webSocketFrameReceived", heard)
    line.send("Network.enable")


def _slow_down(line: Any) -> None:
    speed = {"downloadThroughput": BYTES_PER_SECOND, "uploadThroughput": BYTES_PER_SECOND}
    line.send("Network.emulateNetworkConditions", {"offline": False, "latency": 20, **speed})
    line.send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})


if __name__ == "__main__":
    main()
