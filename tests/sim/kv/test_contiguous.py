"""Contiguous memory: three kinds of waste, two ways to fit, and a run that can move as a whole."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.engine import Setup, simulate
from sim.errors import SimError
from sim.events import Compacted
from sim.kv import Contiguous, Paged
from sim.kv.contiguous import ContiguousMemory, Waste, copy_seconds
from sim.scheduler import Continuous, Policy, Static
from sim.specs import GPUS
from tests.sim.helpers import SECOND, request, run, sequence

RESERVATIONS = ("model_limit", "power_of_two", "exact")


def filled(num_slots: int, *sizes: int, fit="first") -> ContiguousMemory:
    """Exact runs of these sizes, one behind the other; requests count from 0."""
    memory = Contiguous(num_slots, "exact", fit).open()
    for who, size in enumerate(sizes):
        assert memory.reserve(of_size(who, size), size)
    return memory


def of_size(who: int, size: int):
    return sequence(who, size - 1, 1)


# -- the worked example ----------------------------------------------------------------------

# A slot is 0.1 GB: A 0.8, B 0.3 and C 1.2 GB, with holes of 0.6 and 0.5 GB where others were.
A, X, B, Y, C, D = range(6)


@pytest.fixture(params=["first", "best"])
def holed(request):
    memory = filled(34, 8, 6, 3, 5, 12, fit=request.param)
    for gone in (X, Y):
        memory.free(of_size(gone, 9))
    return memory


def test_there_is_room_for_d_and_yet_d_does_not_fit(holed):
    assert holed.num_free_blocks == 11  # 1.1 GB are free, D needs 1 GB
    assert holed.holes() == [range(8, 14), range(17, 22)]
    assert holed.hole_for(10) is None
    assert not holed.reserve(of_size(D, 10), 10)
    assert holed.external_waste(10) == 11
    assert holed.fragmentation == 1 - 6 / 11


def test_after_compaction_d_fits(holed):
    assert holed.compact() == 3 + 12 - 2  # B and C move; a last token is not there yet
    assert holed.block_tables == {A: range(8), B: range(8, 11), C: range(11, 23)}
    assert holed.fragmentation == 0
    assert holed.reserve(of_size(D, 10), 10)
    assert holed.block_tables[D] == range(23, 33)


def test_in_blocks_d_fits_wherever_they_lie():
    memory = Paged.for_tokens(34, block_size=1).open()
    everybody = [of_size(who, size) for who, size in enumerate((8, 6, 3, 5, 12, 10))]
    for who in everybody[:-1]:
        assert memory.reserve(who, who.max_tokens)
    for gone in (X, Y):
        memory.free(everybody[gone])
    assert memory.reserve(everybody[D], 10)


# -- what is reserved ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reservation", "num_slots"), [("model_limit", 2048), ("power_of_two", 64), ("exact", 40)]
)
def test_a_request_of_40_tokens_reserves(reservation, num_slots):
    memory = Contiguous(5000, reservation).open()
    who = sequence(0, 10, 30)
    assert memory.num_missing_blocks(who, 10) == num_slots
    assert memory.allocate(who, 10)
    assert memory.block_tables == {0: range(num_slots)}
    assert memory.num_missing_blocks(who, 11) == 0
    assert memory.waste() == Waste(10, 30, num_slots - 40, 5000 - num_slots)


def test_a_run_has_room_for_what_was_reserved_and_for_no_token_more():
    memory = Contiguous(100, "exact").open()
    who = sequence(0, 10, 30)
    assert memory.reserve(who, 10)
    assert memory.reserve(who, 40)
    assert not memory.reserve(who, 41)


def test_a_power_of_two_is_its_own_next_and_never_above_the_limit():
    settings = Contiguous(10_000, "power_of_two", max_model_len=1500)
    assert [settings.num_slots_for(n) for n in (1, 2, 3, 64, 65, 1024, 1025, 1500)] == [
        1, 2, 4, 64, 128, 1024, 1500, 1500
    ]  # fmt: skip


def test_waste_moves_from_later_to_used_as_tokens_come():
    memory = Contiguous(100, "power_of_two").open()
    who = sequence(0, 10, 3)
    memory.allocate(who, 10)
    assert memory.waste() == Waste(10, 3, 3, 84)
    who.append_token()
    assert memory.waste() == Waste(11, 2, 3, 84)
    memory.free(who)
    assert memory.waste() == Waste(0, 0, 0, 100)


def test_what_is_longer_than_the_model_or_the_memory_never_fits():
    memory = Contiguous(1000, "exact", max_model_len=50).open()
    assert memory.can_ever_hold(50)
    assert not memory.can_ever_hold(51)
    assert not memory.reserve(sequence(0, 50, 1), 50)
    assert not Contiguous(2047).open().can_ever_hold(1)


def test_of_two_equal_prompts_none_is_shared():
    memory = Contiguous(5000, "exact").open()
    for who in range(2):
        prompt = sequence(who, 16, shared=16)
        assert memory.match_prefix(prompt) == []
        memory.allocate(prompt, 16)
    assert memory.num_used_blocks == 2 * 17


@pytest.mark.parametrize(
    ("code", "settings"),
    [
        ("too_few_slots", {"num_slots": 0}),
        ("max_model_len_below_one", {"num_slots": 9, "max_model_len": 0}),
        ("unknown_reservation", {"num_slots": 9, "reservation": "some"}),
        ("unknown_fit", {"num_slots": 9, "fit": "worst"}),
    ],
)
def test_settings_that_cannot_be_are_refused(code, settings):
    with pytest.raises(SimError) as error:
        Contiguous(**settings)
    assert error.value.code == code


def test_first_fit_and_best_fit_choose_different_holes():
    """Holes of 5, 3 and 9 slots; the run needs 3."""
    for fit, hole in (("first", range(2, 7)), ("best", range(9, 12))):
        memory = filled(23, 2, 5, 2, 3, 2, fit=fit)
        for gone in (1, 3):
            memory.free(of_size(gone, 9))
        assert memory.hole_for(3) == hole


# -- whatever is reserved and freed ----------------------------------------------------------


@st.composite
def used(draw):
    """A memory after many requests came and some of them left."""
    fit = draw(st.sampled_from(["first", "best"]))
    reservation = draw(st.sampled_from(RESERVATIONS))
    memory = Contiguous(draw(st.integers(1, 120)), reservation, fit, max_model_len=32).open()
    for number in range(draw(st.integers(0, 25))):
        prompt, output = draw(st.integers(1, 20)), draw(st.integers(1, 20))
        memory.reserve(sequence(number, prompt, output), prompt)
        if draw(st.booleans()) and memory.block_tables:
            gone = draw(st.sampled_from(sorted(memory.block_tables)))
            memory.free(sequence(gone, 1))  # only who it is counts
    return memory


def lengths(runs) -> int:
    return sum(map(len, runs))


@given(used())
def test_runs_never_overlap_and_with_the_holes_they_are_everything(memory):
    pieces = sorted([*memory.block_tables.values(), *memory.holes()], key=lambda run: run.start)
    assert pieces[0].start == 0
    assert pieces[-1].stop == memory.num_usable_blocks
    assert all(one.stop == other.start for one, other in pairwise(pieces))
    assert all(pieces)  # none is empty
    assert lengths(memory.holes()) == memory.num_free_blocks
    assert lengths(memory.block_tables.values()) == memory.num_used_blocks
    assert not any(one.stop == other.start for one, other in pairwise(memory.holes()))


@given(used(), st.integers(1, 40))
def test_first_fit_takes_the_lowest_hole_that_fits_and_best_fit_the_smallest(memory, size):
    fitting = [hole for hole in memory.holes() if len(hole) >= size]
    hole = memory.hole_for(size)
    assert (hole in fitting) if fitting else (hole is None)
    if memory.settings.fit == "first":
        assert all(hole.start <= other.start for other in fitting)
    else:
        assert all((len(hole), hole.start) <= (len(other), other.start) for other in fitting)


@given(used(), st.integers(1, 20), st.integers(1, 20))
def test_a_run_starts_where_its_hole_does_or_nothing_changes(memory, prompt, output):
    who = sequence(99, prompt, output)
    before, hole = dict(memory.block_tables), memory.hole_for(memory.num_missing_blocks(who, 1))
    if memory.reserve(who, prompt):
        assert memory.block_tables.pop(99).start == hole.start
    else:
        assert hole is None or not memory.can_ever_hold(who.max_tokens)
    assert memory.block_tables == before


@given(used())
def test_compaction_leaves_one_hole_and_loses_nothing(memory):
    before = dict(memory.block_tables)
    in_order = sorted(before, key=lambda who: before[who].start)
    moved = memory.compact()
    after = memory.block_tables
    assert {who: len(run) for who, run in after.items()} == {w: len(r) for w, r in before.items()}
    assert sorted(after, key=lambda who: after[who].start) == in_order
    assert len(memory.holes()) == (memory.num_free_blocks > 0)
    assert memory.fragmentation == 0
    assert (moved > 0) == (after != before)
    assert memory.compact() == 0


@given(used(), st.integers(1, 40))
def test_the_measures_add_up(memory, size):
    waste = memory.waste()
    parts = (waste.used, waste.later, waste.internal, waste.free)
    assert sum(parts) == memory.num_usable_blocks
    assert min(parts) >= 0
    if memory.settings.reservation == "exact":
        assert waste.internal == 0
    usable = sum(len(hole) for hole in memory.holes() if len(hole) >= size)
    assert memory.external_waste(size) == waste.free - usable
    assert 0 <= memory.fragmentation < 1


# -- served from it --------------------------------------------------------------------------

POLICIES = (Static(4), Continuous(4))


@pytest.mark.parametrize("policy", POLICIES, ids=["static", "continuous"])
@pytest.mark.parametrize("reservation", RESERVATIONS)
def test_everybody_is_served_and_nobody_preempted(policy: Policy, reservation):
    requests = [request(who, 8 + who, 3 + 5 * (who % 4), arrival=who / 2) for who in range(12)]
    settings = Contiguous(150, reservation, max_model_len=64)
    done = simulate(Setup(tuple(requests), policy, settings, SECOND))
    assert [len(r.token_seconds) for r in done.records] == [r.output_tokens for r in requests]
    assert done.num_preemptions == 0
    looked_at = run(requests, policy, settings)
    assert done.series.end_seconds.tolist() == [step.end_seconds for step in looked_at]


def test_reserving_for_the_longest_answer_lets_fewer_run_at_once():
    """Of 128 slots each request needs 12 for its prompt and 4 more later; its limit is 64."""
    requests = [request(who, 12, 4) for who in range(30)]

    def most_at_once(memory) -> int:
        return max(len(step.running) for step in run(requests, Continuous(30), memory))

    model_limit = Contiguous(128, "model_limit", max_model_len=64)
    assert most_at_once(model_limit) == 2
    assert most_at_once(Contiguous(128, "exact", max_model_len=64)) == 8
    assert most_at_once(Paged.for_tokens(128, block_size=4)) == 10  # a prompt takes three blocks


def test_a_request_beyond_the_model_is_refused_on_arrival():
    settings = Contiguous(150, "exact", max_model_len=64)
    requests = (request(0, 60, 10), request(1, 10, 10))
    done = simulate(Setup(requests, Continuous(4), settings, SECOND))
    assert [record.rejected for record in done.records] == [True, False]


# -- compaction on demand ---------------------------------------------------------------------


def compacting(*sizes: int) -> ContiguousMemory:
    memory = Contiguous(34, "exact", compacts=True).open()
    for who, size in enumerate(sizes):
        assert memory.reserve(of_size(who, size), size)
    return memory


def test_with_compaction_d_fits_as_soon_as_enough_is_free_and_the_copy_is_told():
    memory = compacting(8, 6, 3, 5, 12)
    for gone in (X, Y):
        memory.free(of_size(gone, 9))
    assert memory.reserve(of_size(D, 10), 10)
    assert memory.block_tables == {
        A: range(8),
        B: range(8, 11),
        C: range(11, 23),
        D: range(23, 33),
    }
    assert memory.events == [Compacted(2 + 11)]  # the prompts of B and C; A stays where it is


def test_whoever_needs_every_free_slot_fits_after_compaction():
    memory = compacting(8, 6, 3, 5, 12)
    for gone in (X, Y):
        memory.free(of_size(gone, 9))
    assert memory.reserve(of_size(D, 11), 11)  # 6 + 5
    assert memory.num_free_blocks == 0


def test_nothing_moves_while_a_hole_is_large_enough_or_too_little_is_free():
    memory = compacting(8, 6, 3, 5, 12)
    memory.free(of_size(X, 6))
    before = dict(memory.block_tables)
    assert not memory.reserve(of_size(D, 10), 10)  # 6 are free
    assert memory.block_tables == before
    assert memory.reserve(of_size(D, 6), 6)
    assert memory.events == []


def test_a_copy_reads_and_writes_every_byte():
    gpu = GPUS["A100 80G SXM"]
    assert copy_seconds(1e9, gpu) == pytest.approx(2e9 / gpu.bandwidth)
