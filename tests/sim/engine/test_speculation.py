"""Speculation in the server: rounds of several tokens, and everything else as it was."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim import specs
from sim.cost import Roofline, SimpleClock
from sim.engine import Setup, Speculation, Tally, run_by_steps, simulate, steps
from sim.engine.steps import pulses
from sim.errors import SimError
from sim.kv import Paged
from sim.metrics import summarize
from sim.request import Sequence
from sim.scheduler import Chunked, Continuous, Static
from sim.studies.acceptance import UnderLoad, expected_tokens
from tests.sim.helpers import PLENTY, SECOND, request, scheduled
from tests.sim.strategies import LONGEST, chunked, setups

H100 = Roofline(specs.MODELS["Llama-3.1-8B"], specs.GPUS["H100 SXM"])
SPECULATIONS = st.builds(
    Speculation,
    st.integers(1, 6),
    st.sampled_from([0.0, 0.3, 0.8, 1.0]),
    st.sampled_from([0.0, 0.2]),
    st.integers(0, 3),
)
POLICIES = st.one_of(st.builds(Continuous, st.integers(1, 6), st.integers(1, LONGEST)), chunked())


def setup_of(*requests, policy=Chunked(), memory=PLENTY, clock=SECOND, **speculation):  # noqa: B008
    return Setup(requests, policy, memory, clock, speculation=Speculation(**speculation))


@given(st.data(), SPECULATIONS)
def test_whatever_happens_everybody_gets_their_tokens_and_all_memory_comes_back(data, speculation):
    setup = replace(data.draw(setups(POLICIES)), speculation=speculation)
    last = None
    for last in pulses(setup):
        for sequence in last.running:
            assert sequence.num_tokens <= sequence.max_tokens
            assert sequence.num_computed_tokens < sequence.num_tokens
            held = len(last.block_tables[sequence.id]) * last.memory.block_size
            assert held >= sequence.num_computed_tokens
    if last is not None:
        assert last.memory.num_free_blocks == last.memory.num_usable_blocks
    longest = setup.policy.max_model_len
    for record in run_by_steps(setup).records:
        if not record.rejected:
            asked = record.request
            most = min(asked.total_tokens, longest or asked.total_tokens) - asked.prompt_tokens
            assert len(record.token_seconds) == most
            assert (np.diff(record.token_seconds) >= 0).all()


@given(st.data())
def test_a_draft_that_is_never_right_and_costs_nothing_changes_no_time(data):
    """Where checking is free and there is memory and budget for the proposals."""
    clock = SimpleClock(prefill_tokens_per_second=40, decode_seconds_per_step=0.3)
    policy = data.draw(st.sampled_from([Chunked(6, 500), Continuous(6)]))
    plain = replace(data.draw(setups(st.just(policy))), memory=PLENTY, clock=clock)
    run = run_by_steps(replace(plain, speculation=Speculation(3, 0.0, 0.0)))
    for ours, theirs in zip(run.records, run_by_steps(plain).records, strict=True):
        assert np.array_equal(ours.token_seconds, theirs.token_seconds)


def test_both_paths_give_the_same_run():
    setup = setup_of(*(request(n, 20, 30, arrival=n / 2) for n in range(8)))
    fast, slow = simulate(setup), run_by_steps(setup)
    assert np.array_equal(fast.token_seconds, slow.token_seconds)
    assert fast.rounds == slow.rounds
    assert fast.rounds.num_rounds > 0


@pytest.mark.parametrize("policy", [Chunked(), Continuous()])
def test_a_draft_that_is_always_right_yields_k_plus_one_tokens_a_step(policy):
    """Token 1 comes from the prefill; 24 = 4 rounds of 5 and one of 4: the last is no proposal."""
    setup = setup_of(
        request(0, 8, 25), policy=policy, num_speculative_tokens=4, acceptance=1, draft_cost=0
    )
    run = run_by_steps(setup)
    assert run.token_seconds.tolist() == [1.0, *(2.0 + n // 5 for n in range(24))]
    assert (run.rounds.num_rounds, run.rounds.num_proposed) == (5, 4 * 4 + 3)
    assert run.rounds.accepted_share == 1
    assert run.series.sampled_tokens.tolist() == [1, 5, 5, 5, 5, 4]


def test_rounds_yield_what_the_formula_says():
    for a in (0.3, 0.7, 0.9):
        setup = setup_of(request(0, 8, 12_000), memory=Paged(2_000), acceptance=a)
        rounds = run_by_steps(setup).rounds
        assert rounds.tokens_per_round == pytest.approx(expected_tokens(a, 4), rel=0.05)


def test_the_lot_depends_on_seed_and_request_and_not_on_who_else_is_there():
    def gaps(run, who):
        return np.unique(run.records[who].token_seconds, return_counts=True)[1].tolist()

    alone = run_by_steps(setup_of(request(3, 9, 40)))
    crowd = run_by_steps(
        setup_of(*(request(n, 9, 40, arrival=n / 3) for n in range(6)), policy=Chunked(4, 40))
    )
    other = run_by_steps(setup_of(request(3, 9, 40), seed=1))
    assert gaps(alone, 0) == gaps(crowd, 3) != gaps(other, 0)
    assert gaps(crowd, 3) != gaps(crowd, 4)


def test_proposals_take_budget_and_kv_slots():
    """Ten tokens a step: two requests check four proposals each, and the third has to wait."""
    setup = setup_of(
        *(request(n, 2, 20) for n in range(3)),
        policy=Chunked(max_num_batched_tokens=10),
        num_speculative_tokens=4,
    )
    told = list(steps(setup))
    assert max(step.num_tokens for step in told) == 10
    assert [work.num_tokens for work in told[1].work] == [5, 5]
    assert {work.is_prefill for work in told[1].work} == {False}
    tight, roomy = (
        run_by_steps(setup_of(request(0, 4, 9), memory=Paged(1 + n, 1), acceptance=0))
        for n in (13, 40)
    )
    assert tight.num_preemptions == roomy.num_preemptions == 0  # never more than the answer needs


def test_a_full_pool_preempts_who_came_last_and_their_proposals_are_forgotten():
    asked = (request(0, 8, 30), request(1, 8, 30))
    setup = setup_of(*asked, memory=Paged(1 + 12, 4), acceptance=0.5)
    run = run_by_steps(setup)
    assert run.num_preemptions > 0
    assert run.num_tokens.tolist() == [30, 30]


def test_who_gives_way_forgets_the_proposals():
    """Else the last chunk of the second prefill would check them."""
    sequence = Sequence(request(0, 6, 9))
    sequence.num_draft_tokens = 3
    sequence.preempt()
    assert sequence.num_draft_tokens == 0


def test_a_block_that_only_proposals_fill_cannot_be_found():
    memory = Paged(64, 4).open()
    sequence = Sequence(request(0, 6, 9, shared=6))
    memory.allocate(sequence, 6)
    sequence.num_computed_tokens = 6
    sequence.append_token()
    memory.allocate(sequence, 11)  # 7 tokens of the text, 4 proposals
    assert [memory.can_be_found(block) for block in memory.block_tables[0]] == [True, False, False]


def test_a_round_costs_what_the_chapter_says():
    """Eight requests of one length, all accepted or none, against `UnderLoad`."""
    asked = tuple(request(n, 500, 60) for n in range(8))
    setup = setup_of(*asked, policy=Chunked(8, 8_192), clock=H100, acceptance=0, memory=PLENTY)
    told = list(steps(setup))
    first = told[1]  # every context: 500 prompt tokens, the newest token, 4 proposals
    assert {work.context for work in first.work} == {505}
    load = UnderLoad(H100, context=501, num_proposed=4, draft_cost=0.1)
    assert first.seconds == pytest.approx(load.round_seconds(8))


def test_whoever_comes_after_an_unfinished_prompt_in_the_step_speculates_all_the_same():
    """A prompt of 20 goes in four pieces; beside them the other writes 1, 5 and 5 tokens."""
    setup = setup_of(
        request(0, 20, 2),
        request(1, 4, 11),
        policy=Chunked(long_prefill_token_threshold=5),
        acceptance=1,
        draft_cost=0,
    )
    run = run_by_steps(setup)
    assert run.records[0].token_seconds.tolist() == [4.0, 5.0]
    assert run.records[1].token_seconds.tolist() == [1.0, *[2.0] * 5, *[3.0] * 5]


def test_a_round_drafts_as_long_as_whoever_has_most_proposals():
    """Both may propose four, but the second answer needs only two tokens more."""
    setup = setup_of(request(0, 8, 20), request(1, 8, 3), draft_cost=0.1)
    told = list(steps(setup))
    assert scheduled(told[1]) == {0: 1 + 4, 1: 1 + 1}
    assert told[1].seconds == pytest.approx(1 + 4 * 0.1)


def test_what_rounds_gain_by_hand():
    """Ten rounds of four proposals, half of them right: 30 tokens in the time of 10 + 4 steps."""
    rounds = Tally(num_rounds=10, num_proposed=40, num_accepted=20)
    assert (rounds.num_tokens, rounds.tokens_per_round, rounds.accepted_share) == (30, 3, 0.5)
    assert rounds.speedup(draft_cost=0.1) == 30 / 14


def test_who_waits_for_the_prefill_is_not_helped():
    """TTFT of a lone request is that of the server without speculation."""
    setup = setup_of(request(0, 500, 50), clock=H100)
    plain = run_by_steps(replace(setup, speculation=None))
    assert run_by_steps(setup).token_seconds[0] == plain.token_seconds[0]
    assert plain.rounds == Tally(num_rounds=0, num_proposed=0, num_accepted=0)


def test_a_fixed_batch_does_not_speculate():
    with pytest.raises(SimError, match="speculation_needs_iterations"):
        setup_of(request(0, 4, 4), policy=Static(4))


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        ({"num_speculative_tokens": 0}, "proposals_below_one"),
        ({"acceptance": 1.2}, "acceptance_out_of_range"),
        ({"acceptance": float("nan")}, "acceptance_out_of_range"),
        ({"draft_cost": -1}, "draft_cost_negative"),
        ({"draft_cost": float("inf")}, "draft_cost_negative"),
    ],
)
def test_settings_that_mean_nothing_are_refused(wrong, code):
    with pytest.raises(SimError, match=code):
        Speculation(**wrong)


def test_tokens_of_one_round_come_together_so_itl_is_longer_than_tpot():
    """A second a step, two tokens each: ITL 1 s, TPOT about half of it."""
    setup = setup_of(request(0, 4, 21), num_speculative_tokens=1, acceptance=1, draft_cost=0)
    summary = summarize(run_by_steps(setup))
    assert summary.itl.mean == summary.itl.max == 1
    assert summary.tpot.mean == 0.5
