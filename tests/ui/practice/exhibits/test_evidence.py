"""What a question shows is what its key says of it, in its own run and with other seeds."""

import pytest

from sim import engine, metrics
from sim.cost import Roofline, launches
from sim.cost.formats import StoredModel
from sim.engine import Setup
from sim.views import stalls
from ui.practice import bank
from ui.practice.exhibits import evidence, observed
from ui.practice.exhibits.evidence import Chart, Log, Table
from ui.results import runs
from ui.words import language

ITEMS = {item.exhibit: item for item in bank.all_items().values() if item.exhibit}
SEEDS = range(3)


def summary(setup: Setup):
    return runs.summary(setup)


def test_at_least_fifteen_questions_show_something_to_read_and_all_that_is_made_is_shown():
    assert len(ITEMS) >= 15
    assert set(ITEMS) == set(evidence.EXHIBITS)


@pytest.mark.parametrize("code", ["zh", "en"])
@pytest.mark.parametrize("name", evidence.EXHIBITS)
def test_every_exhibit_is_there_in_both_languages(name, code, monkeypatch):
    monkeypatch.setattr(language, "current", lambda: code)
    match evidence.EXHIBITS[name]():
        case Table() as table:
            head, _, *rows = table.here().splitlines()
            assert rows
            assert all(row.count("|") == head.count("|") for row in rows)
            assert "nan" not in table.here()
        case Log(lines):
            assert all(line.strip() for line in lines)
        case Chart(draw, alt):
            assert draw(False).data
            assert alt.here()


def test_the_fifth_pass_holds_a_decode_and_the_prompt_that_came():
    passes = [
        sorted(w.num_tokens for w in step.work)
        for step in engine.steps(observed.joined_under_way())
    ]
    assert passes[4] == [1, 20]
    assert all(rows == [1, 1] for rows in passes[5:])


def test_more_bandwidth_shows_in_decode_alone():
    first, later = (
        [
            clock.step_time(load).seconds
            for clock in (Roofline(observed.LLAMA, gpu) for gpu in (observed.H100, observed.H200))
        ]
        for load in (evidence.phases.prefill(2_048), evidence.phases.decode(1, 2_048))
    )
    assert first[0] == pytest.approx(first[1], rel=0.01)
    assert later[0] / later[1] == pytest.approx(4 / 3, abs=0.05)


def test_the_long_gap_is_the_step_with_the_others_prompt():
    run = runs.run(observed.disturbed())
    times = run.records[0].token_seconds
    assert max(range(11), key=lambda gap: times[gap + 1] - times[gap]) == 7
    other = run.records[1]
    assert times[7] <= other.scheduled_seconds < times[8]
    assert other.token_seconds[0] == pytest.approx(times[8])


@pytest.mark.parametrize("seed", SEEDS)
def test_a_higher_limit_ends_the_queue_and_costs_a_little_itl(seed):
    low, high = (summary(observed.limited(limit, seed)) for limit in (16, 64))
    assert evidence.late(observed.limited(16, seed)).kv_usage < 0.3
    assert low.ttft.mean > 2
    assert high.ttft.mean < 0.1
    assert 1.01 * low.itl.p50 < high.itl.p50 < 1.2 * low.itl.p50
    assert high.peak_kv_usage < 0.8


@pytest.mark.parametrize("seed", SEEDS)
def test_half_as_much_load_again_is_beyond_the_knee(seed):
    at = {rate: summary(observed.at_rate(rate, seed)).ttft.mean for rate in (4, 16, 24)}
    assert at[16] < 2 * at[4]
    assert at[24] > 10 * at[16]


def test_at_noon_only_the_queue_and_kv_look_otherwise_than_at_night():
    night, noon = observed.out_of_memory(2), observed.out_of_memory(12)
    assert evidence.busy_share(night) > 0.99
    assert evidence.busy_share(noon) > 0.99
    logged = [evidence.late(one) for one in (night, noon)]
    assert logged[0].num_waiting == 0 < 50 < logged[1].num_waiting
    assert logged[0].kv_usage < 0.3 < 0.95 < logged[1].kv_usage


def test_overnight_the_batch_and_the_pool_are_full():
    log = evidence.late(observed.overnight())
    assert log.num_running > 0.9 * 256
    assert log.kv_usage > 0.9
    assert log.num_waiting > 0


def test_the_slots_are_those_of_a_static_batch():
    rows = [line.split()[-1] for line in evidence.slots().lines]
    start = rows[0].index("D")
    assert [row.index(who) for row, who in zip(rows, "DEF", strict=True)] == [start] * 3
    assert start == rows[1].rindex("B") + 1


