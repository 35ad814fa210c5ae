"""The workbench says nothing that its own runs do not show.

Every checkable sentence of the text and of the presets is held here against the setups that the
page itself runs.
"""

from typing import Any
from unittest import mock

import numpy as np
import pytest

from sim import engine, metrics, scheduler, specs
from sim.cost import SimpleClock
from sim.events import Preempted, Rejected
from sim.workload import traces
from tests.pages.whole_server import (
    BENCH,
    both_loops,
    explore,
    machine,
    preset,
    spans,
    step_seconds,
    summary,
    ttfts,
)
from ui.controls import server_knobs
from ui.course import state
from ui.results import runs
from ui.words.numbers import percent, seconds, significant

# -- how far to trust it ------------------------------------------------------------------------


def test_only_gpus_with_a_fitted_run_are_called_calibrated():
    fitted = {"RTX 4090", "RTX PRO 6000"}
    for name in specs.GPUS:
        said = BENCH.play("explore", gpu=name, model="Qwen2.5-7B", requests=1).said
        assert ("calibrated" in said) == (name in fitted), name
        assert ("uncalibrated" in said) == (name not in fitted), name


def test_two_numbers_instead_of_a_machine():
    played = BENCH.play("explore", gpu=server_knobs.SPEEDS, prefill=10_000, decode=20, requests=20)
    assert "simple_clock" in played.said
    assert isinstance(played.setup.clock, SimpleClock)
    for step in engine.steps(played.setup):
        prompt = sum(work.num_tokens for work in step.work if work.is_prefill)
        assert step.seconds == pytest.approx(max(0.020, prompt / 10_000))


def test_only_the_rules_of_vllm_are_called_so():
    for code in BENCH.play("explore").controls["policy"]:
        played = BENCH.play("explore", policy=code, requests=1)
        is_vllm = isinstance(played.setup.policy, scheduler.Chunked)
        assert ("as_vllm" in played.said) == is_vllm
        assert ("as_defined" in played.said) != is_vllm


# -- the presets --------------------------------------------------------------------------------


OPENED_BY: dict[str, dict[str, Any]] = {  # knobs that are there only beside another one
    "cv": {"arrival": "gamma"},
    "users": {"loop": "closed"},
    "think": {"loop": "closed"},
    "groups": {"prefix": 500},
    "bw": {"efficiency": "set"},
    "flops": {"efficiency": "set"},
    "fixed": {"efficiency": "set"},
    "prefill": {"gpu": "speeds"},
    "decode": {"gpu": "speeds"},
    "pool": {"gpu": "speeds"},
}


def test_every_knob_is_answered_by_another_run():
    always = BENCH.play("explore").controls
    nothing: dict[str, Any] = {}
    for key, others in [*((key, nothing) for key in always), *OPENED_BY.items()]:
        places = BENCH.play("explore", **others).controls[key]
        setups = [BENCH.setups("explore", **others, **{key: place}) for place in _two(places)]
        if key != "efficiency":  # there to open three others
            assert setups[0] != setups[1], key
    assert {key for key in OPENED_BY if key in always} == set()


def _two(places):
    """Two places at which the server can stand: not every model fits on every GPU."""
    if "Mixtral-8x7B" in places:
        return ("Llama-2-7B", "Qwen3-8B")
    return (places[0], places[-1]) if len(places) < 4 else (places[1], places[-2])


def test_the_knobs_of_the_issue_are_all_there():
    knobs = set(BENCH.play("explore").controls)
    assert {"policy", "budget", "chunks", "prefix", "share", "block", "weights", "kv"} <= knobs
    assert {"tp", "efficiency", "arrival", "loop", "seed"} <= knobs


def test_own_efficiencies_formats_and_degrees_are_never_called_calibrated():
    for values in ({"efficiency": "set"}, {"weights": "fp8"}, {"kv": "fp8"}, {"tp": 2}):
        said = BENCH.play("explore", gpu="RTX 4090", model="Qwen2.5-7B", requests=1, **values).said
        assert "uncalibrated" in said, values


def test_without_chunks_every_prompt_goes_in_whole():
    played = BENCH.play("explore", chunks=False, prompt=8000, requests=30)
    first = played.run.records[0].request.prompt_tokens
    assert next(engine.steps(played.setup)).num_tokens == first
    assert first > 2048
    assert played.summary.num_served == 30


