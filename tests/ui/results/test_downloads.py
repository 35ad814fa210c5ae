"""What is downloaded parses, and says what the run says."""

import csv
import io
import json

import numpy as np
import pytest

from sim import engine, metrics, scheduler, specs, workload
from sim.cost import Roofline, SimpleClock
from sim.kv import Paged
from sim.workload import traces
from ui.results import downloads


def run_of(requests, num_blocks=64, clock=None, **more):
    clock = clock or SimpleClock(10_000, 0.02)
    setup = engine.Setup(requests, scheduler.Chunked(8), Paged(num_blocks), clock, **more)
    return engine.simulate(setup)


CROWD = workload.of_lengths([40, 90, 1, 60, 2000], [100, 200, 50, 300, 20])  # the last never fits


@pytest.fixture(scope="module")
def run():
    return run_of(CROWD)


def rows(run):
    return list(csv.DictReader(io.StringIO(downloads.requests_csv(run).decode())))


def test_the_table_has_a_row_for_every_request_with_its_latencies(run):
    table = rows(run)
    assert list(table[0]) == list(downloads.COLUMNS)
    assert [int(row["request"]) for row in table] == [0, 1, 2, 3, 4]
    for row, record in zip(table[:4], run.records, strict=False):
        assert float(row["ttft_s"]) == pytest.approx(metrics.ttft(record), abs=1e-6)
        assert float(row["queue_s"]) == pytest.approx(metrics.queue_time(record), abs=1e-6)
        assert float(row["e2e_s"]) == pytest.approx(metrics.e2e(record), abs=1e-6)
        assert int(row["preemptions"]) == len(record.pauses)
    assert sum(int(row["preemptions"]) for row in table) == run.num_preemptions


def test_what_does_not_exist_is_empty(run):
    one_token, refused = rows(run)[2], rows(run)[4]
    assert (one_token["tpot_s"], one_token["longest_gap_s"]) == ("", "")
    assert one_token["ttft_s"] != ""
    assert (refused["served"], refused["ttft_s"], refused["e2e_s"]) == ("0", "", "")


def test_the_table_can_be_uploaded_again_as_a_trace(run):
    again = traces.read(downloads.requests_csv(run).decode())
    assert again.format == "plain"
    assert again.requests == CROWD


def test_the_json_holds_settings_metrics_and_rates(run):
    summary = metrics.summarize(run)
    text = downloads.results_json(run, summary).decode()
    told = json.loads(text, parse_constant=lambda word: pytest.fail(word))  # NaN is no JSON
    assert told["settings"]["requests"] == 5
    assert told["settings"]["policy"]["kind"] == "Chunked"
    assert told["settings"]["policy"]["max_num_seqs"] == 8
    assert told["metrics"]["ttft_seconds"]["p99"] == summary.ttft.p99
    assert told["metrics"]["num_rejected"] == 1
    over_time = told["over_time"]
    computed = sum(over_time["generation_tokens_per_second"]) * over_time["window_seconds"]
    assert computed == pytest.approx(np.sum(run.series.sampled_tokens))


def test_a_model_on_a_gpu_and_a_closed_loop_are_settings_too():
    clock = Roofline(specs.MODELS["Llama-3.1-8B"], specs.GPUS["RTX 4090"], tensor_parallel=2)
    run = run_of(CROWD[:1], clock=clock, users=engine.Users(1))
    settings = json.loads(downloads.results_json(run, metrics.summarize(run)))["settings"]
    assert settings["clock"]["model"]["name"] == "Llama-3.1-8B"
    assert settings["clock"]["tensor_parallel"] == 2
    assert settings["users"] == {"kind": "Users", "num_users": 1, "think_seconds": 0.0}


def test_one_token_alone_has_no_gaps_and_is_still_json():
    run = run_of(workload.of_lengths([1]))
    told = json.loads(downloads.results_json(run, metrics.summarize(run)))
    assert told["metrics"]["tpot_seconds"]["mean"] is None


def test_rounds_of_speculation_are_there_under_vllms_names(run):
    told = run_of(CROWD, speculation=engine.Speculation())
    kept = json.loads(downloads.results_json(told, metrics.summarize(told)))
    assert kept["settings"]["speculation"]["num_speculative_tokens"] == 4
    assert kept["metrics"]["spec_decode_num_drafts"] == told.rounds.num_rounds > 0
    assert kept["metrics"]["spec_decode_num_draft_tokens"] == told.rounds.num_proposed
    assert kept["metrics"]["spec_decode_num_accepted_tokens"] == told.rounds.num_accepted
    plain = json.loads(downloads.results_json(run, metrics.summarize(run)))
    assert not [name for name in plain["metrics"] if name.startswith("spec")]
