"""What one reader can cost the others: addresses that ask for as much as they can.

    python -m benchmarks.worst_addresses

One JSON line for each, opened once on a server that has shown every page: seconds of CPU of the
server itself, which all readers share and which should stay below half a second; of processes
apart, which step aside for it; and by the clock until the page is whole.  Linux only.
"""

import asyncio
import json
import os
import time
from pathlib import Path

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import connect

from benchmarks.support.browser import serving

FAR = "requests=1000&output=1200&spec=1&lang=en"
ADDRESSES = (  # page, query
    ("workbench", "part=curve&lang=en"),
    ("workbench", "part=curve&spec=1&lang=en"),
    ("workbench", "part=curve&requests=1000&output=1200&lang=en"),
    ("workbench", f"part=curve&{FAR}"),
    ("workbench", f"part=curve&{FAR}&seqs=256&spec_cost=0.3&rate=8"),
    ("workbench", f"part=explore&{FAR}"),
    ("workbench", "part=explore&requests=1000&output=1200&budget=16&seqs=256&lang=en"),
    ("workbench", "part=loops&lang=en"),
    ("quantization", "part=text&lang=en"),
    ("clinic", "part=alone&lang=en"),
    ("fragmentation", "part=waste&block=256&lang=en"),
    ("prefix_cache", "part=replicas&lang=en"),
    ("chunked_prefill", "part=load&lang=en"),
    ("systems", "part=pressure&lang=en"),
)
TICKS = os.sysconf("SC_CLK_TCK")


def cpu_seconds(process: int) -> tuple[float, float]:
    """Of a process, and of its children that have ended."""
    fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    own, others = sum(map(int, fields[11:13])), sum(map(int, fields[13:15]))
    return own / TICKS, others / TICKS


def the_server() -> int:
    (process,) = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    return int(process)


async def opened(address: str, page: str, query: str) -> None:
    async with connect(
        f"{address}/_stcore/stream",
        subprotocols=["streamlit"],  # type: ignore[list-item]
        max_size=None,
    ) as line:
        ask = BackMsg()
        ask.rerun_script.page_name = page
        ask.rerun_script.query_string = query
        await line.send(ask.SerializeToString())
        while True:
            answer = ForwardMsg.FromString(await line.recv())
            if answer.WhichOneof("type") == "script_finished":
                return


def main() -> None:
    with serving("app.py") as http:
        address, server = http.replace("http", "ws"), the_server()
        for page in sorted({page for page, _ in ADDRESSES}):
            asyncio.run(opened(address, page, "lang=en"))
        for page, query in ADDRESSES:
            before, begun = cpu_seconds(server), time.perf_counter()
            asyncio.run(opened(address, page, query))
            time.sleep(0.2)  # a child that has ended is counted when it is waited for
            after = cpu_seconds(server)
            own, apart = (round(b - a, 2) for a, b in zip(before, after, strict=True))
            told = {
                "server_s": own,
                "apart_s": apart,
                "clock_s": round(time.perf_counter() - begun, 1),
            }
            print(json.dumps({"address": f"/{page}?{query}", **told}), flush=True)


if __name__ == "__main__":
    main()
