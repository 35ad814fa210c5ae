"""Recorded traffic is read as it was written, or refused with a line, a column and a reason."""

import csv
import io
import json
import math
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.errors import SimError
from sim.request import Request
from sim.workload import GammaArrivals, LognormalLength, UniformLength, Workload, traces
from sim.workload.traces import FORMATS, read

TRACES = Path(__file__).parents[4] / "shared" / "traces"
MEASURED = "llmservingsim_vllm_rtx4090_llama31_8b_requests.jsonl"

AZURE = "TIMESTAMP,ContextTokens,GeneratedTokens\n"
BURSTGPT = "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n"
PLAIN = "arrival_s,prompt_tokens,output_tokens\n"
GOOD = AZURE + "2023-11-16 18:17:03.9799600,4808,10\n2023-11-16 18:17:04.0319600,3180,8\n"
ENTRY = {
    "request_id": "a",
    "queued_ts": 100.0,
    "scheduled_ts": 100.5,
    "first_token_ts": 102.0,
    "last_token_ts": 103.0,
    "input_toks": 70,
    "output_toks": 5,
}


def beside(name: str) -> str:
    path = TRACES / name
    if not path.exists():
        pytest.skip(f"no {name} beside this checkout")
    return path.read_text(encoding="utf-8")


def lines_of(*entries: dict) -> str:
    return "".join(json.dumps(entry) + "\n" for entry in entries)


def arrivals_of(requests) -> np.ndarray:
    return np.array([request.arrival_seconds for request in requests])


def triples(text: str) -> list[tuple[float, int, int]]:
    return [(r.arrival_seconds, r.prompt_tokens, r.output_tokens) for r in read(text).requests]


def refusal(text: str) -> tuple[str, dict]:
    with pytest.raises(SimError) as error:
        read(text)
    return error.value.code, error.value.values


# -- the four formats -------------------------------------------------------------------------


def test_an_azure_file_counts_time_from_its_first_request():
    trace = read(GOOD)
    assert (trace.format, trace.num_rows, trace.num_skipped, trace.measured) == ("azure", 2, 0, ())
    assert [(r.prompt_tokens, r.output_tokens) for r in trace.requests] == [(4808, 10), (3180, 8)]
    assert arrivals_of(trace.requests) == pytest.approx([0.0, 0.052], abs=1e-6)


@pytest.mark.parametrize(
    ("name", "rows", "span", "rate", "gap_cv", "prompt", "output"),
    [
        ("conv", 19_366, 3502, 5.53, 1.09, (1154.7, 1020, 4142), (211.1, 129, 601)),
        ("code", 8_819, 3436, 2.57, 13.15, (2047.8, 1469, 7436), (27.9, 13, 251)),
    ],
)
def test_the_azure_traces_have_their_published_statistics(
    name, rows, span, rate, gap_cv, prompt, output
):
    trace = read(beside(f"AzureLLMInferenceTrace_{name}.csv"))
    assert trace.num_rows == len(trace.requests) == rows
    times = arrivals_of(trace.requests)
    gaps = np.diff(times)
    assert times[0] == 0.0
    assert times[-1] == pytest.approx(span, abs=1)
    assert rows / times[-1] == pytest.approx(rate, abs=0.005)
    assert np.std(gaps) / np.mean(gaps) == pytest.approx(gap_cv, abs=0.006)
    for field, (mean, p50, p99) in (("prompt_tokens", prompt), ("output_tokens", output)):
        values = np.array([getattr(request, field) for request in trace.requests])
        assert np.mean(values) == pytest.approx(mean, abs=0.06)
        assert np.percentile(values, 50) == p50
        assert np.percentile(values, 99) == pytest.approx(p99, abs=1)


def test_a_burstgpt_file_counts_time_from_its_first_request():
    text = BURSTGPT + "5,ChatGPT,472,18,490,Conversation log\n45.5,GPT-4,1087,230,1317,API log\n"
    assert triples(text) == [(0.0, 472, 18), (40.5, 1087, 230)]
    assert read(text).format == "burstgpt"


