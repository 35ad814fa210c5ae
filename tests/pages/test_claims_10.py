"""Chapter 10 says nothing that its own models and formulas do not show.

Every checkable sentence of the text, of the self-check and of the links is held here against what
the page itself computes, over the whole range of a control where the sentence is.
"""

import json
from itertools import product

import numpy as np
import pytest

from sim import specs
from sim.cost import Roofline
from sim.cost.phases import decode
from sim.kv import sizes
from sim.model import proofs
from sim.model.sampling import GREEDY, Sampling
from sim.model.speculative import residual
from sim.studies.acceptance import (
    PUBLISHED,
    InRuns,
    UnderLoad,
    accepted_share,
    best_num_proposed,
    expected_tokens,
    round_steps,
    speedup,
)
from tests.chapters import LANGUAGES, ROOT
from tests.pages.rehearsal import open_page, set_alike
from ui import tiny_model
from ui.player.painters.tape import Tape
from ui.subjects.speculation import pictures, written_rounds
from ui.words.numbers import count, significant

PAGES = {code: open_page("10_spec_decode", code) for code in LANGUAGES}
SPEC = PAGES["en"]
BENCH = open_page("17_workbench")
PAGE = SPEC.constants
QUIZ = {
    item["id"]: item
    for item in json.loads((ROOT / "assets" / "quiz" / "10.json").read_text("utf-8"))["items"]
}


def shown(item):
    """The state into which an item's "show me" leads."""
    assert QUIZ[item]["link"]["page"] == "10_spec_decode"
    return SPEC.at(QUIZ[item]["link"]["query"])


def cards(played):
    return {card.label: card.value for card in played.cards}


def tape(**values):
    (frames,) = SPEC.play("hook", **values).frames
    assert isinstance(frames, Tape)
    return frames


def server(gpu="H100 SXM", context=512, k=4, cost=0.1):
    return UnderLoad(Roofline(PAGE["MODEL"], specs.GPUS[gpu]), context, k, cost)


@pytest.mark.parametrize("act", ["hook", "worth", "load"])
def test_a_link_shows_what_it_says_whichever_was_clicked_before(act):
    assert set_alike(SPEC.play(act).presets)


# -- the draft ------------------------------------------------------------------------------


def test_the_first_round_accepts_a_b_and_c_rejects_d_and_yields_four_tokens():
    first = tape().rounds[0]
    assert (len(first.proposed), first.num_accepted) == (PAGE["ASKED"], PAGE["SAID"]) == (4, 3)
    assert SPEC.play("hook").guesses["abcd"].truth == 4
    own = written_rounds.rounds(PAGE["TEXT"], 4, 0.7, PAGE["SEED"])
    assert len(own[0].tokens) == 4


def test_a_round_yields_what_was_accepted_and_one_token_wherever_the_controls_stand():
    for k, temperature in product(PAGE["NUM_PROPOSED"], (0.0, 1.0)):
        for one in written_rounds.rounds(PAGE["TEXT"], k, temperature, 0):
            assert len(one.tokens) == one.num_accepted + 1
            assert 0 <= one.num_accepted <= k


def test_the_page_counts_what_the_models_wrote():
    said = SPEC.play("hook").said["hook_numbers"]
    rounds = written_rounds.rounds(PAGE["TEXT"], 4, 0.7, PAGE["SEED"])
    tokens = sum(len(one.tokens) for one in rounds)
    assert (said["passes"], said["tokens"]) == (str(len(rounds)), str(tokens))
    assert said["each"] == significant(tokens / len(rounds))
    assert int(said["accepted"]) < int(said["proposed"]) == 4 * len(rounds)


def test_the_english_text_has_rounds_that_are_accepted_in_full():
    values = SPEC.play("hook").presets["hook_english"]
    assert sum(one.num_accepted == 4 for one in tape(**values).rounds) >= 2


def test_greedy_bars_are_nothing_or_all_and_a_proposal_is_accepted_when_both_choose_alike():
    values = SPEC.play("hook").presets["hook_greedy"]
    for one in tape(**values).rounds:
        for place, bars in enumerate(one.places):
            named = [bar for bar in bars if bar.token]
            assert {bar.p for bar in named} | {bar.q for bar in named} <= {0, 1}
            if place <= one.num_accepted and place < len(one.proposed):
                alike = any(bar.p == bar.q == 1 for bar in named)
                assert alike == (place < one.num_accepted)


