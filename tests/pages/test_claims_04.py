"""Chapter 4 says nothing that its own runs do not show.

Every checkable sentence of the text, of the presets, of the self-check and of the links is held
here against the setups that the page itself runs.
"""

import json
from dataclasses import replace

import numpy as np
import pytest

from sim import engine, metrics, scheduler, workload
from sim.scheduler import Load
from tests.chapters import ROOT
from tests.pages.rehearsal import open_page
from tests.pages.whole_server import (
    BENCH,
    both_loops,
    explore,
    machine,
    step_seconds,
    summary,
)
from ui.results import runs
from ui.words.numbers import seconds

SIMULATOR = open_page("04_simulator")
PAGES = {"04_simulator": SIMULATOR, "17_workbench": BENCH}
HOOK = SIMULATOR.play("hook")
QUIZ = {
    item["id"]: item
    for item in json.loads((ROOT / "assets" / "quiz" / "04.json").read_text("utf-8"))["items"]
}


def shown(item):
    """The run into which an item's "show me" leads."""
    return PAGES[QUIZ[item]["link"]["page"]].at(QUIZ[item]["link"]["query"])


# -- a larger batch ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def limits():
    """Batch limit -> summary, for every limit of the first act."""
    return {setup.policy.max_num_seqs: runs.summary(setup) for setup in HOOK.setups}


def test_an_8b_model_at_ten_requests_per_second_and_a_limit_that_starts_at_8():
    assert HOOK.said["hook"] == {"rate": 10, "model": "Llama-3.1-8B", "low": 8}
    assert HOOK.said["hook_result"]["seqs"] == 8
    clock = machine(HOOK.setups[0])
    assert clock.model.parameters == pytest.approx(8e9, rel=0.01)
    arrivals = [request.arrival_seconds for request in HOOK.setups[0].requests]
    assert len(arrivals) / arrivals[-1] == pytest.approx(10, rel=0.2)
    assert len({setup.requests for setup in HOOK.setups}) == 1


def test_from_8_to_64_ttft_falls_and_itl_and_throughput_rise(limits):
    low, high = limits[8], limits[64]
    assert high.ttft.mean < low.ttft.mean / 10
    assert high.itl.mean > 1.1 * low.itl.mean
    assert high.output_tokens_per_second > 1.5 * low.output_tokens_per_second
    assert HOOK.guesses["batch"].truth == {"ttft": "down", "itl": "up", "throughput": "up"}


def test_at_a_limit_of_8_nearly_all_of_ttft_is_queueing_and_a_larger_batch_shortens_it(limits):
    assert limits[8].queue_share > 0.95
    waits = [limits[limit].queue_time.mean for limit in sorted(limits)]
    assert np.all(np.diff(waits) < 0)


@pytest.mark.parametrize("limit", [4, 8, 16, 32, 64])
def test_overload_is_said_where_ttft_grows_with_the_number_of_requests_and_only_there(limit):
    played = SIMULATOR.play("hook", limit=str(limit))
    few = next(setup for setup in played.setups if setup.policy.max_num_seqs == limit)
    twice = replace(
        SIMULATOR.constants["HOOK_TRAFFIC"], num_requests=2 * len(few.requests)
    ).requests()
    before, after = runs.summary(few), runs.summary(replace(few, requests=twice))
    if "hook_overload" in played.said:
        assert after.ttft.mean > 1.7 * before.ttft.mean > 1.7  # seconds
    else:
        assert after.ttft.mean < 0.5


@pytest.mark.parametrize("seed", range(1, 4))
def test_what_the_first_act_says_of_the_limits_holds_for_other_draws_too(seed):
    requests = replace(SIMULATOR.constants["HOOK_TRAFFIC"], seed=seed).requests()
    by_limit = [
        metrics.summarize(engine.simulate(replace(setup, requests=requests)))
        for setup in sorted(HOOK.setups, key=lambda setup: setup.policy.max_num_seqs)
    ]
    assert by_limit[1].queue_share > 0.95  # a limit of 8
    assert np.all(np.diff([one.queue_time.mean for one in by_limit]) < 0)
    assert np.all(np.diff([one.itl.mean for one in by_limit]) > 0)
    *_, last_but_one, last = by_limit
    assert last.output_tokens_per_second == pytest.approx(
        last_but_one.output_tokens_per_second, rel=0.03
    )


def test_each_step_gets_slower_with_company(limits):
    assert np.all(np.diff([limits[limit].itl.mean for limit in sorted(limits)]) > 0)


def test_the_page_shows_the_numbers_of_the_run(open_page, limits):
    app = open_page("pages/04_simulator.py", lang="en", limit=16)
    text = "\n".join(part.value for part in app.main.get("markdown"))
    assert f"**{seconds(limits[16].ttft.mean)}**" in text
    assert f"**{seconds(limits[16].itl.mean)}**" in text
    assert app.metric[0].value == seconds(limits[16].ttft.mean)