def test_failed_requests_of_burstgpt_are_left_out_and_counted():
    text = BURSTGPT + "".join(
        f"{row},API log\n"
        for row in ("5,ChatGPT,0,0,0", "6,ChatGPT,9,0,9", "7,GPT-4,0,3,3", "8,GPT-4,30,4,34")
    )
    trace = read(text)
    assert (trace.num_rows, trace.num_skipped) == (4, 3)
    assert trace.requests == (Request(0, 0.0, 30, 4),)


def test_a_burstgpt_file_of_failures_alone_is_refused():
    assert refusal(BURSTGPT + "5,ChatGPT,7,0,7,API log\n" * 3) == ("trace_all_failed", {"value": 3})


@pytest.mark.parametrize(
    ("header", "when", "column"),
    [(AZURE, "2023-11-16 18:17:03", "GeneratedTokens"), (PLAIN, "1.5", "output_tokens")],
)
def test_a_row_without_an_answer_is_left_out_and_counted_in_every_format(header, when, column):
    trace = read(header + f"{when},5,0\n{when},5,7\n{when},0,7\n")
    assert (trace.num_rows, trace.num_skipped) == (3, 2)
    assert [one.output_tokens for one in trace.requests] == [7]
    assert refusal(header + f"{when},5,0\n") == ("trace_all_failed", {"value": 1})


@pytest.mark.parametrize("cell", ["400.0", "400.", "400.000"])
def test_a_whole_number_may_be_written_with_a_point(cell):
    assert triples(PLAIN + f"0,{cell},18.0\n") == [(0.0, 400, 18)]


HASHED = {"timestamp": 0, "input_length": 1100, "output_length": 50, "hash_ids": [7, 8, 9]}


def hashed(*rows):
    return lines_of(
        *(
            {"timestamp": t, "input_length": n, "output_length": 5, "hash_ids": h}
            for t, n, h in rows
        )
    )


