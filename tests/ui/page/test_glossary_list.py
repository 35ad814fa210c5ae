"""Every term can be found, in either language, under the chapter that first marks it."""

import runpy

import pytest

from tests.chapters import CHAPTERS, ROOT
from ui.course import glossary, prose
from ui.page import concepts, glossary_list
from ui.practice import drills

PAGE = next(chapter for chapter in CHAPTERS if chapter.script.stem == "15_quiz")


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ("ttft", "ttft"),
        ("TTFT", "ttft"),
        ("首 token", "ttft"),
        ("预填充", "prefill"),
        ("first token", "ttft"),
    ],
)
def test_a_term_is_found_by_its_chinese_its_english_and_its_abbreviation(wanted, found):
    assert found in [term.id for term in glossary_list.matching(wanted)]


def test_nothing_sought_is_everything_and_nonsense_is_nothing():
    assert glossary_list.matching("  ") == list(glossary.terms().values())
    assert glossary_list.matching("<b>[x](javascript:1)</b>") == []


def test_every_term_stands_once_in_reading_order():
    groups = glossary_list.by_chapter(list(glossary.terms().values()))
    listed = [term.id for group in groups.values() for term in group]
    assert sorted(listed) == sorted(glossary.terms())
    assert list(groups) == sorted(groups)


def test_the_concept_table_has_a_sentence_and_a_chapter_for_every_row():
    table = runpy.run_path(str(ROOT / PAGE.file), run_name="read")["CONCEPTS"]
    for language in ("zh", "en"):
        rows = concepts.rows(prose.read(PAGE.script, language), table)
        assert len(rows) >= 10
        assert all(row.name and 10 < len(row.sentence) < 200 for row in rows)
        assert all(row.chapter.exists for row in rows)


def test_a_sum_leads_into_an_act_that_exists():
    for item in drills.one_of_each(1):
        assert item.link is not None
        chapter = next(c for c in CHAPTERS if c.script.stem == item.link.page)
        assert item.link.query.get("part", chapter.acts[0]) in chapter.acts
