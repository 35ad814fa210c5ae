"""What the two sheets say is what the chapters say, and what the runs give."""

import inspect
import re
from functools import cache
from unittest import mock

import pytest

from sim import scheduler, specs
from sim.kv import sizes
from sim.studies.clinic import CASES
from tests.chapters import LANGUAGES
from tests.pages.rehearsal import open_page
from tests.ui.visits import opened
from ui.course import chapters, prose
from ui.results import runs
from ui.subjects.clinic.in_words import as_engines_say
from ui.words.numbers import count, memory

CODE = re.compile(r"`([^`]+)`")
ANSWERS = {  # to the three questions, as the table words them
    "zh": {"itl": "ITL", "ttft": "TTFT", "both": "都大", "full": "到顶", "room": "有余"}
    | {"compute": "算力", "bandwidth": "带宽", "low": "双低"},
    "en": {"itl": "ITL", "ttft": "TTFT", "both": "both", "full": "full", "room": "room"}
    | {"compute": "compute", "bandwidth": "bandwidth", "low": "low"},
}
ON_THE_SHEET = {  # the three of the course, and what two sheets have room for
    *("long_prompts", "kv_full", "thin_steps", "few_slots", "long_answers", "long_head"),
    *("no_hits", "small_cache", "few_graphs", "busy_cpu", "poor_draft", "scattered"),
}
both_languages = pytest.mark.parametrize("language", LANGUAGES)

# A chapter, one of its acts and the section that says them: number of the sheets -> number there.
SAME: list[tuple[str, str, str, dict[str, str]]] = [
    ("01_pipeline", "hook", "hook_outcome", {"passes": "passes", "decodes": "decodes"}),
    ("02_prefill_decode", "hook", "hook_outcome", {"turn": "truth", "ridge": "ridge"}),
    ("02_prefill_decode", "hook", "hook", {"model": "model", "gpu": "gpu"}),
    ("03_latency", "hook", "hook_result", {"ttft": "ttft", "prefill": "prefill"}),
    ("03_latency", "hook", "hook_outcome", {"decode": "decode"}),
    ("04_simulator", "hook", "hook_outcome", {"low": "low", "high": "high"}),
    (
        "04_simulator",
        "hook",
        "hook_outcome",
        {
            "throughput_before": "throughput_8",
            "throughput_after": "throughput_64",
            "ttft_before": "ttft_8",
            "ttft_after": "ttft_64",
            "itl_before": "itl_8",
            "itl_after": "itl_64",
        },
    ),
    (
        "05_batching",
        "compare",
        "compare_result",
        {"static": "static_utilization", "continuous": "continuous_utilization"},
    ),
    ("06_kv_cache", "hook", "hook", {"tokens": "tokens", "gpu": "gpu"}),
    ("06_kv_cache", "growth", "growth_leaves_out", {"model": "model"}),
    ("06_kv_cache", "hook", "hook_outcome", {"fit": "fit"}),
    ("06_kv_cache", "formulas", "formulas_result", {"per_token": "per_token"}),
    (
        "07_fragmentation",
        "hook",
        "hook_result",
        {"free": "free", "need": "need", "wait": "wait"},
    ),
    ("07_fragmentation", "paged", "paged_result", {"wait_in_blocks": "wait_blocks"}),
    (
        "08_prefix_cache",
        "hook",
        "hook_outcome",
        {"off": "ttft_off", "on": "ttft_on", "itl": "itl_on"},
    ),
    (
        "09_chunked_prefill",
        "hook",
        "hook_outcome",
        {
            "gap_off": "worst_off",
            "gap_on": "worst_on",
            "ttft_off": "ttft_off",
            "ttft_on": "ttft_on",
        },
    ),
    (
        "10_spec_decode",
        "worth",
        "worth_result",
        {"a": "a", "k": "k", "c": "cost", "tokens": "tokens", "gain": "gain"},
    ),
    (
        "11_cuda_graph",
        "hook",
        "hook_outcome",
        {"eager": "eager", "graph": "graph", "busy": "busy"},
    ),
    ("11_cuda_graph", "hook", "hook", {"model": "model"}),
    (
        "12_quantization",
        "hook",
        "hook_outcome",
        {"alone": "alone", "batch": "batch", "crowd": "crowd", "prefill": "prefill"},
    ),
    (
        "13_systems",
        "hook",
        "hook_result",
        {"rate": "rate", "factor": "factor", "naive": "naive", "best": "best"},
    ),
    ("14_clinic", "hook", "hook_twice", {"rising": "rising", "full": "full"}),
]