def alike(text):
    """How many blocks of 16 tokens a server's prefix cache finds for each request of a trace."""
    blocks, found = set(), []
    for one in read(text).requests:
        own = [one.block_content(at, 16) for at in range(one.prompt_tokens // 16)]
        hits = [content in blocks for content in own]
        found.append(hits.index(False) if False in hits else len(hits))
        blocks.update(own)
    return found


def test_mooncake_counts_in_milliseconds_and_bailian_in_seconds():
    mooncake = lines_of(HASHED | {"timestamp": 3000}, HASHED | {"timestamp": 4500.0})
    assert triples(mooncake) == [(0.0, 1100, 50), (1.5, 1100, 50)]
    assert read(mooncake).format == "mooncake"
    chat = HASHED | {"chat_id": 1, "input_length": 40, "hash_ids": [1, 2, 3]}
    bailian = lines_of(chat | {"timestamp": 61.5}, chat | {"timestamp": 63.0, "chat_id": 2})
    assert triples(bailian) == [(0.0, 40, 50), (1.5, 40, 50)]
    assert read(bailian).format == "bailian"


def test_prompts_with_the_same_hashes_begin_alike_and_no_further():
    text = hashed((0, 1536, [1, 2, 3]), (1, 1536, [1, 2, 4]), (2, 512, [1]), (3, 512, [5]))
    assert alike(text) == [0, 64, 32, 0]
    small = hashed((0, 48, [1, 2, 3]), (1, 48, [1, 2, 4]), (2, 40, [9, 2, 3]))
    assert alike(small) == [0, 2, 0]  # of a prompt that begins otherwise nothing is the same


def test_what_begins_alike_is_as_few_segments_as_prompts_part():
    ids = list(range(100))
    text = hashed((0, 51_200, ids), (1, 51_200, ids), (2, 51_200, [*ids[:40], *range(200, 260)]))
    requests = read(text).requests
    assert [[piece.num_tokens for piece in one.prefix] for one in requests] == [
        [20_480, 30_720],
        [20_480, 30_720],
        [20_480],
    ]


def test_a_file_that_would_take_long_is_refused():
    assert len(read(PLAIN + "1,2,3\n" * 40_000).requests) == 40_000
    assert refusal(PLAIN + "1,2,3\n" * 40_001)[0] == "trace_too_long"
    prompt = (0, 16 * 100_000, list(range(100_000)))
    assert refusal(hashed(*[prompt] * 11))[0] == "trace_too_many_hashes"


def test_hashes_that_fit_no_block_size_are_refused():
    text = hashed((0, 1000, [1, 2]), (1, 10, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]))
    assert refusal(text)[0] == "trace_hashes_do_not_fit"


@pytest.mark.parametrize("value", ["x", {"a": 1}, [1, "x"], [True], [1.5], None])
def test_hashes_are_a_list_of_whole_numbers(value):
    code, values = refusal(lines_of(HASHED, HASHED | {"hash_ids": value}))
    assert (code, values["line"], values["column"]) == ("trace_bad_value", 2, "hash_ids")


def test_the_published_mooncake_trace_is_read():
    trace = read(beside("mooncake_conversation_trace.jsonl"))
    assert (trace.format, len(trace.requests), trace.num_skipped) == ("mooncake", 12_031, 0)
    assert trace.requests[-1].arrival_seconds == pytest.approx(3_537, abs=1)
    shared = sum(one.named_tokens for one in trace.requests)
    assert shared / sum(one.prompt_tokens for one in trace.requests) > 0.366


CHATS = [
    {"id": "a", "conversations": [{"from": "human", "value": "one two"},
                                  {"from": "gpt", "value": "three"}]},
    {"id": "b", "conversations": [{"from": "gpt", "value": "late"},
                                  {"from": "human", "value": "four"},
                                  {"from": "gpt", "value": "five six seven"}]},
    {"id": "c", "conversations": [{"from": "human", "value": "alone"}]},
    {"messages": [{"role": "system", "content": "be brief"}, {"role": "user", "content": "a b"},
                  {"role": "assistant", "content": "c d"}]},
]  # fmt: skip


@pytest.mark.parametrize("lines", [True, False])
def test_conversations_are_requests_of_their_first_turn_one_a_second_on_average(lines):
    text = (
        "".join(json.dumps(one) + "\n" for one in CHATS) if lines else json.dumps(CHATS, indent=1)
    )
    trace = read(text, lambda words: len(words.split()))
    assert (trace.format, trace.num_rows, trace.num_skipped) == ("sharegpt", 4, 1)
    assert [(one.prompt_tokens, one.output_tokens) for one in trace.requests] == [
        (2, 1),
        (1, 3),
        (2, 2),
    ]
    many = read(json.dumps(CHATS[:1] * 2_000), lambda words: len(words.split()))
    assert many.requests[-1].arrival_seconds == pytest.approx(2_000, rel=0.1)


def test_conversations_are_read_up_to_what_can_be_counted():
    long = {"conversations": [{"from": "human", "value": "x" * 300_000},
                              {"from": "gpt", "value": "y"}]}  # fmt: skip
    trace = read(json.dumps([long, long, CHATS[0]]), lambda words: len(words))
    assert (len(trace.requests), trace.num_skipped) == (2, 1)


def test_a_plain_file_is_taken_at_its_word():
    assert triples(PLAIN + "2.5,10,3\n4,20,6\n") == [(2.5, 10, 3), (4.0, 20, 6)]
    assert read(PLAIN + "2.5,10,3\n").format == "plain"


def written(requests) -> str:
    """The requests as a plain CSV, by Python's own writer."""
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow(FORMATS["plain"])
    writer.writerows((r.arrival_seconds, r.prompt_tokens, r.output_tokens) for r in requests)
    return file.getvalue()


REQUESTS = st.lists(
    st.tuples(
        st.floats(0, traces.MAX_SECONDS),
        st.integers(1, traces.MAX_TOKENS),
        st.integers(1, traces.MAX_TOKENS),
    ),
    min_size=1,
    max_size=12,
).map(
    lambda rows: tuple(
        Request(index, *row) for index, row in enumerate(sorted(rows, key=lambda row: row[0]))
    )
)


@given(REQUESTS)
def test_requests_written_as_a_plain_file_are_read_as_the_same_requests(requests):
    trace = read(written(requests))
    assert trace.requests == requests
    assert trace.num_rows == len(requests)


def test_a_generated_workload_survives_the_way_through_a_file():
    work = Workload(300, GammaArrivals(3.0, 4.0), UniformLength(5, 500), LognormalLength(50, 300))
    assert read(written(work.requests())).requests == work.requests()


def test_a_measured_run_tells_when_requests_came_and_what_the_server_took():
    later = ENTRY | {"queued_ts": 101.0, "scheduled_ts": 101.0, "input_toks": 8}
    trace = read(lines_of(later, ENTRY))
    assert trace.format == "measured"
    assert trace.requests == (Request(0, 0.0, 70, 5), Request(1, 1.0, 8, 5))
    first, second = trace.measured
    assert first == traces.Measured(queue_time=0.5, ttft=2.0, tpot=0.25, e2e=3.0)
    assert (second.queue_time, second.ttft, second.e2e) == (0.0, 1.0, 2.0)


def test_an_answer_of_one_token_has_no_tpot():
    one = ENTRY | {"output_toks": 1, "last_token_ts": ENTRY["first_token_ts"]}
    (measured,) = read(lines_of(one)).measured
    assert math.isnan(measured.tpot)
    assert measured.ttft == measured.e2e == 2.0


def test_the_run_on_a_real_server_has_300_requests_with_their_times():
    trace = read(beside(MEASURED))
    assert len(trace.requests) == len(trace.measured) == trace.num_rows == 300
    assert trace.requests[0] == Request(0, 0.0, 2358, 531)
    first = trace.measured[0]  # from the first line of the file, by hand
    assert first.queue_time == pytest.approx(20.579e-6, abs=1e-9)
    assert first.ttft == pytest.approx(0.689434586)
    assert first.tpot == pytest.approx(16.880882965 / 530)
    assert first.e2e == pytest.approx(17.570317551)
    assert all(m.queue_time <= m.ttft <= m.e2e for m in trace.measured)


def test_the_earliest_requests_keep_their_measured_times_and_the_file_its_count():
    later = ENTRY | {"queued_ts": 101.0, "scheduled_ts": 101.0}
    trace = read(lines_of(later, ENTRY))
    first = trace.first(1)
    assert (first.requests, first.measured) == (trace.requests[:1], trace.measured[:1])
    assert first.num_rows == 2
    assert trace.first(9) == trace


# -- which format it is -----------------------------------------------------------------------


def test_columns_are_found_by_name_and_more_of_them_do_no_harm():
    text = "note,output_tokens,arrival_s,note,prompt_tokens\nx,3,2.5,y,10\n"
    assert triples(text) == [(2.5, 10, 3)]


@pytest.mark.parametrize("name", FORMATS)
def test_every_column_of_every_format_is_needed(name):
    if name in ("bailian", "sharegpt"):  # without its own key it is another one
        return
    for column in FORMATS[name]:
        others = [other for other in FORMATS[name] if other != column]
        if name in ("measured", "mooncake"):
            text = "\n" + lines_of(dict.fromkeys(others, 5))
        else:
            text = "\n" + ",".join(others) + "\n1,2\n"
        expected = {"line": 2, "column": column, "format": name}
        assert refusal(text) == ("trace_column_missing", expected)


@pytest.mark.parametrize(
    ("text", "line", "value"),
    [
        ("time,in,out\n1,2,3\n", 1, "time,in,out"),
        ("\n\n0.5,100,20\n", 3, "0.5,100,20"),
        (
            "timestamp,contexttokens,generatedtokens\n",
            1,
            "timestamp,contexttokens,generatedtokens"[:40],
        ),
        ('{"when": 0, "length": 6758}\n', 1, "when,length"),
        ('[{"queued_ts": 1}]\n', 1, '[{"queued_ts": 1}]'),
        ("{}", 1, ""),
        ("x" * 5000, 1, "x" * 40),
    ],
    ids=["other names", "no header", "case", "other json", "json array", "no keys", "long"],
)
def test_an_unknown_first_line_is_shown_and_no_format_is_guessed(text, line, value):
    assert refusal(text) == ("trace_unknown_format", {"line": line, "value": value})


def test_a_header_that_fits_two_formats_is_refused():
    code, values = refusal(AZURE.strip() + "," + PLAIN + "2023-11-16 18:17:03,5,6,1,5,6\n")
    assert code == "trace_ambiguous"
    assert values == {"line": 1, "formats": ("azure", "plain")}


@pytest.mark.parametrize("name", ["azure", "burstgpt", "plain"])
def test_a_column_that_is_there_twice_is_refused(name):
    for column in FORMATS[name]:
        header = ",".join([*FORMATS[name], column])
        assert refusal(header + "\n1,2,3,4\n") == (
            *("trace_column_twice", {"line": 1, "column": column}),
        )


def test_a_key_that_is_there_twice_is_refused():
    text = lines_of(ENTRY) + lines_of(ENTRY).replace("{", '{"input_toks": 1, ', 1)
    assert refusal(text) == ("trace_column_twice", {"line": 2, "column": "input_toks"})


@pytest.mark.parametrize("mark", [";", "\t"])
@pytest.mark.parametrize("header", [AZURE, BURSTGPT, PLAIN])
def test_cells_separated_by_anything_but_commas_are_refused_at_the_header(mark, header):
    text = (header + "1,2,3\n").replace(",", mark)
    assert refusal(text) == ("trace_not_commas", {"line": 1, "separator": mark})


@pytest.mark.parametrize("text", ["", "\ufeff", "\n\n", " \t\r\n", ",,\n", "\u3000\n"])
def test_a_file_that_says_nothing_is_empty(text):
    assert refusal(text) == ("trace_empty", {})


@pytest.mark.parametrize(
    ("header", "name"), [(AZURE, "azure"), (BURSTGPT, "burstgpt"), (PLAIN, "plain")]
)
@pytest.mark.parametrize("rest", ["", "\n ,, \n"])
def test_a_header_alone_is_refused(header, name, rest):
    assert refusal("\n" + header + rest) == ("trace_no_rows", {"line": 2, "format": name})


# -- however an editor left it ------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "\ufeff" + GOOD,
        GOOD.replace("\n", "\r\n"),
        GOOD.replace("\n", "\n\n"),
        GOOD + "\n  \n,,\n",
        GOOD.rstrip("\n"),
        GOOD.replace("4808", '"4808"').replace("TIMESTAMP", '"TIMESTAMP"'),
        GOOD.replace(",", " , "),
        GOOD.replace("\n", ",extra\n"),
        GOOD.replace("\n", ',"two\n\nlines"\n'),
        GOOD.replace("\n2023", "\n\u3000\u30002023"),
    ],
    ids=[
        *("bom", "crlf", "blank lines", "empty rows", "no last newline", "quotes", "spaces"),
        *("more columns", "quoted newlines", "wide spaces"),
    ],
)
def test_a_csv_is_read_however_its_editor_left_it(text):
    assert read(text) == read(GOOD)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\n\n", " \n \n"])
