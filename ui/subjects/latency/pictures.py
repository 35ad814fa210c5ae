"""Where latency comes from, in pictures: one request's stations, a stream's messages, queue and
prefill under load, gaps one by one, and one stream by the arithmetic of several tools.

They read results of `sim`; nothing here decides or measures anything.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
import plotly.graph_objects as go

from sim import metrics
from sim.engine import Record, Run
from sim.views.stations import CPU, GPU, QUEUE, Journey, Station
from sim.views.streaming import Definition, Stream
from ui import charts, theme
from ui.charts import Series
from ui.player.painters.timeline import LaneSpan, Timeline
from ui.subjects.latency import latency_notes
from ui.words import notes
from ui.words.language import tr
from ui.words.numbers import seconds

MILLI = 1000.0
SMALLEST_MS = 0.1  # the lower end of a log axis, for what takes no time at all
PLACES = (CPU, QUEUE, GPU)
BEYOND = 1.08  # how far the axis goes, with the last token at 1
CLOSE = 1.6  # levels within this ratio are named together
LATER = 0.7  # of the time until something else happens

# -- players ----------------------------------------------------------------------------------


def journey_timeline(journey: Journey, words: Sequence[str], alt: str) -> Timeline:
    """One request on its user's clock: where it is, what the user sees, what is measured.

    `words`: its output tokens as text.  A frame for its arrival and for the end of each station;
    what has just come onto the screen is shown a moment later, when it can be read there.
    """
    arrival = journey.request.arrival_seconds
    seen = [moment - arrival for moment in journey.seen_seconds]
    end = 2 * seen[-1] - seen[-2]
    moments = [*(one.end_seconds - arrival for one in journey.stations), end]
    at = [
        _later(moment, after) if one.kind == "detokenize" else moment
        for one, (moment, after) in zip(journey.stations, pairwise(moments), strict=True)
    ]
    who = notes.names([journey.request.id])
    came = tr(f"{who} 到达，秒表开始走。", f"{who} arrives; the stopwatch starts.")
    return Timeline(
        lanes=("CPU", tr("队列", "queue"), "GPU", tr("用户看到", "user sees"), tr("量到", "timed")),
        spans=(
            *(_at_station(one, arrival) for one in (*journey.others, *journey.stations)),
            *_screen(3, [*seen, end], words),
            *_measured(4, seen),
        ),
        at=(0.0, *at),
        notes=(
            came,
            *(latency_notes.station_note(one, journey, words) for one in journey.stations),
        ),
        events=((), *(_kind(one, journey) for one in journey.stations)),
        alt=alt,
    )


def _later(moment: float, after: float) -> float:
    return moment + LATER * (after - moment)


def _at_station(station: Station, arrival: float) -> LaneSpan:
    meaning = theme.MEANINGS[station.kind]
    return LaneSpan(
        PLACES.index(station.place),
        station.start_seconds - arrival,
        station.end_seconds - arrival,
        station.kind,
        tr(meaning.zh, meaning.en),
        theme.request_letter(station.request_id),
    )


def _screen(lane: int, moments: Sequence[float], words: Sequence[str]) -> list[LaneSpan]:
    """What is on the screen from one moment to the next; one moment more than words."""
    return [
        LaneSpan(lane, start, end, "answer", word)
        for (start, end), word in zip(pairwise(moments), words, strict=True)
    ]


def _measured(lane: int, seen: Sequence[float]) -> list[LaneSpan]:
    first = LaneSpan(lane, 0, seen[0], "measured", "TTFT")
    return [
        first,
        *(LaneSpan(lane, start, end, "measured", "ITL") for start, end in pairwise(seen)),
    ]


def _kind(station: Station, journey: Journey) -> tuple[str, ...]:
    known = {
        ("queue", 1): "admitted",
        ("detokenize", 1): "first_token",
        ("detokenize", journey.request.output_tokens): "finished",
    }
    key = (station.kind, station.token)
    return (known[key],) if key in known else ()


def message_timeline(record: Record, answer: Stream, alt: str) -> Timeline:
    """Tokens as the engine samples them, above the messages in which they arrive.

    A frame for each token, a moment after it was sampled.
    """
    sent = answer.sent_seconds
    tokens = [0.0, *(record.token_seconds - sent).tolist()]
    messages = [0.0, *(answer.message_seconds - sent).tolist()]
    sizes = answer.message_tokens.tolist()
    end = BEYOND * tokens[-1]
    produced = [
        LaneSpan(0, start, stop, "decode" if number > 1 else "prefill", str(number))
        for number, (start, stop) in enumerate(pairwise(tokens), start=1)
    ]
    said = [
        latency_notes.stream_note(before + place, place, gap if place == size else 0)
        for before, size, gap in zip(
            np.cumsum([0, *sizes[:-1]]).tolist(), sizes, np.diff(messages).tolist(), strict=True
        )
        for place in range(1, size + 1)
    ]
    arrived = _screen(1, [*messages[1:], end], [f"+{size}" for size in sizes])
    return Timeline(
        lanes=(tr("引擎产出", "engine"), tr("客户端收到", "client has")),
        spans=(*produced, *arrived),
        at=(*(_later(*pair) for pair in pairwise(tokens[1:])), end),
        notes=tuple(said),
        events=(("first_token",), *[()] * (len(said) - 1)),
        alt=alt,
    )


# -- charts -----------------------------------------------------------------------------------


def ttft_split(run: Run, large: bool = False) -> go.Figure:
    """TTFT of every request in order of arrival, split into queue and prefill."""
    served = metrics.served(run)
    queue = [metrics.queue_time(record) * MILLI for record in served]
    prefill = [
        metrics.ttft(record) * MILLI - waited for record, waited in zip(served, queue, strict=True)
    ]
    figure = charts.lines(
        [Series("", [0, len(served)], [0, max(np.add(queue, prefill))])],
        tr("请求，按到达的先后", "requests, in order of arrival"),
        tr("TTFT（毫秒）", "TTFT (ms)"),
        large=large,
        height=205,
    )
    figure.data = ()
    for kind, values in (("queue", queue), ("prefill", prefill)):
        figure.add_trace(_stacked(kind, values))
    figure.update_layout(barmode="stack", bargap=0.12, showlegend=True, hovermode="x unified")
    size = charts.text_px(large)
    figure.update_layout(
        legend={"orientation": "h", "x": 1, "xanchor": "right", "y": 1, "yanchor": "bottom"},
        legend_font_size=size,
        legend_traceorder="normal",
    )
    return figure


def _stacked(kind: str, values: Sequence[float]) -> go.Bar:
    meaning = theme.MEANINGS[kind]
    return go.Bar(
        name=tr(meaning.zh, meaning.en),
        x=np.arange(len(values)) + 0.5,
        y=values,
        marker={"color": meaning.colour, "line": {"width": 0}},
        hovertemplate="%{y:,.3~g} ms",
    )


def ttft_by_rate(
    points: Mapping[float, metrics.Summary], chosen: float, large: bool = False
) -> go.Figure:
    """Queue, prefill and the slowest TTFT against the arrival rate, on a log axis."""
    rates, summaries = list(points), list(points.values())
    queue = [max(one.queue_time.mean * MILLI, SMALLEST_MS) for one in summaries]
    prefill = [(one.ttft.mean - one.queue_time.mean) * MILLI for one in summaries]
    worst = [one.ttft.p99 * MILLI for one in summaries]
    figure = charts.lines(
        [
            Series(tr("TTFT p99", "TTFT p99"), rates, worst, 3, dash="dot"),
            Series(tr("平均排队", "queue, mean"), rates, queue, "queue", dash="dash"),
            Series(tr("平均预填充", "prefill, mean"), rates, prefill, "prefill"),
        ],
        tr("每秒到达的请求", "requests per second"),
        tr("毫秒", "ms"),
        log_y=True,
        large=large,
        height=205,
    )
    figure.add_vline(x=chosen, line={"width": 2, "color": charts.NEUTRAL, "dash": "dot"})
    return figure


def gaps(record: Record, stalled: np.ndarray, large: bool = False) -> go.Figure:
    """Every gap of one answer, with the statistics that are drawn from them, on a log axis.

    `stalled`: which of them ended with a step that prefilled somebody else, [N - 1].
    """
    sample = metrics.itl(record) * MILLI
    if not len(sample):
        return _no_gaps(large)
    values = metrics.Distribution.of(sample)
    ends = [1, max(len(sample), 2)]
    levels: list[tuple[str, float, int, charts.Dash]] = [
        ("p50", values.p50, 5, "dash"),
        (tr("平均 = TPOT", "mean = TPOT"), values.mean, 2, "solid"),
        ("p99", values.p99, 3, "dashdot"),
        (tr("最大", "max"), values.max, 1, "dot"),
    ]
    figure = charts.lines(
        [Series(name, ends, [level] * 2, colour, dash) for name, level, colour, dash in levels],
        tr("第几个间隔", "which gap"),
        tr("间隔（毫秒）", "gap (ms)"),
        log_y=True,
        y_range=(values.p50 / 2, max(values.max, values.p50 * 10) * 1.5),
        name_ends=False,
        large=large,
        height=330,
    )
    numbers = np.arange(1, len(sample) + 1)
    size = 11 if large else 7
    figure.add_trace(_dots(numbers[~stalled], sample[~stalled], "decode", "circle", size))
    figure.add_trace(_dots(numbers[stalled], sample[stalled], "stalled", "diamond", 2 * size))
    _name_levels(figure, [(name, level) for name, level, _, _ in levels], large)
    return figure


def _name_levels(figure: go.Figure, levels: Sequence[tuple[str, float]], large: bool) -> None:
    """Right of the lines; those that lie close together share a name."""
    size = charts.text_px(large)
    names: list[tuple[str, float]] = []
    for name, level in sorted(levels, key=lambda named: named[1]):
        if names and level < CLOSE * names[-1][1]:
            name, level = f"{name}<br>{names[-1][0]}", names.pop()[1]
        names.append((name, level))
    for name, level in names:
        figure.add_annotation(
            text=name,
            x=1,
            xref="paper",
            y=float(np.log10(level)),
            xanchor="left",
            xshift=8,
            showarrow=False,
            align="left",
            font_size=size,
        )
    widest = max(charts.text_width(name, size) for name, _ in levels)
    figure.update_layout(margin_r=round(widest) + 20)


def _dots(x: np.ndarray, y: np.ndarray, kind: str, symbol: str, size: int) -> go.Scatter:
    return go.Scatter(
        x=x,
        y=y,
        mode="markers",
        marker={"color": theme.MEANINGS[kind].colour, "symbol": symbol, "size": size},
        cliponaxis=False,
        hovertemplate="%{x}: %{y:,.3~g} ms<extra></extra>",
        showlegend=False,
    )


def _no_gaps(large: bool) -> go.Figure:
    figure = charts.lines([Series("", [1, 2], [1, 1])], "", "", large=large, height=330)
    figure.data = ()
    figure.update_layout(xaxis_visible=False, yaxis_visible=False)
    figure.add_annotation(
        x=0.5,
        y=0.5,
        xref="paper",
        yref="paper",
        showarrow=False,
        text=tr("只有 1 个 token：没有间隔，也没有 TPOT", "one token: no gap, and no TPOT"),
        font_size=charts.text_px(large),
    )
    return figure


def by_tool(reported: Sequence[tuple[Definition, float]], large: bool = False) -> go.Figure:
    """What each tool reports of the same answer; the same formula in the same colour."""
    formulas = list(dict.fromkeys(one.of for one, _ in reported))
    figure = charts.bars(
        [f"{one.tool} · {one.metric}" for one, _ in reported],
        [value * MILLI for _, value in reported],
        tr("毫秒", "ms"),
        colours=[formulas.index(one.of) for one, _ in reported],
        texts=[seconds(value) for _, value in reported],
        large=large,
        height=245,
    )
    return figure.update_yaxes(dtick=1).update_traces(constraintext="none")
