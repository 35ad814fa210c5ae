"""What is said of a server that a reader brings: as sure as its data, and no surer."""

import pytest

from sim.studies.clinic import CASES, Slo, Thresholds
from ui.results import runs
from ui.subjects.clinic import bring, metrics_example, metrics_text
from ui.subjects.clinic.brought.found import Brought, GpuReading, Interval

SLO, LIMITS = Slo(1, 0.1), Thresholds()
KEPT = Interval(0, 0.05, 1000)


def server(**said):
    return Brought("vLLM", "start", **said)


def answers(own, slo=SLO):
    return bring.answers(own, slo, LIMITS)


@pytest.fixture(autouse=True)
def _english(read):
    read("en")


TOLD = {
    "ttft": "Queueing or prefill.",
    "itl": "Decode, prefill interference",
    "both": "Both.",
    "full": "KV limits concurrency.",
    "bandwidth": "Mostly decoding",
    "compute": "Mostly computing prompts",
}


@pytest.mark.parametrize("code", ["kv_full", "few_slots", "thin_steps", "no_hits"])
def test_the_metrics_of_a_sick_server_never_say_other_than_its_panel(code):
    case, here = CASES[code], runs.panel(code, 0)
    own = metrics_text.read_text(metrics_example.example(here).encode())
    said = answers(own, case.slo)
    for words in (word for sign, word in TOLD.items() if sign not in case.symptoms):
        assert f"→ {words}" not in said
    assert own.preemptions == here.num_preemptions
    assert bring.missing(own) == ""


def test_the_example_has_vllms_own_buckets():
    assert metrics_example.TTFT_BUCKETS[-1] == 2560
    assert 0.25 in metrics_example.TTFT_BUCKETS
    assert 0.3 not in metrics_example.TTFT_BUCKETS
    assert metrics_example.ITL_BUCKETS[:3] == (0.01, 0.025, 0.05)
    assert metrics_example.REQUEST_BUCKETS[0] == 0.3


@pytest.mark.parametrize(
    ("low", "high", "told"),
    [
        (0.25, 0.5, "Both targets are kept."),
        (0.5, 1.0, "Both targets are kept."),
        (0.75, 2.0, "TTFT: cannot tell, since the target of 1.00 s lies within these bounds"),
        (1.0, 2.5, "Queueing or prefill."),
        (10.0, float("inf"), "Queueing or prefill."),
        (0.5, float("inf"), "TTFT: cannot tell"),
    ],
)
def test_a_target_within_the_bounds_cannot_be_told(low, high, told):
    said = answers(server(ttft=Interval(low, high, 1000), itl=KEPT))
    assert told in said


def test_what_would_tell_is_said():
    said = answers(server(ttft=Interval(0.75, 2.0, 1000), itl=KEPT))
    assert "A bucket that ends at 1.00 s would tell" in said
    assert "ITL keeps its target." in said


def test_an_exact_latency_at_its_target_keeps_it():
    assert "Both targets are kept." in answers(server(ttft=Interval.exactly(1.0), itl=KEPT))
    assert "Queueing" in answers(server(ttft=Interval.exactly(1.001), itl=KEPT))


def test_a_latency_that_is_missing_leaves_the_other_one_answered():
    said = answers(server(ttft=Interval(10, 20, 1000)))
    assert "TTFT is above its target. ITL cannot be answered" in said


@pytest.mark.parametrize(
    ("observations", "words"), [(1, "1 request only"), (3, "3 requests only"), (99, "99 requests")]
)
def test_few_requests_are_told_and_no_share_of_them_is_claimed(observations, words):
    said = answers(server(ttft=Interval(0, 0.5, observations), itl=KEPT))
    assert words in said
    assert "too few requests" in said
    assert "only" not in answers(server(ttft=Interval(0, 0.5, 100), itl=KEPT))


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ({"kv": (0.02,), "preemptions": 2900}, "with 2,900 preemptions it was full before"),
        ({"kv": (0.02,), "preemptions": 0}, "KV has room"),
        ({"kv": (0.02,)}, "There is room at this moment; of other times"),
        ({"kv": (0.02,), "preemptions": 0, "kv_before": (0.95,)}, "room at this moment"),
        ({"kv": (0.95,), "preemptions": 3}, "→ KV limits concurrency."),
        ({"kv": (0.95,), "waiting": 4}, "At this moment KV limits concurrency"),
        ({"kv": (0.95,), "waiting": 4, "deferred": 4}, "one moment does not show"),
        ({"kv": (0.95,)}, "one moment does not show"),
        ({"preemptions": 7}, "With 7 preemptions KV was full before"),
        ({}, "KV missing. → Cannot be answered"),
    ],
)
def test_one_moment_of_kv_is_no_verdict(said, told):
    assert told in answers(server(**said))