@pytest.mark.parametrize("seed", SEEDS)
def test_the_pool_is_full_long_before_the_limit(seed):
    setup = observed.out_of_memory(12, seed=seed)
    log = evidence.late(setup)
    assert log.kv_usage > 0.95
    assert log.num_running < 256 / 4
    assert log.num_waiting > 10
    assert summary(setup).num_preemptions > 100


def test_the_second_run_finds_its_prompts_and_the_first_is_not_warming_up():
    run = runs.run(observed.asked_twice())
    first, second = run.records[:80], run.records[80:]
    assert all(record.hit_tokens == 0 for record in first)
    assert all(record.hit_tokens > 1_500 for record in second)
    times = metrics.Distribution.of([r.token_seconds[0] - r.request.arrival_seconds for r in first])
    assert times.p99 < 1.2 * times.mean


@pytest.mark.parametrize("seed", SEEDS)
def test_affinity_hits_more_and_crowds_one_replica_and_balance_mends_it(seed):
    turns, affine, balanced = (
        observed.fleet(rule, seed) for rule in ("round_robin", "affinity", "balanced")
    )
    assert affine.hit_rate > turns.hit_rate > 0.6
    assert affine.shares[0] > 0.6
    assert affine.ttft.p99 > 10 * turns.ttft.p99
    assert balanced.ttft.p99 < affine.ttft.p99 / 5
    assert balanced.hit_rate > turns.hit_rate


def test_the_busy_replica_is_the_one_that_hits():
    lines = evidence.fleet_log().lines
    running = [int(line.split("Running: ")[1].split()[0]) for line in lines]
    hits = [float(line.split("hit rate: ")[1].rstrip("%")) for line in lines]
    assert running[0] > 3 * max(running[1:])
    assert hits[0] == max(hits)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_longest_gap_tells_the_budget_and_the_median_does_not(seed):
    whole, large, small = (
        summary(observed.with_documents(budget, seed)).itl for budget in (None, 2_048, 512)
    )
    assert whole.max > 3 * large.max > 6 * small.max
    assert whole.p50 == pytest.approx(small.p50, rel=0.02)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_freeze_of_half_a_second_without_queue_or_preemption_is_a_whole_document(seed):
    setup = observed.with_documents(None, seed)
    whole = summary(setup)
    assert whole.itl.p99 < 0.02
    assert 0.4 < whole.itl.max < 0.6
    assert whole.num_preemptions == 0
    assert whole.peak_kv_usage < 0.2
    assert evidence.late(setup).num_waiting == 0
    chats, _ = stalls.by_prompt(runs.run(setup), 8_000)
    assert chats.itl.max == whole.itl.max


def test_counters_are_those_of_the_run():
    told = [int(line.split()[-1]) for line in evidence.counters().lines]
    tally = observed.speculating().rounds
    assert told == [tally.num_rounds, tally.num_proposed, tally.num_accepted]


def test_a_graph_helps_where_kernels_are_short():
    (_, one_by_one), (_, replayed) = evidence.graphs().rows
    assert one_by_one[0] == replayed[0]
    assert float(one_by_one[1].split()[0]) > 2 * float(replayed[1].split()[0])
    assert launches.REPLAY.graph


def test_int4_gains_room_and_decode_and_loses_prefill():
    int4, bf16 = (StoredModel(observed.LLAMA, observed.RTX4090, name) for name in ("int4", "bf16"))
    assert int4.pool_tokens > 2 * bf16.pool_tokens
    assert bf16.decode_seconds(1, 512) > 2.5 * int4.decode_seconds(1, 512)
    assert int4.prefill_seconds(4_096) > 1.1 * bf16.prefill_seconds(4_096)


@pytest.mark.parametrize("seed", SEEDS)
def test_who_reserves_is_never_interrupted_and_waits_at_the_door(seed):
    now, reserving = (summary(observed.admitting(rule, seed)) for rule in ("vllm", "tensorrt"))
    assert now.num_preemptions > 0 == reserving.num_preemptions
    assert now.itl.max > 2 * reserving.itl.max
    assert reserving.ttft.p99 > 5 * now.ttft.p99


@pytest.mark.parametrize("seed", SEEDS)
def test_answers_stop_half_way_because_of_preemption_and_not_of_long_steps(seed):
    stopped = summary(observed.out_of_memory(8, seed=seed))
    assert stopped.num_preemptions > 50
    assert seed or stopped.ttft.p50 < 0.1  # with other seeds they also queue
    assert stopped.itl.p50 < 0.01
    assert stopped.itl.max > 0.8


def test_where_the_server_is_well_nothing_points_at_it():
    well = summary(observed.at_rate(8))
    assert evidence.late(observed.at_rate(8)).num_waiting == 0
    assert well.num_preemptions == 0
    assert well.itl.p99 < 0.03
    assert 150 / (1000 * well.itl.p50) == pytest.approx(20, abs=2)
