"""Pictures of chunked prefill: what they draw adds up to what the run gave."""

import pytest

from sim import metrics
from sim.views import stalls
from ui.subjects.batching import chunk_pictures
from ui.words import language


@pytest.fixture(autouse=True)
def _english(monkeypatch):
    monkeypatch.setattr(language, "current", lambda: "en")


def latencies(gap, ttft):
    """A chat with one gap, and a document, in seconds."""
    nobody = metrics.Distribution.of([])
    return (
        stalls.Latencies(nobody, metrics.Distribution.of([gap])),
        stalls.Latencies(metrics.Distribution.of([ttft]), nobody),
    )


def test_a_budget_is_a_point_at_its_longest_gap_and_its_ttft_and_the_chosen_one_is_marked():
    points = {256: latencies(0.015, 0.9), 512: latencies(0.03, 0.6), 8192: latencies(0.4, 0.5)}
    curve, mark = chunk_pictures.smooth_or_soon(points, chosen=512).data
    assert curve.x.tolist() == pytest.approx([15, 30, 400])
    assert curve.y.tolist() == pytest.approx([900, 600, 500])
    assert (mark.x[0], mark.y[0]) == (30, 600)
    notes = chunk_pictures.smooth_or_soon(points, chosen=512).layout.annotations
    assert [note.text for note in notes if note.text[-1].isdigit() or "<b>" in note.text] == [
        "256",
        "<b>512</b>",
        "8,192",
    ]


@pytest.mark.parametrize("chosen", [4_096, 8_192, 16_384])
def test_the_two_largest_budgets_are_named_on_either_side_of_their_points(chosen):
    points = {size: latencies(0.4, 0.5) for size in (4_096, 8_192, 16_384)}
    notes = chunk_pictures.smooth_or_soon(points, chosen).layout.annotations
    above, below = (next(one for one in notes if name in one.text) for name in ("8,192", "16,384"))
    assert above.yshift > 0 > below.yshift


@pytest.mark.parametrize(
    ("decode", "prefill", "widths"),
    [(4, 508, [4, 508]), (256, 0, [256, 256]), (100, 200, [100, 200, 212]), (512, 0, [512])],
)
def test_the_budget_of_a_step_is_split_into_decode_prefill_and_what_nobody_takes(
    rows, decode, prefill, widths
):
    chunk_pictures.budget_of_a_step(512, decode, prefill)
    (row,) = rows
    assert [span.end - span.start for span in row.spans] == widths
    assert [span.start for span in row.spans[1:]] == [span.end for span in row.spans[:-1]]
    assert row.spans[0].state == "decode"
    assert row.spans[-1].end == 512


LOADS = (1.0, 2.0, 4.0)


def test_a_change_of_ttft_is_drawn_in_ms_as_the_median_of_all_series_and_their_range():
    documents = [(0.02, 0.01, -0.01), (0.03, 0.01, 0.05), (0.01, 0.02, 0.0)]
    long, short = chunk_pictures.ttft_change(LOADS, documents, [(0.0, -0.01, -0.02)] * 3).data
    assert long.y.tolist() == pytest.approx([20, 10, 0])
    assert (long.y + long.error_y.array).tolist() == pytest.approx([30, 20, 50])
    assert (long.y - long.error_y.arrayminus).tolist() == pytest.approx([10, 10, -10])
    assert short.y.tolist() == pytest.approx([0, -10, -20])
    assert short.error_y.array.tolist() == pytest.approx([0, 0, 0])


def test_later_and_sooner_stand_in_corners_where_no_curve_begins():
    figure = chunk_pictures.ttft_change(LOADS, [(0.02, 0.03, 0.2)], [(0.0, 0.01, 0.02)])
    top, bottom = (
        next(one for one in figure.layout.annotations if one.text.startswith(arrow))
        for arrow in "↑↓"
    )
    assert (bottom.y, top.y) == figure.layout.yaxis.range
    assert (bottom.yanchor, top.yanchor) == ("bottom", "top")