@pytest.mark.parametrize(
    ("gpus", "running", "told"),
    [
        ([(0.8, 0.3)], None, "→ Mostly decoding at this moment."),
        ([(0.3, 0.8)], None, "→ Mostly computing prompts"),
        ([(0.8, 0.3), *[(0, 0)] * 7], None, "Idle: 7 of the GPUs. Mostly decoding"),
        ([(0.8, 0.3), (0.3, 0.8)], None, "Those at work differ"),
        ([(0, 0)] * 8, 3, "No GPU has anything to do."),
        ([(0.1, 0.1)], None, "perhaps nobody asks"),
        ([(0.1, 0.1)], 0, "perhaps nobody asks"),
        ([(0.1, 0.1)], 5, "Both low at this moment, with requests running"),
        ([(0.1, None)], 5, "Cannot be answered"),
    ],
)
def test_gpus_are_told_apart_and_idle_ones_are_no_reading(gpus, running, told):
    own = server(gpus=tuple(GpuReading(*one) for one in gpus), running=running)
    said = answers(own)
    assert told in said
    assert f"GPUs read: {len(gpus)}" in said


def test_where_more_than_one_in_a_hundred_failed_no_target_is_kept():
    own = Brought("guidellm", "run", ttft=KEPT, itl=KEPT, completed=20, failed=480)
    said = answers(own)
    assert "480 of 500 failed" in said
    assert "completed 20, failed 480" in said
    few_failed = Brought("guidellm", "run", ttft=KEPT, itl=KEPT, completed=999, failed=1)
    assert "Both targets are kept." in answers(few_failed)


def test_a_mean_gap_is_called_tpot():
    assert "TPOT p99 at most 50.0 ms" in answers(server(ttft=KEPT, itl=KEPT, itl_is_tpot=True))


def test_missing_names_are_those_of_the_engine_at_hand():
    own = Brought("SGLang", "start", engine="SGLang")
    assert "`sglang:token_usage`" in bring.missing(own)
    assert "vllm" not in bring.missing(own)
    assert "`vllm:kv_cache_usage_perc`" in bring.missing(server())


def test_the_span_of_the_readings_is_said():
    said = {bring.span(Brought("x", span)) for span in ("start", "between", "run")}
    assert len(said) == 3


def test_the_figure_shows_how_far_a_reading_is_unsure():
    own = server(ttft=Interval(0.75, 2, 1000), itl=Interval.exactly(0.05), kv=(0.35, 0.95))
    figure = bring.against_limits(own, SLO, LIMITS)
    boxes = [(one.x0, one.x1) for one in figure.layout.shapes if one.type == "rect"]
    assert boxes == [(0.75, 2.0), pytest.approx((0.35 / 0.9, 0.95 / 0.9))]
    texts = [one.text for one in figure.layout.annotations]
    assert texts[:3] == ["750 ms to 2.00 s", "50.0 ms", "35.0% to 95.0%"]


def test_ways_lead_where_something_is_wrong_for_sure():
    own = server(ttft=Interval(0.75, 2, 1000), itl=Interval(0.2, 0.3, 1000))
    assert list(bring.ways(own, SLO, LIMITS).values()) == ["09_chunked_prefill"]


def test_every_answer_is_worded_in_chinese_too(read):
    read("zh")
    said = answers(server(ttft=Interval(0.75, 2.0, 3), itl=KEPT, kv=(0.1,), preemptions=0))
    assert "无法判断" in said
    assert "只有 3 个请求" in said