@cache
def told(stem, act):
    """What a lesson says when a reader opens an act: section -> blanks."""
    found = {}
    filled = prose.Prose.filled

    def noting(text, name, **numbers):
        found[name] = numbers
        return filled(text, name, **numbers)

    with mock.patch.object(prose.Prose, "filled", noting):
        opened(f"pages/{stem}.py", part=act, lang="en")
    return found


@pytest.fixture(scope="module")
def page():
    return open_page("16_summary")


@pytest.fixture(scope="module")
def said(page):
    return page.play("sheets").said


@pytest.mark.parametrize(("stem", "act", "section", "names"), SAME)
def test_a_number_of_the_sheets_is_what_a_reader_of_its_chapter_is_told(
    said, stem, act, section, names
):
    there = told(stem, act)[section]
    for ours, theirs in names.items():
        assert str(said[stem][ours]) == str(there[theirs]), ours


def test_every_number_of_the_sheets_is_compared(said):
    for chapter in [one for one in chapters.in_order() if one.is_numbered][:14]:
        compared = {name for stem, *_, names in SAME if stem == chapter.stem for name in names}
        assert set(said[chapter.stem]) == compared, chapter.stem


def test_what_is_quoted_from_several_acts_is_of_one_model(said):
    kv, old = said["06_kv_cache"], specs.MODELS[open_page("06_kv_cache").constants["OLD"]]
    assert kv["model"] == old.name
    assert kv["per_token"] == memory(old.kv_bytes_per_token)
    assert kv["fit"] == sizes.Division(old, specs.GPUS[str(kv["gpu"])]).num_requests(4_096)
    assert kv["tokens"] == count(4_096)


@both_languages
def test_every_chapter_with_a_mechanism_has_a_question_a_number_sentences_and_a_formula(language):
    text = open_page("16_summary", language).play("sheets").text
    taught = [one.stem for one in chapters.in_order() if one.number <= 14]
    assert [stem for stem in text if stem in chapters.NAMES] == taught
    for stem in taught:
        question, number, _keep, _formula = text[stem].split("\n\n")
        assert question.endswith(("?", "？"))
        assert number.startswith("**")


@both_languages
def test_each_row_of_the_diagnosis_is_a_case_and_answers_the_questions_as_its_panel_does(
    language,
):
    table = open_page("16_summary", language).play("sheets").text["diagnosis"]
    rows = [line.strip("| ").split(" | ") for line in table.splitlines() if line.startswith("| ")]
    words = ANSWERS[language]
    expected = [
        (
            " · ".join(words[answer] for answer in case.symptoms),
            str(chapters.Chapter(case.chapter).number),
        )
        for case in CASES.values()
        if case.code in ON_THE_SHEET
    ]
    assert [(row[1], row[-1]) for row in rows[1:]] == expected


@both_languages
def test_every_flag_and_metric_of_the_sheets_has_been_met_in_a_chapter(language):
    text = open_page("16_summary", language).play("sheets").text
    met = inspect.getsource(as_engines_say)
    for one in chapters.in_order()[:-1]:
        met += one.script.with_suffix(f".{language}.md").read_text(encoding="utf-8")
    tables = text["diagnosis"] + text["metrics"] + text["flags"]
    assert [name for name in CODE.findall(tables) if name not in met] == []


def test_littles_law_holds_in_the_run_that_stands_beside_it():
    quoted = open_page("04_simulator").play("hook").setups
    setup = next(one for one in quoted if one.policy == scheduler.Chunked(max_num_seqs=8))
    series, summary = runs.run(setup).series, runs.summary(setup)
    inside = series.num_running + series.num_waiting
    step_seconds = series.end_seconds - series.start_seconds
    mean_inside = inside @ step_seconds / summary.duration_seconds
    assert mean_inside > 8  # there is a queue
    assert mean_inside == pytest.approx(summary.requests_per_second * summary.e2e.mean, rel=0.02)
