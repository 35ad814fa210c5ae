"""The text of /metrics is read as the engines write it, in all their spellings."""

import math

import pytest
from prometheus_client.parser import text_string_to_metric_families

from sim.errors import SimError
from sim.studies.clinic import CASES
from ui.files import ASSETS
from ui.results import runs
from ui.subjects.clinic import metrics_example
from ui.subjects.clinic.brought import by_engine, exposed, scrapes
from ui.subjects.clinic.brought.found import Interval

TTFT = "vllm:time_to_first_token_seconds"
ITL = "vllm:inter_token_latency_seconds"


def histogram(name, counts, labels="", total=None):
    """`counts`: bound -> observations up to there."""
    given = f"{labels}," if labels else ""
    lines = [f'{name}_bucket{{{given}le="{bound}"}} {value}' for bound, value in counts.items()]
    own = f"{{{labels}}}" if labels else ""
    lines += [f"{name}_sum{own} {total}"] if total is not None else []
    return "\n".join([*lines, f"{name}_count{own} {list(counts.values())[-1]}", ""])


def codes(found):
    return [note.code for note in found.notes]


# -- histograms -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "second", "all_", "low", "high"),
    [
        (100, 100, 100, 0.0, 0.1),
        (99, 100, 100, 0.0, 0.1),
        (98, 100, 100, 0.1, 1.0),
        (10, 20, 100, 1.0, math.inf),
        (0, 1, 1, 0.1, 1.0),
    ],
)
def test_p99_lies_in_the_bucket_of_the_99th_of_a_hundred(first, second, all_, low, high):
    text = histogram(TTFT, {"0.1": first, "1": second, "+Inf": all_})
    assert exposed.read(text).ttft == Interval(low, high, all_)


def test_the_mean_stands_beside_where_the_sum_is_there():
    text = histogram(TTFT, {"1": 4, "+Inf": 4}, total=2)
    assert exposed.read(text).ttft == Interval(0.0, 1.0, 4, mean=0.5)


def test_a_mean_without_its_buckets_is_said_and_is_no_p99():
    found = exposed.read(f"{TTFT}_sum 12.0\n{TTFT}_count 30\n")
    assert found.ttft is None
    assert [note.values for note in found.notes] == [{"name": "TTFT", "mean": 0.4}]
    assert "mean_alone" not in codes(exposed.read(histogram(TTFT, {"1": 4, "+Inf": 4}, total=2)))


def test_engines_with_the_same_bounds_are_put_together():
    text = histogram(TTFT, {"1": 100, "2": 100, "+Inf": 100}, 'engine="0"')
    text += histogram(TTFT, {"1": 0, "2": 100, "+Inf": 100}, 'engine="1"')
    assert exposed.read(text).ttft == Interval(1.0, 2.0, 200)


def test_of_engines_with_other_bounds_only_those_that_they_share_count():
    text = histogram(TTFT, {"1": 50, "4": 100, "+Inf": 100}, 'model_name="a"')
    text += histogram(TTFT, {"1": 50, "2": 100, "+Inf": 100}, 'model_name="b"')
    assert exposed.read(text).ttft == Interval(1.0, math.inf, 200)


@pytest.mark.parametrize(
    "counts",
    [
        {"1": 0, "+Inf": 0},
        {"1": "NaN", "+Inf": "NaN"},
        {"1": 50, "2": 40, "+Inf": 100},
        {"x": 5, "NaN": 6, "-1": 7},
    ],
)
def test_buckets_that_hold_nothing_or_shrink_are_no_latency(counts):
    text = histogram(TTFT, counts).replace("_count", "_x")
    assert exposed.read(text).ttft is None


def test_a_histogram_that_lost_its_last_bucket_ends_with_its_count():
    text = f'{TTFT}_bucket{{le="1"}} 10\n{TTFT}_count 100\n'
    assert exposed.read(text).ttft == Interval(1.0, math.inf, 100)


@pytest.mark.parametrize("engine", ["vllm", "sglang"])
def test_the_mean_gap_of_requests_takes_the_place_of_itl_and_says_so(engine):
    name = f"{engine}:request_time_per_output_token_seconds"
    text = histogram(name, {"0.1": 5, "+Inf": 5})
    assert exposed.read(text).itl_is_tpot
    own = f"{engine}:inter_token_latency_seconds"
    both = exposed.read(text + histogram(own, {"0.2": 5, "+Inf": 5}))
    assert both.itl == Interval(0.0, 0.2, 5)
    assert not both.itl_is_tpot


