"""The sick servers: every reading is that of a run, and says what the case says it says."""

from dataclasses import replace

import numpy as np
import pytest

from sim import engine, specs, workload
from sim.cost import Eager, Roofline
from sim.cost.phases import decode
from sim.studies import clinic
from sim.studies.clinic import (
    CASES,
    THRESHOLDS,
    Deployment,
    Panel,
    Readings,
    Slo,
    Thresholds,
    cases,
)
from sim.studies.clinic.deployment import EAGER, Machine
from ui.results import runs

# Where each case's readings come closest to another story, of 64 seeds.
case_seeds = dict.fromkeys(CASES, 5) | {
    "long_prompts": 16,
    "kv_full": 32,
    "long_answers": 37,
    "long_head": 22,
    "scattered": 10,
    "no_hits": 25,
    "poor_draft": 52,
}
every_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES)


def panel(case, *changes) -> Panel:
    return runs.panel(case.code, 0, changes)


def itl_p99(here: Panel) -> float:
    assert here.readings.itl_p99 is not None
    return here.readings.itl_p99


def kv(here: Panel) -> float:
    assert here.readings.kv is not None
    return here.readings.kv


# -- the cases --------------------------------------------------------------------------------


@every_case
def test_the_three_readings_are_what_the_case_says(case):
    assert clinic.answers(panel(case).readings, case.slo, THRESHOLDS) == case.symptoms
    assert not panel(case).keeps(case.slo)


@every_case
def test_another_seed_brings_other_traffic_and_the_same_story(case):
    seed = case_seeds[case.code]
    before = runs.panel(case.code, seed)
    assert before.readings.ttft_p99 != panel(case).readings.ttft_p99
    assert clinic.answers(before.readings, case.slo, THRESHOLDS) == case.symptoms
    assert runs.panel(case.code, seed, case.cures[:1]).keeps(case.slo)
    assert not runs.panel(case.code, seed, case.lures[:1]).keeps(case.slo)


@every_case
def test_each_cure_alone_keeps_the_promise(case):
    assert [change for change in case.cures if not panel(case, change).keeps(case.slo)] == []


@every_case
def test_no_tempting_change_keeps_it(case):
    assert [change for change in case.lures if panel(case, change).keeps(case.slo)] == []


@every_case
def test_a_case_has_a_twin_with_a_cause_of_its_own(case):
    twin = CASES[case.twin]
    assert twin is not case
    assert (
        not set(twin.cures) & set(case.cures)
        or twin.symptoms != case.symptoms
        or ({case.code, twin.code} == {"thin_steps", "few_graphs"})
    )


def test_full_kv_preempts_and_a_low_limit_does_not():
    full, low = panel(CASES["kv_full"]), panel(CASES["few_slots"])
    assert full.num_preemptions > 100
    assert kv(full) == 1
    assert low.num_preemptions == 0
    assert kv(low) < 0.1
    assert low.most_running == CASES["few_slots"].build(0).max_num_seqs


def test_throughput_falls_once_kv_is_full_and_not_with_room_for_everybody():
    case = CASES["kv_full"]
    rising, full = clinic.around_full(panel(case).over_time)
    assert full < 0.95 * rising
    roomy = panel(case, clinic.Change("kv_cache_dtype", "fp8"))
    assert np.isnan(clinic.around_full(roomy.over_time)[0])
    assert roomy.output_tokens_per_second > 1.1 * panel(case).output_tokens_per_second


def test_long_answers_make_ttft_rise_steadily_and_a_long_head_makes_it_spike():
    times = panel(CASES["long_answers"]).over_time
    quarters = np.array_split(times.ttft_seconds, 8)
    means = [float(part.mean()) for part in quarters]
    assert means[-1] > 10 > 0.2 > means[2]
    spiky = panel(CASES["long_head"]).over_time
    chats = spiky.ttft_seconds[spiky.prompt_tokens <= cases.CHAT]
    late = chats > CASES["long_head"].slo.ttft_seconds
    assert np.sum(late[1:] & ~late[:-1]) >= 3  # it came back down between
    assert np.median(chats[~late]) < 0.1


