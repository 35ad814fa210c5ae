"""How smoothly the step player plays: 40 rows x 200 steps in a real Chromium.

`python -m benchmarks.player_fps` starts a page with one player, plays it to the end at 30 steps/s
(the rate we promise) and at 60 (the rate of the screen), watches its step change and prints one
JSON line for each painter: slots, timeline.  A third run, at 4 steps/s, measures how often the
picture is painted anew while things move from one step to the next.  `--painter timeline` measures
that one alone.  The same file is that page when Streamlit runs it.
"""

import argparse
import json

import numpy as np
import streamlit as st
from streamlit.logger import set_log_level

from benchmarks.support.browser import chromium, serving
from ui import player
from ui.player.painters.slots import Grid, Slots
from ui.player.painters.timeline import LaneSpan, Timeline
from ui.theme import request_letter

NUM_ROWS, NUM_STEPS = 40, 200
STEPS_PER_SECOND = 30
CALM_STEPS_PER_SECOND = 4
MOTION_SECONDS = 8
# After each picture: when, and whether things are still moving.
WATCH_PAINTING = """root => {
  window.painted = [];
  const {clearRect} = CanvasRenderingContext2D.prototype;
  CanvasRenderingContext2D.prototype.clearRect = function (...box) {
    clearRect.apply(this, box);
    if (this.canvas.isConnected) queueMicrotask(() =>
      window.painted.push([performance.now(), root.dataset.moving === 'true']));
  };
}"""
WATCH = """root => {
  window.stepTimes = [];
  new MutationObserver(() => window.stepTimes.push(performance.now()))
    .observe(root, { attributeFilter: ["data-step"] });
}"""


def busy_slots() -> Slots:
    """Slots that change hands every few steps, two states each, no events to pause at."""
    random = np.random.default_rng(0)
    cells = np.zeros((NUM_ROWS, NUM_STEPS), np.uint8)
    owners = np.full((NUM_ROWS, NUM_STEPS), -1, np.int16)
    who = 0
    for row in range(NUM_ROWS):
        step = int(random.integers(0, 10))
        while step < NUM_STEPS:
            prefill, end = step + int(random.integers(1, 4)), step + int(random.integers(8, 60))
            cells[row, step:prefill], cells[row, prefill:end] = 1, 2
            owners[row, step:end] = who
            who, step = who + 1, end + int(random.integers(0, 5))
    grid = Grid(
        title="40 x 200",
        slots=tuple(str(row + 1) for row in range(NUM_ROWS)),
        cells=cells,
        owners=owners,
        waiting=tuple(tuple(range(step % 30)) for step in range(NUM_STEPS)),
        counters=tuple(f"{step / 2:.1f} %" for step in range(NUM_STEPS)),
    )
    return Slots(
        grids=(grid,),
        notes=tuple(f"Step {step + 1}: one more token for each." for step in range(NUM_STEPS)),
        events=((),) * NUM_STEPS,
        states=("free", "prefill", "decode"),
        requests=tuple(request_letter(index) for index in range(who)),
        alt="40 slots over 200 steps",
        times=tuple(f"{step / 50:.2f} s" for step in range(NUM_STEPS)),
    )


def busy_timeline() -> Timeline:
    """A span in every lane at every step, with its own label, no events to pause at."""
    at = tuple((step + 1) / 50 for step in range(NUM_STEPS))
    kinds = ("prefill", "decode", "mixed")
    return Timeline(
        title="40 x 200",
        lanes=tuple(f"GPU {lane + 1}" for lane in range(NUM_ROWS)),
        spans=tuple(
            LaneSpan(lane, end - 0.02, end - 0.004, kinds[(lane + step) % 3], str(step))
            for lane in range(NUM_ROWS)
            for step, end in enumerate(at)
        ),
        at=at,
        notes=tuple(f"Step {step + 1}: one more token for each." for step in range(NUM_STEPS)),
        events=((),) * NUM_STEPS,
        alt="40 lanes over 200 steps",
    )


BUSY = {"slots": busy_slots, "timeline": busy_timeline}


def page() -> None:
    st.set_page_config(layout="wide")
    frames = BUSY[st.query_params["painter"]]()
    player.show(frames, "busy", steps_per_second=float(st.query_params["rate"]))


def watch_runs(address: str, speeds: tuple[int, ...]) -> list[np.ndarray]:
    """Play from the first to the last step at each speed; the gaps between two steps, in ms."""
    with chromium() as browser:
        tab = browser.new_page(viewport={"width": 1280, "height": 720})
        tab.goto(address)
        root = tab.locator(".player[data-step]")
        root.wait_for(timeout=60_000)
        tab.wait_for_timeout(1500)  # let the page come to rest
        root.evaluate(WATCH)
        runs = []
        for speed in speeds:
            root.locator('[data-act="reset"]').click()
            root.locator(".speed").select_option(str(speed))
            tab.evaluate("window.stepTimes = []")
            root.locator('[data-act="play"]').click()
            tab.locator(f'.player[data-step="{NUM_STEPS - 1}"]').wait_for(timeout=60_000)
            runs.append(np.diff(tab.evaluate("window.stepTimes")))
    return runs


def watch_motion(address: str) -> np.ndarray:
    """Play for a while; the gaps between two pictures while things move, in ms."""
    with chromium() as browser:
        tab = browser.new_page(viewport={"width": 1280, "height": 720})
        tab.goto(address)
        root = tab.locator(".player[data-step]")
        root.wait_for(timeout=60_000)
        tab.wait_for_timeout(1500)
        root.evaluate(WATCH_PAINTING)
        root.locator('[data-act="play"]').click()
        tab.wait_for_timeout(1000 * MOTION_SECONDS)
        times, moving = zip(*tab.evaluate("window.painted"), strict=True)
    return np.diff(times)[np.array(moving[:-1])]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--painter", choices=BUSY, action="append")
    painters = parser.parse_args().painter or list(BUSY)
    set_log_level("error")  # no session here, and none needed
    with serving(__file__) as address:
        for painter in painters:
            print(json.dumps(measure(address, painter)))


def measure(address: str, painter: str) -> dict[str, object]:
    page = f"{address}/?painter={painter}&rate="
    asked, flat_out = watch_runs(f"{page}{STEPS_PER_SECOND}", (1, 2))
    motion = watch_motion(f"{page}{CALM_STEPS_PER_SECOND}")
    return {
        "painter": painter,
        "updates_per_s": per_second(asked),
        "p95_gap_ms": round(float(np.percentile(asked, 95)), 1),
        "payload_bytes": player.weight(player.encode(BUSY[painter]())),
        "flat_out_updates_per_s": per_second(flat_out),
        "flat_out_p95_gap_ms": round(float(np.percentile(flat_out, 95)), 1),
        "motion_updates_per_s": per_second(motion),
        "motion_p95_gap_ms": round(float(np.percentile(motion, 95)), 1),
    }


def per_second(gaps: np.ndarray) -> float:
    return round(1000 * len(gaps) / float(gaps.sum()), 1)


if __name__ == "__main__":
    if st.runtime.exists():
        page()
    else:
        main()