@pytest.mark.parametrize("reading", ["ttft", "itl", "queue"])
@pytest.mark.parametrize("engine", ["vLLM", "SGLang"])
def test_a_latency_is_found_under_all_its_names(reading, engine):
    for name in by_engine.NAMES[reading, engine]:
        text = histogram(name, {"0.5": 10, "+Inf": 10})
        assert getattr(exposed.read(text), reading) == Interval(0.0, 0.5, 10), name


# -- spellings ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        "vllm:kv_cache_usage_perc",
        "vllm:gpu_cache_usage_perc",
        "ray_vllm:kv_cache_usage_perc",
        "ray_vllm_kv_cache_usage_perc",
        "vllm_kv_cache_usage_perc",
        "sglang:token_usage",
        "sglang_token_usage",
    ],
)
def test_kv_is_read_in_every_spelling(name):
    found = exposed.read(f'{name}{{model_name="x"}} 0.93\n')
    assert found.kv == (0.93,)
    assert found.source == ("SGLang" if "sglang" in name else "vLLM")


@pytest.mark.parametrize("ending", ["", "_total"])
@pytest.mark.parametrize("begin", ["vllm:", "ray_vllm_"])
def test_counters_are_read_with_and_without_total(begin, ending):
    text = f"{begin}num_preemptions{ending} 7\n{begin}prefix_cache_hits{ending} 30\n"
    found = exposed.read(text + f"{begin}prefix_cache_queries{ending} 120\n")
    assert (found.preemptions, found.hit_rate) == (7, 0.25)


def test_a_gauge_that_every_report_resets_is_not_read():
    text = "sglang:token_usage 0.5\nsglang:num_retracted_reqs 3\nsglang:cache_hit_rate 0.0\n"
    found = exposed.read(text)
    assert (found.preemptions, found.hit_rate) == (None, None)


# -- several engines and ranks --------------------------------------------------------------------


def test_data_parallel_engines_are_added_up_and_kv_is_a_range():
    text = "".join(
        f'vllm:kv_cache_usage_perc{{engine="{n}"}} {kv}\n'
        f'vllm:num_requests_running{{engine="{n}"}} 7\n'
        for n, kv in enumerate((0.4, 0.95, 0.2))
    )
    found = exposed.read(text)
    assert (found.kv, found.running) == ((0.4, 0.95, 0.2), 21)
    assert codes(found) == ["engines"]


def test_ranks_of_one_engine_are_one_and_its_dp_ranks_are_several():
    text = "".join(
        f'sglang:num_running_reqs{{dp_rank="{dp}",tp_rank="{tp}",pp_rank="0",moe_ep_rank="{tp}"}} '
        f"{10 + dp}\n"
        f'sglang:num_retracted_requests_total{{dp_rank="{dp}",tp_rank="{tp}"}} 4\n'
        for dp in range(2)
        for tp in range(4)
    )
    found = exposed.read(text)
    assert (found.running, found.preemptions) == (21, 8)


def test_priorities_are_parts_of_a_total():
    text = (
        'sglang:num_queue_reqs{priority=""} 9\nsglang:num_queue_reqs{priority="1"} 4\n'
        'sglang:num_queue_reqs{priority="5"} 5\nsglang:num_running_reqs{priority=""} 2\n'
    )
    found = exposed.read(text)
    assert (found.waiting, found.running) == (9, 2)


def test_a_queue_histogram_of_all_ranks_counts_each_request_once():
    text = "".join(
        histogram("sglang:queue_time_seconds", {"1": 30, "+Inf": 30}, f'tp_rank="{rank}"')
        for rank in range(4)
    )
    assert exposed.read(text).queue == Interval(0.0, 1.0, 30)


def test_answers_in_one_piece_do_not_speak_of_first_tokens():
    name = "sglang:time_to_first_token_seconds"
    text = histogram(name, {"1": 100, "+Inf": 100}, 'is_streaming="true"')
    text += histogram(name, {"1": 0, "+Inf": 100}, 'is_streaming="false"')
    assert exposed.read(text).ttft == Interval(0.0, 1.0, 100)


def test_waiting_by_reason_adds_up_where_the_total_is_missing():
    text = (
        'vllm:num_requests_waiting_by_reason{reason="capacity"} 3\n'
        'vllm:num_requests_waiting_by_reason{reason="deferred"} 5\n'
    )
    found = exposed.read(text)
    assert (found.waiting, found.deferred) == (8, 5)
    assert exposed.read(text + "vllm:num_requests_waiting 9\n").waiting == 9


