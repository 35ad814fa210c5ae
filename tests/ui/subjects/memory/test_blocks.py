"""Pictures of KV memory slot by slot: what they accept, what they send, what they say."""

import dataclasses
import re
from unittest import mock

import numpy as np
import pytest

from sim import events
from sim.cost import SimpleClock
from sim.engine import Setup
from sim.kv import Contiguous, Paged
from sim.request import Request
from sim.scheduler import Chunked
from sim.views.forks import ForkSetup
from ui import player
from ui.player.painters.memory_map import MemoryMap
from ui.results import runs
from ui.subjects.memory import blocks, memory_notes, wasted
from ui.words import language

CLOCK = SimpleClock(1e12, 1)
REQUESTS = (
    Request(0, 0, 8, 24),
    Request(7, 1, 20, 4),
    Request(1, 2, 2, 10),
    Request(2, 3, 12, 28),
)
HOLES = Setup(REQUESTS, Chunked(16), Contiguous(80, "exact", max_model_len=64), CLOCK)
POOL = Setup(REQUESTS, Chunked(16), Paged(14, 4), CLOCK)
HAN = re.compile(r"[\u4e00-\u9fff]")


@pytest.fixture(params=["zh", "en"], autouse=True)
def reader(request):
    with mock.patch.object(language, "current", return_value=request.param):
        yield request.param


def pictures():
    return [
        blocks.hole_map(HOLES, "holes", 40, "alt"),
        blocks.table_map(POOL, "pool", "alt"),
        blocks.fork_map(ForkSetup("beam", 3), "forks", "alt"),
    ]


def test_every_picture_is_whole_and_light():
    for frames in pictures():
        player.check(frames)
        assert player.weight(player.encode(frames)) < player.MAX_BYTES
        assert all(frames.notes)


def test_notes_are_sentences_in_the_readers_language(reader):
    for frames in pictures():
        for note in frames.notes:
            assert note.endswith("。" if reader == "zh" else ".")
            assert bool(HAN.search(note)) == (reader == "zh")
            assert not note[0].islower()


def test_owners_travel_as_places_in_the_list_of_letters():
    (strip,) = blocks.hole_map(HOLES, "holes", 40, "alt").strips
    assert list(blocks.hole_map(HOLES, "holes", 40, "alt").requests) == ["A", "B", "C", "H"]
    seen = blocks.seen(HOLES)
    assert set(np.unique(strip.owners)) == {-1, 0, 1, 2, 3}
    assert ((strip.owners == 3) == (seen.owners == 7)).all()


def test_a_strip_that_contradicts_itself_is_refused():
    frames = blocks.hole_map(HOLES, "holes", 40, "alt")
    (strip,) = frames.strips
    wrong = [
        dataclasses.replace(strip, owners=strip.owners + 9),
        dataclasses.replace(strip, states=strip.states + np.uint8(6)),
        dataclasses.replace(strip, owners=strip.owners[:, 1:]),
        dataclasses.replace(strip, waiting=()),
        dataclasses.replace(strip, block_size=7),
    ]
    for each in wrong:
        with pytest.raises(player.FramesError):
            player.check(dataclasses.replace(frames, strips=(each,)))
    with pytest.raises(player.FramesError):
        player.check(dataclasses.replace(frames, at=frames.at[::-1]))
    with pytest.raises(player.FramesError):
        player.check(dataclasses.replace(frames, at=frames.at[:-1]))


def test_a_table_that_leads_out_of_memory_is_refused():
    frames = blocks.table_map(POOL, "pool", "alt")
    for table in ({0: (13,)}, {9: (0,)}):
        with pytest.raises(player.FramesError):
            player.check(dataclasses.replace(frames, tables=(table, *frames.tables[1:])))


def test_fewer_steps_are_the_same_picture_at_those_steps():
    for frames in pictures():
        taken = frames.take(np.array([0, 3]))
        player.check(taken)
        assert taken.notes == (frames.notes[0], frames.notes[3])
        whole, part = frames.strips_shown()[0], taken.strips_shown()[0]
        assert (part.states == whole.states[[0, 3]]).all()


def test_only_letters_and_states_change_with_the_language_never_the_picture():
    both = []
    for code in ("zh", "en"):
        with mock.patch.object(language, "current", return_value=code):
            both.append([player.encode(frames)["id"] for frames in pictures()])
    assert both[0] == both[1]


# -- what is said ---------------------------------------------------------------------------------


