"""What happened in a step, in words: every event and every error, in both languages."""

import ast
import re
from dataclasses import fields
from typing import get_args

import pytest

from sim import engine, events, scheduler, stalls, traces, workload
from sim.cost import SimpleClock, StepTime
from sim.engine import Setup, Step, StepWork
from sim.errors import SimError
from sim.kv import Paged
from sim.request import Request
from tests.chapters import LANGUAGES, ROOT
from ui import language, notes

HAN = re.compile("[\u4e00-\u9fff]")
TERMS = {"token", "KV", "GPU", "CSV", "UTF"}  # that stay Latin in Chinese
both_languages = pytest.mark.parametrize("code", LANGUAGES)

EVENTS = {
    events.Arrived: events.Arrived(2),
    events.Rejected: events.Rejected(2, 99, 50),
    events.TooLong: events.TooLong(2, 99, 50),
    events.Admitted: events.Admitted(2, 0, False),
    events.FirstToken: events.FirstToken(2),
    events.BlockFull: events.BlockFull(2, 17),
    events.Evicted: events.Evicted(17),
    events.PoolFull: events.PoolFull(2, 4, 1),
    events.Compacted: events.Compacted(24),
    events.Preempted: events.Preempted(2, 640),
    events.Finished: events.Finished(2, 30),
    events.Released: events.Released((0, 2)),
}


@pytest.fixture
def read(monkeypatch):
    """`read("zh")`: from now on the reader reads Chinese."""
    return lambda code: monkeypatch.setattr(language, "current", lambda: code)


def latin(text):
    """Latin words that are neither a request's letter nor a term."""
    return set(re.findall(r"[A-Za-z]{2,}", text)) - TERMS


def step(*happened, work=(), running=(), waiting=(), finished=()):
    return Step(
        0, 0.0, 1.0, StepTime(1.0, 1.0, 0.0), work, running, waiting, finished, {}, 9, 9, happened
    )


def decoding(*who):
    return tuple(StepWork(each, 1, 20, False, True) for each in who)


# -- events -------------------------------------------------------------------------------------


def test_every_event_of_the_simulation_has_words():
    assert set(notes.WORDS) == set(EVENTS) == set(get_args(events.Event))


def test_a_player_stops_at_events_it_knows():
    assert set(notes.KINDS) <= set(EVENTS)
    assert len(set(notes.KINDS.values())) == len(notes.KINDS) - 1  # both refusals are one kind


@both_languages
@pytest.mark.parametrize("event", EVENTS.values(), ids=lambda event: type(event).__name__)
def test_an_event_is_said_in_the_readers_language_with_its_values(read, code, event):
    read(code)
    said = notes.WORDS[type(event)](event)
    assert bool(HAN.search(said)) == (code == "zh")
    if code == "zh":
        assert latin(said) == set()
    if hasattr(event, "request_id"):
        assert "C" in said
    for field in fields(event):
        value = getattr(event, field.name)
        if field.name not in ("request_id", "request_ids") and value:
            assert str(value) in said, field.name


@both_languages
@pytest.mark.parametrize(
    "event", [events.Admitted(0, 64, False), events.Admitted(0, 0, True)], ids=["hit", "resumed"]
)
def test_joining_with_a_cache_hit_and_joining_again_are_said_differently(read, code, event):
    read(code)
    said = {notes.admitted(event), notes.admitted(events.Admitted(0, 0, False))}
    assert len(said) == 2
    assert ("64" in notes.admitted(event)) == (event.hit_tokens == 64)


# -- names --------------------------------------------------------------------------------------


def test_requests_are_listed_by_letter(read):
    read("en")
    assert notes.names([0]) == "A"
    assert notes.names([0, 2]) == "A and C"
    assert notes.names([0, 1, 2]) == "A, B and C"
    read("zh")
    assert notes.names([0, 1, 2]) == "A、B、C"


def test_a_long_list_is_cut_and_counted(read):
    read("en")
    assert notes.names(range(9)) == "A, B, C, D, E, F and 3 more"
    assert notes.names(range(6)) == "A, B, C, D, E and F"
    read("zh")
    assert notes.names(range(9)) == "A、B、C、D、E、F 等 9 个"


# -- one sentence per step ----------------------------------------------------------------------

STEPS = {
    "idle": (None, {}),
    "decoding": (step(work=decoding(0, 1)), {}),
    "decoding, unseen event": (step(events.BlockFull(0, 7), work=decoding(0, 1)), {}),
    "decoding, arrival": (step(events.Arrived(5), work=decoding(0, 1)), {}),
    "one decoding": (step(work=decoding(0)), {}),
    "prefill goes on": (step(work=(StepWork(0, 8, 8, True, False),)), {}),
    "held": (step(work=decoding(1)), {"held": [0, 2]}),
    "stalled": (step(events.Admitted(3, 0, False)), {"stalled": [1]}),
    "joining together": (step(events.Admitted(0, 0, False), events.Admitted(1, 0, False)), {}),
    "done and gone": (step(events.Finished(0, 9), events.Released((0,))), {}),
    "done and kept": (step(events.Finished(0, 9)), {"held": [2]}),
    "all over": (step(events.Finished(1, 99), events.Released((0, 1, 2))), {}),
    "preempted": (step(events.PoolFull(1, 1, 0), events.Preempted(2, 70)), {}),
    "refused": (step(events.Rejected(4, 99, 50)), {}),
}


