"""How many readers one process can serve: each moves a slider every two seconds.

`python -m benchmarks.many_readers` opens 50 sessions over their WebSockets, spread over four acts
and out of step with each other, and prints one JSON line: median and p95 in milliseconds from a
moved slider to the end of the page's answer.  What a browser needs to draw it is not in this
number; `benchmarks.page_latency` measures that for one reader.
"""

import asyncio
import json
import sys
import time

import numpy as np
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.Slider_pb2 import Slider
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.asyncio.client import ClientConnection, connect

from benchmarks.support.browser import serving

READERS = 50
EVERY_S = 2.0
MOVES = 10
ACTS = (  # page, query, label of a slider
    ("latency", "lang=en&part=hook", "Tokens in B's prompt"),
    ("batching", "lang=zh&part=hook", "B 写多少 token"),
    ("chunked_prefill", "lang=en&part=chunks", "Prompt of the document"),
    ("prefix_cache", "lang=zh&part=replicas", "副本数"),
)


def main() -> None:
    readers = int(sys.argv[1]) if len(sys.argv) > 1 else READERS
    with serving("app.py") as address:
        delays = asyncio.run(_crowd(address.replace("http", "ws"), readers))
    print(
        json.dumps(
            {
                "readers": readers,
                "moves": len(delays),
                "median_ms": round(float(np.median(delays)) * 1e3),
                "p95_ms": round(float(np.percentile(delays, 95)) * 1e3),
            }
        )
    )


async def _crowd(address: str, readers: int) -> list[float]:
    """Seconds that each move of each reader took."""
    opened = asyncio.Barrier(readers)
    found = await asyncio.gather(
        *(_reader(address, number, readers, opened) for number in range(readers))
    )
    return [delay for delays in found for delay in delays]


async def _reader(address: str, number: int, readers: int, opened: asyncio.Barrier) -> list[float]:
    page, query, label = ACTS[number % len(ACTS)]
    url = f"{address}/_stcore/stream"
    async with connect(url, subprotocols=["streamlit"], max_size=None) as line:  # type: ignore[list-item]
        await asyncio.sleep(number * 0.1)
        slider = await _run(line, page, query, label)
        await opened.wait()
        await asyncio.sleep(EVERY_S * number / readers)
        delays = []
        for move in range(MOVES):
            began = time.perf_counter()
            await _run(line, page, query, label, _moved(slider, number + move))
            delays.append(time.perf_counter() - began)
            await asyncio.sleep(max(0.0, EVERY_S - delays[-1]))
        return delays


def _moved(slider: Slider, by: int) -> WidgetState:
    """The slider at another of its places; one with named places sends the name."""
    state = WidgetState(id=slider.id)
    if slider.type == Slider.SELECT_SLIDER:
        state.string_array_value.data.append(slider.options[by % len(slider.options)])
    else:
        num_places = round((slider.max - slider.min) / slider.step) + 1
        state.double_array_value.data.append(slider.min + slider.step * (by % num_places))
    return state


async def _run(
    line: ClientConnection, page: str, query: str, label: str, moved: WidgetState | None = None
) -> Slider:
    """Ask for the page and read its answer to the end; the slider that stood in it."""
    ask = BackMsg()
    ask.rerun_script.page_name = page
    ask.rerun_script.query_string = query
    if moved is not None:
        ask.rerun_script.widget_states.widgets.append(moved)
    await line.send(ask.SerializeToString())
    slider = None
    while True:
        answer = ForwardMsg.FromString(await line.recv())
        element = answer.delta.new_element
        if element.WhichOneof("type") == "slider" and element.slider.label == label:
            slider = element.slider
        if element.WhichOneof("type") == "exception":
            raise RuntimeError(f"{page}: {element.exception.message}")
        if answer.WhichOneof("type") == "script_finished":
            if slider is None:
                raise RuntimeError(f"{page}: no slider “{label}”")
            return slider


if __name__ == "__main__":
    main()