@pytest.mark.parametrize("start", ["", "\ufeff", "\n  "])
def test_a_jsonl_is_read_however_its_editor_left_it(start, end):
    text = lines_of(ENTRY, ENTRY)
    assert read(start + text.replace("\n", end)) == read(text)


def test_a_time_zone_moves_the_clock():
    """The trace of 2024 writes the offset out, the one of 2023 leaves it away."""
    text = GOOD.replace(".9799600", ".9799600Z").replace("18:17:04.0319600", "19:17:04.032+01:00")
    assert arrivals_of(read(text).requests) == pytest.approx([0.0, 0.052], abs=1e-4)


@pytest.mark.parametrize(
    ("header", "early", "late"),
    [
        (AZURE, "2023-11-16 18:17:03", "2023-11-16 18:17:05"),
        ("Timestamp,Request tokens,Response tokens\n", "0", "2"),
        (PLAIN, "0", "2"),
    ],
)
def test_times_that_go_backwards_are_sorted_and_equal_ones_keep_their_order(header, early, late):
    text = header + f"{late},7,1\n{early},8,2\n{late},9,3\n"
    assert triples(text) == [(0.0, 8, 2), (2.0, 7, 1), (2.0, 9, 3)]


def test_lines_are_counted_as_an_editor_counts_them_blank_ones_too():
    bad = GOOD.replace("\n", "\r\n\r\n") + "2023-11-16 18:17:05,x,1\r\n"
    assert refusal(bad)[1]["line"] == 7


