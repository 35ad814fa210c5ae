"""Pictures of several servers behind a router: what they find, and how the load lies.

They read results of `sim`; nothing here decides or measures anything.
"""

from collections.abc import Mapping

from sim.studies.replicas import Fleet
from ui import charts
from ui.charts import Dash, Series, go
from ui.words.language import tr
from ui.words.numbers import in_percent, percent

ROW_PX = 26
DASHES: tuple[Dash, ...] = ("solid", "dash", "dot", "dashdot")


def rule_names() -> dict[str, str]:
    """How a router chooses (`sim.studies.replicas.RULES`)."""
    return {
        "round_robin": tr("轮询", "Round robin"),
        "random": tr("随机", "Random"),
        "affinity": tr("亲和", "Affinity"),
        "balanced": tr("亲和 + 均衡", "Affinity, balanced"),
    }


def hits_by_replicas(
    fleets: Mapping[str, Mapping[int, Fleet]], here: tuple[int, Fleet], large: bool = False
) -> go.Figure:
    """The hit rate of each rule along the number of servers: rule -> their number -> fleet."""
    names = rule_names()
    series = [
        Series(
            names[rule],
            list(points),
            [in_percent(fleet.hit_rate) for fleet in points.values()],
            number,
            DASHES[number % len(DASHES)],
        )
        for number, (rule, points) in enumerate(fleets.items())
    ]
    figure = charts.lines(
        series,
        tr("副本数", "replicas"),
        tr("命中率（%）", "hit rate (%)"),
        large=large,
        log_x=True,
        y_range=(0, 100),
        height=240,
    )
    places = list(next(iter(fleets.values())))
    figure.update_xaxes(tickvals=places, ticktext=[str(place) for place in places])
    number, fleet = here
    return charts.mark_point(figure, number, in_percent(fleet.hit_rate), tr("现在", "now"), large)


def shares(fleet: Fleet, large: bool = False) -> go.Figure:
    """How many of the requests each server got, the busiest first; the line is an even share."""
    figure = charts.bars(
        [str(number) for number in range(1, len(fleet.shares) + 1)],
        [in_percent(share) for share in fleet.shares],
        tr("各副本占全部请求的 %", "% of all requests, by replica"),
        texts=[percent(share) for share in fleet.shares],
        large=large,
        top=in_percent(max(0.5, *fleet.shares)),
        height=ROW_PX * len(fleet.shares) + 80,
    )
    figure.update_yaxes(type="category", dtick=1)
    figure.update_traces(constraintext="none")
    even = in_percent(1 / len(fleet.shares))
    figure.add_vline(x=even, line={"width": 2, "color": charts.NEUTRAL, "dash": "dot"})
    return figure


def times_the_mean(ratio: float) -> str:
    """How much busier than on average."""
    return tr(f"平均的 {ratio:.1f} 倍", f"{ratio:.1f}× the mean")
