"""Chapter 9 says nothing that its own runs do not show.

Every checkable sentence of the text, of the self-check and of the links is held here against the
setups that the page itself runs, over the whole range of a control where the sentence is.
"""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from sim import engine, metrics, scheduler, specs, workload
from sim.cost import Roofline
from sim.kv import Paged
from sim.studies import sweep
from sim.views import stalls
from tests.chapters import ROOT
from tests.pages.rehearsal import open_page, set_alike
from ui.player.painters.timeline import Timeline
from ui.practice import predict
from ui.results import runs
from ui.words.numbers import seconds, significant

CHUNKED = open_page("09_chunked_prefill")
PAGE = CHUNKED.constants
DOCUMENT = PAGE["DOCUMENT_TOKENS"]
QUIZ = {
    item["id"]: item
    for item in json.loads((ROOT / "assets" / "quiz" / "09.json").read_text("utf-8"))["items"]
}


def shown(item):
    """The state into which an item's "show me" leads."""
    assert QUIZ[item]["link"]["page"] == "09_chunked_prefill"
    return CHUNKED.at(QUIZ[item]["link"]["query"])


def apart(setup):
    """(chats, documents)"""
    return runs.by_prompt(setup, PAGE["LONGEST_CHAT"])


def document_of(setup):
    (long,) = [one for one in setup.requests if one.prompt_tokens > PAGE["LONGEST_CHAT"]]
    return long.id


def prefilled(setup, request_id):
    """Tokens of a request's prompt, step by step."""
    return [
        work.num_tokens
        for step in runs.steps(setup)
        for work in step.work
        if work.request_id == request_id and work.is_prefill
    ]


def pair(act="chunks", **values):
    """(without, with)"""
    before, after = CHUNKED.play(act, **values).setups
    return before, after


@pytest.mark.parametrize("act", ["budget"])
def test_a_link_shows_what_it_says_whichever_was_clicked_before(act):
    assert set_alike(CHUNKED.play(act).presets)


# -- everybody freezes ---------------------------------------------------------------------------


def test_one_step_holds_the_whole_document_and_the_next_token_of_everybody():
    whole, _ = pair("hook")
    (step,) = [
        step for step in runs.steps(whole) if any(work.num_tokens == DOCUMENT for work in step.work)
    ]
    assert [work.request_id for work in step.work] == [0, 1, 2, 3]  # A, B, C, and D the document
    chats, _ = apart(whole)
    assert chats.itl.max == pytest.approx(step.seconds)
    assert sum(chats.itl.values > 2 * chats.itl.p50) == 3  # one gap of each, no other


def test_the_hook_says_the_numbers_of_both_runs_and_shows_the_one_of_the_switch():
    off, on = CHUNKED.play("hook"), CHUNKED.play("hook", chunked=True)
    for played, setup in ((off, off.setups[0]), (on, on.setups[1])):
        chats, document = apart(setup)
        values = [chats.itl.p50, chats.itl.p99, chats.itl.max, document.ttft.mean]
        assert [card.value for card in played.cards] == [seconds(value) for value in values]
    (before, long_before), (after, long_after) = (apart(setup) for setup in off.setups)
    said = off.said["hook_result"]
    assert said["worst_off"] == seconds(before.itl.max)
    assert said["worst_on"] == seconds(after.itl.max)
    assert (said["p50_off"], said["p50_on"]) == (seconds(before.itl.p50), seconds(after.itl.p50))
    assert said["ttft_off"] == seconds(long_before.ttft.mean)
    assert said["ttft_on"] == seconds(long_after.ttft.mean)


def test_chunking_leaves_p50_shrinks_the_longest_gap_and_delays_the_document():
    truth = CHUNKED.play("hook").guesses["chunking"]
    assert isinstance(truth, predict.Trends)
    assert dict(truth.truth) == {"p50": "same", "worst": "down", "ttft": "up"}


def test_p99_sees_the_freeze_here():
    whole, chunked = pair("hook")
    assert apart(whole)[0].itl.p99 == pytest.approx(apart(whole)[0].itl.max)
    assert apart(chunked)[0].itl.p99 < apart(whole)[0].itl.p99 / 10


