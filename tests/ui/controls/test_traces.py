"""An uploaded trace: a good one stays until a better one, a bad one says what and where."""

import pytest

from tests.ui.visits import WORKBENCH, address, go, opened
from ui.controls import traces

HEADER = "TIMESTAMP,ContextTokens,GeneratedTokens"
GOOD_ROW = "2023-11-16 18:15:46.6805900,374,44"


def csv(*rows, header=HEADER):
    return "\n".join([header, *rows]).encode()


def good(num_rows):
    return csv(*[f"2023-11-16 18:{at // 60:02d}:{at % 60:02d}.0,300,50" for at in range(num_rows)])


def trace_act(**query):
    return opened(WORKBENCH, part="trace", lang="en", **query)


def give(app, content, name="trace.csv"):
    app.file_uploader[0].set_value((name, content, "text/csv")).run()
    assert not app.exception, app.exception
    return app


def values(app):
    return [metric.value for metric in app.metric]


def said(app):
    return "\n".join(warning.value for warning in app.warning)


def test_a_good_trace_changes_the_numbers_and_the_text_counts_its_rows():
    app = trace_act()
    before = values(app)
    give(app, good(37))
    assert said(app) == ""
    assert values(app) != before
    assert any("37" in part.value for part in app.main.markdown)
    assert address(app) == {"part": "trace", "lang": "en"}


MEASURED = (
    '{"queued_ts": %d, "scheduled_ts": 50, "first_token_ts": 51, "last_token_ts": 60, '
    '"input_toks": 300, "output_toks": 50}'
)
OTHER_FORMATS = {
    "BurstGPT": csv("5,472,18", "7,9,3", header="Timestamp,Request tokens,Response tokens"),
    "plain CSV": csv("0.5,472,18", "7,9,3", header="arrival_s,prompt_tokens,output_tokens"),
    "measured-run JSONL": csv(MEASURED % 3, header=MEASURED % 2),
}


@pytest.mark.parametrize("name", OTHER_FORMATS)
def test_a_file_of_every_other_format_is_run_and_its_format_is_told(name):
    file = "trace.jsonl" if "JSONL" in name else "trace.csv"
    app = give(trace_act(), OTHER_FORMATS[name], file)
    assert said(app) == ""
    (told,) = [part.value for part in app.main.markdown if f"({name})" in part.value]
    assert "rows: 2" in told


def test_failed_requests_that_are_left_out_are_counted_for_the_reader():
    header = "Timestamp,Request tokens,Response tokens"
    app = give(trace_act(), csv("5,472,18", *["6,0,0"] * 13, header=header))
    (told,) = [part.value for part in app.main.markdown if "Failed requests" in part.value]
    assert told.endswith("13.")
    give(app, OTHER_FORMATS["BurstGPT"])
    assert not any("Failed requests" in part.value for part in app.main.markdown)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (csv(GOOD_ROW, "2023-11-16 18:15:47.0,many,44"), ("Line 3", "ContextTokens", "many")),
        (csv(GOOD_ROW, "2023-11-16 18:15:47.0,3,-1"), ("Line 3", "GeneratedTokens", "-1")),
        (csv("yesterday,3,4"), ("Line 2", "TIMESTAMP", "yesterday")),
        (csv("1,2", header="TIMESTAMP,ContextTokens"), ("Line 1", "GeneratedTokens")),
        (csv(), ("Line 1", "TIMESTAMP, ContextTokens, GeneratedTokens", "no rows")),
        (csv("1,2,3", header="when,in,out"), ("Line 1", "when,in,out", "BurstGPT", "arrival_s")),
        (csv(GOOD_ROW).replace(b",", b";"), ("Line 1", "semicolons", "commas")),
        (b'{"queued_ts": 1, "input_toks": 5}', ("Line 1", "output_toks")),
        (b"", ("empty", "Azure", "BurstGPT", "arrival_s", "queued_ts")),
        (b"\xff\xfe\x00\x01", ("UTF-8",)),
        (csv(GOOD_ROW).decode().encode("utf-16-le"), ("Line 1", "UTF-16")),
    ],
)
def test_a_bad_trace_says_what_and_where_and_the_last_good_run_stays(content, expected):
    app = give(trace_act(), good(37))
    before = values(app)
    give(app, content)
    for words in expected:
        assert words.lower() in said(app).lower()
    assert values(app) == before


def test_the_message_is_in_the_language_of_the_reader():
    app = give(trace_act(), csv("2023-11-16 18:15:47.0,many,44"))
    go(app, part="trace", lang="zh")
    for words in ("第 2 行", "ContextTokens", "应为"):
        assert words in said(app)


def test_the_trace_stays_while_the_reader_looks_elsewhere():
    app = give(trace_act(), good(37))
    before = values(app)
    go(app, part="explore", lang="en")
    assert values(app) != before
    go(app, part="trace", lang="en")
    assert values(app) == before


def test_of_more_requests_than_a_run_may_have_the_earliest_are_run_and_a_message_says_so(
    monkeypatch,
):
    monkeypatch.setattr(traces, "LIMIT", 500)
    app = give(trace_act(), good(901))
    for words in ("901 requests", "earliest 500", "At most 500"):
        assert words in said(app)
    go(app, part="trace", lang="zh")
    for words in ("901 个请求", "最早的 500 个"):
        assert words in said(app)


def test_twenty_thousand_requests_are_a_run_and_five_more_are_not():
    rows = "\n".join(["arrival_s,prompt_tokens,output_tokens", *["0,9,2"] * 20_005])
    kept = traces._parse(rows.encode())
    assert len(kept.requests) == 20_000
    assert "20,005" in traces.cut(kept)
    assert traces.cut(kept.first(20_000)) != ""
    assert traces.cut(traces._parse(rows[: -5 * len("0,9,2\n")].encode())) == ""


def test_text_from_the_file_is_shown_as_it_was_typed():
    app = give(trace_act(), csv("![x](http://example.org/x.png) $a$ :red[b],3,4"))
    shown = "\n".join(box.value for box in app.warning)
    assert "![x](" not in shown
    assert r"\[x\]\(http\://example" in shown


@pytest.mark.parametrize(
    ("row", "num_run"),
    [("0,1,2000000", 2), ("0,9000000,1", 5), ("0,1,9000000", 1)],  # of nine; at least one
)
def test_a_trace_that_would_run_for_hours_is_cut_where_it_gets_too_long(row, num_run):
    rows = csv(*[row] * 9, header="arrival_s,prompt_tokens,output_tokens")
    assert len(traces._parse(rows).requests) == num_run