def test_a_kept_run_stays_while_knobs_move_and_the_cards_say_the_difference():
    played = BENCH.play("explore", seqs=8, a={"seqs": 64})
    here, kept = played.setups
    assert (here.policy.max_num_seqs, kept.policy.max_num_seqs) == (8, 64)
    assert here.requests == kept.requests
    before, after = runs.summary(kept), runs.summary(here)
    card = played.cards[0]
    assert card.value == seconds(after.ttft.mean)
    assert card.note.startswith(f"A {seconds(before.ttft.mean)}, ×")


def test_chat_hardly_anybody_queues_and_the_p99_of_itl_is_high_through_the_prefills_of_others():
    run = explore(**preset("preset_chat"))
    chat = runs.summary(run.setup)
    assert np.average(run.series.num_waiting == 0, weights=step_seconds(run)) > 0.95
    assert chat.itl.p99 > 5 * chat.itl.mean
    long = step_seconds(run) > 3 * chat.itl.p50
    assert np.any(long)
    assert np.all(run.series.prefill_tokens[long] > 0)


def test_code_few_on_average_but_in_waves_that_wait_for_each_other():
    values = preset("preset_code")
    evenly = {key: value for key, value in values.items() if key not in ("arrival", "cv")}
    waves, calm = explore(**values), explore(**evenly)
    gaps = np.diff([request.arrival_seconds for request in waves.setup.requests])
    assert np.std(gaps) / np.mean(gaps) > 3
    lengths = [(request.prompt_tokens, request.output_tokens) for request in waves.setup.requests]
    prompt, output = np.mean(lengths, axis=0)
    assert prompt > 20 * output
    assert runs.summary(waves.setup).ttft.p99 > 4 * runs.summary(calm.setup).ttft.p99
    assert runs.summary(waves.setup).queue_share > 0.7
    assert runs.summary(calm.setup).queue_share < 0.3


def test_long_documents_spend_long_in_prefill_use_kv_and_lift_the_p99_of_itl():
    run = explore(**preset("preset_documents"))
    documents = runs.summary(run.setup)
    prefill = np.mean([span.end_seconds - span.start_seconds for span in spans(run, "prefill")])
    assert prefill > 0.5
    assert documents.peak_kv_usage > 4 * summary().peak_kv_usage
    assert documents.itl.p99 > 10 * documents.itl.p50
    long = step_seconds(run) > 5 * documents.itl.p50
    assert np.all(run.series.prefill_tokens[long] > 0)


def test_while_a_giant_prompt_is_prefilled_others_stall_and_whoever_comes_queues_behind_it():
    run = explore(**preset("preset_giant"))
    giant = max(run.records, key=lambda record: record.request.prompt_tokens)
    assert giant.request.prompt_tokens == 100_000
    assert giant.request.id < 36  # in view
    start, end = giant.scheduled_seconds, giant.token_seconds[0]
    during = (run.series.start_seconds >= start) & (run.series.end_seconds < end)
    assert np.median(step_seconds(run)[during]) > 20 * np.median(step_seconds(run)[~during])
    later = [record for record in run.records if start < record.request.arrival_seconds < end]
    assert len(later) > 20
    assert all(record.token_seconds[0] >= end for record in later)


def test_overload_the_queue_climbs_as_long_as_requests_arrive_and_later_ones_wait_longer():
    run = explore(**preset("preset_overload"))
    busy, series = runs.summary(run.setup), run.series
    last = max(request.arrival_seconds for request in run.setup.requests)
    assert len(run.setup.requests) / last > 1.5 * busy.requests_per_second  # outrun
    peak = series.start_seconds[np.argmax(series.num_waiting)]
    assert peak == pytest.approx(last, rel=0.1)
    at = np.searchsorted(series.start_seconds, np.linspace(0, peak, 6))
    assert np.all(np.diff(series.num_waiting[at]) >= 0)
    quarters = [np.mean(part) for part in np.array_split(ttfts(run), 4)]
    assert np.all(np.diff(quarters) > 0)
    assert np.corrcoef(np.arange(len(ttfts(run))), ttfts(run))[0, 1] > 0.95


def test_tight_kv_is_used_up_and_then_requests_are_preempted():
    played = BENCH.play("explore", **preset("preset_kv"))
    assert played.said["explore_result"]["kv"] == "100%"
    assert int(played.said["explore_result"]["preemptions"]) > 0
    assert machine(played.setup).gpu.memory_bytes == pytest.approx(24 * 2**30, rel=0.05)
    usage = 0.0
    for step in engine.steps(played.setup):
        if any(isinstance(event, Preempted) for event in step.events):
            assert usage > 0.98  # in the step before, nearly every block was taken
        usage = step.kv_usage
    first = {record.request.id for record in played.run.records[:36] if record.pauses}
    assert first  # in view: among the rows of the timeline