def test_a_row_over_several_lines_is_named_by_the_first_of_them():
    text = PLAIN.replace("\n", ",note\n") + '1,2,3,"a\n\nb"\n\n2,x,3,"c\n"\n'
    assert refusal(text)[1]["line"] == 6


def test_a_quoted_line_break_does_not_join_two_numbers():
    assert refusal(PLAIN + '1,"48\n08",3\n')[0] == "trace_bad_value"


# -- bad cells --------------------------------------------------------------------------------

WHEN = "2023-11-16 18:17:05"


@pytest.mark.parametrize(
    ("row", "column", "value", "expected"),
    [
        (f"{WHEN},-5,1", "ContextTokens", "-5", "count"),
        (f"{WHEN},nan,1", "ContextTokens", "nan", "count"),
        (f"{WHEN},inf,1", "ContextTokens", "inf", "count"),
        (f"{WHEN},1.5,1", "ContextTokens", "1.5", "count"),
        (f"{WHEN},1e3,1", "ContextTokens", "1e3", "count"),
        (f"{WHEN},\u0661\u0662,1", "ContextTokens", "\u0661\u0662", "count"),
        (f"{WHEN},,1", "ContextTokens", "", "count"),
        (f"{WHEN},5,10000001", "GeneratedTokens", "10000001", "count"),
        (f"{WHEN},5,{'9' * 5000}", "GeneratedTokens", "9" * 40, "count"),
        (f"{WHEN},5", "GeneratedTokens", "", "present"),
        (f"{WHEN}", "ContextTokens", "", "present"),
        (f"{WHEN};5;6", "TIMESTAMP", f"{WHEN};5;6", "timestamp"),
        ("yesterday,5,6", "TIMESTAMP", "yesterday", "timestamp"),
        ("2023-13-16 18:17:05,5,6", "TIMESTAMP", "2023-13-16 18:17:05", "timestamp"),
        (f"{WHEN}.x,5,6", "TIMESTAMP", f"{WHEN}.x", "timestamp"),
        (f"{WHEN}.1e9,5,6", "TIMESTAMP", f"{WHEN}.1e9", "timestamp"),
        (f"{WHEN}.1_0,5,6", "TIMESTAMP", f"{WHEN}.1_0", "timestamp"),
        (",5,6", "TIMESTAMP", "", "timestamp"),
        ("<script>alert(1)</script>,5,6", "TIMESTAMP", "<script>alert(1)</script>", "timestamp"),
    ],
)
def test_a_bad_cell_is_named_by_line_column_value_and_what_was_expected(
    row, column, value, expected
):
    code, values = refusal(GOOD + row + "\n" + f"{WHEN},5,6\n")
    assert code == "trace_bad_value"
    assert values == {"line": 4, "column": column, "value": value, "expected": expected}


