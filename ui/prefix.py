"""Pictures of the prefix cache: which tokens are computed, which are reused, and what that saves.

They read results of `sim` and hand them to `charts`; nothing here decides or measures anything.
"""

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from sim import metrics
from sim.engine import Run
from ui import charts, theme
from ui.charts import Span, TimelineRow
from ui.language import tr
from ui.numbers import seconds

ROOM_FOR_TTFT = 1.3  # times the longest prompt


def computed_and_reused(run: Run, large: bool = False) -> go.Figure:
    """A bar for each prompt: what was found in the cache, what was computed, and its TTFT."""
    records = metrics.served(run)
    rows = [
        TimelineRow(
            theme.request_letter(record.request.id),
            _present(
                Span("cached", 0, record.hit_tokens),
                Span("prefill", record.hit_tokens, record.request.prompt_tokens),
            ),
        )
        for record in records
    ]
    figure = charts.request_timeline(
        rows, tr("提示词的 token", "tokens of the prompt"), large=large, height=250
    )
    longest = max(record.request.prompt_tokens for record in records)
    figure.update_xaxes(range=[0, ROOM_FOR_TTFT * longest])
    for row, record in enumerate(records):
        end, ttft = record.request.prompt_tokens, seconds(metrics.ttft(record))
        _write(figure, end, row, f"TTFT <b>{ttft}</b>", large)
    return figure


def first_and_others(runs: Mapping[str, Run], large: bool = False) -> go.Figure:
    """How long a mean answer takes on each server: up to its first token, and after."""
    rows = []
    for name, run in runs.items():
        summary = metrics.summarize(run)
        first, whole = summary.ttft.mean, summary.e2e.mean
        spans = [Span("prefill", 0, first * 1000), Span("decode", first * 1000, whole * 1000)]
        rows.append(TimelineRow(name, _present(*spans)))
    title = tr("平均每个回答（毫秒）", "mean answer (ms)")
    return charts.request_timeline(rows, title, large=large, height=170)


def _present(*spans: Span) -> Sequence[Span]:
    return [span for span in spans if span.end > span.start]


def _write(figure: go.Figure, x: float, row: int, text: str, large: bool) -> None:
    """Right of the end of a bar."""
    figure.add_annotation(
        x=x,
        y=row,
        text=text,
        showarrow=False,
        xanchor="left",
        xshift=6,
        font_size=charts.LARGE_TEXT_PX if large else charts.TEXT_PX,
    )