def test_more_steps_with_their_fixed_cost_and_other_peoples_decodes_delay_the_document():
    whole, chunked = pair("hook")
    long = document_of(whole)
    alone = [
        replace(setup, requests=tuple(one for one in setup.requests if one.id == long))
        for setup in (whole, chunked)
    ]
    assert len(prefilled(chunked, long)) > 10 * len(prefilled(whole, long)) == 10
    lone_whole, lone_chunked = (apart(setup)[1].ttft.mean for setup in alone)
    in_company = apart(chunked)[1].ttft.mean
    assert lone_whole < lone_chunked < in_company
    free = Roofline(
        PAGE["CLOCK"].model,
        PAGE["CLOCK"].gpu,
        replace(PAGE["CLOCK"].used_efficiency, fixed_seconds=0.0),
    )
    without_cost = [replace(setup, clock=free) for setup in alone]
    gained = lone_chunked - apart(without_cost[1])[1].ttft.mean
    extra = apart(without_cost[0])[1].ttft.mean
    assert gained > lone_whole - extra > 0  # the fixed cost weighs more in chunks


def test_the_waiting_is_cut_into_pieces_and_does_not_go_away():
    whole, chunked = pair("hook")

    def waited(setup):
        steps = [step for step in runs.steps(setup) if prefills_beside_decodes(step)]
        return [step.seconds - stalls.seconds_alone(step, setup.clock) for step in steps]

    assert len(waited(whole)) == 1
    assert len(waited(chunked)) >= 16
    assert sum(waited(chunked)) > 0.6 * sum(waited(whole))


def prefills_beside_decodes(step):
    return {work.is_prefill for work in step.work} == {True, False}


def test_the_gpu_of_this_chapter_is_not_calibrated_and_the_text_says_so():
    assert not PAGE["CLOCK"].calibrated
    assert "not calibrated" in CHUNKED.play("hook").text["hook_leaves_out"]


# -- in chunks -----------------------------------------------------------------------------------


def test_above_a_whole_prompt_fits_into_every_step_as_vllm_demands():
    for prompt in PAGE["DOCUMENTS"]:
        whole, _ = pair(prompt=prompt)
        policy = whole.policy
        assert not policy.chunked_prefill
        assert policy.max_num_batched_tokens >= PAGE["MODEL_LENGTH"]
        assert max(one.total_tokens for one in whole.requests) <= PAGE["MODEL_LENGTH"]
        assert prefilled(whole, document_of(whole)) == [prompt]


def test_below_decodes_take_one_each_and_the_document_gets_the_rest():
    _, chunked = pair()
    long = document_of(chunked)
    *full, last = [
        step
        for step in runs.steps(chunked)
        if any(work.request_id == long and work.is_prefill for work in step.work)
    ]
    for step in full:
        assert [work.num_tokens for work in step.work] == [1, 1, 1, 509]
        assert step.num_tokens == PAGE["SMALL_BUDGET"]
    assert last.num_tokens < PAGE["SMALL_BUDGET"]
    assert "512 = 3 + 509" in CHUNKED.play("chunks").text["chunks"]


def test_the_freeze_grows_with_the_prompt_and_the_longest_wait_for_a_chunk_hardly_does():
    gaps = np.array(
        [[apart(setup)[0].itl.max for setup in pair(prompt=p)] for p in PAGE["DOCUMENTS"]]
    )
    whole, chunked = gaps.T
    assert np.all(np.diff(gaps, axis=0) > 0)
    assert whole[-1] > 13 * whole[0]
    assert chunked[-1] < 1.35 * chunked[0]
    assert chunked[-1] < whole[0]
    times = [len(prefilled(pair(prompt=p)[1], 3)) for p in PAGE["DOCUMENTS"]]
    assert np.all(np.diff(times) > 0)  # they wait more often


def test_later_chunks_take_a_little_longer_since_they_look_back_on_more():
    _, chunked = pair(prompt=max(PAGE["DOCUMENTS"]))
    full = [step for step in runs.steps(chunked) if step.num_tokens == PAGE["SMALL_BUDGET"]]
    assert np.all(np.diff([step.seconds for step in full]) > 0)
    assert full[-1].seconds < 1.35 * full[0].seconds


