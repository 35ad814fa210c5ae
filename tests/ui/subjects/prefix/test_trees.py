"""The radix tree as frames: nothing moves, states are those of the run, every step has words."""

import dataclasses
from itertools import pairwise

import pytest

from sim import events
from sim.studies.tree_server import ORDERS, least_slots, serve
from ui import player
from ui.player.painters.tree import Tree, TreeBar, TreeMoment
from ui.subjects.prefix import tree_notes, trees

SLOTS = (18, 24, 28, 44)
EVERY_RUN = pytest.mark.parametrize(
    ("slots", "order"), [(slots, order) for slots in SLOTS for order in ORDERS]
)


def shown(slots=28, order="fcfs") -> tuple[Tree, list]:
    queue = trees.queue()
    served = serve(queue, slots, order)
    return trees.tree_frames(served, queue, slots, "a tree"), list(served.steps)


# -- what is drawn -------------------------------------------------------------------------------


@pytest.mark.usefixtures("read")
@EVERY_RUN
def test_every_run_can_be_shown_and_every_step_has_its_bars(slots, order):
    frames, steps = shown(slots, order)
    player.check(frames)
    assert player.encode(frames)["at"] is None  # light enough to be sent whole
    for moment, step in zip(frames.moments, steps, strict=True):
        kept = [bar for bar in moment.bars if bar.state not in ("missing", "evicted")]
        assert sum(bar.end - bar.start for bar in kept) == step.num_tree_slots
        assert sorted(bar.locks for bar in kept) == sorted(n.lock_count for n in step.nodes)
        assert moment.num_locked + moment.num_evictable == (
            step.num_tree_slots + step.num_own_slots
        )


@pytest.mark.usefixtures("read")
@EVERY_RUN
def test_a_token_that_stays_stays_where_it_is(slots, order):
    """Whatever is cut, added or evicted around it."""
    frames, _ = shown(slots, order)

    def cells(moment):
        return {
            (bar.lane, place)
            for bar in moment.bars
            for place in range(bar.start, bar.end)
            if bar.state != "missing"
        }

    for before, after in pairwise(frames.moments):
        gone = cells(before) - cells(after)
        evicted = {
            (bar.lane, place)
            for bar in before.bars
            for place in range(bar.start, bar.end)
            if bar.state == "evicted"
        }
        assert gone <= evicted


@pytest.mark.usefixtures("read")
def test_lanes_are_the_same_in_every_run():
    lanes = {shown(slots, order)[0].lanes for slots in SLOTS for order in ORDERS}
    assert len(lanes) == 1


def test_the_tree_is_the_same_in_both_languages(read):
    pictures = {}
    for code in ("zh", "en"):
        read(code)
        pictures[code] = [player.encode(shown(28, order)[0])["id"] for order in ORDERS]
    assert pictures["zh"] == pictures["en"]


@pytest.mark.usefixtures("read")
def test_states_say_what_became_of_a_node():
    frames, steps = shown()
    seen = set()
    for moment, step in zip(frames.moments, steps, strict=True):
        states = {bar.state for bar in moment.bars}
        seen |= states
        assert ("evicted" in states) == (step.action == "evict")
        assert ("missing" in states) == (step.action in ("look_up", "evict"))
        assert ("prefill" in states) == (step.action == "compute")
        assert ("decode" in states) == (step.action == "finish")
    assert seen == set(frames.meanings())


@pytest.mark.usefixtures("read")
def test_found_and_missing_make_up_the_prompt():
    frames, steps = shown()
    queue = trees.queue()
    for moment, step in zip(frames.moments, steps, strict=True):
        if step.action == "look_up":
            parts = [bar for bar in moment.bars if bar.state in ("cached", "missing")]
            total = sum(bar.end - bar.start for bar in parts)
            assert total == len(queue[step.who].tokens)


@pytest.mark.usefixtures("read")
def test_the_leaf_with_rank_one_is_the_next_to_go():
    frames, _ = shown()
    for before, after in pairwise(frames.moments):
        for ghost in (bar for bar in after.bars if bar.state == "evicted"):
            (first,) = [bar for bar in before.bars if bar.rank == 1]
            assert (first.lane, first.start, first.end) == (ghost.lane, ghost.start, ghost.end)


