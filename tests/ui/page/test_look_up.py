"""Every term and every source can be found, in either language, under its first chapter."""

import runpy

import pytest

from tests.chapters import CHAPTERS, ROOT
from ui.course import glossary, prose
from ui.course.sources import sources
from ui.page import concepts, glossary_list, look_up, source_list
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
    listed = look_up.matching(glossary_list.entries(), wanted)
    assert glossary.terms()[found].definition("zh") in " ".join(entry.text for entry in listed)


def test_nothing_sought_is_everything_and_nonsense_is_nothing():
    entries = glossary_list.entries()
    assert look_up.matching(entries, "  ") == entries
    assert look_up.matching(entries, "<b>[x](javascript:1)</b>") == []


@pytest.mark.parametrize("entries", [glossary_list.entries(), source_list.entries()])
def test_every_entry_stands_once_in_reading_order(entries):
    groups = look_up.by_chapter(entries)
    listed = [entry for group in groups.values() for entry in group]
    assert sorted(listed, key=entries.index) == entries
    assert list(groups) == sorted(groups)


@pytest.mark.parametrize("wanted", ["20 26 %", "FasterTransformer", "kernel 注意力", "2309.06180"])
def test_a_source_is_found_by_its_numbers_its_conditions_and_its_address(wanted):
    row = sources()["paged-kernel"]
    found = look_up.matching(source_list.entries(), wanted)
    text = next(entry.text for entry in found if row.on_zh in entry.text)
    assert f"]({row.address})" in text
    assert "20、26 %" in text


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
