"""Several answers to one prompt: how much they share, and what is copied."""

import pytest

from sim.errors import SimError
from sim.events import CopiedOnWrite, Forked
from sim.views.forks import ForkSetup, Sharing, sharing, steps

SETUPS = [ForkSetup(search, n, prompt) for search in ("parallel", "beam") for n in (1, 2, 4)
          for prompt in (7, 8, 10)]  # fmt: skip


def run(setup):
    return list(steps(setup))


@pytest.mark.parametrize("setup", SETUPS, ids=str)
def test_every_answer_gets_all_its_tokens(setup):
    last = run(setup)[-1]
    longest = setup.prompt_tokens + setup.output_tokens
    assert last.num_tokens == dict.fromkeys(range(setup.num_answers), longest)
    assert {len(table) for table in last.tables.values()} == {-(-longest // setup.block_size)}


@pytest.mark.parametrize("setup", SETUPS, ids=str)
def test_never_more_is_taken_than_is_listed(setup):
    for step in run(setup):
        distinct = {block for table in step.tables.values() for block in table}
        assert step.num_used_blocks == len(distinct) <= step.num_listed_blocks


@pytest.mark.parametrize("answers", [2, 3, 4])
def test_parallel_sampling_copies_one_block_for_each_answer_but_the_last(answers):
    assert sharing(run(ForkSetup("parallel", answers, 10))).num_copies == answers - 1
    assert sharing(run(ForkSetup("parallel", answers, 8))).num_copies == 0


def test_parallel_answers_go_on_sharing_the_full_blocks_of_the_prompt_only():
    last = run(ForkSetup("parallel", 3, 10))[-1]
    first, second, third = (last.tables[who] for who in range(3))
    assert first[:2] == second[:2] == third[:2]
    assert not set(first[2:]) & set(second[2:])


def test_three_samples_of_21_tokens_by_hand():
    """Two full blocks of the prompt are shared; the other four of each answer are its own, the last
    of them taken for the last token."""
    setup = ForkSetup("parallel", 3, prompt_tokens=10, output_tokens=11, block_size=4)
    assert sharing(run(setup)) == Sharing(2 + 3 * 4, num_listed_blocks=18, num_copies=2)
    assert setup.num_blocks == 18


def test_only_a_prompt_of_whole_blocks_fills_its_last_one():
    assert [ForkSetup(prompt_tokens=n).fills_last_block for n in (7, 8, 9)] == [False, True, False]


def test_beams_are_chosen_between_two_tokens_and_named_by_their_answers():
    told = run(ForkSetup("beam", 3, 8, output_tokens=3))
    forked = [[e for e in step.events if isinstance(e, Forked)] for step in told]
    assert [len(events) for events in forked] == [0, 2, 0, 3, 0, 3, 0]
    assert [[event.child_id for event in forked[at]] for at in (1, 3, 5)] == [
        *([1, 2], [0, 1, 2], [0, 1, 2])
    ]
    assert {event.parent_id for events in forked for event in events} <= {0, 1, 2}


@pytest.mark.parametrize("answers", [2, 3, 4])
def test_beams_share_more_than_samples(answers):
    samples, beams = (sharing(run(ForkSetup(how, answers))) for how in ("parallel", "beam"))
    assert beams.num_used_blocks < samples.num_used_blocks
    assert beams.num_listed_blocks == samples.num_listed_blocks
    assert beams.num_copies > samples.num_copies


def test_copies_happen_at_the_first_write_and_not_at_the_fork():
    _prompt, fork, first, *_ = run(ForkSetup("parallel", 3, 10))
    assert not any(isinstance(event, CopiedOnWrite) for event in fork.events)
    assert sum(isinstance(event, CopiedOnWrite) for event in first.events) == 2


def test_settings_without_sense_are_told():
    with pytest.raises(SimError, match="unknown_search"):
        ForkSetup("tree")  # type: ignore[arg-type]
    with pytest.raises(SimError, match="num_answers_below_one"):
        ForkSetup(num_answers=0)
    with pytest.raises(SimError, match="length_below_one"):
        ForkSetup(prompt_tokens=0)
