"""The Chinese and the English text of a chapter say the same things, and both can be read."""

import csv
import inspect
import re

import pytest

from tests.chapters import CHAPTERS, HOME, LANGUAGES, ROOT
from ui.controls import server_knobs
from ui.course import chapters
from ui.page import home

BLANK = re.compile(r"\{\{(\w+)\}\}")
SECTION = re.compile(r"^## .*?\s*\{#(\w+)\}\s*$", re.MULTILINE)
TERM = re.compile(r"\(#term-([\w-]+)\)")
HAN = r"[\u3400-\u4dbf\u4e00-\u9fff]"
NOT_TEXT = re.compile(r"```.*?```|`[^`]*`|\$[^$]*\$|\{\{\w+\}\}|\]\([^)]*\)|\{#\w+\}", re.DOTALL)

MAY_NAME_SECTIONS = (home, server_knobs)  # for the pages that use them

TEXTS = [
    (chapter, language)
    for chapter in [HOME, *CHAPTERS]
    for language in LANGUAGES
    if chapter in CHAPTERS or chapter.prose(language).exists()
]
every_text = pytest.mark.parametrize(("chapter", "language"), TEXTS, ids=str)
every_pair = pytest.mark.parametrize(
    "chapter", [chapter for chapter, language in TEXTS if language == "zh"], ids=str
)


def read(chapter, language):
    return chapter.prose(language).read_text(encoding="utf-8")


def sections(chapter, language):
    """Name -> text, in order."""
    _, *rest = SECTION.split(read(chapter, language))
    return dict(zip(rest[0::2], rest[1::2], strict=True))


def words(chapter, language):
    """The text without code, formulas, blanks and addresses."""
    return NOT_TEXT.sub("", read(chapter, language))


@every_pair
def test_both_languages_have_the_same_sections_in_the_same_order(chapter):
    assert list(sections(chapter, "zh")) == list(sections(chapter, "en"))


@every_pair
def test_both_languages_leave_the_same_blanks(chapter):
    zh, en = sections(chapter, "zh"), sections(chapter, "en")
    for name in zh:
        assert set(BLANK.findall(zh[name])) == set(BLANK.findall(en[name])), name


@every_pair
def test_both_languages_explain_the_same_terms(chapter):
    zh, en = (set(TERM.findall(read(chapter, language))) for language in LANGUAGES)
    assert zh == en


@every_text
def test_has_one_title_and_every_heading_a_name(chapter, language):
    text = re.sub(r"```.*?```", "", read(chapter, language), flags=re.DOTALL)
    assert len(re.findall(r"^# \S", text, re.MULTILINE)) == 1
    assert len(re.findall(r"^##(?!#)", text, re.MULTILINE)) == len(SECTION.findall(text))


@every_text
def test_every_section_is_used_by_its_page(chapter, language):
    source = chapter.source + "".join(
        inspect.getsource(module)
        for module in MAY_NAME_SECTIONS
        if re.search(rf"^from ui\b.*\b{module.__name__.split('.')[-1]}\b", chapter.source, re.M)
    )
    by_frame = {"teaser", "onward"} | ({"flags"} if "chapter.flags()" in source else set())
    by_page = {name for name in sections(chapter, language) if f'"{name}"' in source}
    assert set(sections(chapter, language)) - by_page - by_frame == set()


def test_every_chapter_but_the_last_ends_with_what_leads_to_the_next():
    for one in chapters.in_order()[:-1]:
        for language in LANGUAGES:
            assert "onward" in one.text(language).sections, one.stem


@every_text
def test_every_term_is_in_the_glossary(chapter, language):
    with (ROOT / "assets" / "glossary.csv").open(encoding="utf-8", newline="") as file:
        known = {row["id"] for row in csv.DictReader(file)}
    assert set(TERM.findall(read(chapter, language))) - known == set()


@every_text
def test_nothing_turns_into_strikethrough_or_a_new_tab(chapter, language):
    text = read(chapter, language)
    assert re.findall(r".{0,10}\d~\d.{0,10}", text) == []  # write a range with an en dash
    assert re.findall(r"\]\(/[^)]*\)", text) == []  # link to a chapter with st.page_link


@pytest.mark.parametrize("chapter", [c for c, language in TEXTS if language == "zh"], ids=str)
def test_a_space_stands_between_chinese_and_latin(chapter):
    text = words(chapter, "zh")
    assert re.findall(f".{{0,6}}(?:{HAN}[A-Za-z0-9]|[A-Za-z0-9%]{HAN}).{{0,6}}", text) == []


@pytest.mark.parametrize("chapter", [c for c, language in TEXTS if language == "zh"], ids=str)
def test_chinese_sentences_have_full_width_punctuation(chapter):
    text = words(chapter, "zh")
    assert re.findall(f".{{0,6}}{HAN}[,;:!?](?!\\w).{{0,6}}", text) == []


@pytest.mark.parametrize("chapter", [c for c, language in TEXTS if language == "zh"], ids=str)
def test_no_space_stands_before_full_width_punctuation(chapter):
    assert re.findall(".{0,12} [，。；：、？！）”].{0,6}", read(chapter, "zh")) == []