def test_of_a_text_that_the_models_do_not_know_hardly_anything_is_accepted():
    values = SPEC.play("hook").presets["hook_foreign"]
    known, unknown = (
        SPEC.play("hook", **some).said["hook_numbers"]["rate"] for some in ({}, values)
    )
    assert float(unknown.rstrip("%")) < 12 < 40 < float(known.rstrip("%"))


def test_a_text_that_is_too_long_says_so():
    assert "not used" in SPEC.play("hook", text="🙂" * 80).said[""]["message"]
    assert "" not in SPEC.play("hook").said


# -- is it worth it -------------------------------------------------------------------------


@pytest.mark.parametrize("a", [0.1, 0.5, 0.7, 0.99])
@pytest.mark.parametrize("cost", [0, 0.1, 0.5])
def test_cards_and_words_are_the_formula(a, cost):
    played = SPEC.play("worth", a=a, cost=cost)
    best = best_num_proposed(a, cost, pictures.MOST_PROPOSED)
    assert list(cards(played).values()) == [
        significant(expected_tokens(a, 4)),
        f"{significant(speedup(a, 4, cost))}×",
        str(best),
        f"{significant(speedup(a, best, cost))}×",
    ]
    assert ("worth_none" in played.said) == (best == 0)


@pytest.mark.parametrize("k", PAGE["NUM_PROPOSED"])
def test_the_share_that_engines_count_is_below_a_unless_one_is_proposed_or_all_or_none_fit(k):
    for a in PAGE["ACCEPTANCES"]:
        share = accepted_share(a, k)
        assert share == pytest.approx(a) if k == 1 or a == 0 else share < a
        assert 1 + k * share == pytest.approx(expected_tokens(a, k))  # the way back


def test_a_share_that_is_taken_for_a_promises_less_than_there_is():
    played = SPEC.play("worth")
    assert played.said["worth_result"]["share"] == "44.3%"
    assert significant(speedup(accepted_share(0.7, 4), 4, 0.1)) == "1.26"
    assert played.said["worth_result"]["gain"] == "1.98"


def test_by_default_k_of_4_is_best():
    assert cards(SPEC.play("worth"))["Best k (≤ 16)"] == "4"


def test_high_acceptance_alone_is_no_speedup():
    values = SPEC.play("worth").presets["worth_high"]
    assert values["a"] >= 0.85
    assert 1 <= speedup(values["a"], values["k"], values["cost"]) < 1.05


def test_half_rejected_makes_many_proposals_a_loss_against_few():
    values = SPEC.play("worth").presets["worth_many"]
    assert values["a"] == 0.5
    best = best_num_proposed(0.5, values["cost"], 16)
    assert best < values["k"]
    assert 0.5**5 < 0.04  # "hardly ever reached"


@pytest.mark.parametrize("a", PAGE["ACCEPTANCES"])
def test_no_number_of_proposals_yields_more_than_one_over_one_minus_a(a):
    assert expected_tokens(a, 500) < 1 / (1 - a) + 1e-9


def test_the_best_k_is_the_best_of_those_on_the_axis_and_says_so():
    """With a free draft, or one that is nearly always right, a larger k would be better still."""
    assert best_num_proposed(0.95, 0.05, 100) > PAGE["MOST"] == 16
    said = SPEC.play("worth", a=0.95, cost=0.05).said["worth_result"]
    assert (said["best"], said["most"]) == (16, 16)


def test_when_proposals_are_free_more_of_them_do_no_harm():
    values = SPEC.play("worth").presets["worth_free"]
    assert values["cost"] == 0
    gains = [speedup(values["a"], k, 0) for k in range(17)]
    assert gains == sorted(gains)


# -- as measured ----------------------------------------------------------------------------


def test_acceptance_depends_on_the_text():
    """This course, which both have seen, is far above code, at every temperature."""
    for temperature in PAGE["TEMPERATURES"]:
        said = SPEC.play("measured", temperature=temperature).said["measured_result"]
        course, code = (float(said[name].rstrip("%")) for name in ("course", "code"))
        assert course > 2 * code


