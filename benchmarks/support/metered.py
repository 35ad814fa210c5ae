"""`streamlit run SCRIPT OPTIONS` with a meter on its parts: `python -m benchmarks.support.metered`.

Each time the process gets SIGUSR1 it prints one JSON line: milliseconds of CPU of its script
threads by part, per run since the last time, and starts anew.
"""

import json
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable
from functools import wraps
from typing import Any

from streamlit.runtime.scriptrunner.script_runner import ScriptRunner
from streamlit.web import cli

from ui import charts, player
from ui.charts import go
from ui.controls import widgets
from ui.page import frame

PARTS = (  # the class or module, a function of it, what it belongs to
    (ScriptRunner, "_run_script", "run"),
    (ScriptRunner, "_enqueue_forward_msg", "handing over"),
    (frame, "_sidebar", "list"),
    (frame, "_browser_half", "styles"),
    (charts, "show", "figures"),
    (player, "show", "figures"),
    (go.Checked, "to_dict", "of them, as dictionaries"),
    *((widgets, name, "controls") for name in ("slide", "pick", "number", "toggle", "choose")),
)

spent: Counter[str] = Counter()


def meter(where: Any, name: str, part: str) -> None:
    measured: Callable[..., Any] = getattr(where, name)

    @wraps(measured)
    def call(*given: Any, **more: Any) -> Any:
        began = time.thread_time()
        try:
            return measured(*given, **more)
        finally:
            spent[part] += time.thread_time() - began  # type: ignore[assignment]
            spent[f"calls of {part}"] += 1

    setattr(where, name, call)


def tell(*_: object) -> None:
    runs = max(spent["calls of run"], 1)
    row = {part: round(spent[part] / runs * 1e3, 2) for _, _, part in PARTS}
    print("metered", json.dumps(row), flush=True)
    spent.clear()


if __name__ == "__main__":
    for where, name, part in PARTS:
        meter(where, name, part)
    signal.signal(signal.SIGUSR1, tell)
    sys.argv = ["streamlit", "run", *sys.argv[1:]]
    cli.main()
