"""Result charts, all in one style.

Backgrounds are transparent and text takes the colour of the reader's theme in the browser, so one
figure serves light and dark; data colours come from `ui.theme` and hold their contrast on both.
Few traces, labels at the data instead of legends, units at the axes, vertical-axis titles written
horizontally.  `large=True` is for the lecture hall.

A figure is made by one function, may get marks and is drawn by `show`:

go             what a figure is made of, in Plotly's words
style          sizes, colours, axes, titles, legends; an empty figure
series         what a curve is made of
curve_names    the names of curves, beside them
line_charts    `lines`
panels         `stacked_time_series`: small charts above each other
bar_charts     `bars`, `grouped_bars`
timelines      `request_timeline`: what each request was doing when
distributions  `distribution`, with its percentiles
marks          `mark_point`, `mark_guess`, `mark_arrow`, `number_line`: a guess beside what came out
drawing        `show`, with words for those who do not see it
"""

from ui.charts.bar_charts import bar_marker, bars, grouped_bars
from ui.charts.distributions import Sample, distribution
from ui.charts.drawing import show
from ui.charts.line_charts import lines
from ui.charts.marks import mark_arrow, mark_guess, mark_point, mark_setting, number_line, padded
from ui.charts.panels import Subplot, stacked_time_series
from ui.charts.series import DASH_SIGNS, Series, keyed, thinned
from ui.charts.style import (
    AXIS,
    GROUND,
    LARGE_TEXT_PX,
    NEUTRAL,
    PATTERNS,
    TEXT_PX,
    TRANSPARENT,
    ZERO_WIDTH,
    Dash,
    colour,
    faint,
    name_above,
    name_in_corner,
    plain,
    text_px,
    text_width,
)
from ui.charts.timelines import (
    FRAME_PX,
    LOW_BAR,
    Span,
    TimelineRow,
    name_span_above,
    request_timeline,
    write_at_ends,
)

__all__ = [
    "AXIS",
    "DASH_SIGNS",
    "FRAME_PX",
    "GROUND",
    "LARGE_TEXT_PX",
    "LOW_BAR",
    "NEUTRAL",
    "PATTERNS",
    "TEXT_PX",
    "TRANSPARENT",
    "ZERO_WIDTH",
    "Dash",
    "Sample",
    "Series",
    "Span",
    "Subplot",
    "TimelineRow",
    "bar_marker",
    "bars",
    "colour",
    "distribution",
    "faint",
    "grouped_bars",
    "keyed",
    "lines",
    "mark_arrow",
    "mark_guess",
    "mark_point",
    "mark_setting",
    "name_above",
    "name_in_corner",
    "name_span_above",
    "number_line",
    "padded",
    "plain",
    "request_timeline",
    "show",
    "stacked_time_series",
    "text_px",
    "text_width",
    "thinned",
    "write_at_ends",
]
