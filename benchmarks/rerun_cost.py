"""What a moved control costs the server: CPU and bytes of a full rerun, beside an empty page's.

`python -m benchmarks.rerun_cost` moves a slider of each act twenty times and prints one JSON line:
milliseconds of CPU of the whole process for a rerun, kB over the WebSocket as a browser would get
them (what it holds already is only named), messages; and of the run itself its parts.  The last
lines are the empty page and the median act, with the ratio.
"""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
from typing import Any

import numpy as np
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect

from benchmarks.many_readers import ACTS, _moved
from benchmarks.support.browser import ROOT, _wait_until_healthy

MOVES = 20
MORE_ACTS = (
    ("workbench", "lang=en&part=explore", "Length spread"),
    ("batching", "lang=en&part=sandbox", "Requests"),
    ("kv_cache", "lang=en&part=batch", "Length of the chats"),
    ("fragmentation", "lang=en&part=waste", "Block size"),
    ("prefill_decode", "lang=en&part=roofline", "Context of each"),
    ("spec_decode", "lang=en&part=worth", "Acceptance a"),
    ("cuda_graph", "lang=en&part=when", "Requests decoding"),
    ("quantization", "lang=en&part=speed", "Context of each"),
)
EMPTY = (("", "", ""),)


def main() -> None:
    (floor,) = _measured("benchmarks/support/empty.py", EMPTY)
    rows = _measured("app.py", (*ACTS, *MORE_ACTS))
    for row in (*rows, floor | {"act": "an empty page"}):
        print(json.dumps(row))
    median = float(np.median([row["cpu_ms"] for row in rows]))
    kilobytes = float(np.median([row["kB"] for row in rows]))
    summary = {"median_cpu_ms": median, "times_empty": round(median / floor["cpu_ms"], 1)}
    print(json.dumps(summary | {"median_kB": kilobytes}))


def _measured(script: str, acts: tuple[tuple[str, str, str], ...]) -> list[dict[str, Any]]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    options = ["--server.port", str(port), "--server.headless", "true"]
    options += ["--server.fileWatcherType", "none", "--logger.level", "error"]
    server = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.support.metered", script, *options],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        _wait_until_healthy(port)
        return [asyncio.run(_act(port, server, *act)) for act in acts]
    finally:
        server.terminate()
        server.wait()


async def _act(port: int, server: Any, page: str, query: str, label: str) -> dict[str, Any]:
    url = f"ws://127.0.0.1:{port}/_stcore/stream"
    async with connect(url, subprotocols=["streamlit"], max_size=None) as line:  # type: ignore[list-item]
        held: set[str] = set()
        slider, *_ = await _run(line, page, query, label, held, None)
        for move in range(2):
            await _run(line, page, query, label, held, slider and _moved(slider, move))
        _parts(server)
        before = _cpu_seconds(server.pid)
        answers = [
            await _run(line, page, query, label, held, slider and _moved(slider, 2 + move))
            for move in range(MOVES)
        ]
        spent = _cpu_seconds(server.pid) - before
    return {
        "act": f"{page}?{query}",
        "cpu_ms": round(spent / MOVES * 1e3, 1),
        "kB": round(float(np.median([size for _, size, _ in answers])) / 1e3, 1),
        "messages": round(float(np.median([number for *_, number in answers]))),
        "of_the_run_ms": _parts(server),
    }


def _parts(server: Any) -> dict[str, float]:
    """What the meter has found since it was last asked."""
    server.send_signal(signal.SIGUSR1)
    while not (told := server.stdout.readline()).startswith("metered"):
        pass
    found: dict[str, float] = json.loads(told.removeprefix("metered"))
    return found


def _cpu_seconds(pid: int) -> float:
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def _run(
    line: ClientConnection, page: str, query: str, label: str, held: set[str], moved: Any
) -> tuple[Any, int, int]:
    """The slider of the answer, its bytes, its messages."""
    ask = BackMsg()
    ask.rerun_script.page_name, ask.rerun_script.query_string = page, query
    ask.rerun_script.cached_message_hashes.extend(held)
    if moved is not None:
        ask.rerun_script.widget_states.widgets.append(moved)
    await line.send(ask.SerializeToString())
    slider, size, number = None, 0, 0
    while True:
        came = await line.recv()
        answer = ForwardMsg.FromString(came)
        size, number = size + len(came), number + 1
        if answer.metadata.cacheable:
            held.add(answer.hash)
        element = answer.delta.new_element
        if element.WhichOneof("type") == "exception":
            raise RuntimeError(f"{page}: {element.exception.message}")
        if element.WhichOneof("type") == "slider" and element.slider.label == label:
            slider = element.slider
        if answer.WhichOneof("type") == "script_finished":
            return slider, size, number


if __name__ == "__main__":
    main()