def test_long_answers_wait_in_the_queue_for_nearly_all_of_their_ttft():
    here = panel(CASES["long_answers"])
    assert here.queue_time.p99 > 0.98 * here.ttft.p99
    assert here.num_preemptions == 0


def test_a_time_of_day_up_front_hits_nothing_and_replicas_by_turns_still_hit():
    assert panel(CASES["no_hits"]).hit_rate == 0
    by_turns = panel(CASES["scattered"]).hit_rate
    by_prefix = panel(CASES["scattered"], *CASES["scattered"].cures).hit_rate
    assert 0 < by_turns < by_prefix - 0.2


def test_a_missing_graph_is_a_step_and_a_busy_cpu_a_slope():
    def itl_by_running(code):
        times = panel(CASES[code]).over_time
        known = ~np.isnan(times.itl_p50) & (times.running > 2)
        order = np.argsort(times.running[known])
        return times.running[known][order], times.itl_p50[known][order]

    running, itl = itl_by_running("busy_cpu")
    assert np.corrcoef(running, itl)[0, 1] > 0.95  # nearly a straight line
    running, itl = itl_by_running("few_graphs")
    below, above = itl[running < 25], itl[running > 40]
    assert above.min() > 2 * np.median(below)
    assert above.max() < 1.1 * above.min()  # and flat from there on


def test_chunks_stop_the_freeze_and_refusing_documents_turns_users_away():
    case = CASES["long_prompts"]
    before, refused = panel(case), panel(case, clinic.Change("longest_prompt", 4_000))
    assert before.itl.p50 < 0.02
    assert itl_p99(before) > 0.5
    assert itl_p99(refused) < case.slo.itl_seconds
    assert refused.num_refused == 80


def test_contiguous_memory_admits_few_and_paging_preempts_but_fails_nobody():
    case = CASES["kv_full"]
    contiguous, paged = panel(case, clinic.Change("paged", False)), panel(case)
    assert contiguous.most_running < paged.most_running / 4
    assert contiguous.num_preemptions == 0
    assert contiguous.most_waiting > 3 * paged.most_waiting
    assert contiguous.output_tokens_per_second < paged.output_tokens_per_second
    assert paged.num_refused == 0


def test_a_draft_that_is_mostly_wrong_raises_p50_too():
    case = CASES["poor_draft"]
    with_draft, without = panel(case), panel(case, *case.cures)
    assert with_draft.acceptance is not None
    assert with_draft.acceptance < 0.33
    assert with_draft.itl.p50 > 1.5 * without.itl.p50


def test_the_same_draft_makes_a_request_quicker_that_is_alone():
    case = CASES["poor_draft"]
    at_noon = case.build(0)
    nobody_else = replace(at_noon, requests=at_noon.requests[:1])
    (with_draft,) = nobody_else.setups()
    (without,) = clinic.changed(nobody_else, case.cures).setups()
    quick, slow = (engine.simulate(setup).token_seconds[-1] for setup in (with_draft, without))
    assert quick < 0.9 * slow


def test_the_same_seed_draws_the_same_case_and_many_seeds_draw_them_all():
    assert clinic.drawn(7) is clinic.drawn(7)
    assert {clinic.drawn(seed).code for seed in range(200)} == set(CASES)


@every_case
def test_a_number_that_draws_a_case_is_known(case):
    assert clinic.drawn(clinic.number_of(case.code)) is case


# -- the machine ------------------------------------------------------------------------------

ROOFLINE = Roofline(specs.MODELS["Llama-3.2-1B"], specs.GPUS["H100 SXM"])


def test_a_machine_is_the_roofline_up_to_the_largest_graph_and_eager_beyond():
    machine, eager = Machine(ROOFLINE, largest_graph=32), Eager(ROOFLINE)
    for batch in (1, 31, 32):
        assert machine.step_time(decode(batch, 100)) == ROOFLINE.step_time(decode(batch, 100))
    for batch in (33, 100):
        assert machine.step_time(decode(batch, 100)) == eager.step_time(decode(batch, 100))


