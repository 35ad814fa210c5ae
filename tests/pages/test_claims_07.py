"""Chapter 7 says nothing that its own runs do not show.

Every checkable sentence of the text, of the self-check and of the links is held here against what
the page itself computes, over the whole range of a control where the sentence is.
"""

import json
from itertools import pairwise
from unittest import mock

import numpy as np
import pytest

from sim.events import Admitted, CopiedOnWrite, Evicted, Finished, PoolFull, Preempted
from sim.kv import Contiguous
from sim.request import Request, Sequence
from sim.views import forks, waste
from sim.views.occupancy import EXTERNAL, FILLED, FINDABLE, INTERNAL, LATER
from tests.chapters import ROOT
from tests.pages.rehearsal import open_page
from ui.results import runs
from ui.subjects.memory import blocks, wasted
from ui.words.numbers import percent

PAGE = open_page("07_fragmentation")
IT = PAGE.constants
GB = IT["TOKENS_PER_GB"]
A, B, C, D, E, F, V, W = (IT[letter] for letter in "ABCDEFVW")
HOLES, POOL = IT["contiguous"], IT["in_blocks"]
COMERS = pytest.mark.parametrize("comers", IT["COMERS"])
QUIZ = {
    item["id"]: item
    for item in json.loads((ROOT / "assets" / "quiz" / "07.json").read_text("utf-8"))["items"]
}


def admitted(setup, who):
    """The step in which a request is let in."""
    return next(
        step.index
        for step in runs.steps(setup)
        if any(isinstance(e, Admitted) and e.request_id == who for e in step.events)
    )


def waited(setup, who):
    request = next(each for each in setup.requests if each.id == who)
    return admitted(setup, who) - request.arrival_seconds


def events(setup, kind):
    return [event for step in runs.steps(setup) for event in step.events if isinstance(event, kind)]


def shown(item):
    """The state into which an item's "show me" leads."""
    assert QUIZ[item]["link"]["page"] == "07_fragmentation"
    return PAGE.at(
        {key: text for key, text in QUIZ[item]["link"]["query"].items() if key != "step"}
    )


# -- does D fit? ---------------------------------------------------------------------------------


def test_the_sizes_are_those_of_the_story():
    assert PAGE.play("hook").said["hook"]["size"] == "3.4 GB"
    sizes = {each.id: each.total_tokens / GB for each in HOLES("d").requests}
    assert [sizes[who] for who in (A, B, C, D)] == [0.8, 0.3, 1.2, 1.0]
    sizes = {each.id: each.total_tokens / GB for each in HOLES("ef").requests}
    assert (sizes[E], sizes[F]) == (0.5, 0.6)


def test_when_d_comes_enough_is_free_in_two_holes_that_are_both_too_small():
    said = PAGE.play("hook").said["hook_result"]
    assert said == {"free": "1.1 GB", "need": "1.0 GB", "hole": "0.6 GB", "wait": 6}
    memory = blocks.seen(HOLES("d"))
    free = np.flatnonzero(memory.owners[7] < 0)
    cuts = np.split(free, np.flatnonzero(np.diff(free) > 1) + 1)
    assert [len(hole) / GB for hole in cuts] == [0.6, 0.5]


def test_w_and_v_have_left_before_d_comes_and_a_b_c_have_not():
    (step,) = (step for step in runs.steps(HOLES("d")) if step.start_seconds == 7)
    assert set(step.running) == {A, B, C}


def test_d_waits_until_b_is_done_and_its_piece_joins_the_holes_on_either_side():
    setup = HOLES("d")
    steps, memory = runs.steps(setup), blocks.seen(setup)
    start = admitted(setup, D)
    assert any(e == Finished(B, 11) for e in steps[start - 1].events)
    table = memory.tables[start - 1]
    piece = table[D] if D in table else memory.tables[start][D]
    assert min(piece) == max(table[A]) + 1  # from the end of A over both holes and B's piece
    assert max(piece) > min(table[B])


