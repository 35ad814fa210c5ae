"""Measuring on the machine that runs this app, and pictures of what came out.

In a process of its own, on one core, for one reader at a time: otherwise readers would measure each
other.
"""

import os
import platform
import subprocess
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import closing
from pathlib import Path

import numpy as np

from sim.model import measured
from sim.model.measured import Pace, Product, Results
from ui import charts, tiny_model
from ui.charts import Series, go
from ui.files import ROOT
from ui.words.language import tr
from ui.words.numbers import count

ONE_CORE = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
MOST_SECONDS = 30.0  # then it is given up
GIGA = 1e9
MOST_TICKS = 3  # more would stand on end on a phone

_turn = threading.Lock()


def here(progress: Callable[[int, int], object]) -> Results:
    """Measure; `progress(done, in all)` is called before the first piece and after each.

    Raises:
        SimError: `measurement_cut_short`, after MOST_SECONDS.
    """
    progress(0, measured.NUM_PIECES)
    done = []
    with _turn, closing(_pieces()) as pieces:
        for piece in pieces:
            done.append(piece)
            progress(len(done), measured.NUM_PIECES)
    return measured.results(done)


def _pieces() -> Generator[Product | Pace, None, None]:
    """As the other process prints them; it does not outlive the reader's interest."""
    command = [sys.executable, "-m", "sim.model.measured", str(tiny_model.FOLDER / "target.npz")]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, cwd=ROOT, env={**os.environ, **ONE_CORE}
    ) as process:
        giving_up = threading.Timer(MOST_SECONDS, process.kill)
        giving_up.start()
        try:
            yield from map(measured.from_line, process.stdout or ())
        finally:
            giving_up.cancel()
            process.kill()


def cpu() -> str:
    """What this machine's processor calls itself."""
    try:
        for line in Path("/proc/cpuinfo").read_text("utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


# -- pictures -----------------------------------------------------------------------------------


def own_roofline(results: Results, large: bool = False) -> go.Figure:
    """GFLOP/s against FLOP per byte, a point for each number of rows.

    The two lines are what was reached at either end: the bytes per second of a single row, the
    FLOPs per second of the best product.
    """
    products = results.products
    x = [one.intensity for one in products]
    peak = max(one.flops_per_second for one in products) / GIGA
    bandwidth = products[0].bytes_per_second / GIGA
    ends = [x[0] / 1.6, peak / bandwidth, max(x[-1], peak / bandwidth) * 2]
    lines = [
        Series(
            tr("按一行的带宽、最好的算力", "one row's bandwidth, the best arithmetic"),
            ends,
            [min(end * bandwidth, peak) for end in ends],
            charts.NEUTRAL,
            "dot",
        ),
        Series(
            tr("量到的", "measured"), x, [one.flops_per_second / GIGA for one in products], "decode"
        ),
    ]
    figure = charts.lines(
        lines,
        tr("每字节运算次数（FLOP/字节）", "FLOP per byte"),
        charts.keyed("GFLOP/s", lines),
        log_x=True,
        log_y=True,
        name_ends=False,
        large=large,
        height=285,
    )
    size = charts.text_px(large)
    figure.data[1].update(mode="lines+markers", marker_size=14 if large else 10)
    for one in products:
        figure.add_annotation(
            x=float(np.log10(one.intensity)),
            y=float(np.log10(one.flops_per_second / GIGA)),
            text=f"<b>{one.rows}</b>"
            if one is not products[0]
            else tr("<b>1</b> 行", "<b>1</b> row"),
            showarrow=False,
            xanchor="left",
            yanchor="top",
            xshift=7,
            yshift=-4,
            font_size=size,
        )
    return figure


def paces(results: Results, large: bool = False) -> go.Figure:
    """Tokens per second of the model's phases."""
    named = {
        tr("预填充", "prefill"): results.prefill,
        tr("解码，1 个", "decode, 1"): results.alone,
        tr(f"解码，{measured.TOGETHER} 个一起", f"decode, {measured.TOGETHER} together"): (
            results.together
        ),
    }
    rates = [pace.tokens_per_second for pace in named.values()]
    figure = charts.bars(
        list(named),
        rates,
        tr("token/s", "tokens/s"),
        colours=["prefill", "decode", "decode"],
        texts=[count(rate) for rate in rates],
        large=large,
        height=260 if large else 190,
    )
    return figure.update_xaxes(nticks=MOST_TICKS)