NO_SECONDS = [
    *("-1", "nan", "inf", "-inf", "1e308", "1e999", "1_000", "0x10", "1.5.5", "", "soon"),
    *("\u0661\u0662", "1e", "e5", "2023-11-16 18:17:05", "1700000000000"),
]


@pytest.mark.parametrize("value", NO_SECONDS)
@pytest.mark.parametrize("name", ["burstgpt", "plain"])
def test_a_time_must_be_a_number_of_seconds_that_a_clock_can_show(name, value):
    code, values = refusal(",".join(FORMATS[name]) + f"\n1,5,6\n{value},5,6\n")
    assert code == "trace_bad_value"
    where = {"line": 3, "column": FORMATS[name][0]}
    assert values == where | {"value": value, "expected": "time_in_seconds"}


@pytest.mark.parametrize("order", [1, -1])
def test_dates_too_far_apart_are_named_by_the_line_and_column_of_the_later_read(order):
    years = ["1981-01-01 00:00:00", "2011-01-01 00:00:00", "2024-01-01 00:00:00"][::order]
    assert len(read(AZURE + "".join(f"{year},5,6\n" for year in years[:2])).requests) == 2
    code, values = refusal(AZURE + "".join(f"{year},5,6\n" for year in years))
    assert code == "trace_bad_value"
    where = {"line": 4, "column": "TIMESTAMP"}
    assert values == where | {"value": years[2], "expected": "time_in_span"}