@both_languages
@pytest.mark.parametrize("name", STEPS)
def test_a_step_is_one_sentence(read, code, name):
    read(code)
    what, more = STEPS[name]
    said = notes.step_note(what, **more)
    assert said.endswith("。" if code == "zh" else ".")
    assert said.count("。" if code == "zh" else ". ") <= 1
    assert bool(HAN.search(said)) == (code == "zh")
    if code == "zh":
        assert latin(said) == set()
        assert not re.search(r"[,;:!?]", said)


def test_who_generates_is_said_when_nothing_else_happens(read):
    read("en")
    for name in ("decoding", "decoding, unseen event", "decoding, arrival"):
        assert notes.step_note(STEPS[name][0]) == "A and B generate one token each.", name
    assert notes.step_note(STEPS["prefill goes on"][0]) == "prefill goes on."
    assert notes.step_note(STEPS["one decoding"][0]) == "A generates one token."


def test_held_and_stalled_are_named(read):
    read("en")
    assert "the slots of A and C sit idle" in notes.step_note(step(work=decoding(1)), held=[0, 2])
    assert "A's slot sits idle" in notes.step_note(step(work=decoding(1)), held=[0])
    said = notes.step_note(step(events.Admitted(3, 0, False)), stalled=[1])
    assert said == "D joins the batch; B waits for the prefill."


def test_leaving_at_once_keeping_the_slot_and_leaving_together_are_told_apart(read):
    read("en")
    gone, kept, over = (
        notes.step_note(STEPS[name][0]) for name in ("done and gone", "done and kept", "all over")
    )
    assert "free at once" in gone
    assert "keeps its slot" in kept
    assert "all slots are released" in over


def test_several_that_finish_in_one_step_are_plural(read):
    read("en")
    both = (events.Finished(0, 9), events.Finished(1, 9))
    assert notes.step_note(step(*both)) == "A and B are done but keep their slots."
    said = notes.step_note(step(*both, events.Released((0, 1))))
    assert said == "A and B are done; their slots are free at once."


@both_languages
def test_every_step_of_runs_under_every_policy_can_be_said(read, code):
    read(code)
    requests = workload.of_lengths((5, 40, 12, 30, 9, 21), 24)
    clock = SimpleClock(10_000, 0.02)
    for policy in (
        scheduler.Static(3),
        scheduler.Dynamic(3, window_seconds=0.1),
        scheduler.Continuous(3),
        scheduler.Chunked(4, max_num_batched_tokens=32),
    ):
        for what in engine.steps(Setup(requests, policy, Paged(14), clock)):
            said = notes.step_note(what)
            assert bool(HAN.search(said)) == (code == "zh"), said
            assert len(said) < 160, said


def test_kinds_are_those_of_the_step_each_once_in_order():
    both = (events.Admitted(0, 0, False), events.Arrived(1), events.Admitted(1, 0, False))
    assert notes.kinds(step(*both, events.FirstToken(0))) == ("admitted", "first_token")
    assert notes.kinds(None) == ()


# -- errors -------------------------------------------------------------------------------------


def codes():
    """Every code that `sim` can raise."""
    found = set()
    for file in (ROOT / "sim").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                at = {"SimError": 0, "require": 1}.get(node.func.id, len(node.args))
                found |= {a.value for a in node.args[at : at + 1] if isinstance(a, ast.Constant)}
    return sorted(found)


# What a reader can bring about with the controls of a page or with a file.
REACHABLE: dict[str, dict[str, object]] = {
    "cv_out_of_range": {"value": -2, "lowest": 0.01, "highest": 100.0},
    "format_unknown": {"value": "int3", "known": ("bf16", "int4")},
    "heads_not_divisible": {"model": "Qwen2.5-7B", "value": 8, "q_heads": 28, "kv_heads": 4},
    "length_range_empty": {"low": 9, "high": 4},
    "measurement_cut_short": {"done": 3, "total": 8},
    "model_does_not_fit": {"model": "Llama-3.1-70B", "gpu": "RTX 4090"},
    "num_users_below_one": {"value": 0},
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
    "trace_no_rows": {"line": 1, "format": "burstgpt"},
    "trace_not_commas": {"line": 1, "separator": ";"},
    "trace_not_csv": {"line": 7, "reason": "unexpected end of data"},
    "trace_not_json": {"line": 7},
    "trace_not_text": {},
    "trace_nul": {"line": 7},
    "trace_unknown_format": {"line": 3, "value": "in,out"},
}


def test_the_search_for_codes_finds_them():
    assert set(REACHABLE) - {"trace_not_text"} <= set(codes())  # that one is raised by ui.traces
    assert len(codes()) > 25


