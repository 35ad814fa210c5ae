"""Charts: one style for both themes, few traces, told apart without colour."""

import itertools
import math

import numpy as np
import pytest

from ui import charts, theme
from ui.charts import Sample, Series, Span, Subplot, TimelineRow
from ui.charts.curve_names import apart
from ui.charts.distributions import MAX_CURVE_POINTS

ROWS = [
    TimelineRow("A", [Span("queue", 0, 1), Span("prefill", 1, 2), Span("decode", 2, 9)]),
    TimelineRow("B", [Span("prefill", 0, 1), Span("decode", 1, 4), Span("preempted", 4, 6)]),
]
TWO_CURVES = [Series("up", [0, 1], [0, 1]), Series("down", [0, 1], [1, 0.5], 1, dash="dash")]
FIGURES = {
    "lines": lambda large: charts.lines(TWO_CURVES, "x", "y", large=large),
    "bars": lambda large: charts.bars(["A", "B"], [1, 2], "s", large=large),
    "timeline": lambda large: charts.request_timeline(ROWS, "s", large=large),
    "stacked": lambda large: charts.stacked_time_series(
        [Subplot("requests", TWO_CURVES), Subplot("KV", TWO_CURVES[:1], "%", top=100)],
        "s",
        large=large,
    ),
    "distribution": lambda large: charts.distribution(
        [Sample("A", [1, 2, 3]), Sample("B", [2, 4, 9], 1)], "s", large=large
    ),
    "number_line": lambda large: charts.number_line(0, 100, 60, 46.7, ("guess", "computed")),
}
every_figure = pytest.mark.parametrize("draw", FIGURES.values(), ids=FIGURES)


@every_figure
def test_backgrounds_are_transparent_and_text_has_no_colour_of_its_own(draw):
    layout = draw(False).layout
    assert layout.paper_bgcolor == layout.plot_bgcolor == charts.TRANSPARENT
    assert layout.font.color is None
    assert layout.xaxis.tickfont.color is None


@pytest.mark.parametrize("name", [name for name in FIGURES if name != "number_line"])
def test_text_is_18_px_in_the_lecture_hall_and_14_px_elsewhere(name):
    for large, size in ((False, 14), (True, 18)):
        figure = FIGURES[name](large)
        assert figure.layout.font.size == size
        assert figure.layout.xaxis.tickfont.size == size
        assert {note.font.size for note in figure.layout.annotations} <= {size}


@every_figure
def test_a_finger_scrolls_the_page_and_not_the_chart(draw):
    figure = draw(False)
    assert figure.layout.dragmode is False
    assert figure.layout.xaxis.fixedrange


def test_the_timeline_has_one_trace_per_state_whatever_the_number_of_requests():
    figure = charts.request_timeline(ROWS * 20, "s")
    assert [trace.name for trace in figure.data] == ["排队", "预填充", "解码", "被抢占"]


def test_the_states_of_a_timeline_differ_by_pattern():
    figure = charts.request_timeline(ROWS, "s")
    patterns = [trace.marker.pattern.shape for trace in figure.data]
    assert len(set(patterns)) == len(patterns)


def test_every_pattern_of_the_theme_can_be_drawn():
    assert {meaning.pattern for meaning in theme.MEANINGS.values()} <= set(charts.PATTERNS)


@pytest.mark.parametrize("state", ["free", "idle"])
def test_what_is_empty_is_an_outline_in_charts_as_in_players(state):
    timeline = charts.request_timeline([TimelineRow("A", (Span(state, 0, 2),))], "s")
    bars = charts.bars(["a", "b"], [1, 2], "s", colours=[state, "decode"])
    edge = theme.MEANINGS[state].colour
    empty = timeline.data[0].marker
    assert (empty.color, empty.line.width, empty.line.color) == (charts.GROUND, 1, edge)
    assert bars.data[0].marker.color == (charts.GROUND, theme.MEANINGS["decode"].colour)
    assert bars.data[0].marker.line.width == (1, 0)
    assert bars.data[0].marker.line.color[0] == edge
    assert charts.request_timeline(ROWS, "s").data[0].marker.line.width == 0


def test_timeline_bars_stand_where_their_spans_are():
    decode = charts.request_timeline(ROWS, "s").data[2]
    assert list(decode.base) == [2, 1]
    assert list(decode.x) == [7, 3]
    assert list(decode.y) == [0, 1]


def test_the_value_of_a_thin_bar_is_as_large_as_the_rest():
    """By itself Plotly shrinks a text to the width of its bar."""
    assert charts.bars(["a"], [1.0], "s").data[0].constraintext == "none"


@pytest.mark.parametrize("num_rows", [1, 8, 36, 300])
def test_row_labels_of_a_timeline_stand_clear_of_each_other(num_rows):
    figure = charts.request_timeline([ROWS[0]] * num_rows, "s", height=330)
    shown = len(figure.layout.yaxis.tickvals)
    assert 1 <= shown <= (330 - charts.FRAME_PX) / charts.TEXT_PX


def test_curves_are_named_at_their_ends():
    figure = charts.lines(TWO_CURVES, "x", "y")
    names = [note for note in figure.layout.annotations if note.text in ("up", "down")]
    assert [note.xref for note in names] == ["paper", "paper"]
    assert figure.layout.showlegend is False