def test_speculation_is_said_with_the_tokens_of_a_round():
    text = (
        "vllm:spec_decode_num_drafts_total 100\n"
        "vllm:spec_decode_num_accepted_tokens_total 150\nvllm:num_requests_running 1\n"
    )
    (note,) = exposed.read(text).notes
    assert (note.code, note.values["tokens"]) == ("speculates", 2.5)
    sglang = "sglang:spec_verify_calls_total 5\nsglang:num_running_reqs 1\n"
    assert codes(exposed.read(sglang)) == ["speculates_sglang"]


@pytest.mark.parametrize("value", ["3.4", "-1", "NaN", "+Inf"])
def test_what_is_no_share_is_missing(value):
    assert exposed.read(f"vllm:kv_cache_usage_perc {value}\n").kv == ()


# -- GPUs -----------------------------------------------------------------------------------------


def test_gpus_are_told_apart_by_host_and_part_not_by_pod():
    text = (
        'DCGM_FI_PROF_DRAM_ACTIVE{gpu="0",Hostname="a",pod="x"} 0.1\n'
        'DCGM_FI_PROF_DRAM_ACTIVE{gpu="0",Hostname="b",pod="x"} 0.2\n'
        'DCGM_FI_PROF_DRAM_ACTIVE{gpu="1",Hostname="b",GPU_I_ID="1"} 0.3\n'
        'DCGM_FI_PROF_DRAM_ACTIVE{gpu="1",Hostname="b",GPU_I_ID="2"} 0.4\n'
        'DCGM_FI_PROF_DRAM_ACTIVE{gpu="1",Hostname="b",GPU_I_ID="2",pod="y"} 0.4\n'
    )
    found = exposed.read(text)
    assert [gpu.bandwidth for gpu in found.gpus] == [0.1, 0.2, 0.3, 0.4]
    assert found.source == "DCGM exporter"


def test_an_exporter_pasted_along_begins_no_second_scrape():
    gpu = 'DCGM_FI_PROF_DRAM_ACTIVE{gpu="0"} 0.5\n'
    found = exposed.read(gpu + "vllm:num_requests_running 3\n" + gpu.replace("0.5", "0.6"))
    assert (found.span, found.running) == ("start", 3)
    assert found.gpus[0].bandwidth == 0.6


# -- two scrapes ----------------------------------------------------------------------------------


def scrape(preemptions, kv, counts):
    return (
        f'vllm:num_preemptions_total{{engine="0"}} {preemptions}\n'
        f'vllm:kv_cache_usage_perc{{engine="0"}} {kv}\n' + histogram(TTFT, counts, 'engine="0"')
    )


QUIET_NIGHT = scrape(40, 0.95, {"1": 1000, "10": 1000, "+Inf": 1000})
BAD_NOON = scrape(42, 0.35, {"1": 1000, "10": 1100, "+Inf": 1100})


@pytest.mark.parametrize("together", [True, False])
def test_between_two_scrapes_counters_and_buckets_are_subtracted(together):
    found = (
        exposed.read(QUIET_NIGHT + "\n" + BAD_NOON)
        if together
        else exposed.read(BAD_NOON, QUIET_NIGHT)
    )
    assert found.span == "between"
    assert found.ttft == Interval(1.0, 10.0, 100)
    assert (found.preemptions, found.preemptions_since_start) == (2, 42)
    assert (found.kv, found.kv_before) == ((0.35,), (0.95,))
    assert exposed.read(BAD_NOON).ttft == Interval(1.0, 10.0, 1100)


def test_of_three_scrapes_the_first_and_the_last_count():
    third = scrape(49, 0.5, {"1": 1000, "10": 1300, "+Inf": 1300})
    found = exposed.read(QUIET_NIGHT + BAD_NOON + third)
    assert found.ttft is not None
    assert (found.preemptions, found.ttft.observations) == (9, 300)
    assert found.notes[0].values["times"] == 3


def test_after_a_restart_nothing_is_subtracted_and_it_is_said():
    found = exposed.read(BAD_NOON + QUIET_NIGHT)
    assert (found.span, found.preemptions) == ("start", 40)
    assert codes(found) == ["scrapes", "counters_fell"]


