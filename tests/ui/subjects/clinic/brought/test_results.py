"""Results of benchmarks: read as their tool means them; nothing measured is nothing."""

import json
import math
from typing import Any

import pytest

from sim.errors import SimError
from ui.subjects.clinic import metrics_text

VLLM = {
    "backend": "vllm",
    "tokenizer_id": "x",
    "num_prompts": 500,
    "completed": 500,
    "failed": 0,
    "total_output_tokens": 50_000,
    "p99_ttft_ms": 800.0,
    "p99_itl_ms": 40.0,
}


def read(given):
    text = given if isinstance(given, str) else json.dumps(given)
    return metrics_text.read_text(text.encode())


def codes(found):
    return [note.code for note in found.notes]


def seconds(interval):
    return interval and (pytest.approx(interval.low), pytest.approx(interval.high))


def test_vllm_bench_serve_is_read_with_its_counts():
    found = read(VLLM | {"completed": 480, "failed": 20})
    assert (found.source, found.completed, found.failed) == ("vllm bench serve", 480, 20)
    assert (found.ttft.low, found.itl.low) == (pytest.approx(0.8), pytest.approx(0.04))
    assert found.ttft.observations == 480


def test_a_result_without_failed_tells_it_by_what_was_asked():
    own = {key: value for key, value in VLLM.items() if key != "failed"}
    assert read(own | {"completed": 450}).failed == 50
    assert read(own | {"errors": ["", "x", "x"]}).failed == 2


@pytest.mark.parametrize("value", ["x", None, True, -1, 10**400, math.nan, math.inf, [1], {}])
def test_strange_numbers_are_missing(value):
    found = read(VLLM | {"p99_ttft_ms": value})
    assert found.ttft is None
    assert found.itl.low == pytest.approx(0.04)


def test_without_a_p99_it_is_taken_from_the_single_requests():
    own = {key: value for key, value in VLLM.items() if not key.startswith("p99")}
    ttfts = [n / 100 for n in range(100)]
    own |= {"mean_ttft_ms": 495.0, "ttfts": [*ttfts, 0.0], "errors": [""] * 100 + ["boom"]}
    own |= {"itls": [[0.01, 0.02]] * 100 + [[]]}
    found = read(own)
    assert found.ttft.low == pytest.approx(0.9801)
    assert found.itl.low == pytest.approx(0.02)


def test_without_either_the_percentiles_around_it_are_its_bounds():
    own = {key: value for key, value in VLLM.items() if not key.startswith("p99")}
    own |= {"p90_ttft_ms": 500.0, "p95_ttft_ms": 700.0, "p95_itl_ms": 30.0, "max_itl_ms": 90.0}
    found = read(own)
    assert seconds(found.ttft) == (0.7, math.inf)
    assert seconds(found.itl) == (0.03, 0.09)


@pytest.mark.parametrize("lines", ["{0}\n{1}", "[{0}, {1}]", "{0}\n{1}\n", "{0}\r\n\r\n{1}"])
def test_of_several_results_the_last_is_read_and_it_is_said(lines):
    first, last = json.dumps(VLLM), json.dumps(VLLM | {"p99_ttft_ms": 9000.0})
    text = lines.format("@0", "@1").replace("@0", first).replace("@1", last)
    found = read(text)
    assert found.ttft.low == pytest.approx(9.0)
    assert "last_of" in codes(found)


def test_of_two_results_with_the_last_one_cut_the_first_is_read_and_it_is_said():
    found = read(json.dumps(VLLM) + "\n" + json.dumps(VLLM)[:40])
    assert found.ttft.low == pytest.approx(0.8)
    assert "cut_value" in codes(found)


def test_pretty_printed_results_one_after_the_other_are_read():
    text = json.dumps(VLLM, indent=2) + "\n" + json.dumps(VLLM | {"p99_itl_ms": 70.0}, indent=2)
    assert read(text).itl.low == pytest.approx(0.07)


