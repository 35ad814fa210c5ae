"""Rounded weights for the eye: steps, histogram, losses, texts."""

from dataclasses import replace
from unittest import mock

import numpy as np
import pytest

from ui import player, tiny_model
from ui.charts import go
from ui.player.painters.rounding import RoundingMoment, ScaleSpan
from ui.subjects.quantization import rounded, rounding
from ui.words import language


@pytest.fixture(params=["zh", "en"], autouse=True)
def reader(request):
    with mock.patch.object(language, "current", return_value=request.param):
        yield request.param


def steps(sharing="group", outlier=1, grid="int4"):
    return rounding.as_steps(grid, sharing, outlier, "weights")


@pytest.mark.parametrize("grid", rounded.FORMATS)
@pytest.mark.parametrize("sharing", rounded.GRANULARITIES)
def test_the_frames_agree_and_are_light(grid, sharing):
    frames = steps(sharing, 16, grid)
    player.check(frames)
    assert player.weight(player.encode(frames)) < 20_000
    assert all(frames.notes)


def test_weights_are_those_of_the_matrix_and_its_scales():
    done = rounded.matrix("int4", "group", 4)
    frames = steps(outlier=4)
    assert (frames.before == done.before[rounded.channel(), : rounded.NUM_SHOWN]).all()
    for span in frames.spans:
        ratio = frames.after[span.first : span.end] / _step(span)
        assert ratio == pytest.approx(np.rint(ratio), abs=1e-3)
        assert np.abs(ratio).max() <= 7.001


def _step(span):
    return float(np.diff(span.levels).min())


def test_the_outlier_is_the_largest_weight_of_its_channel():
    frames = steps("channel", outlier=16)
    assert int(np.abs(frames.before).argmax()) == rounded.OUTLIER_PLACE
    assert abs(frames.before[rounded.OUTLIER_PLACE]) > frames.top


def test_levels_beyond_the_picture_do_not_travel():
    for span in steps("channel", outlier=16, grid="int8").spans:
        assert np.abs(span.levels).max() <= steps("channel").top


def test_the_notes_say_the_scale_and_how_many_became_zero(reader):
    frames = steps("channel", outlier=16)
    number = int((frames.after == 0).sum())
    assert f"{number}" in frames.notes[-1]
    assert frames.spans[0].scale in frames.notes[1]
    assert frames.spans[0].error in frames.notes[-1]


def test_frames_that_contradict_themselves_are_refused():
    good = steps()
    for changes in (
        {"after": good.after[:-1]},
        {"spans": good.spans[:-1]},
        {"spans": (ScaleSpan(1, rounded.NUM_SHOWN, "1", (0,), "0%"),)},
        {"moments": (RoundingMoment(0, "clip"),) * good.num_steps},
    ):
        with pytest.raises(player.FramesError):
            player.check(replace(good, **changes))


def test_fewer_moments_can_be_sent():
    few = steps().take(np.array([0, 3]))
    assert few.num_steps == len(few.notes) == 2


def test_the_histogram_counts_every_weight_before_and_after():
    figure = rounding.histogram("int4", "tensor", 1)
    for trace in figure.data:
        assert sum(trace.y[:-1]) == pytest.approx(100)
    after, before = (np.array(trace.y) for trace in figure.data)
    assert (after[:-1] > 0).sum() <= 15 < (before[:-1] > 0).sum()


def test_there_is_a_row_for_each_format_and_granularity_and_the_chosen_one_is_bold():
    figure = rounding.losses(1, ("fp8", "group"))
    labels = list(figure.data[0].y)
    assert len(set(labels)) == 9
    (bold,) = [label for label in labels if label.startswith("<b>")]
    assert bold.startswith("<b>fp8")
    found = rounded.all_judged(1)
    assert list(figure.data[0].x) == [one.change for one in found.values()]
    low, high = figure.layout.xaxis.range
    for one in found.values():
        assert low < one.change - one.change_error
        assert one.change + one.change_error < high


def test_a_token_that_differs_is_framed_and_bold():
    text = rounded.START
    before, after = rounded.written_before(text), rounded.written(text, "int4", "tensor", 16)
    figure = rounding.two_texts(text, "int4", "tensor", 16)
    bold = [each for each in figure.layout.annotations if each.text.startswith("<b>")]
    differing = [
        at for at, pair in enumerate(zip(before, after, strict=True)) if pair[0] != pair[1]
    ]
    assert [round(each.x - 0.47) for each in bold] == differing != []
    assert {each.y for each in bold} == {-1}
    assert len(figure.layout.shapes) == 2 * rounded.NUM_WRITTEN


def test_a_token_that_looks_like_markup_is_shown_as_it_is():
    figure = go.Figure()
    rounding._cell(figure, 0, 0, "<i>", False, large=False)
    (shown,) = figure.layout.annotations
    assert shown.text == "&lt;i&gt;"


def test_an_empty_text_and_one_that_is_too_long_are_gone_on_from():
    for text in ("", "很" * 500):
        assert len(rounded.written(text, "int8", "channel", 1)) == rounded.NUM_WRITTEN


def test_a_piece_is_cut_to_its_cell():
    for piece in ("short", "supercalifragilistic", "一个很长的中文词", "E5 8F 82 E6 95"):
        cut = rounding._cut(piece)
        assert rounding.charts.text_width(cut, 1) <= rounding.CELL_EMS
        assert cut == piece or cut.endswith("…")


def test_the_original_is_asked_once_and_stays_as_it_was():
    assert rounded.original_loss() == pytest.approx(
        rounded.judged("int8", "group", 1).loss - rounded.judged("int8", "group", 1).change
    )
    assert rounded.model(1).gate is not tiny_model.target().gate