def test_the_document_pays_at_every_length():
    for prompt in PAGE["DOCUMENTS"]:
        whole, chunked = (apart(setup)[1].ttft.mean for setup in pair(prompt=prompt))
        assert whole < chunked < 1.3 * whole


def test_decodes_alone_are_set_by_the_weights_and_a_full_step_by_computing():
    _, chunked = pair()
    steps = runs.steps(chunked)
    for step in steps:
        if all(not work.is_prefill for work in step.work):
            assert step.time.memory_bound
            assert step.seconds >= PAGE["CLOCK"].decode_floor_seconds
        if step.num_tokens == PAGE["SMALL_BUDGET"]:
            assert not step.time.memory_bound
    said = CHUNKED.play("chunks").said["chunks_formula"]
    assert said["worst_on"] == seconds(max(step.seconds for step in steps))


def test_linked_players_show_the_two_servers_one_above_the_other():
    upper, lower = CHUNKED.play("chunks").frames
    assert isinstance(upper, Timeline)
    assert isinstance(lower, Timeline)
    assert upper.lanes == lower.lanes == ("A", "B", "C", "D", "step")
    assert "8,195 = 3 + 8,192" in {span.label for span in upper.spans}
    assert "512 = 3 + 509" in {span.label for span in lower.spans}


# -- the budget ----------------------------------------------------------------------------------


def budgets(decodes):
    setups = CHUNKED.play("budget", decodes=decodes).setups
    return dict(zip(PAGE["BUDGETS"], setups, strict=False))  # then those of the overload


def by_budget(decodes):
    """(longest gap of the chats, TTFT of the document), a row per budget."""
    latencies = [apart(setup) for setup in budgets(decodes).values()]
    return np.array([[chats.itl.max, long.ttft.mean] for chats, long in latencies])


@pytest.mark.parametrize("decodes", PAGE["CROWDS"])
def test_no_budget_is_both_the_smoothest_and_the_soonest(decodes):
    gap, ttft = by_budget(decodes).T
    assert np.all(np.diff(gap) >= 0)
    assert np.all(np.diff(ttft) < 0)


def test_decodes_are_served_first_and_prefill_gets_what_is_left():
    for decodes in (4, 64, 256):
        for budget in (256, 512, 16_384):
            said = CHUNKED.play("budget", budget=budget, decodes=decodes).said["budget_result"]
            left = min(budget - decodes, DOCUMENT)
            assert (said["decode"], said["prefill"]) == (f"{decodes:,}", f"{left:,}")


def test_all_chats_decode_when_the_document_comes():
    for decodes in PAGE["CROWDS"]:
        for setup in budgets(decodes).values():
            coming = PAGE["CROWD_SECONDS"]
            for record in runs.run(setup).records[:-1]:
                assert record.token_seconds[0] < coming < record.token_seconds[-1]


def test_with_few_decodes_a_small_budget_has_the_higher_throughput_with_many_the_lower():
    def throughput(decodes):
        return [runs.summary(s).total_tokens_per_second for s in budgets(decodes).values()]

    few, many = throughput(4), throughput(256)
    assert few[0] == max(few)
    assert few[0] > 1.2 * few[-1]
    assert many[0] == min(many)
    assert many[0] < 0.95 * many[-1]


def test_a_server_that_is_never_done_has_its_best_budget_in_between_whatever_the_series():
    said = CHUNKED.play("budget").said["budget_extremes"]
    for number, series in enumerate(PAGE["TRAFFIC"][:3]):
        setup = engine.Setup(series, PAGE["WHOLE"], PAGE["MEMORY"], PAGE["CLOCK"])
        rushed = sweep.arrival_rate(setup, PAGE["OVERLOAD"])
        per_second = {
            size: runs.summary(
                replace(rushed, policy=scheduler.Chunked(512, size))
            ).total_tokens_per_second
            for size in (256, 2_048, 16_384)
        }
        assert per_second[2_048] > 1.03 * max(per_second[256], per_second[16_384])
        if number == 0:
            assert said["best"] == "2,048"
            assert said["most"] == significant(per_second[2_048])
            assert said["at_small"] == significant(per_second[256])
            assert said["at_large"] == significant(per_second[16_384])
            assert per_second[2_048] < 0.6 * PAGE["OVERLOAD"] * (1_089 + 150)  # never done