def test_dates_as_far_apart_as_may_be_are_read():
    """A billion seconds are 11,574 days, 1 hour, 46 minutes and 40 seconds."""
    days = ["1990-01-01 00:00:00", "2021-09-09 01:46:40"]
    assert [when for when, *_ in triples(AZURE + "".join(f"{d},5,6\n" for d in days))] == [0, 1e9]


def test_a_date_without_a_fraction_is_the_whole_second():
    dates = ("2023-11-16 18:17:03.5", "2023-11-16 18:17:04")
    assert [when for when, *_ in triples(AZURE + "".join(f"{d},5,6\n" for d in dates))] == [0, 0.5]


def test_the_largest_values_that_are_allowed_are_read():
    assert triples(PLAIN + "1000000000,10000000,10000000\n") == [(1e9, 10_000_000, 10_000_000)]
    longest = ENTRY | {"input_toks": 10_000_000, "queued_ts": 0, "last_token_ts": 1_000_000_000}
    assert triples(lines_of(longest)) == [(0, 10_000_000, 5)]
    assert read(lines_of(longest)).measured[0].e2e == 1e9


@pytest.mark.parametrize(
    ("cell", "seconds"), [("0", 0), ("1e-05", 1e-5), ("1E2", 100), ("007.50", 7.5), (".5", 0.5)]
)
def test_a_time_may_be_written_in_any_usual_way(cell, seconds):
    assert triples(PLAIN + f"{cell},5,6\n") == [(seconds, 5, 6)]


@pytest.mark.parametrize(
    ("key", "value", "shown", "expected"),
    [
        ("input_toks", 5.5, "5.5", "count"),
        ("input_toks", True, "true", "count"),
        ("input_toks", "70", '"70"', "count"),
        ("output_toks", None, "null", "count"),
        ("output_toks", -3, "-3", "count"),
        ("output_toks", 10_000_001, "10000001", "count"),
        ("output_toks", {"a": []}, "{…}", "count"),
        ("queued_ts", "100", '"100"', "time_in_seconds"),
        ("queued_ts", -0.5, "-0.5", "time_in_seconds"),
        ("queued_ts", [[1]], "[…]", "time_in_seconds"),
        ("scheduled_ts", math.nan, "NaN", "time_in_seconds"),
        ("first_token_ts", math.inf, "Infinity", "time_in_seconds"),
        ("last_token_ts", 1e308, "1e+308", "time_in_seconds"),
        ("last_token_ts", False, "false", "time_in_seconds"),
        ("scheduled_ts", 99.0, "99.0", "time_in_order"),
        ("first_token_ts", 100.25, "100.25", "time_in_order"),
        ("last_token_ts", 101.5, "101.5", "time_in_order"),
    ],
)
def test_a_bad_value_of_a_measured_run_is_named_by_line_key_and_what_was_expected(
    key, value, shown, expected
):
    code, values = refusal("\n" + lines_of(ENTRY, ENTRY | {key: value}))
    assert code == "trace_bad_value"
    assert values == {"line": 3, "column": key, "value": shown, "expected": expected}


@pytest.mark.parametrize("key", FORMATS["measured"])
def test_a_key_that_later_lines_lack_is_named(key):
    without = {name: value for name, value in ENTRY.items() if name != key}
    code, values = refusal(lines_of(ENTRY, without))
    assert code == "trace_bad_value"
    assert values == {"line": 2, "column": key, "value": "", "expected": "present"}


@pytest.mark.parametrize(
    "bad",
    [
        "{",
        "[1]",
        "7",
        "null",
        '{"a": 1} x',
        "{'a': 1}",
        '{"a":' + "[" * 50_000,
        '{"a":' + "9" * 5000,
    ],
    ids=["cut", "array", "number", "null", "more", "quotes", "deep", "long number"],
)
def test_a_line_that_is_no_json_object_is_named(bad):
    assert refusal(lines_of(ENTRY) + bad + "\n") == ("trace_not_json", {"line": 2})