def test_the_time_of_the_cpu_adds_up_over_tokens_and_is_divided_among_servers():
    quick, slow = Machine(ROOFLINE), Machine(ROOFLINE, host_seconds_per_token=1e-4)
    load = decode(50, 100)
    gap = slow.step_time(load).seconds - quick.step_time(load).seconds
    assert gap == pytest.approx(50 * 1e-4)
    (setup,) = Deployment(workload.of_lengths([4]), host_microseconds=80, api_servers=4).setups()
    assert isinstance(setup.clock, Machine)
    assert setup.clock.host_seconds_per_token == pytest.approx(20e-6)


@pytest.mark.parametrize("machine", [Machine(ROOFLINE, EAGER), Machine(ROOFLINE, 3, 1e-4)])
def test_both_ways_through_the_engine_agree_on_such_a_machine(machine):
    server = Deployment(workload.of_lengths([5, 40, 9, 30], 50), max_num_seqs=5)
    (setup,) = server.setups()
    setup = replace(setup, clock=machine)
    fast, slow = engine.simulate(setup), engine.run_by_steps(setup)
    assert np.array_equal(fast.token_seconds, slow.token_seconds)


def test_answers_are_cut_prompts_refused_and_prefixes_lost_before_the_engine():
    prefix = workload.SharedPrefix(100)
    requests = workload.Workload(
        20,
        workload.ConstantArrivals(1),
        workload.OneInMany(10, 900, 4),
        workload.FixedLength(50),
        prefix,
    ).requests()
    server = Deployment(requests, max_tokens=20, longest_prompt=500, variable_first=True)
    assert server.num_refused == 5
    assert {request.output_tokens for request in server.traffic} == {20}
    assert {request.prefix for request in server.traffic} == {()}


# -- the questions ----------------------------------------------------------------------------


def test_questions_without_a_reading_have_no_answer():
    slo, limits = Slo(1, 0.1), Thresholds()
    assert clinic.answers(Readings(), slo, limits) == (None, None, None)
    assert clinic.answers(Readings(ttft_p99=2), slo, limits)[0] is None


@pytest.mark.parametrize(
    ("ttft", "itl", "answer"),
    [(2, 0.05, "ttft"), (0.5, 0.2, "itl"), (2, 0.2, "both"), (1, 0.1, "neither")],
)
def test_large_is_what_is_above_the_promise(ttft, itl, answer):
    readings = Readings(ttft_p99=ttft, itl_p99=itl)
    assert clinic.answers(readings, Slo(1, 0.1), Thresholds())[0] == answer


def test_thresholds_decide_what_is_full_and_what_is_busy():
    readings = Readings(kv=0.85, bandwidth=0.5, compute=0.2)
    for kv, answer in ((0.8, "full"), (0.9, "room")):
        assert clinic.answers(readings, Slo(1, 1), Thresholds(kv=kv))[1] == answer
    for busy, answer in ((0.3, "bandwidth"), (0.6, "low")):
        assert clinic.answers(readings, Slo(1, 1), Thresholds(busy=busy))[2] == answer


def test_utilization_is_that_of_a_server_which_only_reads_its_weights():
    """One request that decodes alone: bytes of the weights over the length of a step."""
    server = Deployment(workload.of_lengths([400], 8), model="Llama-3.1-8B", gpu="H100 SXM")
    (setup,) = server.setups()
    here = clinic.read([engine.simulate(setup)], Slo(1, 1))
    clock = server.roofline
    step = clock.step_time(decode(1, 200)).seconds
    expected = clock.weight_bytes(1) / step / clock.gpu.bandwidth
    assert here.readings.bandwidth == pytest.approx(expected, rel=0.02)
    assert here.readings.compute is not None
    assert here.readings.compute < 0.01


def test_a_ramp_rises_from_one_rate_to_the_other():
    steady = workload.Workload(
        2_000, workload.ConstantArrivals(1), workload.FixedLength(1), workload.FixedLength(1)
    ).requests()
    times = np.array([one.arrival_seconds for one in cases.ramp(steady, 10, 50)])
    assert 1 / np.diff(times[:5]).mean() == pytest.approx(10, rel=0.05)
    assert 1 / np.diff(times[-5:]).mean() == pytest.approx(50, rel=0.05)
