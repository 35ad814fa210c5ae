"""A page with nothing but timelines: `show=` says which, `view=lecture` makes them large.

streamlit run tests/browser/apps/timelines.py
"""

import streamlit as st

from sim import scheduler, workload
from sim.cost import SimpleClock
from sim.engine import Setup
from sim.kv import Paged
from ui import player
from ui.player.painters.timeline import LaneSpan, Timeline
from ui.subjects.batching import frames
from ui.words import language
from ui.words.language import tr

CLOCK = SimpleClock(prefill_tokens_per_second=20_000, decode_seconds_per_step=1 / 64)


def setup(policy: scheduler.Policy) -> Setup:
    requests = workload.of_lengths((20, 60, 12, 30, 24), (600, 40, 900, 200, 120))
    return Setup(requests, policy, Paged(num_blocks=4096), CLOCK)


def requests() -> Timeline:
    alt = tr("每个请求一行", "One lane for each request")
    return frames.request_timeline(setup(scheduler.Continuous(3)), alt)


def steps(policy: scheduler.Policy, title: str) -> Timeline:
    alt = tr("每个引擎步一段", "One span for each engine step")
    return frames.step_timeline({tr("引擎步", "Engine"): setup(policy)}, alt, title)


def kernels() -> Timeline:
    """A CPU that launches kernels one by one, and a GPU that waits for them; in microseconds."""
    at = [7e-6 * number for number in range(1, 25)]
    names = ("norm", "qkv", "attention", "out_proj")
    spans = [LaneSpan(0, t - 7e-6, t - 2e-6, "launch", names[n % 4]) for n, t in enumerate(at)]
    spans += [LaneSpan(1, t - 2e-6, t + 2.5e-6, "kernel", names[n % 4]) for n, t in enumerate(at)]
    spans += [LaneSpan(1, t + 2.5e-6, t + 5e-6, "idle") for t in at[:-1]]
    return Timeline(
        lanes=("CPU", "GPU"),
        spans=tuple(spans),
        at=tuple(at),
        notes=tuple(tr(f"CPU 启动第 {n} 个 kernel。", f"Launch {n}.") for n in range(1, 25)),
        events=((),) * len(at),
        alt="CPU, GPU",
        shows_future=True,
    )


def show(timeline: Timeline, key: str, clock: str | None = None) -> None:
    step = st.query_params.get("step")
    large = st.query_params.get("view") == "lecture"
    at = player.show(timeline, key, large, int(step) if step else None, clock=clock)
    st.write(f"{key}: {at}")


st.set_page_config(layout="wide")
language.choose(st.query_params.get("lang", "en"))
what = st.query_params.get("show", "requests")
if what == "pair":
    continuous, chunked = tr("连续批", "Continuous"), tr("分块预填充", "Chunked prefill")
    show(steps(scheduler.Continuous(3), continuous), "upper", clock="pair")
    show(steps(scheduler.Chunked(3, max_num_batched_tokens=128), chunked), "lower", clock="pair")
else:
    show({"requests": requests, "kernels": kernels}[what](), what)
