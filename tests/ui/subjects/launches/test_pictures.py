"""What CPU and GPU do, from spans to frames: nothing is lost, and the notes say what happens."""

from itertools import pairwise

import numpy as np
import pytest

from sim.cost import Eager, Roofline, launches, phases
from sim.cost.launches import AHEAD, ONE_BY_ONE, REPLAY, LaunchWork
from sim.specs import GPUS, MODELS
from ui import charts, player, theme
from ui.subjects.launches import lanes, pictures
from ui.words import language

SMALL = Eager(Roofline(MODELS["Llama-3.2-1B"], GPUS["H100 SXM"]))
ONE = LaunchWork.of(SMALL, phases.decode(1, 512))
MANY = LaunchWork.of(SMALL, phases.decode(1024, 512))
ALL = (ONE_BY_ONE, REPLAY, AHEAD)


@pytest.fixture(params=["zh", "en"])
def code(request, monkeypatch):
    monkeypatch.setattr(language, "current", lambda: request.param)
    return request.param


@pytest.fixture
def english(monkeypatch):
    monkeypatch.setattr(language, "current", lambda: "en")


def of_kind(frames, kind, lane):
    return [span for span in frames.spans if (span.kind, span.lane) == (kind, lane)]


def both_kinds(work=ONE, shown=16):
    return lanes.first_kernels(work, (ONE_BY_ONE, REPLAY), shown, "alt")


# -- kernels of one step --------------------------------------------------------------------------


@pytest.mark.parametrize("work", [ONE, MANY], ids=["launch-bound", "busy"])
def test_the_frames_can_be_played(code, work):
    player.check(both_kinds(work))
    player.check(lanes.whole_steps(work, ALL, 12, 3, "alt"))


def test_the_same_kernels_run_in_either_picture_and_take_as_long(english):
    frames = both_kinds()
    assert frames.lanes == ("One by one · CPU", "GPU", "Replayed · CPU", "GPU")
    for lane in (1, 3):
        kernels = of_kind(frames, "kernel", lane)
        assert [span.label for span in kernels] == [str(number) for number in range(1, 17)]
        lengths = [span.end - span.start for span in kernels]
        assert lengths == pytest.approx([ONE.kernel_seconds] * 16)
    assert len(of_kind(frames, "launch", 0)) == 16
    assert [span.label for span in of_kind(frames, "launch", 2)] == ["graph"]


def test_the_gaps_are_drawn_and_a_replay_has_none_between_kernels(english):
    frames = both_kinds()
    assert len(of_kind(frames, "idle", 1)) == 16  # before each kernel
    (before,) = of_kind(frames, "idle", 3)
    assert (before.start, before.end) == (0, ONE.replay_seconds)
    for lane in (1, 3):
        busy = sorted(
            of_kind(frames, "idle", lane) + of_kind(frames, "kernel", lane),
            key=lambda span: span.start,
        )
        assert all(one.end == pytest.approx(other.start) for one, other in pairwise(busy))


def test_a_note_says_how_long_the_gpu_waits_or_how_many_queue(english):
    first, second, *_ = both_kinds().notes
    assert first == (
        "One by one: the CPU has launched kernel 1; the idle GPU starts it at once.\n"
        "Replayed: one launch, and the GPU has the whole graph of 192 kernels."
    )
    assert "waits for 15.2 µs" in "\n".join(both_kinds().notes)
    assert "Replayed: kernel 1 is done; the next one starts at once" in second
    busy = "\n".join(both_kinds(MANY).notes)
    assert "it queues on the GPU, 1 before it" in busy
    assert "waits for" not in busy


def test_a_guess_stands_where_the_gpu_would_then_be_done(english):
    for guess in (100, 50):
        frames = lanes.first_kernels(ONE, (ONE_BY_ONE, REPLAY), 16, "alt", guess)
        working = sum(span.end - span.start for span in of_kind(frames, "kernel", 1))
        ((at, words),) = frames.marks
        assert at == pytest.approx(working * 100 / guess)
        assert f"{guess}%" in words
    assert both_kinds().marks == ()
    assert lanes.first_kernels(ONE, (ONE_BY_ONE,), 16, "alt", 0).marks == ()  # it would never be


def test_a_short_step_is_shown_whole(english):
    assert "all 5 kernels took" in both_kinds(ONE.first(5)).notes[-1]