def test_refused_requests_are_larger_than_the_whole_pool():
    played = BENCH.play(
        "explore",
        gpu=server_knobs.SPEEDS,
        pool=4_000,
        prompt=2000,
        spread=12.0,
        requests=60,
    )
    refused = [
        event.request_id
        for step in engine.steps(played.setup)
        for event in step.events
        if isinstance(event, Rejected)
    ]
    assert played.said["rejected"] == {"rejected": str(len(refused))}
    pool = played.setup.memory.open().num_usable_blocks * played.setup.memory.block_size
    for request in played.setup.requests:
        assert (request.id in refused) == (request.total_tokens > pool)


def test_where_nothing_is_served_the_page_says_so_and_claims_nothing():
    huge = b"arrival_s,prompt_tokens,output_tokens\n0,9000000,5\n"
    for act, values in (
        ("explore", {"giant": 100_000, "gpu": "RTX 4090", "requests": 1}),
        ("curve", {"giant": 100_000, "gpu": "RTX 4090", "requests": 1}),
        ("trace", {"file": huge}),
    ):
        with mock.patch.object(state, "keep"), mock.patch.object(state, "kept") as kept:
            kept.return_value = traces.read(huge.decode())
            played = BENCH.play(act, **values)
        assert "nothing_served" in played.said, act
        assert not any(section.endswith("_result") for section in played.said), act
        assert not played.cards


# -- how much the server bears ------------------------------------------------------------------


def test_at_the_knee_ttft_is_not_yet_twice_the_idle_one_and_beyond_it_is_more():
    played = BENCH.play("curve")
    by_load = dict(zip(BENCH.constants["RATES"], played.summaries, strict=True))
    said = played.said["curve_knee"]
    loads = list(by_load)
    bend = float(said["knee"])
    idle, beyond = by_load[loads[0]], by_load[loads[loads.index(bend) + 1]]
    assert by_load[bend].ttft.mean <= 2 * idle.ttft.mean < beyond.ttft.mean
    assert said["idle"] == seconds(idle.ttft.mean)
    assert idle.queue_share < 0.1  # nearly idle


def test_first_flat_then_it_stands_up_while_throughput_hardly_grows():
    played = BENCH.play("curve")
    points = [(point.output_tokens_per_second, point.ttft.mean) for point in played.summaries]
    assert np.all(np.diff([x for x, _ in points]) > 0)
    (x1, y1), (x2, y2) = points[-3], points[-1]
    assert y2 > 3 * y1
    assert x2 < 1.05 * x1


def test_past_the_knee_no_fewer_are_served_but_hardly_any_on_time():
    at_ten, at_thirty = (BENCH.play("curve", rate=rate) for rate in (10, 30))
    said = [played.said["curve_result"] for played in (at_ten, at_thirty)]
    assert float(said[1]["throughput"]) > float(said[0]["throughput"])
    assert float(said[1]["goodput"]) < 0.05 * float(said[0]["goodput"])
    assert at_ten.said["goodput_falls"] == at_thirty.said["goodput_falls"]


def test_goodput_is_said_to_fall_only_where_it_does():
    strict = BENCH.play("curve", slo_ttft=0.2, slo_tpot=0.02).said
    assert float(strict["goodput_falls"]["last_goodput"]) < float(
        strict["goodput_falls"]["best_goodput"]
    )
    for values in ({"requests": 1}, {"prompt": 50, "output": 10}):
        said = BENCH.play("curve", **values).said
        assert "goodput_falls" not in said
        assert said["goodput_holds"]["last_goodput"] == said["goodput_holds"]["throughput"]
    never = BENCH.play("curve", slo_ttft=0.05, prompt=8000, requests=5).said
    assert "goodput_none" in never
    assert "goodput_falls" not in never


def test_a_short_run_says_why_its_throughput_is_below_the_arrival_rate():
    played = BENCH.play("curve", rate=8)
    here = played.setups[BENCH.constants["RATES"].index(8)]
    said = played.said["curve_leaves_out"]
    arrivals = [request.arrival_seconds for request in here.requests]
    assert said["last_arrival"] == seconds(max(arrivals))
    assert said["duration"] == seconds(runs.summary(here).duration_seconds)
    assert min(arrivals) < 0.1  # the run begins at 0, near enough
    assert float(said["throughput"]) < 8 < len(arrivals) / max(arrivals) * 1.2