def test_with_few_decodes_the_chats_have_written_a_good_part_before_the_document_is_through():
    def written(budget):
        setup = budgets(4)[budget]
        *chats, document = runs.run(setup).records
        first = document.token_seconds[0]
        return sum(
            np.sum((chat.token_seconds > PAGE["CROWD_SECONDS"]) & (chat.token_seconds < first))
            for chat in chats
        )

    assert written(256) > 10 * written(16_384)


def test_the_default_budget_of_an_h100_leaves_the_gap_as_long_as_without_chunking():
    preset = CHUNKED.play("budget").presets["budget_default"]
    setups = budgets(4)
    gap = apart(setups[preset["budget"]])[0].itl.max
    assert gap > 0.99 * apart(setups[PAGE["MODEL_LENGTH"]])[0].itl.max
    whole = prefilled(setups[preset["budget"]], document_of(setups[preset["budget"]]))
    assert whole[0] > 0.99 * DOCUMENT


def test_when_decodes_eat_half_the_budget_the_document_needs_many_more_steps():
    preset = CHUNKED.play("budget").presets["budget_eaten"]
    eaten = budgets(preset["decodes"])[preset["budget"]]
    spared = budgets(4)[preset["budget"]]
    steps = [len(prefilled(setup, document_of(setup))) for setup in (eaten, spared)]
    at_once = prefilled(eaten, document_of(eaten))[0]
    assert at_once == preset["budget"] / 2
    assert steps[0] > 1.4 * steps[1]  # in the end, when chats are done, it gets more


def test_when_decodes_eat_all_of_it_the_document_waits_until_somebody_is_done():
    preset = CHUNKED.play("budget").presets["budget_starved"]
    assert preset["decodes"] == preset["budget"]
    setup = budgets(preset["decodes"])[preset["budget"]]
    *chats, document = runs.run(setup).records
    assert document.scheduled_seconds >= min(chat.token_seconds[-1] for chat in chats)


# -- whose TTFT, at what load --------------------------------------------------------------------


def changes(budget, pool="card"):
    """The page's comparison, for each of its series."""
    memory = {"card": PAGE["MEMORY"], "plenty": PAGE["PLENTY"]}[pool]
    return [
        PAGE["ttft_change"](
            engine.Setup(series, PAGE["WHOLE"], memory, PAGE["CLOCK"]),
            engine.Setup(series, scheduler.Chunked(512, budget), memory, PAGE["CLOCK"]),
        )
        for series in PAGE["TRAFFIC"]
    ]


STATES = [(2048, "card"), (2048, "plenty"), (512, "card"), (256, "card"), (8192, "card")]
LOADS = np.array(PAGE["LOADS"])


@pytest.mark.parametrize(("budget", "pool"), STATES)
def test_the_text_of_the_load_is_true_of_every_series(budget, pool):
    series = changes(budget, pool)
    long, short = (np.array([getattr(one, who) for one in series]) for who in ("long", "short"))
    assert long[:, LOADS <= 14].min() > 0.01  # neither server has run full
    sooner = int(np.sum(long[:, -1] < 0))
    assert (sooner > 0) == ((budget, pool) == (2048, "card"))
    if budget <= 512:
        assert short.min() > 0
    else:
        assert np.abs(short[:, LOADS <= 10]).max() < 0.01
        assert short[:, LOADS == 14].max() < -PAGE["NOTICEABLE"]
    played = CHUNKED.play("load", size=str(budget), kv=pool)
    said = played.said["load_why"]
    assert (said["sooner"], said["series"]) == (sooner, len(series))
    assert said["soonest"].startswith(seconds(abs(short.min())))
    assert said["soonest"].endswith("later" if budget <= 512 else "sooner")
    assert said["latest"] == f"{seconds(short.max())} later"


def test_the_page_says_where_all_series_agree():
    said = CHUNKED.play("load").said["load_result"]
    assert said["documents"] == "later at 2 to 14 requests per second"
    assert said["chats"].startswith("sooner at 14")


def test_series_differ_so_much_at_the_highest_load_that_one_alone_would_mislead():
    at_last = [one.long[-1] for one in changes(2048)]
    assert min(at_last) < -0.05
    assert max(at_last) > 0.05