def test_in_one_piece_d_waits_and_in_blocks_it_starts_at_once():
    played = PAGE.play("hook")
    assert played.guesses["fits"].truth == "blocks"
    assert (waited(HOLES("d"), D), waited(POOL("d"), D)) == (6, 0)
    assert played.text["hook_outcome"].count("**6**") == 1


def test_the_three_wastes_are_those_of_the_picture_wherever_the_controls_stand():
    for comers in IT["COMERS"]:
        for reserve in ("exact", "power_of_two", "model_limit"):
            for fit in ("first", "best"):
                for compact in (False, True):
                    said = PAGE.play(
                        "hook", comers=comers, reserve=reserve, fit=fit, compact=compact
                    ).said["wastes"]
                    setup = HOLES(comers, reserve, fit, compact)
                    memory, row = blocks.seen(setup), 7 if comers == "d" else 8
                    assert runs.steps(setup)[row].start_seconds == row
                    for name, state in (
                        ("later", LATER),
                        ("internal", INTERNAL),
                        ("external", EXTERNAL),
                    ):
                        assert said[name] == f"{memory.count(state)[row] / GB:.1f} GB"
                    assert (memory.count(INTERNAL).sum() > 0) == (reserve != "exact")


def test_with_compaction_d_starts_at_once_and_what_was_copied_is_said():
    setup = HOLES("d", compacts=True)
    assert waited(setup, D) == 0
    said = PAGE.play("hook").said["compaction"]
    copied = waste.copied_tokens(runs.steps(setup))
    assert said["copied"] == f"{copied / GB:.1f} GB"
    moment = 2 * copied / GB * 1e9 / IT["COPYING_GPU"].bandwidth
    assert said["time"] == f"{moment * 1000:.3f} ms"


def test_first_fit_puts_e_into_the_first_hole_and_f_has_to_wait():
    setup = HOLES("ef")
    assert PAGE.play("hook").presets["first_fit"] == {"comers": "ef"}
    assert min(blocks.seen(setup).tables[admitted(setup, E)][E]) == 32  # behind A
    assert waited(setup, F) > 0


def test_best_fit_puts_e_into_the_smallest_hole_and_f_finds_the_other_whole():
    setup = HOLES("ef", fit="best")
    assert PAGE.play("hook").presets["best_fit"] == {"comers": "ef", "fit": "best"}
    assert waited(setup, E) == waited(setup, F) == 0
    assert min(blocks.seen(setup).tables[admitted(setup, F)][F]) == 32


def test_for_other_requests_it_is_first_fit_that_is_lucky():
    def fits(fit):
        memory = Contiguous(20, "exact", fit).open()
        for who, size in enumerate((6, 4, 5, 5)):
            assert memory.reserve(Sequence(Request(who, 0, size - 1, 1)), size)
        for who, size in ((0, 6), (2, 5)):  # leave holes of 6 and 5
            memory.free(Sequence(Request(who, 0, size - 1, 1)))
        newcomers = enumerate((2, 5, 4), start=10)
        return [memory.reserve(Sequence(Request(n, 0, size - 1, 1)), size) for n, size in newcomers]

    assert fits("first") == [True, True, True]
    assert fits("best") == [True, True, False]


def test_with_the_limit_reserved_two_fit_at_a_time_and_over_half_of_the_strip_may_be_lost():
    assert PAGE.play("hook").presets["reserve_limit"] == {"reserve": "model_limit"}
    memory = blocks.seen(HOLES("d", "model_limit"))
    assert max(map(len, memory.tables)) == 2
    assert IT["LONGEST_TOKENS"] / GB == 1.6
    worst = memory.count(INTERNAL).max()
    assert worst > memory.states.shape[1] / 2


@COMERS
def test_nobody_is_overtaken(comers):
    for reserve in ("exact", "power_of_two", "model_limit"):
        setup = HOLES(comers, reserve)
        joined = [event.request_id for event in events(setup, Admitted)]
        assert joined == [request.id for request in setup.requests]


# -- in blocks -----------------------------------------------------------------------------------