@pytest.mark.usefixtures("read")
def test_the_player_stops_where_a_node_is_cut_and_where_a_leaf_goes():
    frames, steps = shown()
    for kinds, step in zip(frames.events, steps, strict=True):
        happened = {type(event) for event in step.events}
        assert ("node_split" in kinds) == (events.NodeSplit in happened)
        assert ("node_evicted" in kinds) == (events.NodeEvicted in happened)


@pytest.mark.usefixtures("read")
def test_what_was_found_so_far_adds_up():
    frames, _ = shown()
    served = serve(trees.queue(), 28)
    assert frames.times[0] == "0 of 66 tokens found"
    assert frames.times[-1] == f"{served.num_hit_tokens} of 66 tokens found"


# -- what contradicts itself ---------------------------------------------------------------------


def tiny(*bars: TreeBar, **changes) -> Tree:
    whole = Tree(
        lanes=(("a", "b"), ("a", "c")),
        moments=(TreeMoment(bars),),
        requests=("A",),
        num_slots=4,
        notes=("one",),
        events=((),),
        alt="a tree",
    )
    return dataclasses.replace(whole, **changes)


GOOD = TreeBar(0, 0, 2, "locked", -1)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (tiny(GOOD, lanes=()), "at least one lane"),
        (tiny(GOOD, moments=()), "at least one step"),
        (tiny(dataclasses.replace(GOOD, lane=2)), "outside of 2 lanes"),
        (tiny(dataclasses.replace(GOOD, parent_lane=2)), "outside of 2 lanes"),
        (tiny(dataclasses.replace(GOOD, end=3)), "outside of its lane"),
        (tiny(dataclasses.replace(GOOD, state="asleep")), "none of the states"),
        (tiny(GOOD, TreeBar(0, 1, 2, "locked", 0)), "overlaps"),
        (tiny(GOOD, moments=(TreeMoment((GOOD,), num_locked=3, num_evictable=2),)), "more than 4"),
    ],
)
def test_trees_that_contradict_themselves_are_refused_with_the_place(wrong, says):
    player.check(tiny(GOOD))
    with pytest.raises(player.FramesError, match=says):
        player.check(wrong)


# -- in words ------------------------------------------------------------------------------------


def test_every_event_of_the_tree_has_words():
    assert set(tree_notes.WORDS) == set(events.TreeEvent.__args__)


@pytest.mark.parametrize("code", ["zh", "en"])
@pytest.mark.parametrize(
    ("event", "number"),
    [
        (events.PrefixHit(1, 17), "17"),
        (events.NodeSplit(1, 2, 23), "23"),
        (events.NodeInserted(1, 2, 31), "31"),
        (events.NodeEvicted(1, 47), "47"),
    ],
)
def test_an_event_is_said_with_its_number(read, code, event, number):
    read(code)
    assert number in tree_notes.WORDS[type(event)](event)


@pytest.mark.parametrize("code", ["zh", "en"])
@EVERY_RUN
def test_every_step_is_one_short_sentence(read, code, slots, order):
    read(code)
    frames, _ = shown(slots, order)
    for note in frames.notes:
        assert note.endswith("。" if code == "zh" else ".")
        assert len(note) < 190
        assert "None" not in note


def test_the_sentences_tell_what_happened(read):
    frames, steps = shown(18, "lpm")
    notes = dict(zip([(step.action, step.who) for step in steps], frames.notes, strict=True))
    assert notes["begin", None] == (
        "6 requests wait; the tree is empty; G, the next turn of A, comes when that is done."
    )
    assert notes["look_up", 0] == "A finds nothing; 10 tokens to compute."
    assert notes["look_up", 2].startswith("C finds 8 tokens and locks them; 2 more to compute")
    assert "G goes first" in " ".join(frames.notes)
    read("zh")
    assert shown()[0].notes[1] == "A 一个也没查到，10 个 token 都要算。"


@pytest.mark.usefixtures("read")
def test_the_queue_is_one_of_two_roles_with_a_next_turn():
    queue = trees.queue()
    assert least_slots(queue) == 18
    assert queue[6].tokens[:13] == queue[0].spoken