@pytest.mark.parametrize("comes_first", [True, False])
def test_a_few_lines_that_come_again_are_no_second_scrape(comes_first):
    again = 'vllm:num_preemptions_total{engine="0"} 41\n'
    found = exposed.read(again + QUIET_NIGHT if comes_first else QUIET_NIGHT + again)
    assert (found.span, found.preemptions) == ("start", 40 if comes_first else 41)
    assert found.ttft == Interval(0.0, 1.0, 1000)
    assert codes(found) == ["repeated"]


def test_a_span_in_which_nothing_happened_has_no_latency():
    found = exposed.read(QUIET_NIGHT + QUIET_NIGHT)
    assert (found.ttft, found.preemptions) == (None, 0)


# -- whatever else stands in a text ---------------------------------------------------------------

BODY = "vllm:num_requests_running 5\n"


@pytest.mark.parametrize(
    "around",
    [
        "$ curl -s localhost:8000/metrics\n{}user@host:~$ ",
        "PS C:\\> curl.exe http://x/metrics\n{}",
        "HTTP/1.1 200 OK\ncontent-type: text/plain\n\n{}",
        'Defaulted container "vllm" out of: vllm, init\n{}',
        "  % Total    % Received % Xferd\n100 123  100 123\n{}",
        'el="0.3",model_name="x"}} 5\n{}',
    ],
)
def test_what_a_terminal_put_around_is_left_out_and_said(around):
    found = exposed.read(around.format(BODY))
    assert found.running == 5
    assert codes(found) == ["left_out"]


@pytest.mark.parametrize("prefix", ["> ", "12:", "metrics.txt:12:", "   3\t", "+ "])
def test_a_line_is_read_behind_what_stands_in_front(prefix):
    assert exposed.read(prefix + BODY).running == 5


def test_a_broken_line_of_the_engine_is_named_by_its_number():
    with pytest.raises(SimError) as error:
        exposed.read("# HELP x\nvllm:kv_cache_usage_perc 0.5\nvllm:what is this\n" + BODY)
    assert (error.value.code, error.value.values["line"]) == ("brought_not_metrics", 3)


@pytest.mark.parametrize("line", ['vllm:x{a="b', "vllm:num_req", 'vllm:x{a="b"}', "vllm:x{} 1e"])
def test_a_cut_last_line_is_left_out_and_said(line):
    found = exposed.read(BODY + line)
    assert (found.running, codes(found)) == (5, ["cut_line"])


OTHERS = {
    "up 1\nprocess_cpu_seconds_total 3\n": "brought_no_metrics",
    "tgi_queue_size 1\n": "brought_other_metrics",
    "nv_trt_llm_request_metrics 1\n": "brought_other_metrics",
    "dynamo_frontend_requests_total 1\n": "brought_other_metrics",
    "llamacpp:requests_processing 1\n": "brought_other_metrics",
    'DCGM_FI_DEV_GPU_UTIL{gpu="0"} 93\n': "brought_other_metrics",
    "# TYPE vllm:num_requests_running gauge\n": "brought_no_values",
    "<script>alert(1)</script>": "brought_not_metrics",
    "": "brought_no_metrics",
}


@pytest.mark.parametrize("text", OTHERS)
def test_other_texts_are_refused_by_name(text):
    with pytest.raises(SimError) as error:
        exposed.read(text)
    assert error.value.code == OTHERS[text]


def test_samples_are_those_of_the_prometheus_parser():
    text = metrics_example.example(runs.panel(CASES["kv_full"].code, 0))
    text += 'vllm:num_requests_waiting{a="q\\"}{,\\\\",b="\\n",} 1.5e1 1700000000000\n'
    theirs = {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }
    found = scrapes.read(text, by_engine.KNOWN)
    ours = {
        (name, tuple((key, _unescaped(value)) for key, value in labels)): value
        for scraped in (found.last, found.gpus)
        for name, own in scraped.items()
        for labels, value in own.items()
    }
    assert ours == {key: theirs[key] for key in theirs if scrapes._base(key[0]) in by_engine.KNOWN}
    assert len(ours) > 60


def _unescaped(text):
    return text.replace('\\"', '"').replace("\\n", "\n").replace("\\\\", "\\")


def test_the_list_of_series_names_the_releases_that_the_flags_were_looked_up_in():
    rows = (ASSETS / "series.csv").read_text("utf-8").splitlines()[1:]
    flags = (ASSETS / "flags.csv").read_text("utf-8")
    for row in rows:
        _, engine, _, _, version, _ = row.split(",")
        if engine != "DCGM":
            assert f",{engine},{version.removeprefix('gone by ')}," in flags, row