def test_further_right_is_slower_for_each_further_up_is_more_in_all(limits):
    points = [
        (limits[limit].itl.mean, limits[limit].output_tokens_per_second) for limit in sorted(limits)
    ]
    assert points == sorted(points)
    assert [y for _, y in points] == sorted(y for _, y in points)


def test_the_last_points_fall_together_because_the_batch_is_seldom_full(limits):
    here, further = limits[32], limits[64]
    assert further.itl.mean == pytest.approx(here.itl.mean, rel=0.01)
    assert further.output_tokens_per_second == pytest.approx(
        here.output_tokens_per_second, rel=0.01
    )
    for setup in HOOK.setups[-2:]:
        run = runs.run(setup)
        full = run.series.num_running == setup.policy.max_num_seqs
        assert np.average(full, weights=step_seconds(run)) < 0.11


def test_no_step_is_shorter_than_reading_the_weights_once(limits):
    for setup in HOOK.setups:
        run = runs.run(setup)
        floor = machine(setup).decode_floor_seconds
        assert np.min(step_seconds(run)) > floor
        assert runs.summary(setup).itl.p50 > floor
    assert HOOK.said["hook_formula"]["floor"] == seconds(floor)


def test_the_longer_side_of_each_kernel_sets_the_pace_and_a_fixed_rest_comes_on_top():
    clock = machine(HOOK.setups[0])
    for step in list(engine.steps(HOOK.setups[1]))[:200]:
        pairs = [(work.num_tokens, work.context) for work in step.work]
        sampled = sum(work.sampled for work in step.work)
        load = Load.of_rows([q for q, _ in pairs], [c for _, c in pairs], sampled)
        longer = [max(part.memory_seconds, part.compute_seconds) for part in clock.kernels(load)]
        expected = sum(longer) + clock.used_efficiency.fixed_seconds
        assert step.time.seconds == pytest.approx(expected)


# -- six numbers --------------------------------------------------------------------------------


def test_all_arrive_at_the_same_moment_and_ask_for_equally_much():
    (setup, *_) = SIMULATOR.play("run", n=20, prompt=1000, output=50).setups
    assert {request.arrival_seconds for request in setup.requests} == {0.0}
    asked = {(request.prompt_tokens, request.output_tokens) for request in setup.requests}
    assert asked == {(1000, 50)}
    assert len(setup.requests) == 20


def test_a_decode_step_costs_the_same_however_many_share_it():
    for limit in (1, 8, 24):
        setup = SIMULATOR.setups("run", n=24, batch=limit, decode=40)[0]
        decodes = [
            step for step in engine.steps(setup) if not any(work.is_prefill for work in step.work)
        ]
        assert decodes
        assert all(step.seconds == pytest.approx(0.040) for step in decodes)


def test_the_pool_of_four_gib_is_told_in_bytes_and_percent():
    played = SIMULATOR.play("run", n=24, batch=24, prompt=4000)
    clock = machine(HOOK.setups[0])
    tokens = played.setup.memory.open().num_usable_blocks * played.setup.memory.block_size
    assert tokens * clock.model.kv_bytes_per_token == 4 * 2**30
    kv = played.cards[-1]
    assert (kv.value, kv.note) == ("4.00 GiB", "100%")


def test_the_run_with_the_widest_limit_is_this_run_where_the_limit_is_the_widest():
    said = SIMULATOR.play("run", n=24, batch=24).said
    for number in ("ttft", "itl", "throughput", "kv"):
        assert said["run_wide"][number] == said["run_result"][number]


# -- the self-check -----------------------------------------------------------------------------


def test_every_item_leads_into_a_state_of_this_page_or_of_the_workbench():
    for item in QUIZ:
        query = dict(QUIZ[item]["link"]["query"])
        values = {key: value for key, value in query.items() if key != "part"}
        page = PAGES[QUIZ[item]["link"]["page"]]
        controls = page.play(query["part"], requests=1) if "requests" in values else None
        assert set(values) <= set((controls or page.play(query["part"])).controls)


def test_all_at_once_is_mostly_queue():
    assert shown("all_at_once").summary.queue_share > 0.95
    everybody_now = tuple(
        replace(request, arrival_seconds=0.0) for request in shown("all_at_once").setup.requests
    )
    inf = runs.summary(replace(shown("all_at_once").setup, requests=everybody_now))
    assert inf.queue_share > 0.95
    # One prefill takes some tens or hundreds of milliseconds.
    alone = summary(requests=1)
    assert 0.01 < alone.ttft.mean < 0.5


def test_longer_outputs_raise_ttft_at_a_fixed_rate_and_hardly_tpot():
    opened, _ = both_loops()
    assert opened[1200].ttft.mean > 10 * opened[100].ttft.mean
    short, long = (summary(output=output, rate=4, seqs=32) for output in (100, 800))
    assert long.ttft.mean > 10 * short.ttft.mean
    assert long.tpot.mean < 1.2 * short.tpot.mean


