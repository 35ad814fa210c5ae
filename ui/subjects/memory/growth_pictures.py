"""How KV memory fills and empties during a run."""

from collections.abc import Sequence

import numpy as np

from sim.engine import Run, Step
from sim.kv.sizes import Division, request_bytes
from sim.specs import GIB, Model
from sim.views.growth import Growth
from ui import charts, theme
from ui.charts import Series, Subplot, go
from ui.player.painters.timeline import LaneSpan, Timeline
from ui.subjects.memory import memory_notes
from ui.words import notes
from ui.words.language import tr

UNSEEN = {"block_full", "pool_full"}  # no blocks in this picture


def growth_curves(growth: Growth, model: Model, large: bool = False) -> go.Figure:
    """Each request's KV stacked upon the others', and what requests x longest length would give.

    In MiB, since these few requests are small.
    """
    mib = request_bytes(model, 1) / 1024**2
    times = np.append(growth.start_seconds, growth.end_seconds[-1])
    guess = _to_the_end(growth.num_active * growth.longest_tokens * mib)
    one = Series(
        tr("请求数 × 最长长度", "requests × longest length"),
        *(times, guess, charts.NEUTRAL, "dash"),
        step=True,
    )
    figure = charts.lines(
        [one],
        tr("时间（秒）", "time (s)"),
        charts.keyed("MiB", [one]),
        large=large,
        height=145,
    )
    for row, who in enumerate(growth.request_ids):
        figure.add_trace(_layer(times, _to_the_end(growth.tokens[row] * mib), who))
    figure.update_xaxes(range=[0, float(times[-1])])
    size = charts.text_px(large)
    below = np.cumsum(growth.tokens, axis=0) - growth.tokens
    for row, who in enumerate(growth.request_ids):  # a letter in the middle of each layer
        present = np.flatnonzero(growth.tokens[row])
        at = present[int(0.4 * len(present))]
        figure.add_annotation(
            x=float(times[at]),
            y=float((below[row, at] + growth.tokens[row, at] / 2) * mib),
            text=f"<b>{theme.request_letter(who)}</b>",
            showarrow=False,
            font_size=size,
        )
    return figure


def _to_the_end(values: np.ndarray) -> np.ndarray:
    """A value for each step, the last one held until that step is over."""
    return np.append(values, values[-1])


def _layer(times: np.ndarray, size: np.ndarray, who: int) -> go.Scatter:
    hue = charts.colour(who)
    return go.Scatter(
        name=theme.request_letter(who),
        x=times,
        y=size,
        mode="lines",
        stackgroup="kv",
        line={"color": hue, "width": 1, "shape": "hv"},
        fillcolor=charts.faint(hue),
        hovertemplate=f"{theme.request_letter(who)}: %{{y:,.3~g}} MiB<extra></extra>",
    )


def growth_timeline(steps: Sequence[Step], growth: Growth, model: Model, alt: str) -> Timeline:
    """A lane for each request, and one for the sum of their tokens; a frame for each step."""
    lanes = {who: lane for lane, who in enumerate(growth.request_ids)}
    spans = []
    for step, total in zip(steps, growth.active_tokens.tolist(), strict=True):
        start, end = step.start_seconds, step.end_seconds
        spans += [
            LaneSpan(
                lanes[work.request_id],
                start,
                end,
                "prefill" if work.is_prefill else "decode",
                f"{work.context:,}",
            )
            for work in step.work
        ]
        spans.append(LaneSpan(len(lanes), start, end, "stored", f"{total:,}"))
    said = [
        memory_notes.kept(step, column.tolist(), growth.request_ids, model.kv_bytes_per_token)
        for step, column in zip(steps, growth.tokens.T, strict=True)
    ]
    return Timeline(
        lanes=(*(theme.request_letter(who) for who in lanes), tr("合计", "sum")),
        spans=tuple(spans),
        at=tuple(growth.end_seconds.tolist()),
        notes=tuple(said),
        events=tuple(
            tuple(kind for kind in dict.fromkeys(notes.kinds(step)) if kind not in UNSEEN)
            for step in steps
        ),
        alt=alt,
    )


def two_gauges(run: Run, division: Division, large: bool = False) -> go.Figure:
    """What `nvidia-smi` says beside what the server says, and how many requests there are."""
    series = run.series
    times = series.end_seconds
    held = series.kv_usage * division.pool_bytes / GIB
    smi = Series(
        "nvidia-smi", [0.0, float(times[-1])], [division.occupied_bytes / GIB] * 2, "weights"
    )
    kv = charts.thinned(tr("在用的 KV", "KV in use"), times, held, "stored", "dash")
    running = charts.thinned(tr("运行", "running"), times, series.num_running, "decode")
    waiting = charts.thinned(tr("排队", "waiting"), times, series.num_waiting, "queue", "dash")
    top = division.gpu.memory_bytes / GIB
    panels = [
        Subplot(charts.keyed("GiB", [smi, kv]), [smi, kv], top=top, names_in_title=True),
        Subplot(
            charts.keyed(tr("请求数", "requests"), [running, waiting]),
            [running, waiting],
            names_in_title=True,
        ),
    ]
    title = tr("时间（秒）", "time (s)")
    return charts.stacked_time_series(panels, title, large=large, height=330)
