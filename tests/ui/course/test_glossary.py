"""Every term that is linked is explained, in both languages."""

import re

import pytest

from tests.chapters import CHAPTERS, LANGUAGES, ROOT
from ui.course import chapters, glossary

HAN = r"[\u3400-\u4dbf\u4e00-\u9fff]"
TEXTS = sorted(
    path
    for pattern in ("*.md", "pages/*.md", "pages/*.py", "ui/**/*.py", "assets/quiz/*.json")
    for path in ROOT.glob(pattern)
)
TERMS = list(glossary.terms().values())
every_term = pytest.mark.parametrize("term", TERMS, ids=lambda term: term.id)


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
def test_every_linked_term_is_in_the_glossary(path):
    text = path.read_text(encoding="utf-8").replace("#term-<id>", "")
    assert glossary.unknown_terms(text) == []


@every_term
def test_the_chapter_of_a_term_is_the_first_whose_text_marks_it(term):
    prose = {chapter.script.stem: chapter for chapter in CHAPTERS}

    def marks(stem):
        texts = (prose[stem].prose(language).read_text(encoding="utf-8") for language in LANGUAGES)
        return any(term.id in glossary.TERM.findall(text) for text in texts)

    in_order = [chapter.stem for chapter in chapters.in_order()]
    assert term.chapter == next(stem for stem in in_order if marks(stem))


def test_every_term_has_a_name_a_definition_a_chapter_and_a_source():
    assert glossary.incomplete_terms(TERMS) == []


def test_ids_are_plain_and_stand_once():
    rows = glossary.FILE.read_text(encoding="utf-8").splitlines()[1:]
    ids = [row.split(",")[0] for row in rows]
    assert len(set(ids)) == len(ids) == len(TERMS)
    assert all(re.fullmatch(r"[a-z0-9-]+", term_id) for term_id in ids)


@every_term
def test_chinese_stands_apart_from_latin_and_has_full_width_punctuation(term):
    text = f"{term.zh}\n{term.definition_zh}"
    assert re.findall(f"{HAN}[A-Za-z0-9]|[A-Za-z0-9%]{HAN}", text) == []
    assert re.findall(f"{HAN}[,;:!?.]", text) == []
    assert term.definition_zh.endswith("。")


@every_term
def test_english_is_free_of_chinese_punctuation(term):
    text = f"{term.en}\n{term.definition_en}"
    assert re.findall(f"{HAN}|[，。；：（）、]", text) == []
    assert term.definition_en.endswith(".")


@every_term
def test_a_definition_fits_its_card(term):
    assert len(term.definition_zh) <= 90
    assert len(term.definition_en) <= 220


def test_a_link_shows_the_name_or_the_given_words():
    assert glossary.link("prefill") == "[预填充](#term-prefill)"
    assert glossary.link("prefill", "prefill") == "[prefill](#term-prefill)"


def test_an_unknown_term_is_found():
    assert glossary.unknown_terms("[a](#term-prefill) and [b](#term-prefil)") == ["prefil"]