def test_what_was_typed_before_the_json_is_passed_over():
    assert read("$ cat result.json\n" + json.dumps(VLLM)).ttft.low == pytest.approx(0.8)
    assert read("```json\n" + json.dumps(VLLM) + "\n```").ttft.low == pytest.approx(0.8)


def test_an_answer_in_one_piece_has_no_first_token():
    own = VLLM | {"p99_ttft_ms": 15_089.0, "p99_itl_ms": 0.0, "p99_e2e_latency_ms": 15_100.0}
    found = read(own)
    assert (found.ttft, found.itl) == (None, None)
    assert {"zeros", "one_piece"} <= set(codes(found))
    one_token_each = own | {"total_output_tokens": 500}
    assert read(one_token_each).ttft.low == pytest.approx(15.089)


def test_sglang_is_told_by_its_own_keys_also_in_front_of_vllm():
    own = {key: value for key, value in VLLM.items() if key != "tokenizer_id"}
    assert read(own | {"backend": "sglang-oai"}).source == "SGLang bench_serving"
    assert read(own | {"sharegpt_output_len": None}).source == "SGLang bench_serving"
    assert read(VLLM | {"backend": "sglang"}).source == "vllm bench serve"


def test_speculation_in_front_of_a_client_is_said():
    assert "speculates_client" in codes(read(VLLM | {"spec_decode_num_drafts": 5}))
    assert "speculates_client" in codes(read(VLLM | {"accept_length": 2.9}))


REPORT = """\
100%|##########| 32/32 [02:30<00:00,  4.71s/it]
============ Serving Benchmark Result ============
{backend}Successful requests:                     32
Failed requests:                         {failed}
Total generated tokens:                  65536
---------------Time to First Token----------------
Mean TTFT (ms):                          7279.56
P99 TTFT (ms):                           {ttft}
---------------Inter-token Latency----------------
P99 ITL (ms):                            {itl}
==================================================
"""


def report(backend="", failed=0, ttft="10999.46", itl="72.47"):
    return REPORT.format(backend=backend, failed=failed, ttft=ttft, itl=itl)


def test_the_printed_report_is_read():
    found = read(report(failed=3))
    assert (found.source, found.completed, found.failed) == ("vllm bench serve", 32, 3)
    assert (found.ttft.low, found.itl.low) == (pytest.approx(10.99946), pytest.approx(0.07247))
    assert read(report("Backend:      sglang\n")).source == "SGLang bench_serving"


def test_a_printed_zero_is_missing_and_of_two_reports_the_last_is_read():
    found = read(report() + report(ttft="5.00", itl="0.00"))
    assert (found.ttft.low, found.itl) == (pytest.approx(0.005), None)
    assert {"last_of", "zeros"} <= set(codes(found))


# -- other tools, as their releases write ---------------------------------------------------------


def guidellm(ttft, itl, totals, where="metrics"):
    def spread(p99):
        return {"successful": {"count": 9, "percentiles": {"p95": p99 / 2, "p99": p99}}}

    metrics = {"time_to_first_token_ms": spread(ttft), "inter_token_latency_ms": spread(itl)}
    if where == "metrics":
        return {"benchmarks": [{"metrics": metrics | {"request_totals": totals}}]}
    return {"benchmarks": [{"metrics": metrics, "run_stats": {"requests_made": totals}}]}


@pytest.mark.parametrize("where", ["metrics", "run_stats"])
def test_guidellm_is_read_and_its_gap_is_a_mean(where):
    totals = {"successful": 90, "errored": 10, "incomplete": 2, "total": 102}
    found = read(guidellm(800.0, 30.0, totals, where))
    assert (found.source, found.completed, found.failed) == ("guidellm", 90, 10)
    assert (found.ttft.low, found.itl.low) == (pytest.approx(0.8), pytest.approx(0.03))
    assert found.itl_is_tpot
    assert "mean_gaps" in codes(found)


