"""Charts of wasted KV memory: shares of a real load, and what the size of a block decides."""

from collections.abc import Mapping, Sequence
from functools import lru_cache

from sim.engine import Setup
from sim.views import waste
from sim.views.waste import Shares
from ui import charts
from ui.charts import Series, Span, Subplot, TimelineRow, go
from ui.course.sources import sources
from ui.results import runs
from ui.words.language import tr
from ui.words.numbers import in_percent, percent

PARTS = ("filled", "later", "internal", "external")  # of the memory, and keys of ui.theme
HUES = {"filled": "stored"}  # tokens have their colour, whatever is wasted is grey
PUBLISHED = {"color": charts.colour(1), "width": 3}


@lru_cache(maxsize=512)
def shares(setup: Setup) -> Shares:
    return waste.shares(runs.run(setup))


def bars(rows: Mapping[str, Shares], large: bool = False) -> go.Figure:
    """A bar of the whole memory for each way to divide it, blocks last."""
    figure = charts.request_timeline(
        [
            TimelineRow(f"{name} <b>{percent(each.filled)}</b>", _spans(each))
            for name, each in rows.items()
        ],
        tr("占 KV 显存的百分比", "% of KV memory"),
        large=large,
        height=300,
    )
    for trace, part in zip(figure.data, PARTS, strict=False):
        if part in HUES:
            trace.update(marker_color=charts.colour(HUES[part]))
    edge = len(rows) - 1.5  # between the reservations and the blocks
    size = charts.text_px(large)
    *reserved, paged = sources()["paged-waste"].numbers  # percent that hold tokens
    _mark(figure, reserved, (-0.5, edge), size, above=True)
    _mark(figure, [paged], (edge, edge + 1), size, above=False)
    figure.update_yaxes(range=[edge + 2, -1.6])  # room for what the marks say
    return figure.update_xaxes(range=[0, 100], tickvals=list(range(0, 101, 20)), ticksuffix="%")


def _spans(shares: Shares) -> list[Span]:
    spans, start = [], 0.0
    for part in PARTS:
        end = start + in_percent(getattr(shares, part))
        spans.append(Span(part, start, end))
        start = end
    return spans


def _mark(
    figure: go.Figure, values: Sequence[float], rows: tuple[float, float], size: int, above: bool
) -> None:
    """What was measured elsewhere, from one edge of the rows to another, and its name."""
    top, bottom = rows
    for x in values:
        figure.add_shape(type="line", x0=x, x1=x, y0=top, y1=bottom, line=PUBLISHED)
    listed = "–".join(map(str, values)) + "%"
    figure.add_annotation(
        x=sum(values) / len(values),
        y=top if above else bottom,
        text=tr(f"论文实测 {listed}", f"published: {listed}"),
        showarrow=False,
        xanchor="center" if above else "right",
        yanchor="bottom" if above else "top",
        font={"size": size, "color": PUBLISHED["color"]},
    )


def against_block_size(
    sizes: Sequence[int],
    size: int,
    wasted: float,
    prefix_tokens: int,
    longest_tokens: int,
    large: bool = False,
) -> go.Figure:
    """Waste of a request (in theory; measured at `size`), what is found of a prefix, entries."""
    places = list(range(len(sizes)))
    at = list(sizes).index(size)

    def panel(title: str, values: Sequence[float], colour: str) -> Subplot:
        return Subplot(title, [Series(title, places, values, colour)], names_in_title=True)

    found = [waste.shared_tokens(prefix_tokens, each) for each in sizes]
    entries = [waste.table_entries(longest_tokens, each) for each in sizes]
    figure = charts.stacked_time_series(
        [
            panel(
                tr("每个请求浪费的 token 位（半块）", "KV slots wasted per request (half a block)"),
                [waste.expected_slots(each) for each in sizes],
                "internal",
            ),
            panel(
                tr(
                    f"{prefix_tokens} 个相同前缀找回多少 token",
                    f"tokens found of a common prefix of {prefix_tokens}",
                ),
                found,
                "cached",
            ),
            panel(
                tr(
                    f"{longest_tokens:,} 个 token 的块表有几项",
                    f"entries in the table of {longest_tokens:,} tokens",
                ),
                entries,
                "weights",
            ),
        ],
        tr("块大小（token）", "block size (tokens)"),
        large=large,
        height=360,
    )
    figure.update_xaxes(tickvals=places, ticktext=[str(each) for each in sizes])
    figure.add_shape(
        type="line",
        xref="x",
        yref="paper",
        x0=at,
        x1=at,
        y0=0,
        y1=1,
        line={"color": charts.NEUTRAL, "width": 2, "dash": "dot"},
    )
    return charts.mark_point(figure, at, wasted, tr("这次运行", "this run"), large)
