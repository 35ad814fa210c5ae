"""Problems in words: every error that `sim` can raise says what is wrong, where, what instead."""

import ast
import re

import pytest

from sim.errors import SimError
from sim.workload import traces
from tests.chapters import LANGUAGES, ROOT
from ui.words import notes, problems

HAN = re.compile("[\u4e00-\u9fff]")
both_languages = pytest.mark.parametrize("code", LANGUAGES)


def raised():
    """Where `sim` raises an error: (code, names of its values, None for `**`, and the place)."""
    for file in (ROOT / "sim").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                at = {"SimError": 0, "require": 1}.get(node.func.id, len(node.args))
                for code in node.args[at : at + 1]:
                    if isinstance(code, ast.Constant):
                        yield code.value, {k.arg for k in node.keywords}, f"{file}:{node.lineno}"


def codes():
    """Every code that `sim` can raise."""
    return sorted({code for code, _, _ in raised()})


# What a reader can bring about with the controls of a page or with a file.
REACHABLE: dict[str, dict[str, object]] = {
    "cv_out_of_range": {"value": -2, "lowest": 0.01, "highest": 100.0},
    "format_unknown": {"value": "int3", "known": ("bf16", "int4")},
    "heads_not_divisible": {"model": "Qwen2.5-7B", "value": 8, "q_heads": 28, "kv_heads": 4},
    "length_range_empty": {"low": 9, "high": 4},
    "measurement_cut_short": {"done": 3, "total": 8},
    "model_does_not_fit": {"model": "Llama-3.1-70B", "gpu": "RTX 4090"},
    "num_users_below_one": {"value": 0},
    "run_too_long": {"most": 30},
    "no_progress": {"request_id": 3, "num_tokens": 9, "seconds": 1.0},
    "p99_out_of_range": {"mean": 9, "p99": 1},
    "seed_negative": {"value": -7},
    "speed_infinite": {},
    "tensor_parallel_unknown": {"value": 3, "known": (1, 2, 4, 8)},
    "think_time_negative": {"value": -2},
    "trace_all_failed": {"value": 31},
    "trace_ambiguous": {"line": 2, "formats": ("azure", "plain")},
    "trace_bad_value": {"line": 7, "column": "ContextTokens", "value": "x", "expected": "count"},
    "trace_column_missing": {"line": 1, "column": "GeneratedTokens", "format": "azure"},
    "trace_column_twice": {"line": 2, "column": "ContextTokens"},
    "trace_empty": {},
    "trace_hashes_do_not_fit": {},
    "trace_no_rows": {"line": 1, "format": "burstgpt"},
    "trace_not_commas": {"line": 1, "separator": ";"},
    "trace_not_csv": {"line": 7, "reason": "unexpected end of data"},
    "trace_not_json": {"line": 7},
    "trace_not_text": {},
    "trace_nul": {"line": 7},
    "trace_too_long": {"most": 40_000},
    "trace_too_many_hashes": {"most": 1_000_000},
    "trace_unknown_format": {"line": 3, "value": "in,out"},
}


def test_the_search_for_codes_finds_them():
    raised_by_ui = {"trace_not_text", "run_too_long"}
    assert set(REACHABLE) - raised_by_ui <= set(codes())
    assert len(codes()) > 25


def test_every_place_that_raises_an_error_gives_the_values_that_its_words_need():
    lacking = {
        place: sorted(set(REACHABLE[code]) - values)
        for code, values, place in raised()
        if code in REACHABLE and None not in values  # ** may bring any
    }
    assert not any(lacking.values()), lacking


@both_languages
@pytest.mark.parametrize("name", REACHABLE)
def test_an_error_a_reader_can_cause_says_what_is_wrong_and_where(read, code, name):
    read(code)
    said = problems.error(SimError(name, **REACHABLE[name]))
    assert name not in said  # its own message, not the fallback
    assert bool(HAN.search(said)) == (code == "zh")
    for key in ("line", "column", "value", "gpu", "model", "low", "high", "lowest", "highest"):
        assert str(REACHABLE[name].get(key, "")) in said
    assert said.endswith(("。", "."))


@both_languages
def test_what_cannot_be_chosen_is_told_what_can(read, code):
    read(code)
    listed = {"zh": "bf16、int4", "en": "bf16, int4"}[code]
    assert listed in problems.error(SimError("format_unknown", **REACHABLE["format_unknown"]))
    said = problems.error(SimError("heads_not_divisible", **REACHABLE["heads_not_divisible"]))
    assert "28" in said
    assert "4 KV" in said or "4 个 KV" in said


@both_languages
@pytest.mark.parametrize(
    ("expected", "words"),
    [
        ("timestamp", "2023-11-16"),
        ("time_in_seconds", "1,000,000,000"),
        ("time_in_order", "queued_ts"),
        ("time_in_span", "1,000,000,000"),
        ("count", "10,000,000"),
        ("present", ""),
    ],
)
def test_a_bad_value_says_what_was_expected(read, code, expected, words):
    read(code)
    said = problems.error(
        SimError("trace_bad_value", line=2, column="TIMESTAMP", value="?", expected=expected)
    )
    assert expected not in said
    assert words in said
    assert not re.search(f"{HAN.pattern}\\d", said)


@both_languages
@pytest.mark.parametrize("name", ["trace_empty", "trace_unknown_format"])
def test_a_file_of_no_format_is_told_every_format_and_its_columns(read, code, name):
    read(code)
    said = problems.error(SimError(name, **REACHABLE[name]))
    for known, columns in traces.FORMATS.items():
        assert notes.trace_format(known) in said
        assert [column for column in columns if column not in said] == []


@both_languages
def test_a_file_that_nearly_has_a_format_is_told_that_one_and_its_columns(read, code):
    read(code)
    for name in ("trace_column_missing", "trace_no_rows", "trace_ambiguous"):
        values = REACHABLE[name]
        meant = {str(values["format"])} if "format" in values else {"azure", "plain"}
        said = problems.error(SimError(name, **values))
        told = {known for known in traces.FORMATS if notes.trace_format(known) in said}
        assert told == meant
        for known in meant:
            assert [column for column in traces.FORMATS[known] if column not in said] == []


def test_a_wrong_separator_is_named(read):
    words = {
        ("zh", ";"): "分号",
        ("zh", "\t"): "制表符",
        ("en", ";"): "semicolon",
        ("en", "\t"): "tab",
    }
    for (code, mark), word in words.items():
        read(code)
        assert word in problems.error(SimError("trace_not_commas", line=1, separator=mark))


def test_what_nobody_can_see_is_shown_as_a_mark(read):
    read("en")
    where = {"line": 2, "column": "ContextTokens", "expected": "count"}
    said = problems.error(SimError("trace_bad_value", value="4\n8\x1b\u202e\ud800", **where))
    assert "“4\ufffd8\ufffd\ufffd\ufffd”" in said


@both_languages
@pytest.mark.parametrize("name", sorted(set(codes()) - set(REACHABLE)))
def test_every_other_error_is_at_least_named_with_its_values(read, code, name):
    read(code)
    said = problems.error(SimError(name, value=-1))
    assert name in said
    assert "-1" in said
    assert bool(HAN.search(said)) == (code == "zh")