def test_our_models_cannot_copy():
    for temperature in PAGE["TEMPERATURES"]:
        assert written_rounds.mean_acceptance(PAGE["OTHER_TEXTS"]["copy"], float(temperature)) < 0.2


def test_our_draft_costs_a_third_of_the_target():
    assert 0.3 < written_rounds.draft_cost() < 0.4


def test_a_draft_this_large_needs_high_acceptance_or_few_proposals():
    cost = written_rounds.draft_cost()
    assert speedup(0.5, 4, cost) < 1 < speedup(0.95, 4, cost)
    assert speedup(0.5, 1, cost) > 1


@pytest.mark.parametrize("text", [PAGE["TEXT"], PAGE["OTHER_TEXTS"]["code"]])
def test_a_round_gains_only_if_it_yields_more_than_it_costs(text):
    said = SPEC.play("measured", text=text).said["measured_result"]
    rounds = written_rounds.rounds(text, said["k"], 0.7, PAGE["SEED"])
    yielded = sum(len(one.tokens) for one in rounds) / len(rounds)
    assert said["steps"] == "2.4"
    assert (yielded > round_steps(4, written_rounds.draft_cost())) == (float(said["gain"]) > 1)


def test_the_largest_draft_is_accepted_most_and_gains_least():
    for task, temperature in product(("EnDe", "CNNDM"), (0, 1)):
        rows = [row for row in PUBLISHED if (row.task, row.temperature) == (task, temperature)]
        assert len(rows) == 3
        assert rows == sorted(rows, key=lambda row: row.acceptance)
        assert rows[-1].draft == "T5-large"
        assert rows[-1].speedup == min(row.speedup for row in rows)


def test_acceptance_in_runs_yields_less_than_the_formula_says_of_its_mean():
    for easy, hard, k in product((0.8, 0.95, 0.99), (0.3, 0.55, 0.75), (1, 3, 7)):
        text = InRuns((easy, hard), k)
        assert text.tokens_per_round < text.tokens_if_alike
    said = SPEC.play("measured").said["measured_paper"]
    assert (said["runs"], said["alike"]) == ("3.32", "3.60")


