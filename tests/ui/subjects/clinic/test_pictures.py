"""Words and pictures of the clinic."""

import re

import pytest

from sim.studies.clinic import CASES, Change
from tests.pages.test_texts import HAN, NOT_TEXT
from ui.course import prose
from ui.results import runs
from ui.subjects.clinic import pictures
from ui.subjects.clinic.in_words import as_engines_say, questions

ABOUT = ("story", "cause", "lure")
CHANGE = Change("max_num_seqs", 64)


@pytest.mark.parametrize("language", ["zh", "en"])
def test_each_case_is_told_in_both_languages_and_nothing_else_is(language):
    text = prose.read(questions.CASES_TEXT, language)
    told = [(code, (*ABOUT, "trade") if case.trades else ABOUT) for code, case in CASES.items()]
    assert list(text.sections) == [f"{code}_{about}" for code, all_ in told for about in all_]
    assert all(text.section(f"{code}_story").heading for code in CASES)


def test_chinese_and_latin_stand_apart():
    for section in prose.read(questions.CASES_TEXT, "zh").sections.values():
        words = NOT_TEXT.sub("", section.body)
        assert re.findall(f".{{0,6}}(?:{HAN}[A-Za-z0-9]|[A-Za-z0-9%]{HAN}).{{0,6}}", words) == []
        assert re.findall(f"{HAN}[,;:!?]", words) == []
        assert not re.search(r"[。：”]\*\*\S", section.body)  # such a bold end is none


def test_before_and_after_share_their_axes():
    case = CASES["few_slots"]
    before, after = runs.panel(case.code, 0), runs.panel(case.code, 0, (CHANGE,))
    figure = pictures.panel(after, before, case.slo)
    grey = [trace for trace in figure.data if trace.opacity == pictures.GHOST]
    assert len(figure.data) == 12
    assert len(grey) == 6
    assert {trace.xaxis for trace in figure.data} == {"x"}
    assert [shape.y0 for shape in figure.layout.shapes] == [
        case.slo.ttft_seconds,
        case.slo.itl_seconds * 1000,
    ]


def test_what_was_cured_fills_its_panel_and_no_point_is_cut_at_an_edge():
    case = CASES["few_slots"]
    before, after = runs.panel(case.code, 0), runs.panel(case.code, 0, (CHANGE,))
    figure = pictures.panel(after, before, case.slo)
    now = max(after.over_time.ttft_seconds.max(), case.slo.ttft_seconds)
    assert now < figure.layout.yaxis.range[1] <= 2.5 * now
    assert all(trace.cliponaxis is False for trace in figure.data if trace.opacity is None)
    assert pictures.panel(before, before, case.slo).layout.yaxis.range[1] >= (
        before.over_time.ttft_seconds.max()
    )


def test_a_point_is_a_request():
    case = CASES["few_slots"]
    points = pictures.panel(runs.panel(case.code, 0), None, case.slo).data[0]
    assert points.mode == "markers"
    assert len(points.x) == len(case.build(0).requests)


def test_metrics_are_named_as_both_engines_name_them():
    table = as_engines_say.metrics_table(runs.panel("kv_full", 0))
    totals = "sglang:num_retracted_requests_total"
    for name in ("vllm:kv_cache_usage_perc", "sglang:token_usage", totals):
        assert f"`{name}`" in table
    assert str(runs.panel("kv_full", 0).num_preemptions) in table
