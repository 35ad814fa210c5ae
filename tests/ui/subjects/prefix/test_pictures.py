"""Pictures of the prefix cache: a prompt's bar, a prompt looked up, a pool walked through."""

from itertools import pairwise

import pytest

from sim import engine, scheduler
from sim.cost import SimpleClock
from sim.kv import Paged
from sim.kv.chain import Lookup, chain
from sim.request import Request, Segment
from sim.views import visits
from ui import player
from ui.subjects.prefix import block_notes, hash_chain, pictures, pool_walk, prompts
from ui.words.numbers import seconds

TEXT = tuple(range(16))
S = (Segment("S", 8),)
GUESTS = (Request(0, 0.0, 12, 2, S), Request(1, 0.0, 11, 2, S), Request(2, 0.0, 24, 1))


@pytest.fixture(autouse=True)
def _english(read):
    """Every picture here is read in English, unless a test says otherwise."""


def looked_up(asked, size=4):
    return hash_chain.walk(Lookup(chain(asked, size), chain(TEXT, size)), "a lookup")


def walked(*order, num_blocks=7):
    return pool_walk.walk(visits.walk(GUESTS, order, num_blocks, 4), "a pool")


def kinds(shelf, step):
    return [box.kind for box in shelf.steps[step]]


# -- the hash chain ------------------------------------------------------------------------------


def test_a_hash_is_shown_once_its_block_is_looked_up_and_not_before():
    cached, asked = looked_up((*TEXT, 99)).shelves
    for step in range(6):
        assert [box.head == "?" for box in asked.steps[step]] == [at >= step for at in range(5)]
    assert [box.head for box in asked.steps[5]][:4] == [box.head for box in cached.steps[5]]
    assert asked.steps[5][4].head == "–"


def test_found_blocks_are_cached_and_the_others_prefilled():
    _, asked = looked_up((*TEXT[:8], 50, *TEXT[9:])).shelves
    assert kinds(asked, 4) == ["cached", "cached", "prefill", "prefill"]
    assert kinds(asked, 3) == ["cached", "cached", "prefill", "unseen"]
    assert asked.counters[-1] == "8 reused, 8 computed"


def test_the_hash_that_is_found_has_a_ring_in_the_cache_as_well():
    cached, asked = looked_up((*TEXT[:4], 50)).shelves
    rings = [[box.ring for box in cached.steps[step]] for step in range(3)]
    assert rings == [[False] * 4, [True, False, False, False], [False] * 4]
    assert [box.ring for box in asked.steps[2]] == [False, True]


def test_the_player_stops_at_the_first_miss_alone():
    assert looked_up((50, *TEXT[1:])).events == ((), ("first_miss",), (), (), ())
    assert looked_up((*TEXT, 9)).events[-1] == ("first_miss",)


@pytest.mark.parametrize(
    ("asked", "step", "said"),
    [
        ((*TEXT, 9), 0, "5 blocks; none is looked up"),
        ((*TEXT, 9), 1, "in the cache, so it is used"),
        ((*TEXT, 9), 5, "The last token does not fill a block"),
        ((*TEXT, 9, 9), 5, "The last 2 tokens do not fill a block"),
        (TEXT, 4, "whose logits are needed"),
        ((50, *TEXT[1:]), 1, "From this block on everything is computed"),
        ((50, *TEXT[1:]), 2, "The very same tokens, but h1 has changed"),
        ((1, 2, 3, 9, 5, 6), 2, "do not fill"),
        (TEXT[4:], 1, "but after another beginning"),
        ((50, 51, 52, 53, 60, 61, 62, 63), 2, "not there, so it is computed"),
    ],
)
def test_every_step_says_what_was_found_and_why(asked, step, said):
    assert said in looked_up(asked).notes[step]


# -- the pool ------------------------------------------------------------------------------------

COME, GO = (("comes", 0), ("comes", 1)), (("leaves", 0), ("leaves", 1))