def test_a_text_of_runs_written_by_lot_takes_as_many_rounds_as_its_stretches_say():
    """Long stretches by turns; a round takes the acceptance of the place where it stands."""
    text, rng = PAGE["IN_RUNS"], np.random.default_rng(0)
    length, place, num_rounds = 200_000, 0, 0
    while place < length:
        for _ in range(text.num_proposed):
            if rng.random() >= text.stretches[place // 1_000 % 2]:
                break
            place += 1
        place, num_rounds = place + 1, num_rounds + 1
    assert length / num_rounds == pytest.approx(text.tokens_per_round, rel=0.02)


def test_a_few_points_lie_above_the_line():
    assert 2 <= sum(row.speedup > row.bound for row in PUBLISHED) <= 4


# -- under load -----------------------------------------------------------------------------


def test_with_few_requests_checking_is_free_and_with_many_it_is_not():
    few, many = SPEC.play("load", batch=1), SPEC.play("load", batch=256)
    assert few.said["load_result"]["verify"] == few.said["load_result"]["plain"]
    assert cards(few)["Speed-up"] == f"{significant(speedup(0.7, 4, 0.1))}×"
    assert float(cards(many)["Speed-up"].rstrip("×")) < 1


def test_the_words_name_the_batch_at_which_it_turns():
    turn = int(SPEC.play("load").said["load_slower"]["turns"])
    assert server().speedup(0.7, turn) < 1 <= server().speedup(0.7, turn - 1)


@pytest.mark.parametrize("gpu", PAGE["GPUS"])
@pytest.mark.parametrize("context", PAGE["CONTEXTS"])
def test_the_curve_ends_where_kv_memory_is_full(gpu, context):
    played = SPEC.play("load", gpu=gpu, context=context, batch=512)
    fits = sizes.Division(PAGE["MODEL"], specs.GPUS[gpu]).num_requests(context)
    said = played.said["load_leaves_out"]["fitting"]
    assert said == str(min(fits, 512))
    assert int(played.said["load_result"]["batch"]) <= int(said)


def test_after_the_turn_checking_is_the_larger_part_of_a_round():
    values = SPEC.play("load").presets["load_turns"]
    here = server()
    assert here.verify_seconds(values["batch"]) > 2 * here.plain_seconds(values["batch"])
    assert here.verify_seconds(1) < 1.01 * here.plain_seconds(1)
    assert here.speedup(0.7, values["batch"]) < 1


def test_a_smaller_gpu_turns_at_a_smaller_batch():
    values = SPEC.play("load").presets["load_small_gpu"]
    small, large = server(values["gpu"], 256), server("H100 SXM", 256)
    turns = [one.first_batch_that_loses(0.7, 512) for one in (small, large)]
    assert turns[0] < turns[1]
    assert small.speedup(0.7, values["batch"]) < 1


def test_long_contexts_keep_it_free_until_memory_is_full():
    values = SPEC.play("load").presets["load_long"]
    played = SPEC.play("load", **values)
    assert "load_never" in played.said
    here = server("H100 SXM", values["context"])
    batch = int(played.said["load_result"]["batch"])
    assert here.verify_seconds(batch) < 1.2 * here.plain_seconds(batch)
    reading = here.clock.kernels(decode(batch, values["context"])).attention.memory_seconds
    assert reading > here.plain_seconds(batch) / 2


def test_high_acceptance_keeps_it_from_turning_where_contexts_are_short():
    """Checking is not free there: what a round yields outweighs it."""
    played = SPEC.play("load", gpu="RTX 4090", context=256, k=1, a=0.95, batch=160)
    assert "load_never" in played.said
    here = server("RTX 4090", 256, 1)
    assert here.verify_seconds(160) > 1.5 * here.plain_seconds(160)


@pytest.mark.parametrize("gpu", PAGE["GPUS"])
@pytest.mark.parametrize("context", [256, 4096])
def test_beyond_the_turn_it_is_slower_in_every_batch(gpu, context):
    fitting = min(sizes.Division(PAGE["MODEL"], specs.GPUS[gpu]).num_requests(context), 512)
    for k, a in product((1, 4, 8), (0.3, 0.7, 0.95)):
        gains = [server(gpu, context, k).speedup(a, n) < 1 for n in range(1, fitting + 1, 5)]
        assert gains == sorted(gains)


def test_a_gain_for_one_is_a_loss_for_many():
    values = SPEC.play("load").presets["load_greedy_k"]
    here = server(k=values["k"])
    assert here.speedup(0.7, values["batch"]) < 1 < here.speedup(0.7, 1)
    assert values["k"] + 1 == 9


# -- the same distribution ------------------------------------------------------------------


def test_the_right_rule_passes_and_the_wrong_one_fails_on_the_page():
    for seed in (0, 7):
        _, right, wrong = pictures.both_rules(PAGE["TEXT"], 1.0, seed)
        assert right.holds
        assert wrong.p_value < 1e-9


def test_a_text_on_which_the_wrong_rule_is_not_caught_says_so():
    said = {text: SPEC.play("proof", text=text).said for text in ("a", PAGE["TEXT"])}
    assert "proof_close" in said["a"]
    assert "proof_wrong" in said[PAGE["TEXT"]]


def test_a_right_rule_fails_about_one_series_in_a_thousand():
    assert proofs.SIGNIFICANCE == 1e-3


def test_the_wrong_rule_prefers_what_both_models_like():
    """Its surplus min(p, q) - a p is positive where q is at least p, and p is below q / a."""
    _, right, wrong = pictures.both_rules(PAGE["TEXT"], 1.0, 0)
    surplus = dict(zip(right.tokens, wrong.observed - right.expected, strict=True))
    prompt = tiny_model.prompt(PAGE["TEXT"])
    _, p, q = proofs.hardest_place(tiny_model.target(), tiny_model.draft(), prompt, Sampling(1.0))
    most = max(surplus, key=lambda token: surplus[token])
    assert q[most] > p[most] * 0.5
    assert surplus[most] > 50


def test_greedy_speculation_writes_what_greedy_decoding_writes():
    same = proofs.greedy_speculation_equals_greedy(
        tiny_model.target(), tiny_model.draft(), tiny_model.prompt(PAGE["TEXT"]), 16, 4
    )
    assert same.holds
    assert same.tie is None
    rounds = written_rounds.rounds(PAGE["TEXT"], 4, GREEDY.temperature, 0)
    tokens = [token for one in rounds for token in one.tokens]
    assert tokens[:16] == list(same.one)


# -- on the workbench -----------------------------------------------------------------------


def simulated(**values):
    return BENCH.play("explore", requests=60, **values)


def test_on_the_workbench_speculation_helps_a_quiet_server_and_harms_a_crowded_one():
    """Sent at once, 60 requests fill a small GPU; one at a time leave it time to spare."""
    quiet: dict[str, object] = {"rate": 0.5, "gpu": "RTX 4090", "prompt": 100, "spread": 1.0}
    crowd = quiet | {"arrival": "once", "seqs": 64}
    speed = {}
    for name, load in (("quiet", quiet), ("crowd", crowd)):
        plain, rounds = (simulated(**load, **more) for more in ({}, {"spec": True, "spec_a": 0.5}))
        speed[name] = plain.summary.tpot.mean / rounds.summary.tpot.mean
    assert speed["quiet"] > 1.3
    assert speed["crowd"] < 1


def test_the_workbench_tells_the_rounds_as_vllm_counts_them():
    played = simulated(spec=True)
    rounds, said = played.run.rounds, played.said["spec_result"]
    assert said["rounds"] == count(rounds.num_rounds)
    assert said["proposed"] == count(rounds.num_proposed)
    assert said["accepted"] == count(rounds.num_accepted)
    assert said["length"] == significant(1 + rounds.num_accepted / rounds.num_rounds)
    assert "spec_result" not in simulated().said


def test_answers_too_short_for_a_proposal_say_so_instead_of_counting():
    said = simulated(spec=True, output=1, spread=1.0).said
    assert "spec_none" in said
    assert "spec_result" not in said


def test_where_nothing_is_accepted_tpot_is_the_gap_between_rounds():
    summary = simulated(spec=True, spec_a=0, rate=0.5).summary
    assert summary.tpot.mean == pytest.approx(summary.itl.mean, rel=0.05)


def test_a_fixed_batch_offers_no_speculation():
    assert "spec" not in simulated(policy="static").controls
    assert "spec" in simulated(policy="continuous").controls


# -- the self-check -------------------------------------------------------------------------


def test_the_key_of_how_many_is_accepted_plus_one():
    assert QUIZ["how_many"]["answer"]["value"] == 2 + 1


def test_the_busy_server_is_shown_losing():
    assert float(cards(shown("busy_server"))["Speed-up"].rstrip("×")) < 1


def test_a_rejected_token_is_never_its_own_correction_nor_is_any_that_q_covers():
    """What the feedback on "p without D" says."""
    for one in written_rounds.rounds(PAGE["TEXT"], 4, 1.0, 0):
        if one.num_accepted < 4:
            p, q = one.p[one.num_accepted], one.q[one.num_accepted]
            missing = residual(p, q)
            assert missing[one.proposed[one.num_accepted]] == 0
            assert not missing[q >= p].any()
            assert one.token != one.proposed[one.num_accepted]


def test_the_numbers_of_high_acceptance():
    assert significant(expected_tokens(0.8, 8)) == "4.33"
    assert 1 + 8 * 0.5 == 5
    assert float(cards(shown("high_acceptance"))["Speed-up"].rstrip("×")) < 1


def test_the_numbers_of_more_proposals():
    assert [f"{expected_tokens(0.5, k):.2f}" for k in (4, 8)] == ["1.94", "2.00"]
    assert 0.5**4 == 1 / 16
    assert cards(shown("larger_k"))["Tokens per round"] == "2.00"


@pytest.mark.parametrize("item", QUIZ)
def test_every_link_of_the_self_check_leads_somewhere(item):
    assert shown(item).text


@pytest.mark.parametrize("code", LANGUAGES)
@pytest.mark.parametrize("act", ["hook", "worth", "measured", "load", "proof"])
def test_every_act_can_be_told_in_both_languages(act, code):
    assert PAGES[code].play(act).text
