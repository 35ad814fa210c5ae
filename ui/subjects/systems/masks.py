"""What masks cost the CPU, and when that shows."""

from sim.cost import Roofline
from sim.model.constrained.masking import MaskWork
from ui import charts
from ui.charts import Series, go
from ui.subjects.systems.several_gpus import BATCHES, CONTEXT
from ui.words.language import tr
from ui.words.numbers import significant


def mask_works(clock: Roofline, microseconds: float) -> tuple[MaskWork, MaskWork, MaskWork]:
    """Without masks, with them made while the GPU computes, with the GPU waiting for them."""
    each = microseconds / 1e6
    return (
        MaskWork(clock, CONTEXT, 0.0, overlaps=True),
        MaskWork(clock, CONTEXT, each, overlaps=True),
        MaskWork(clock, CONTEXT, each, overlaps=False),
    )


def rate_in_words(work: MaskWork, batch: int) -> str:
    return f"{significant(work.tokens_per_second(batch))} " + tr("token/s", "tokens/s")


def masked_throughput(
    clock: Roofline, microseconds: float, batch: int, large: bool = False
) -> go.Figure:
    """Tokens per second over the batch: without masks, with them hidden, with them in the way."""
    free, hidden, waits = mask_works(clock, microseconds)
    kinds = [
        (tr("不约束", "no format"), free, "solid"),
        (tr("同时算掩码", "masks made meanwhile"), hidden, "dash"),
        (tr("先后算", "one after the other"), waits, "dot"),
    ]
    figure = charts.lines(
        [
            Series(name, BATCHES, [work.tokens_per_second(each) for each in BATCHES], number, dash)  # type: ignore[arg-type]
            for number, (name, work, dash) in enumerate(kinds)
        ],
        tr("批大小（每个请求都要一个掩码）", "batch (every request needs a mask)"),
        tr("输出 token/s", "output tokens/s"),
        log_x=True,
        name_ends=False,
        large=large,
        height=320,
    )
    charts.name_in_corner(figure, large, x=0, y=1)
    figure.add_vline(x=batch, line={"color": charts.NEUTRAL, "width": 1.5, "dash": "dot"})
    return figure