def test_zeros_of_guidellm_are_missing_and_of_a_sweep_the_last_is_read():
    totals = {"successful": 90, "errored": 0}
    sweep = guidellm(800.0, 30.0, totals)
    sweep["benchmarks"] += guidellm(0.0, 0.0, totals)["benchmarks"]
    found = read(sweep)
    assert (found.ttft, found.itl) == (None, None)
    assert {"last_of", "zeros"} <= set(codes(found))


@pytest.mark.parametrize("unit", ["ms", "sec", "us", "ns"])
def test_aiperf_and_genai_perf_are_read_in_their_unit(unit):
    factor = {"ms": 1e3, "sec": 1, "us": 1e6, "ns": 1e9}[unit]
    own = {
        "time_to_first_token": {"unit": unit, "avg": 0.1 * factor, "p99": 0.8 * factor},
        "inter_token_latency": {"unit": unit, "p99": 0.03 * factor},
        "request_count": {"unit": "requests", "avg": 64.0},
        "error_request_count": {"unit": "requests", "avg": 2.0},
    }
    found = read(own)
    assert (found.source, found.completed, found.failed) == ("GenAI-Perf", 64, 2)
    assert (found.ttft.low, found.itl.low) == (pytest.approx(0.8), pytest.approx(0.03))
    assert found.itl_is_tpot
    chunked = {"aiperf_version": "0.13", "inter_chunk_latency": {"unit": unit, "p99": factor}}
    assert read(own | chunked).source == "AIPerf"
    assert read(own | chunked).itl.low == pytest.approx(1.0)
    assert not read(own | chunked).itl_is_tpot


def test_inference_perf_without_a_p99_gives_bounds():
    own: dict[str, Any] = {
        "load_summary": {"count": 6720},
        "successes": {
            "count": 6720,
            "latency": {
                "time_to_first_token": {"mean": 3.7, "median": 0.17, "p90": 11.1, "max": 12.5},
                "inter_token_latency": {"p90": 0.075, "p99": 0.2, "p99.9": 0.4, "max": 0.55},
            },
        },
        "failures": {"count": 3, "request_latency": None},
    }
    found = read(own)
    assert (found.source, found.completed, found.failed) == ("inference-perf", 6720, 3)
    assert seconds(found.ttft) == (11.1, 12.5)
    assert seconds(found.itl) == (0.2, 0.2)
    own["successes"]["latency"]["time_to_first_token"] = None  # it did not stream
    assert read(own).ttft is None


REFUSED = {
    '{"experiments": []}': "profile_export_genai_perf.json",
    '{"timeslices": []}': "profile_export_aiperf.json",
    '{"metadata": {}, "metrics": {}}\n' * 2: "profile_export_aiperf.json",
    '{"successes": {"count": 1}, "failures": {}}': "summary_lifecycle_metrics.json",
    "  NVIDIA AIPerf | LLM Metrics\n| Metric | avg |": "profile_export_aiperf.json",
    "Metric,avg,min,max\nTime to First Token (ms),1,2,3\n": "profile_export_aiperf.json",
    "Benchmarks Info:\nguidellm 0.2\n": "benchmarks.json",
}


@pytest.mark.parametrize("text", REFUSED)
def test_other_files_of_a_tool_are_refused_with_the_one_to_bring(text):
    with pytest.raises(SimError) as error:
        read(text)
    assert error.value.code == "brought_other_file"
    assert error.value.values["instead"] == REFUSED[text]


@pytest.mark.parametrize("text", ['{"a": 1}', "[1]", "[]", "{}", "[[]]", '{"benchmarks": [1]}'])
def test_other_json_is_refused(text):
    with pytest.raises(SimError, match="brought_other_json"):
        read(text)


@pytest.mark.parametrize("text", ["{", '{"p99_ttft_ms": ', "[" * 100_000, "[" + "9" * 5000])
def test_broken_json_is_refused_with_its_place(text):
    with pytest.raises(SimError, match="brought_broken_json"):
        read(text)