@both_languages
@pytest.mark.parametrize("name", REACHABLE)
def test_an_error_a_reader_can_cause_says_what_is_wrong_and_where(read, code, name):
    read(code)
    said = notes.error(SimError(name, **REACHABLE[name]))
    assert name not in said  # its own message, not the fallback
    assert bool(HAN.search(said)) == (code == "zh")
    for key in ("line", "column", "value", "gpu", "model", "low", "high", "lowest", "highest"):
        assert str(REACHABLE[name].get(key, "")) in said
    assert said.endswith(("。", "."))


@both_languages
def test_what_cannot_be_chosen_is_told_what_can(read, code):
    read(code)
    listed = {"zh": "bf16、int4", "en": "bf16, int4"}[code]
    assert listed in notes.error(SimError("format_unknown", **REACHABLE["format_unknown"]))
    said = notes.error(SimError("heads_not_divisible", **REACHABLE["heads_not_divisible"]))
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
    said = notes.error(
        SimError("trace_bad_value", line=2, column="TIMESTAMP", value="?", expected=expected)
    )
    assert expected not in said
    assert words in said
    assert not re.search(f"{HAN.pattern}\\d", said)


@both_languages
@pytest.mark.parametrize("name", ["trace_empty", "trace_unknown_format"])
def test_a_file_of_no_format_is_told_every_format_and_its_columns(read, code, name):
    read(code)
    said = notes.error(SimError(name, **REACHABLE[name]))
    for known, columns in traces.FORMATS.items():
        assert notes.trace_format(known) in said
        assert [column for column in columns if column not in said] == []


@both_languages
def test_a_file_that_nearly_has_a_format_is_told_that_one_and_its_columns(read, code):
    read(code)
    for name in ("trace_column_missing", "trace_no_rows", "trace_ambiguous"):
        values = REACHABLE[name]
        meant = {str(values["format"])} if "format" in values else {"azure", "plain"}
        said = notes.error(SimError(name, **values))
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
        assert word in notes.error(SimError("trace_not_commas", line=1, separator=mark))


def test_what_nobody_can_see_is_shown_as_a_mark(read):
    read("en")
    where = {"line": 2, "column": "ContextTokens", "expected": "count"}
    said = notes.error(SimError("trace_bad_value", value="4\n8\x1b\u202e\ud800", **where))
    assert "“4\ufffd8\ufffd\ufffd\ufffd”" in said


@both_languages
@pytest.mark.parametrize("name", sorted(set(codes()) - set(REACHABLE)))
def test_every_other_error_is_at_least_named_with_its_values(read, code, name):
    read(code)
    said = notes.error(SimError(name, value=-1))
    assert name in said
    assert "-1" in said
    assert bool(HAN.search(said)) == (code == "zh")


# -- who shares a step ---------------------------------------------------------------------------


def shares(requests, budget):
    clock = SimpleClock(1_000, 0.01)
    setup = Setup(requests, scheduler.Chunked(8, budget), Paged(1_000), clock)
    prompts = {one.id: one.prompt_tokens for one in requests}
    return [
        notes.shares(step, stalls.seconds_alone(step, clock), prompts)
        for step in engine.steps(setup)
    ]


def test_a_shared_step_says_who_computes_how_much_and_how_long_it_would_take_without(read):
    requests = (*workload.of_lengths((4, 4), 8), Request(2, 0.005, 100, 2))
    read("en")
    assert shares(requests, 64) == [
        "Prefill: A 8, B 8. First token: A and B. 16.0 ms.",
        "Prefill: C 62 (62 of 100). Decode: A and B. 62.0 ms instead of 10.0 ms.",
        "Prefill: C 38. First token: C. Decode: A and B. 38.0 ms instead of 10.0 ms.",
        "Decode: A, B and C. Done: A, B and C. 10.0 ms.",
    ]
    read("zh")
    assert shares(requests, 64)[1] == (
        "预填充：C 62（62 / 100）；解码：A、B；62.0 ms，本来 10.0 ms。"
    )


def test_the_last_piece_of_a_prompt_is_one_number(read):
    requests = (*workload.of_lengths((4,), 8), Request(1, 0.005, 100, 2))
    read("en")
    assert shares(requests, 512)[1].startswith("Prefill: B 100. First token: B. Decode: A.")


def test_where_a_difference_turns_is_a_predicate(read):
    read("en")
    assert notes.where_it_turns(()) == "never changes sign"
    assert notes.where_it_turns((3.14, 15.0)) == "changes sign at 3.1, 15.0 requests per second"
    read("zh")
    assert notes.where_it_turns((3.14,)) == "在每秒 3.1 个请求处变号"


def test_a_difference_of_moments_is_later_or_sooner(read):
    read("en")
    assert notes.later_or_sooner(-0.0806) == "80.6 ms sooner"
    assert notes.later_or_sooner(1.5) == "1.50 s later"
    read("zh")
    assert notes.later_or_sooner(-0.0806) == "早 80.6 ms"