def test_at_the_highest_load_memory_is_full_without_chunking_and_newcomers_wait_for_it():
    def at_last(policy, memory):
        setup = engine.Setup(PAGE["TRAFFIC"][0], policy, memory, PAGE["CLOCK"])
        return runs.summary(sweep.arrival_rate(setup, PAGE["LOADS"][-1]))

    off = at_last(PAGE["WHOLE"], PAGE["MEMORY"])
    spared = at_last(PAGE["WHOLE"], PAGE["PLENTY"])
    on = at_last(scheduler.Chunked(512, 2048), PAGE["MEMORY"])
    assert off.num_preemptions > 0 == on.num_preemptions
    assert off.peak_kv_usage > 0.99
    assert on.peak_kv_usage < 0.96
    assert off.itl.mean > 1.15 * on.itl.mean  # decodes slow down ...
    assert off.e2e.mean > on.e2e.mean  # ... so requests stay on
    assert off.mean_running > 1.1 * on.mean_running
    assert off.queue_time.mean > 1.2 * spared.queue_time.mean


def test_every_tenth_request_is_a_document():
    for series in PAGE["TRAFFIC"]:
        long = [one.prompt_tokens == DOCUMENT for one in series]
        assert long[9::10] == [True] * 40
        assert sum(long) == 40


def test_a_document_that_does_not_fit_is_set_aside_and_overtaken():
    policy = PAGE["WHOLE"]
    requests = (
        *workload.of_lengths([50], 8),
        *(replace(one, id=1 + at) for at, one in enumerate(workload.of_lengths([4] * 2, 12_000))),
        *(replace(one, id=3 + at) for at, one in enumerate(workload.of_lengths([4], 300))),
    )
    run = engine.simulate(engine.Setup(requests, policy, PAGE["MEMORY"], PAGE["CLOCK"]))
    first = [record.token_seconds[0] for record in run.records]
    assert first[3] < first[2]  # the chat behind the second document is first


# -- a cap for one -------------------------------------------------------------------------------


def test_without_a_cap_the_document_takes_all_that_is_left_and_the_chats_wait_until_it_is_through():
    free, _ = pair("cap")
    budget, long = PAGE["QUEUE_BUDGET"], document_of(free)
    steps = runs.steps(free)
    begun = [s for s in steps if any(w.request_id == long and w.is_prefill for w in s.work)]
    assert all(step.num_tokens == budget for step in begun[:-1])
    records = runs.run(free).records
    for chat in records[2:]:
        assert chat.scheduled_seconds is not None
        assert chat.scheduled_seconds >= begun[-1].start_seconds


def test_with_a_cap_the_chats_move_along_and_the_document_is_a_little_later():
    for threshold in PAGE["THRESHOLDS"][:-1]:
        free, capped = pair("cap", threshold=threshold)
        (chats, long), (let_pass, capped_long) = apart(free), apart(capped)
        assert let_pass.ttft.max < chats.ttft.max / 4
        assert long.ttft.mean < capped_long.ttft.mean < 1.12 * long.ttft.mean
        taken = prefilled(capped, document_of(capped))
        assert max(taken) == threshold
        alone = [s for s in runs.steps(capped) if s.num_tokens < PAGE["QUEUE_BUDGET"]]
        assert any(threshold in {w.num_tokens for w in step.work} for step in alone)


def test_a_cap_as_large_as_the_budget_is_none():
    free, capped = pair("cap", threshold=PAGE["QUEUE_BUDGET"])
    assert apart(free)[0].ttft.max == apart(capped)[0].ttft.max
    assert apart(free)[1].ttft.mean == apart(capped)[1].ttft.mean
    said = CHUNKED.play("cap", threshold=PAGE["QUEUE_BUDGET"]).said
    assert "cap_result" not in said
    assert said["cap_none"]["slowest"] == seconds(apart(free)[0].ttft.max)


def test_the_slowest_chat_is_said_to_gain_only_where_it_does():
    for threshold in PAGE["THRESHOLDS"][:-1]:
        (before, _), (after, _) = (apart(setup) for setup in pair("cap", threshold=threshold))
        said = CHUNKED.play("cap", threshold=threshold).said
        assert after.ttft.max < 0.95 * before.ttft.max
        assert said["cap_result"]["slowest_on"] == seconds(after.ttft.max)
        assert "cap_none" not in said