def test_goodput_counts_those_that_meet_the_limits_that_the_reader_sets():
    strict, lax = (BENCH.play("curve", slo_ttft=limit, rate=20) for limit in (0.1, 5))
    assert strict.said["curve_result"]["share"] != lax.said["curve_result"]["share"]
    for played, limit in ((strict, 0.1), (lax, 5)):
        at_twenty = played.setups[BENCH.constants["RATES"].index(20)]
        good = metrics.goodput(runs.run(at_twenty), limit, 0.02)
        assert played.said["curve_result"]["share"] == percent(good.share)


def test_every_point_of_the_curve_is_the_run_that_a_click_opens():
    swept = BENCH.setups("curve")
    for rate, setup in zip(BENCH.constants["RATES"], swept, strict=True):
        assert BENCH.setups("explore", rate=rate) == [setup]


def test_a_light_load_alone_has_no_knee():
    played = BENCH.play("curve", prompt=50, output=10)
    assert ("curve_no_knee" in played.said) != ("curve_knee" in played.said)
    assert "curve_no_knee" in played.said


# -- open and closed loop -----------------------------------------------------------------------


def test_longer_outputs_move_ttft_in_opposite_directions():
    opened, closed = both_loops()
    assert opened[1200].ttft.p50 > 20 * opened[50].ttft.p50
    assert closed[1200].ttft.p50 < 0.5 * closed[50].ttft.p50


def test_both_loops_send_the_same_requests_and_only_outputs_grow():
    setups = BENCH.play("loops").setups
    for one, other in zip(setups[:6], setups[6:], strict=True):
        assert one.requests == other.requests
    assert len({tuple(r.prompt_tokens for r in setup.requests) for setup in setups}) == 1


def test_in_the_open_loop_long_answers_hold_slots_and_the_queue_grows():
    opened, _ = both_loops()
    assert opened[50].queue_share < 0.5
    assert opened[1200].queue_share > 0.95
    assert opened[1200].mean_running > 5 * opened[50].mean_running
    assert "loops_open_queues" in BENCH.play("loops").said


def test_where_the_open_loop_keeps_up_no_queue_is_said_to_grow():
    said = BENCH.play("loops", loop_users=4, loop_rate=1).said
    assert "loops_open_queues" not in said
    assert float(said["loops_open_keeps_up"]["queue_share"].rstrip("%")) < 20


def test_in_the_closed_loop_arrivals_fall_by_themselves_and_prefills_collide_less():
    _, closed = both_loops()
    asked = [closed[length].requests_per_second for length in sorted(closed)]
    assert np.all(np.diff(asked) < 0)
    said = BENCH.play("loops").said["loops_closed"]
    assert (said["asked_short"], said["asked_long"]) == (
        significant(asked[0]),
        significant(asked[-1]),
    )
    played = BENCH.play("loops")
    short, long = (runs.run(played.setups[at]) for at in (6, 11))
    assert busy_with_prompts(short) > 4 * busy_with_prompts(long)


def busy_with_prompts(run):
    """The share of the time in which some prompt is being computed."""
    return np.average(run.series.prefill_tokens > 0, weights=step_seconds(run))


# -- real traffic -------------------------------------------------------------------------------


def test_the_stand_in_has_the_shape_of_the_azure_conversation_trace():
    stand_in = BENCH.play("trace").setup.requests
    assert len(stand_in) / stand_in[-1].arrival_seconds == pytest.approx(5.5, rel=0.2)
    for tokens, mean, p99 in (
        ([request.prompt_tokens for request in stand_in], 1155, 4142),
        ([request.output_tokens for request in stand_in], 211, 601),
    ):
        assert np.mean(tokens) == pytest.approx(mean, rel=0.1)
        assert np.percentile(tokens, 99) == pytest.approx(p99, rel=0.2)


def test_twice_the_speed_is_half_the_time_between_arrivals():
    usual, fast = (BENCH.setups("trace", speed=speed)[0].requests for speed in (1, 2))
    assert [request.arrival_seconds for request in fast] == [
        request.arrival_seconds / 2 for request in usual
    ]


def test_the_earliest_requests_of_a_file_are_replayed():
    rows = [(9, 700), (1, 500), (5, 600)]
    file = "TIMESTAMP,ContextTokens,GeneratedTokens\n" + "".join(
        f"2023-11-16 18:00:{second:02}.0000000,{prompt},3\n" for second, prompt in rows
    )
    read = traces.read(file).first(2)
    assert [request.prompt_tokens for request in read.requests] == [500, 600]
    assert read.num_rows == 3
