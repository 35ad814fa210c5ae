"""Pictures of batches: what a shared step looks like, where slots spend their time.

They read results of `sim` and hand them to `charts`; nothing here decides or measures anything.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from sim.engine import Step, StepWork
from sim.views.slots import SlotGrid
from ui import charts, theme
from ui.charts import Span, TimelineRow, go
from ui.words.language import tr

LETTER_SHARE = 0.05  # of the axis that a span needs to carry a letter
SHARES = ("prefill", "decode", "stalled", "held", "free")  # in the order of a bar


def contexts(step: Step) -> str:
    """How long each request's KV is after a step: "24、35、12"."""
    return tr("、", ", ").join(f"{work.context:,}" for work in step.work)


def shared_step(step: Step, large: bool = False) -> go.Figure:
    """One step twice: tokens end to end for the linear layers, and per request for attention."""
    ends = np.cumsum([work.num_tokens for work in step.work])
    together = [
        Span(_state(work), end - work.num_tokens, end)
        for work, end in zip(step.work, ends, strict=True)
    ]
    rows = [TimelineRow(tr("线性层", "linear layers"), together)]
    rows += [_attention_row(work) for work in step.work]
    figure = charts.request_timeline(
        rows, tr("token", "tokens"), large=large, height=height(len(rows), large)
    )
    longest = max([ends[-1], *(work.context for work in step.work)])
    for work, span in zip(step.work, together, strict=True):
        if span.end - span.start > LETTER_SHARE * longest:
            name_span(figure, 0, span, theme.request_letter(work.request_id), large)
    return figure


def _attention_row(work: StepWork) -> TimelineRow:
    letter = theme.request_letter(work.request_id)
    before = work.context - work.num_tokens
    spans = [Span("stored", 0, before)] if before else []
    spans.append(Span(_state(work), before, work.context))
    return TimelineRow(tr(f"{letter} 的注意力", f"attention of {letter}"), spans)


def _state(work: StepWork) -> str:
    return "prefill" if work.is_prefill else "decode"


def slot_shares(grids: Sequence[tuple[str, SlotGrid]], large: bool = False) -> go.Figure:
    """Where the slots' time goes: one bar per policy, split by state."""
    rows = [TimelineRow(name, _stacked(grid.shares)) for name, grid in grids]
    x_title = tr("占槽位时间的百分比", "% of the slots' time")
    figure = charts.request_timeline(rows, x_title, large=large, height=height(len(rows), large))
    return figure.update_layout(showlegend=large)  # the slot grid above it has the same legend


def _stacked(shares: Mapping[str, float]) -> list[Span]:
    percents = [shares[state] * 100 for state in SHARES]
    ends = np.cumsum(percents)
    return [
        Span(state, end - percent, end)
        for state, percent, end in zip(SHARES, percents, ends, strict=True)
        if percent > 0
    ]


def name_span(figure: go.Figure, row: int, span: Span, text: str, large: bool) -> None:
    figure.add_annotation(
        x=(span.start + span.end) / 2,
        y=row,
        text=f"<b>{text}</b>",
        showarrow=False,
        font_size=charts.text_px(large),
    )


def height(num_rows: int, large: bool) -> int:
    return 100 + num_rows * (46 if large else 34)