def test_whoever_finds_no_hole_is_told_what_is_free_and_what_it_needs():
    frames = blocks.hole_map(HOLES, "holes", 40, "alt")
    row = next(row for row, line in enumerate(blocks.seen(HOLES).waiting) if line)
    note, seen = frames.notes[row], blocks.seen(HOLES)
    assert "1.0 GB" in note
    assert f"{seen.num_free[row] / 40:.1f} GB" in note
    assert f"{seen.largest_hole[row] / 40:.1f} GB" in note
    assert "pool_full" in frames.events[row]
    assert "pool_full" not in frames.events[row + 1]  # once is enough


def test_whoever_is_preempted_and_comes_back_is_told_what_is_lost_and_found():
    frames, steps = blocks.table_map(POOL, "pool", "alt"), runs.steps(POOL)
    told = 0
    for row, step in enumerate(steps):
        for event in step.events:
            if isinstance(event, events.Preempted):
                assert f"{event.lost_tokens}" in frames.notes[row]
                assert "preempted" in frames.events[row]
                told += 1
            if isinstance(event, events.Admitted) and event.resumed:
                assert str(event.hit_tokens or "") in frames.notes[row]
                told += 1
    assert told >= 2


def test_new_blocks_are_told_by_the_numbers_in_the_picture():
    frames, seen = blocks.table_map(POOL, "pool", "alt"), blocks.seen(POOL)
    told = 0
    for row in range(1, len(frames.notes)):
        before, after = seen.tables[row - 1].get(0, ()), seen.tables[row].get(0, ())
        if len(after) > len(before) > 0:
            assert str(after[-1] + blocks.FIRST_BLOCK) in frames.notes[row]
            told += 1
    assert told


def test_a_copy_names_both_blocks():
    setup = ForkSetup("parallel", 2, 10)
    frames, steps = blocks.fork_map(setup, "forks", "alt"), blocks.forked(setup)
    (row,) = (row for row, kinds in enumerate(frames.events) if "copied" in kinds)
    (copy,) = (event for event in steps[row].events if isinstance(event, events.CopiedOnWrite))
    assert str(copy.shared_block + 1) in frames.notes[row]
    assert str(copy.own_block + 1) in frames.notes[row]


def test_shared_blocks_are_nobodys_own():
    frames = blocks.fork_map(ForkSetup("parallel", 2, 8), "forks", "alt")
    assert (frames.strip.owners[-1, :8] == -1).all()
    assert set(frames.tables[-1]) == {0, 1}
    assert memory_notes.fork_kinds(blocks.forked(ForkSetup("parallel", 2, 8))[1]) == ("forked",)


# -- charts ---------------------------------------------------------------------------------------


def test_a_bar_is_the_whole_memory_cut_into_four():
    shares = {"one": wasted.shares(HOLES), "two": wasted.shares(POOL)}
    figure = wasted.bars(shares)
    bars = [trace for trace in figure.data if trace.type == "bar"]
    for row, each in enumerate(shares.values()):
        lengths = {
            trace.name: length
            for trace in bars
            for at, length in zip(trace.y, trace.x, strict=True)
            if at == row
        }
        assert sum(lengths.values()) == pytest.approx(100)
        assert each.filled * 100 == pytest.approx(next(iter(lengths.values())))


def test_what_was_published_stands_beside_the_bars_it_belongs_to():
    shares = {str(n): wasted.shares(HOLES) for n in range(4)}
    lines = [(line.x0, line.y0, line.y1) for line in wasted.bars(shares).layout.shapes]
    assert sorted(lines) == [(20.4, -0.5, 2.5), (38.2, -0.5, 2.5), (96.3, 2.5, 3.5)]


def test_the_setting_is_marked_on_the_curves_with_what_the_run_gave():
    figure = wasted.against_block_size((1, 16, 256), 16, 7.4, 100, 2_048)
    mark = figure.data[-1]
    assert (mark.x, mark.y) == ((1,), (7.4,))
    curves = [tuple(trace.y) for trace in figure.data[:-1]]
    assert curves == [(0, 7.5, 127.5), (100, 96, 0), (2_048, 128, 8)]


def test_frames_of_the_two_memories_share_a_clock():
    above, below = blocks.hole_map(HOLES, "", 40, "alt"), blocks.table_map(POOL, "", "alt")
    assert isinstance(above, MemoryMap)
    shorter = min(len(above.at), len(below.at))
    assert above.at[:shorter] == below.at[:shorter]
