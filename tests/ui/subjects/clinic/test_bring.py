"""Metrics that a reader brings: read as they are meant, and never trusted."""

import json

import pytest

from sim.studies import clinic
from sim.studies.clinic import CASES, THRESHOLDS, Slo
from ui.results import runs
from ui.subjects.clinic import bring, metrics_example, metrics_text

HISTOGRAM = """# TYPE {name} histogram
{name}_bucket{{le="0.1"}} {first}
{name}_bucket{{le="1"}} {second}
{name}_bucket{{le="+Inf"}} {all}
"""


def histogram(name, first, second, everything):
    return HISTOGRAM.format(name=name, first=first, second=second, all=everything)


def parsed(text):
    return metrics_text._parse(text if isinstance(text, bytes) else text.encode())


@pytest.mark.parametrize("code", ["kv_full", "few_slots", "thin_steps", "no_hits"])
def test_a_sick_server_has_the_same_three_answers_by_its_metrics_text(code):
    case, here = CASES[code], runs.panel(code, 0)
    brought = parsed(metrics_example.example(here))
    assert clinic.answers(brought.readings, case.slo, THRESHOLDS) == case.symptoms
    assert brought.preemptions == here.num_preemptions
    assert bring.missing(brought) == ""


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ("vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc"),
        ("vllm:kv_cache_usage_perc", "sglang:token_usage"),
    ],
)
def test_old_and_new_names_say_the_same(new, old):
    readings = [parsed(f'{name}{{model="x"}} 0.93\n').readings for name in (new, old)]
    assert readings[0] == readings[1]
    assert readings[0].kv == 0.93


@pytest.mark.parametrize(
    "name",
    [
        "vllm:inter_token_latency_seconds",
        "vllm:time_per_output_token_seconds",
        "sglang:inter_token_latency_seconds",
        "sglang:time_per_output_token_seconds",
    ],
)
def test_itl_is_found_under_all_its_names(name):
    assert parsed(histogram(name, 0, 100, 100)).readings.itl_p99 == pytest.approx(0.991)


def test_p99_is_that_of_prometheus():
    name = "vllm:time_to_first_token_seconds"
    # 98 of 100 up to 0.1, the other two up to 1: the 99th is half way between.
    assert parsed(histogram(name, 98, 100, 100)).readings.ttft_p99 == pytest.approx(0.55)
    # beyond the last bucket nothing is known but its start
    assert parsed(histogram(name, 10, 20, 100)).readings.ttft_p99 == 1.0


def test_of_several_engines_kv_is_the_fullest_and_requests_are_added_up():
    text = "".join(
        f'vllm:kv_cache_usage_perc{{engine="{n}"}} {kv}\n'
        f'vllm:num_requests_running{{engine="{n}"}} 7\n'
        for n, kv in enumerate((0.4, 0.95, 0.2))
    )
    brought = parsed(text)
    assert brought.readings.kv == 0.95
    assert brought.running == 21


def test_a_share_above_one_is_no_share():
    assert parsed("vllm:kv_cache_usage_perc 3.4\n").readings.kv is None


def test_hits_count_tokens_over_queries():
    text = "vllm:prefix_cache_hits_total 30\nvllm:prefix_cache_queries_total 120\n"
    assert parsed(text).hit_rate == 0.25


def test_the_result_of_a_benchmark_answers_the_first_question_only():
    result = {"p99_ttft_ms": 2500.0, "p99_itl_ms": 40.0, "completed": 100}
    brought = parsed(json.dumps(result))
    assert clinic.answers(brought.readings, Slo(1, 0.1), THRESHOLDS) == ("ttft", None, None)
    for name in (metrics_text.KV[0], metrics_text.BANDWIDTH[0], metrics_text.COMPUTE[0]):
        assert name in bring.missing(brought)


HOSTILE = {
    "nothing": "",
    "no text": b"\xff\xfe",
    "HTML": "<script>alert(1)</script>",
    "a label that does not end": 'vllm:x{a="b} 1',
    "other metrics": "up 1\nprocess_cpu_seconds_total 3\n",
    "broken JSON": "{",
    "deep JSON": "[" * 100_000,
    "other JSON": '{"a": 1}',
    "a list": "[1]",
    "a very long line": "vllm:x{" + ",".join(f'a{n}="b"' for n in range(9_000)) + "} 1",
    "too many lines": "up 1\n" * (metrics_text.MAX_LINES + 1),
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_what_cannot_be_read_gets_a_message_without_html(text):
    with pytest.raises(metrics_text.Unreadable) as problem:
        parsed(text)
    assert str(problem.value)
    assert "<script>" not in str(problem.value)
    assert len(str(problem.value)) < 300


def test_what_is_too_large_is_not_even_looked_at():
    with pytest.raises(metrics_text.Unreadable, match="1,000,000"):
        metrics_text.parse(b"x" * (metrics_text.MAX_LETTERS + 1))


@pytest.mark.parametrize("value", ["NaN", "-1", "+Inf", "1e999"])
def test_numbers_that_mean_nothing_are_missing(value):
    assert parsed(f"vllm:kv_cache_usage_perc {value}\n").readings.kv is None
    text = histogram("vllm:time_to_first_token_seconds", value, value, value)
    assert parsed(text).readings.ttft_p99 is None


def test_strange_numbers_in_a_benchmark_are_missing():
    for value in ("x", None, True, -1, 10**400):
        text = json.dumps({"p99_ttft_ms": value, "p99_itl_ms": 5})
        assert parsed(text).readings.ttft_p99 is None


def test_a_broken_line_is_named_by_its_number():
    with pytest.raises(metrics_text.Unreadable, match="3"):
        parsed("# HELP x\nvllm:kv_cache_usage_perc 0.5\nvllm:what is this\n")