def test_curves_that_end_together_are_named_at_their_peaks():
    early, late = Series("early", [0, 1, 9], [5, 0, 0]), Series("late", [0, 8, 9], [0, 3, 0])
    figure = charts.lines([early, late], "x", "y")
    peaks = {note.text: (note.x, note.y) for note in figure.layout.annotations}
    assert peaks["early"] == (0, 5)
    assert peaks["late"] == (8, 3)


def test_names_at_the_ends_never_touch():
    places = apart([10.0, 11.0, 12.0, 90.0], 16)
    gaps = [after - before for before, after in itertools.pairwise(sorted(places))]
    assert min(gaps) >= 15.9
    assert places == sorted(places)


def test_stacked_panels_share_one_time_axis():
    figure = FIGURES["stacked"](False)
    assert {trace.xaxis or "x" for trace in figure.data} == {"x"}
    assert figure.layout.yaxis.domain[0] > figure.layout.yaxis2.domain[1]
    assert list(figure.layout.yaxis2.range) == [0, 100]


def test_a_distribution_reaches_one_and_marks_its_percentiles():
    values = np.arange(1, 101)
    curve, marks = charts.distribution([Sample("TTFT", values)], "s").data
    assert curve.y[0] == 0
    assert curve.y[-1] == 1
    assert list(marks.text) == ["p50", "p99"]
    assert list(marks.x) == pytest.approx([50.5, 99.01])


def test_a_distribution_of_many_values_stays_light():
    curve = charts.distribution([Sample("TTFT", np.random.default_rng(0).random(50_000))], "s")
    assert len(curve.data[0].x) <= MAX_CURVE_POINTS + 1


def test_a_distribution_of_nothing_is_drawn_all_the_same():
    assert len(charts.distribution([Sample("TPOT", [np.nan])], "s").data) == 1


def test_a_guess_is_marked_beside_what_came_out():
    guess, truth = charts.number_line(0, 100, 60, 46.7, ("guess", "computed")).data
    assert (guess.x[0], guess.text[0]) == (60, "guess")
    assert (truth.x[0], truth.text[0]) == (46.7, "computed")
    assert guess.marker.symbol != truth.marker.symbol


def test_marks_are_labelled():
    figure = charts.lines(TWO_CURVES, "x", "y")
    charts.mark_point(figure, 0.5, 0.5, "your guess")
    charts.mark_arrow(figure, (0.5, 0.5), (0.5, 0.75), "higher")
    assert figure.data[-1].text[0] == "your guess"
    assert figure.layout.annotations[-1].text == "higher"
    assert figure.layout.annotations[-2].showarrow


def test_a_chart_without_words_is_refused():
    with pytest.raises(ValueError, match="text alternative"):
        charts.show(FIGURES["bars"](False), "bars", alt=" ")


def test_names_of_curves_that_coincide_do_not_lie_on_each_other():
    same = [charts.Series(name, (1, 2, 3), (0.9, 0.9, 0.9), 0) for name in ("served", "in time")]
    named = charts.lines(same, "x", "y").layout.annotations
    places = [(note.y, note.yshift or 0) for note in named if note.text in ("served", "in time")]
    (y1, shift1), (y2, shift2) = places
    assert y1 == y2
    assert abs(shift1 - shift2) >= charts.TEXT_PX


@pytest.mark.parametrize("value", [0.0326, 0.03, 1.0, 3.2, 7.1])
def test_even_a_single_value_has_a_tick_in_view_on_a_logarithmic_axis(value):
    axis = charts.lines([charts.Series("", (1, 2), (value, value), 0)], "x", "y", log_y=True)
    low, high = axis.layout.yaxis.range
    assert any(low <= math.log10(tick) <= high for tick in axis.layout.yaxis.tickvals)


def test_the_names_of_curves_get_a_line_of_their_own_where_a_phone_is_too_narrow():
    short, long = Series("one", [0], [0]), Series("a name that is long", [0], [0], dash="dash")
    (title,) = titles([Subplot(charts.keyed("requests", [short]), [short], names_in_title=True)])
    assert "<br>" not in title
    (title,) = titles(
        [Subplot(charts.keyed("requests", [short, long]), [short], "ms", names_in_title=True)]
    )
    assert title.startswith("requests（ms）<br><span")


def test_a_long_title_is_broken_before_its_remark_and_has_room():
    figure = charts.lines(
        [Series("", [0, 1], [0, 1])], "steps", "ms of each request (dotted: its target, 7.00 s)"
    )
    (title,) = (one.text for one in figure.layout.annotations)
    assert title == "ms of each request<br>(dotted: its target, 7.00 s)"
    assert figure.layout.margin.t > 2.6 * figure.layout.font.size
    plain = charts.lines([Series("", [0, 1], [0, 1])], "steps", "ms")
    assert plain.layout.margin.t < figure.layout.margin.t


def test_a_hall_has_room_for_a_title_that_a_phone_has_not():
    words = "ms of each request (dotted: its target, 7.00 s)"
    figure = charts.lines([Series("", [0, 1], [0, 1])], "steps", words, large=True)
    assert [one.text for one in figure.layout.annotations] == [words]


def titles(panels):
    figure = charts.stacked_time_series(panels, "s")
    return [one.text for one in figure.layout.annotations if one.xref == "paper"]