@COMERS
def test_in_blocks_nobody_waits_and_nobody_is_preempted(comers):
    setup = POOL(comers)
    assert all(waited(setup, request.id) == 0 for request in setup.requests)
    assert not events(setup, Preempted)
    assert not events(setup, PoolFull)


@COMERS
def test_the_waits_and_shares_below_the_players_are_theirs(comers):
    said = PAGE.play("paged", comers=comers).said["paged_result"]
    last = IT["COMERS"][comers][-1].id
    assert said["wait_holes"] == waited(HOLES(comers), last) > 0
    assert said["wait_blocks"] == waited(POOL(comers), last) == 0
    above, below = blocks.seen(HOLES(comers)), blocks.seen(POOL(comers))
    assert below.filled_share > above.filled_share
    assert said["filled_blocks"] == f"{below.filled_share:.1%}"


@COMERS
def test_in_blocks_a_request_wastes_less_than_a_block_and_no_hole_is_too_small(comers):
    memory = blocks.seen(POOL(comers))
    assert (memory.count(EXTERNAL) == 0).all()
    for row, table in enumerate(memory.tables):
        for who in table:
            own = memory.states[row][memory.owners[row] == who]
            assert ((own == LATER) | (own == INTERNAL)).sum() < IT["BLOCK_TOKENS"]


@pytest.mark.parametrize("comers", IT["COMERS"])
def test_by_one_measure_holes_are_out_of_reach_in_one_piece_and_nothing_is_in_blocks(comers):
    said = PAGE.play("paged", comers=comers).said["paged_result"]
    above = blocks.when_it_comes(IT["contiguous"](comers), 1)
    hole, free = (float(size.split()[0]) for size in (above.hole, above.free))
    assert said["broken_holes"] == above.fragmentation == percent(1 - hole / free)
    assert said["broken_blocks"] == "0%"