# -- garbage ----------------------------------------------------------------------------------


def test_a_nul_byte_is_named_by_its_line():
    assert refusal(GOOD.replace("3180", "31\x0080")) == ("trace_nul", {"line": 3})
    assert refusal("\x00" + GOOD) == ("trace_nul", {"line": 1})
    assert refusal("\n\x00" + GOOD) == ("trace_nul", {"line": 2})
    utf16 = GOOD.encode("utf-16-le").decode("utf-8")
    assert refusal(utf16) == ("trace_nul", {"line": 1})


def test_a_quote_that_is_never_closed_is_named_where_it_opens():
    rows = f"{WHEN},5,6\n" * 30_000
    for tail in (rows, rows[:2400]):
        code, values = refusal(GOOD + '"' + tail)
        assert (code, values["line"]) == ("trace_not_csv", 4)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (AZURE + f'"{WHEN},5,6\n' * 3, 2),
        (AZURE + "x" * 200_000, 2),
        (AZURE.replace("\n", "\r") + f"{WHEN},5,6\r", 1),
        ("\x01PNG\x1a\n\x89" * 50, 1),
        (AZURE + f'{WHEN},5,"6"7\n', 2),
    ],
    ids=["open quote", "endless cell", "old mac", "binary", "text after a quote"],
)
def test_garbage_is_an_error_with_a_line(text, line):
    code, values = refusal(text)
    assert code.startswith("trace_")
    assert values["line"] == line


def test_nine_megabytes_of_nothing_are_passed_over_and_still_counted():
    text = PLAIN + "\n" * 9_000_000 + "1,2,x\n"
    assert refusal(text)[1]["line"] == 9_000_002


def outcome(text: str) -> str:
    try:
        return "read" if read(text).requests else "nothing"
    except SimError as error:
        return "refused" if error.code.startswith("trace_") else error.code


HEADERS = st.sampled_from(["", AZURE, BURSTGPT, PLAIN, lines_of(ENTRY)])


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=200), HEADERS)
def test_no_text_makes_the_reader_fail_in_another_way(text, header):
    assert outcome(header + text) in ("read", "refused")


CELLS = st.sampled_from(
    [
        *("2023-11-16 18:17:05.1234567", "0001-01-01", "9999-12-31 23:59:59.9", "2023"),
        *("7", "0", "1e308", "-1", '"', ""),
    ]
)


@given(HEADERS, st.lists(st.lists(CELLS, min_size=1, max_size=4), max_size=5))
def test_no_mixture_of_cells_makes_the_reader_fail_in_another_way(header, rows):
    text = header + "\n".join(",".join(row) for row in rows)
    assert outcome(text) in ("read", "refused")


VALUES = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=3,
)


@given(st.dictionaries(st.sampled_from(sorted(ENTRY)), VALUES))
def test_no_values_in_json_make_the_reader_fail_in_another_way(changed):
    assert outcome(lines_of(ENTRY, ENTRY | changed)) in ("read", "refused")


SAMPLES = (
    GOOD,
    BURSTGPT + "5,ChatGPT,472,18,490,Conversation log\n",
    PLAIN + "2.5,10,3\n4,20,6\n",
    lines_of(ENTRY, ENTRY),
    hashed((0, 1536, [1, 2, 3]), (1, 1536, [1, 2, 4])),
    json.dumps(CHATS),
    "".join(json.dumps(one) + "\n" for one in CHATS),
)
SCRAPS = ("", "NaN", "1e999", "-1", "{", "[", '"', "\\", "\n", "\0", "9" * 400, "null", "\ud800")


def test_mutated_traces_are_read_or_refused_with_a_code():
    rng = np.random.default_rng(4)
    for _ in range(1_500):
        text = SAMPLES[rng.integers(len(SAMPLES))]
        for _ in range(rng.integers(1, 5)):
            at, length = rng.integers(len(text) + 1), rng.integers(1, 12)
            text = text[:at] + SCRAPS[rng.integers(len(SCRAPS))] + text[at + length :]
        with suppress(SimError):
            assert read(text).requests