def test_with_32_users_the_median_ttft_falls_by_more_than_half_and_all_have_a_place():
    _, closed = both_loops(loop_users=32)
    assert closed[1200].ttft.p50 < 0.5 * closed[50].ttft.p50
    assert BENCH.constants["LOOP_SEQS"] > 32
    lone = [runs.summary(setup) for setup in BENCH.setups("loops", loop_users=4)[6:]]
    assert np.ptp([one.ttft.mean for one in lone]) < 0.2 * lone[0].ttft.mean


def test_throughput_rises_a_little_while_goodput_collapses():
    runs_at = [shown("throughput_and_goodput").run, explore(rate=10, seqs=32)]
    late, timely = ((runs.summary(run.setup), run) for run in runs_at)
    assert 1 < late[0].output_tokens_per_second / timely[0].output_tokens_per_second < 1.2

    assert metrics.goodput(timely[1], 0.2, 0.05).share > 0.75
    assert metrics.goodput(late[1], 0.2, 0.05).share < 0.35


def test_output_tokens_per_second():
    item = QUIZ["output_tokens_per_second"]
    assert item["answer"]["value"] == 100 * 100 / 50
    assert [lure["value"] for lure in item["lures"]] == [
        100 * (1000 + 100) / 50,
        100 * 1000 / 50,
        100 / 50,
    ]
    there = shown("output_tokens_per_second")
    lengths = [(request.prompt_tokens, request.output_tokens) for request in there.setup.requests]
    prompt, output = np.mean(lengths, axis=0)
    assert prompt > 5 * output
    summed = there.summary
    assert summed.total_tokens_per_second > 5 * summed.output_tokens_per_second


def test_one_output_token_has_no_tpot():
    played = shown("one_output_token")
    assert {request.output_tokens for request in played.setup.requests} == {1}
    assert np.isnan(played.summary.tpot.mean)
    assert [card.value for card in played.cards if card.label.startswith(("TPOT", "ITL"))] == [
        "–",
        "–",
    ]
    # Counted as 0, one-token answers would make the mean look better than it is.
    for setup in BENCH.setups("explore", output=10, spread=12.0):
        mixed = runs.run(setup)
        each = np.array([metrics.tpot(record) for record in metrics.served(mixed)])
        assert np.any(np.isnan(each))
        assert runs.summary(setup).tpot.mean == pytest.approx(np.nanmean(each))
        assert np.mean(np.nan_to_num(each)) < np.nanmean(each)


def test_with_concurrency_the_total_rises_ever_more_slowly_and_each_users_share_falls():
    def crowd(size):
        setup = shown("batch_trend").setups[-1]
        requests = workload.of_lengths([200] * size, 500)
        return runs.summary(replace(setup, requests=requests, policy=scheduler.Chunked(size)))

    sizes = [1, 2, 4, 8, 16, 32, 64]
    crowds = [crowd(size) for size in sizes]
    total = np.array([summed.output_tokens_per_second for summed in crowds])
    each = np.array([1 / summed.tpot.mean for summed in crowds])
    assert np.all(np.diff(total) > 0)
    assert np.all(np.diff(total / sizes) < 0)  # not in proportion
    assert np.all(np.diff(each) < 0)
    assert each[1] > 0.93 * each[0]  # for very small batches it looks as if nothing changed
    assert all(summed.num_preemptions == 0 for summed in crowds)  # memory suffices


def test_kv_or_budget_or_few_arrivals_keep_the_running_requests_far_below_their_limit():
    played = shown("what_limits_running")
    assert played.setup.policy.max_num_seqs == 256
    assert 30 <= np.max(played.run.series.num_running) <= 50  # about 40
    assert played.summary.peak_kv_usage == 1
    assert np.max(played.run.series.num_waiting) > 0
    few = explore(rate=1, seqs=256)
    assert np.max(few.series.num_running) < 40
    assert np.max(few.series.kv_usage) < 0.1
    (setup,) = BENCH.setups("explore", rate=40, prompt=4000, budget=512, seqs=256, requests=60)
    first = next(engine.steps(replace(setup, requests=workload.of_lengths([9] * 60, 4000))))
    assert first.num_tokens == 512
    assert len(first.waiting) > 0
    assert first.kv_usage < 0.1


def test_smooth_or_stalled():
    gaps = np.array([0.020] * 99 + [1.2])
    assert np.mean(gaps) == pytest.approx(0.0318)
    distribution = metrics.Distribution.of(gaps)
    assert distribution.max == 1.2
    assert distribution.p99 < 0.04  # a stall that happens once slips past the p99
    there = shown("smooth_or_stalled").summary
    assert there.itl.max > 100 * there.itl.p50
    assert there.itl.p99 > 10 * there.itl.p50
