"""Each small text of `golden/brought` reads as its README there says, in both languages' words."""

import json
import re
from pathlib import Path

import jsonschema
import pytest

from sim.errors import SimError
from sim.model.constrained import json_schema
from sim.model.constrained.automaton import compiled
from sim.studies.clinic import Slo, Thresholds
from sim.workload import traces
from ui.subjects.clinic import bring, brought_notes, metrics_text
from ui.words import language

FOLDER = Path(__file__).parent / "golden" / "brought"
CASES = sorted(file.name for file in FOLDER.iterdir() if file.name != "README.md")

# What the page says of a text that is brought, and what it must not say.
BRING: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "overflow_bucket.txt": (("TTFT p99 more than 10.0 s (mean 21.0 s)", "Queueing"), ("kept",)),
    "bench_all_failed.json": (
        ("TTFT p99 missing, ITL p99 missing, completed 0, failed 500", "No request completed"),
        ("kept", "keeps"),
    ),
    "bench_no_stream.json": (
        ("TTFT p99 missing, ITL p99 missing, completed 500", "TTFT and ITL of 0"),
        ("kept", "keeps"),
    ),
    "sglang_tp_ranks.txt": (("running 25", "waiting 3"), ("100", "12")),
    "sglang_retracted.txt": (("preemptions 320",), ()),
    "sglang_hit_rate.txt": (("hit rate 60.0%",), ()),
    "two_scrapes.txt": (
        ("running 5", "preemptions 42, of them 2 in this span", "KV 35.0%"),
        ("running 7", "82", "95"),
    ),
    "idle_after_load.txt": (("it was full before", "preemptions 2,900"), ("KV has room",)),
    "dcgm_whole_node.txt": (
        ("GPUs read: 8", "bandwidth 0% to 80.0%", "compute 0% to 30.0%", "Idle: 7"),
        ("oth low",),
    ),
    "first_bucket_only.txt": (("TTFT p99 at most 1.00 ms", "ITL p99 at most 10.0 ms"), ("990",)),
    "one_request.txt": (
        ("between 250 ms and 500 ms (mean 310 ms)", "1 request only", "too few"),
        ("498",),
    ),
    "bench_sglang.json": (("SGLang bench_serving", "800 ms"), ("vllm bench",)),
    "sglang_missing_names.txt": (("`sglang:time_to_first_token_seconds`",), ("vllm:",)),
    "help_only.txt": (("vLLM's text", "has not served a request yet"), ()),
    "ray_prefix.txt": (("vLLM", "KV 90.0%"), ()),
    "utf8_bom.txt": (("vLLM", "KV 50.0%"), ()),
    "bench_bom.json": (("TTFT p99 800 ms", "Both targets are kept"), ()),
    "code_fence.txt": (("KV 50.0%", "fences"), ()),
    "cut_last_line.txt": (("KV 50.0%", "last line (2) is cut"), ()),
    "bench_two_lines.json": (("TTFT p99 9.00 s", "Results found: 2; the last"), ("800 ms",)),
    "bench_report.txt": (("vllm bench serve", "TTFT p99 800 ms, ITL p99 40.0 ms"), ()),
}
TRACES = {
    "trace_mooncake.json": [(0.0, 600, 50), (3.0, 900, 40)],
    "trace_float_tokens.csv": [(0.0, 400, 18)],
}
# A pattern or schema: what has to be written, what must never be, or the code of its refusal.
FORMATS: dict[str, str | tuple[tuple[str, ...], tuple[str, ...]]] = {
    "regex_digit_dash.txt": "pattern_range_backwards",
    "regex_unicode_escape.txt": (("一", "中文"), ("a", "")),
    "regex_flags_lazy.txt": "pattern_unsupported",
    "schema_required_unlisted.json": "schema_not_honoured",
    "schema_map.json": (('{"tags":{}}',), ('{"tags":{"a":1}}', "{}")),
    "schema_enum_type.json": (('"on"', '"off"'), ("null",)),
    "schema_default.json": (('{"n":3}',), ('{"n":"x"}',)),
    "schema_over_160.json": (('{"name":"Li","age":3,"ok":true}',), ('{"name":"Li"}',)),
}


@pytest.fixture(autouse=True)
def _english(monkeypatch):
    monkeypatch.setattr(language, "current", lambda: "en")


def page(name):
    """What stands on the page once a file is brought."""
    slo, limits = Slo(10, 0.1), Thresholds()
    try:
        found = metrics_text.read_text((FOLDER / name).read_bytes())
    except SimError as error:
        return brought_notes.problem(error)
    said = (found.source, bring.span(found), bring.answers(found, slo, limits))
    return "\n".join((*said, bring.notes(found), bring.missing(found)))


@pytest.mark.parametrize("name", CASES)
def test_a_brought_text_is_read_as_its_readme_says(name):
    if name in BRING:
        told, never = BRING[name]
        said = page(name)
        assert [words for words in told if words not in said] == [], said
        assert [words for words in never if words in said] == [], said
    elif name in TRACES:
        found = traces.read((FOLDER / name).read_text("utf-8")).requests
        own = [(one.arrival_seconds, one.prompt_tokens, one.output_tokens) for one in found]
        assert own == TRACES[name]
    else:
        check_format(name, (FOLDER / name).read_text("utf-8").strip("\n"))


def automaton_of(name, text):
    """The automaton of a format, or the code of its refusal."""
    try:
        return compiled(json_schema.pattern(text) if name.startswith("schema") else text)
    except SimError as error:
        return error.code


def check_format(name, text):
    expected, machine = FORMATS[name], automaton_of(name, text)
    if isinstance(expected, str) or isinstance(machine, str):
        assert machine == expected
        return
    right, wrong = expected
    assert [one for one in right if not machine.accepts(one)] == []
    assert [one for one in wrong if machine.accepts(one)] == []
    for one in right:
        if name.startswith("schema"):
            jsonschema.validate(json.loads(one), json.loads(text))
        else:
            assert re.fullmatch(text, one)


def test_every_case_is_held_to_something():
    assert set(CASES) == {*BRING, *TRACES, *FORMATS}