def test_a_block_is_told_by_its_number_its_references_and_what_lies_in_it():
    pool, queue = walked(*COME).shelves
    assert [(box.head, box.body) for box in pool.steps[2][:4]] == [
        ("1 ×2", ("S1", "A B")),
        ("2 ×2", ("S2", "A B")),
        ("3 ×1", ("A3", "A")),
        ("4 ×1", ("B3", "B")),
    ]
    assert [box.head for box in queue.steps[2]] == ["5", "6", "7"]
    assert pool.counters == ("0 of 7 in use", "3 of 7 in use", "4 of 7 in use")


def test_found_taken_used_findable_and_empty_blocks_look_different():
    pool, _ = walked(*COME, *GO).shelves
    assert kinds(pool, 2) == ["cached", "cached", "in_use", "prefill", *["free"] * 3]
    assert kinds(pool, 3) == ["in_use", "in_use", "findable", "in_use", *["free"] * 3]
    assert kinds(pool, 4) == ["findable"] * 3 + ["free"] * 4  # B's last block is not full


@pytest.mark.parametrize(
    ("order", "said"),
    [
        ((), "7 blocks, all of them empty"),
        (COME[:1], "A comes, finds nothing and takes 3 blocks"),
        (COME, "B comes, finds S1, S2 and takes 1 block from"),
        ((*COME, ("answers", 0)), "A writes its answer and takes 1 block"),
        ((*COME, ("answers", 1)), "its last block has room"),
        ((*COME, GO[0]), "S1, S2 are still in use"),
        ((*COME[:1], GO[0]), "last block first"),
        ((*COME[:1], GO[0], ("comes", 2)), "which evicts A3, S2"),
    ],
)
def test_every_move_is_said_in_a_sentence(order, said, read):
    whole = order or COME
    assert said in walked(*whole).notes[len(order)]
    read("zh")
    assert walked(*whole).notes[len(order)].endswith("。")


def test_only_who_comes_and_who_leaves_stops_the_player():
    events = walked(*COME, ("answers", 0), *GO).events
    assert [bool(kinds) for kinds in events] == [True, True, True, False, True, True]


@pytest.mark.parametrize("code", ["zh", "en"])
def test_the_frames_are_whole(code, read):
    read(code)
    player.check(walked(*COME, *GO))
    player.check(looked_up((50, *TEXT)))


def test_contents_are_named_after_the_text_or_the_request():
    assert [block_notes.content("S", 0), block_notes.content(3, 4)] == ["S1", "D5"]


# -- charts and texts ----------------------------------------------------------------------------


def test_the_curve_marks_where_one_stands_and_what_gpus_hold():
    figure = pictures.hit_curve((1000, 10_000), (0.2, 0.8), 0.9, 10_000, {"GPU": 5000})
    ours, theirs, mark = figure.data
    assert list(ours.y) == [20, 80]
    assert list(theirs.y) == pytest.approx([4.5, 11, 21.1, 32.6, 35.5])
    assert theirs.x[0] == 512_000
    assert (mark.x, mark.y) == ((10_000,), (80,))
    assert {"GPU"} <= {annotation.text for annotation in figure.layout.annotations}


@pytest.mark.parametrize("scene", ["document", "system", "shots", "chat"])
def test_every_scene_is_five_prompts_that_begin_alike(scene):
    texts = prompts.conversation(scene)
    assert len(texts) == 5
    for before, after in pairwise(texts):
        shared = before.spoken if scene == "chat" else before.tokens[:200]
        assert after.tokens[: len(shared)] == shared


def test_what_somebody_types_is_cut_where_the_page_says_so():
    assert len(prompts.typed("many words " * 100)) == 64


def test_its_ttft_stands_at_the_end_of_each_bar():
    setup = engine.Setup(
        prompts.requests("shots", 2.0), scheduler.Chunked(), Paged(500), SimpleClock(1000, 0.01)
    )
    run = engine.simulate(setup)
    figure = pictures.computed_and_reused(run)
    assert [bar.name for bar in figure.data] == ["prefill", "cached"]
    texts = [annotation.text for annotation in figure.layout.annotations if annotation.text]
    first = seconds(float(run.records[0].token_seconds[0]))
    assert f"TTFT <b>{first}</b>" in texts