@pytest.mark.parametrize("comers", IT["COMERS"])
def test_the_worked_address_is_the_slot_in_which_the_picture_shows_the_token(comers):
    said = PAGE.play("paged", comers=comers).said["paged_address"]
    setup = IT["in_blocks"](comers)
    last = setup.requests[-1]
    assert said["position"] == last.prompt_tokens
    memory = blocks.seen(setup)
    row, table = [
        (row, table[last.id]) for row, table in enumerate(memory.tables) if last.id in table
    ][-1]
    position, size = said["position"], said["size"]
    block = table[position // size] + blocks.FIRST_BLOCK
    assert (said["entry"], said["offset"]) == divmod(position, size)
    assert said["block"] == block
    assert said["slot"] == block * size + position % size
    shown = (block - blocks.FIRST_BLOCK) * size + position % size
    assert memory.owners[row, shown] == last.id
    assert memory.states[row, shown] == FILLED


def test_both_are_the_same_requests_and_as_much_memory():
    assert HOLES("d").requests == POOL("d").requests
    assert POOL("d").memory.open().num_usable_blocks * IT["BLOCK_TOKENS"] == IT["NUM_SLOTS"]
    assert PAGE.play("paged").said["paged"]["size"] == "0.2 GB"


def test_the_blocks_of_w_go_to_others():
    memory = blocks.seen(POOL("d"))
    own = {block for table in memory.tables for block in table.get(W, ())}
    later = {b for table in memory.tables for who, held in table.items() if who != W for b in held}
    assert own
    assert own & later


def test_a_table_leads_to_blocks_that_do_not_lie_in_a_row():
    last = blocks.seen(POOL("d")).tables[23][A]
    assert any(after != before + 1 for before, after in pairwise(last))


# -- under load ----------------------------------------------------------------------------------

LOADS = [(16, answer) for answer in (128, 256, 338, 512)] + [(s, 338) for s in (1, 4, 64, 256)]


def test_a_power_of_two_guesses_high_by_less_than_a_factor_of_two():
    memory = IT["contiguous"]("d", "power_of_two").memory
    for tokens in range(1, IT["LONGEST_TOKENS"] + 1):
        assert tokens <= memory.num_slots_for(tokens) < 2 * tokens


@pytest.mark.parametrize(("block", "answer"), LOADS)
def test_blocks_hold_more_tokens_and_more_requests_than_any_reservation(block, answer):
    said = PAGE.play("waste", block=block, answer=answer).said
    limit, *_ = found = loads(block, answer)
    paged = found[-1]
    assert all(paged.filled > other.filled for other in found[:-1])
    assert all(paged.num_running > other.num_running for other in found[:-1])
    assert said["waste_result"]["filled_limit"] == f"{limit.filled:.1%}"
    assert said["waste_result"]["filled_paged"] == f"{paged.filled:.1%}"


def loads(block, answer):
    """The four shares behind the bars."""
    with mock.patch.object(wasted, "bars") as bars:
        PAGE.play("waste", block=block, answer=answer)
    return list(bars.call_args.args[0].values())


def test_half_a_block_of_each_request_is_wasted():
    for block in (2, 16, 64, 256):
        half = waste.expected_slots(block)
        per_request = waste.slots_per_request(loads(block, 338)[-1], IT["POOL_TOKENS"])
        assert per_request == pytest.approx(half, rel=0.05)


def test_the_range_of_the_paper_is_ours_at_its_ends_and_exact_reservation_does_better_here():
    limit, power, exact, paged = loads(16, 338)
    assert limit.filled < power.filled < exact.filled < paged.filled
    assert limit.filled == pytest.approx(0.204, abs=0.04)
    assert paged.filled == pytest.approx(0.963, abs=0.01)
    assert exact.filled > 0.382
    assert paged.later + paged.internal < 0.03  # hardly any waste at 16


def test_a_prefix_is_found_in_whole_blocks_and_tables_get_shorter():
    said = [PAGE.play("waste", block=size).said["block_size"] for size in (1, 16, 64, 128, 256)]
    assert [each["found"] for each in said] == [100, 96, 64, 0, 0]
    assert [each["entries"] for each in said] == ["2,048", "128", "32", "16", "8"]


# -- out of blocks -------------------------------------------------------------------------------


def full_setup(pool, cache=True):
    """What the act runs."""
    with mock.patch.object(blocks, "table_map") as table_map:
        PAGE.play("full", pool=pool, cache=cache)
    return table_map.call_args.args[0]


@pytest.mark.parametrize("pool", IT["POOLS"])
def test_the_victim_is_always_the_one_that_joined_last(pool):
    running: list[int] = []
    for step in runs.steps(full_setup(pool)):
        for event in step.events:
            if isinstance(event, Preempted):
                assert running.pop() == event.request_id
        running += [event.request_id for event in step.events if isinstance(event, Admitted)]
        running = [who for who in running if who not in step.finished]


@pytest.mark.parametrize("pool", IT["POOLS"])
@pytest.mark.parametrize("cache", [True, False])
def test_what_is_lost_is_found_again_or_computed_again_and_no_token_is_gone(pool, cache):
    setup = full_setup(pool, cache)
    found = waste.losses(runs.steps(setup))
    assert found.found_tokens + found.again_tokens == found.lost_tokens
    if not cache:
        assert found.found_tokens == 0
    records = runs.run(setup).records
    assert all(len(each.token_seconds) == each.request.output_tokens for each in records)
    said = PAGE.play("full", pool=pool, cache=cache).said
    assert ("full_result" in said) == (found.num_preemptions > 0)


def test_by_default_two_are_thrown_out_and_the_one_that_is_away_for_longer_finds_nothing():
    setup = full_setup(12)
    thrown = {event.request_id: event.lost_tokens for event in events(setup, Preempted)}
    back = {e.request_id: e.hit_tokens for e in events(setup, Admitted) if e.resumed}
    pauses = {who: resumed - gone for who, ((gone, resumed),) in runs.run(setup).pauses.items()}
    assert set(thrown) == {B, C}
    assert pauses[C] > pauses[B]
    assert (back[C], back[B]) == (0, 16)
    assert thrown[B] == 20
    assert events(setup, Evicted)


def test_dots_are_there_while_a_victim_is_away_and_never_without_a_cache():
    assert blocks.seen(full_setup(12)).count(FINDABLE).max() > 0
    assert blocks.seen(full_setup(12, cache=False)).count(FINDABLE).max() == 0


def test_twenty_blocks_suffice():
    assert PAGE.play("full").presets["full_enough"] == {"pool": 20}
    assert not events(full_setup(20), Preempted)


# -- shared by answers ---------------------------------------------------------------------------


@pytest.mark.parametrize("search", ["parallel", "beam"])
@pytest.mark.parametrize("answers", [2, 3, 4])
def test_the_cards_of_the_fork_are_how_its_run_ends(search, answers):
    for prompt in IT["PROMPTS"]:
        played = PAGE.play("fork", search=search, answers=answers, prompt=prompt)
        end = forks.sharing(list(forks.steps(forks.ForkSetup(search, answers, prompt))))
        values = [card.value for card in played.cards]
        assert values == [
            str(n) for n in (end.num_used_blocks, end.num_listed_blocks, end.num_copies)
        ]


def test_a_prompt_that_fills_its_last_block_leaves_nothing_to_copy():
    assert PAGE.play("fork").presets["fork_even"] == {"prompt": 8}
    assert PAGE.play("fork", prompt=8).said["fork_result"]["copies"] == "0"
    assert PAGE.play("fork", prompt=10).said["fork_result"]["copies"] == "2"


@pytest.mark.parametrize("search", ["parallel", "beam"])
@pytest.mark.parametrize("prompt", IT["PROMPTS"])
def test_the_last_block_is_called_partly_full_only_where_it_is(search, prompt):
    said = PAGE.play("fork", search=search, prompt=prompt).said
    full = {"parallel": "fork_full_block", "beam": "fork_full_block_beam"}[search]
    where = full if prompt in (8, 12) else "fork_partial_block"
    assert [name for name in said if "_block" in name] == [where]
    setup = forks.ForkSetup(search, 3, prompt)
    first = next(step.num_tokens for step in forks.steps(setup))
    assert (first[0] % setup.block_size == 0) == (where == full)
    assert [name for name in said if name.startswith("fork_v1")] == [f"fork_v1_{search}"]


@pytest.mark.parametrize("answers", [2, 3, 4])
@pytest.mark.parametrize("prompt", [8, 12])
def test_a_full_block_leaves_samples_nothing_to_copy_and_beams_only_where_they_first_part(
    answers, prompt
):
    def copies(search):
        steps = list(forks.steps(forks.ForkSetup(search, answers, prompt)))
        return [sum(isinstance(e, CopiedOnWrite) for e in step.events) for step in steps]

    assert not any(copies("parallel"))
    beams = copies("beam")
    assert not any(beams[:2])  # the prompt, then the first token of each in a new block
    assert any(beams)


def test_beams_share_more():
    samples, beams = (PAGE.play("fork", search=how).cards[0].value for how in ("parallel", "beam"))
    assert int(beams) < int(samples)


# -- the self-check ------------------------------------------------------------------------------


@pytest.mark.parametrize("item", QUIZ)
def test_show_me_leads_into_a_state_of_this_chapter(item):
    assert shown(item).said


def test_a_hundred_tokens_leave_twelve_slots_of_seven_blocks_empty():
    assert waste.table_entries(100, 16) * 16 - 100 == 12
    assert QUIZ["waste_of_one"]["answer"]["value"] == 12


def test_the_steps_that_the_self_check_shows_are_those_it_speaks_of():
    steps = runs.steps(full_setup(12))
    assert int(QUIZ["what_is_lost"]["link"]["query"]["step"]) == next(
        step.index for step in steps if any(isinstance(e, Preempted) for e in step.events)
    )
    step = int(QUIZ["enough_but_no_room"]["link"]["query"]["step"])
    assert runs.steps(HOLES("d"))[step].waiting == (D,)