# -- whole steps ----------------------------------------------------------------------------------


def test_every_way_makes_its_steps_and_stops_at_their_tokens(english):
    frames = lanes.whole_steps(ONE, ALL, 12, 3, "alt")
    assert len(frames.lanes) == 6
    assert [len(of_kind(frames, "kernel", lane)) for lane in (1, 3, 5)] == [3 * 16, 3, 3]
    assert [len(of_kind(frames, "prepare", lane)) for lane in (0, 2, 4)] == [3, 3, 3]
    ways = "One by one, replayed, ahead"
    assert f"{ways}: the CPU has prepared step 1; the GPU was idle meanwhile." in frames.notes
    stops = [note for note, kinds in zip(frames.notes, frames.events, strict=True) if kinds]
    assert all("token of step" in note for note in stops)
    told = [line for note in stops for line in note.splitlines() if "token of step" in line]
    assert sum(line.split(":")[0].count(",") + 1 for line in told) == 9


def test_moments_that_nobody_can_tell_apart_are_one(english):
    for work in (ONE, MANY):
        frames = lanes.whole_steps(work, ALL, 12, 3, "alt")
        assert np.diff(frames.at).min() > frames.at[-1] / 500
    assert lanes._moments([1.0, 1.001, 2.0, 400.0]) == [[1.0, 1.001], [2.0], [400.0]]


def test_ahead_the_gpu_works_while_a_step_is_prepared(english):
    said = "\n".join(lanes.whole_steps(MANY, ALL, 12, 3, "alt").notes)
    assert "Ahead: the CPU has prepared step 2; meanwhile the GPU worked for 1.00 ms" in said
    assert "One by one, replayed: the CPU has prepared step 2; the GPU was idle meanwhile" in said


# -- charts ---------------------------------------------------------------------------------------

BATCHES = (1, 8, 64, 512)


def test_the_two_curves_are_the_two_paces_and_what_does_not_fit_is_shaded(english):
    figure = pictures.along_the_batch(SMALL, BATCHES, 512, 8, 100)
    works = [LaunchWork.of(SMALL, phases.decode(batch, 512)) for batch in BATCHES]
    for trace, way in zip(figure.data, (ONE_BY_ONE, REPLAY), strict=False):
        expected = [launches.step_seconds(work, way) * 1000 for work in works]
        assert list(trace.y) == pytest.approx(expected)
    assert [(box.x0, box.x1) for box in figure.layout.shapes] == [(100, 512)]
    assert not pictures.along_the_batch(SMALL, BATCHES, 512, 8, 600).layout.shapes


def test_what_is_left_of_the_line_is_marked_otherwise_than_what_is_right_of_it(english):
    steps = {"short": ONE, "long": MANY}
    figure = pictures.work_of_steps(steps)
    waiting, hidden = figure.data
    assert (list(waiting.y), list(hidden.y)) == ([0], [1])
    assert waiting.marker.symbol != hidden.marker.symbol
    assert waiting.marker.color == theme.MEANINGS["launch"].colour
    line = [shape for shape in figure.layout.shapes if shape.type == "line"]
    assert [shape.x0 for shape in line] == pytest.approx([3.84])


def test_captured_sizes_have_their_ticks_and_beyond_them_is_shaded(english):
    sizes = launches.captured_sizes(16)
    figure = pictures.captured(SMALL, 512, sizes, 40, 10)
    ticks = [shape.x0 for shape in figure.layout.shapes if shape.type == "line"]
    assert ticks == list(sizes)
    (box,) = [shape for shape in figure.layout.shapes if shape.type == "rect"]
    assert (box.x0, box.x1) == (16, 40)
    eager, graphs = figure.data[:2]
    assert list(graphs.y[16:]) == list(eager.y[16:])
    assert max(graphs.y[:16]) < min(eager.y)


@pytest.mark.parametrize(("size", "widths"), [(48, [41, 7]), (41, [41]), (None, [41])])
def test_padding_is_what_a_size_has_beyond_the_batch(english, size, widths):
    figure = pictures.rows_of_step(41, size)
    assert [sum(trace.x) for trace in figure.data] == widths


def test_a_lecture_hall_gets_larger_words(english):
    figure = pictures.work_of_steps({"short": ONE, "long": MANY}, large=True)
    assert {trace.textfont.size for trace in figure.data} == {charts.LARGE_TEXT_PX}