# -- the self-check ------------------------------------------------------------------------------


def test_every_item_leads_into_a_state_of_this_page():
    for item in QUIZ:
        assert shown(item).setups


def test_who_gains():
    before, after = shown("who_gains").setups
    (chats, long), (smooth, late) = apart(before), apart(after)
    assert smooth.itl.max < chats.itl.max / 10
    assert long.ttft.mean < late.ttft.mean < 1.1 * long.ttft.mean
    assert predict.trend(chats.itl.p50, smooth.itl.p50) == "same"


def test_left_for_prefill():
    item = QUIZ["left_for_prefill"]
    said = shown("left_for_prefill").said["budget_result"]
    assert said["prefill"] == str(item["answer"]["value"])
    assert said["budget"] == "512"
    assert said["decode"] == "256"


def test_how_many_steps():
    _, chunked = shown("how_many_steps").setups
    pieces = prefilled(chunked, document_of(chunked))
    assert len(pieces) == QUIZ["how_many_steps"]["answer"]["value"] == math.ceil(DOCUMENT / 509)
    assert (pieces[:-1], pieces[-1]) == ([509] * 16, 48)
    whole, _ = shown("how_many_steps").setups
    lures = {lure["value"] for lure in QUIZ["how_many_steps"]["lures"]}
    assert {DOCUMENT // 512, len(prefilled(whole, 3)), len(pieces) + 1} == lures


def test_smaller_budget():
    query = QUIZ["smaller_budget"]["link"]["query"]
    setups = budgets(int(query["decodes"]))
    few = [setups[budget] for budget in (256, 512, 1024, 2048)]
    gap, ttft = np.array([[c.itl.max, d.ttft.mean] for c, d in map(apart, few)]).T
    assert np.all(np.diff(gap) > 0)
    assert np.all(np.diff(ttft) < 0)
    num_steps = [runs.summary(setup).num_steps for setup in few]
    assert np.all(np.diff(num_steps) <= 0)
    assert num_steps[0] > 1.5 * num_steps[-1]
    throughput = [runs.summary(setup).total_tokens_per_second for setup in few]
    assert throughput[0] == min(throughput)
    assert throughput[1:] == pytest.approx([max(throughput)] * 3, rel=0.01)


def test_on_but_frozen():
    setup = shown("on_but_frozen").setups[PAGE["BUDGETS"].index(8192)]
    assert setup.policy.chunked_prefill
    assert prefilled(setup, document_of(setup)) == [8188, 4]
    assert not runs.run(setup).num_preemptions
    assert runs.summary(setup).peak_kv_usage < 0.1


def test_behind_a_document():
    free, _ = shown("behind_a_document").setups
    records = runs.run(free).records
    assert all(chat.token_seconds[0] >= records[1].token_seconds[0] for chat in records[2:])


def test_which_metric():
    (chats, _), (smooth, _) = (apart(setup) for setup in shown("which_metric").setups)
    assert chats.itl.max > 10 * smooth.itl.max
    assert chats.itl.p50 == pytest.approx(smooth.itl.p50, rel=0.05)
    assert 1.1 < chats.itl.mean / smooth.itl.mean < 1.3
    totals = {runs.summary(setup).output_tokens for setup in shown("which_metric").setups}
    assert len(totals) == 1


# -- in the real engines -------------------------------------------------------------------------


def test_the_page_names_the_flags_and_metrics():
    table = CHUNKED.play("hook").text["flags"]
    for name in (
        "--max-num-batched-tokens",
        "--no-enable-chunked-prefill",
        "--long-prefill-token-threshold",
        "--chunked-prefill-size",
        "--enable-mixed-chunk",
        "vllm:inter_token_latency_seconds",
        "vllm:iteration_tokens_total",
    ):
        assert f"`{name}`" in table
    assert scheduler.Chunked().long_prefill_token_threshold == 0  # the default


def test_this_chapters_server():
    assert PAGE["CLOCK"].gpu == specs.GPUS["H100 SXM"]
    assert PAGE["MEMORY"] == Paged.beside(PAGE["CLOCK"].model, PAGE["CLOCK"].gpu)
    assert metrics.summarize(runs.run(pair()[0])).num_rejected == 0
