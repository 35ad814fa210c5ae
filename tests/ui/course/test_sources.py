"""Every number from elsewhere stands in assets/sources.csv, and the prose says what the table says.

A sentence quotes a row by a link to `#source-<id>`; the numbers of such a sentence are the row's.
"""

import ast
import csv
import json
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.chapters import CHAPTERS, HOME, LANGUAGES, ROOT
from ui.course import chapters, glossary, prose
from ui.course.sources import FILE, SOURCE, UNITS, Source, sources

HAN = r"[\u3400-\u4dbf\u4e00-\u9fff]"
ROWS = list(sources().values())
every_row = pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id)

NO_NUMBER = re.compile(  # what looks like a number and is none
    "|".join(
        (
            # code, formulas, blanks, addresses
            r"```.*?```|`[^`]*`|\$[^$]*\$|\{\{\w*\}\}|\]\([^)]*\)|\{#\w+\}",
            # names, sizes of models, years, versions
            r"RTX (?:PRO )?\d+(?: Ti)?|[A-Za-z][A-Za-z0-9.+-]*\d[A-Za-z0-9+-]*(?:\.\d+)?",
            r"\b\d+(?:\.\d+)?B\b|\b(?:19|20)\d\d\b",
            r"(?:vLLM|SGLang|LLM|V1)(?: \(| |（)[01](?:\.\d+)+|\b(?:since|in) 0\.\d+\b|0\.\d+ 起",
            # places in this course and in a paper
            r"第 [\d、到 ]+ 章|[Cc]hapters? \d+(?:(?:, \d+)* (?:and|to) \d+)?",
            r"(?:section|table|figure) \d+(?:\.\d+)*|\d+(?:\.\d+)* 节|的[表图] \d+",
        )
    ),
    re.DOTALL,
)
NUMBER = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?")
SENTENCE = re.compile(r"(?<=[。！？；])|(?<=[.!?;]) +(?=[A-Z\[*“(])|\n+")
OTHERS = re.compile(  # somebody else, at work or in print
    r"(?i:\bpapers?\b|\bblogs?\b|\breport(?:s|ed)?\b|\bpublished\b|\bissue \d|\bpull request \d"
    r"|\bmeasured\b|\blogged\b|\btimed\b|\ba user (?:saw|who|with|had)\b)"
    r"|MLPerf|Anyscale|Orca|Sarathi|DistServe|Splitwise|Mooncake|Medusa|Leviathan|Kwon|Frantar"
    r"|Marlin|AutoAWQ|NVIDIA (?:shows|给出)|论文|博客|报告|实测|测[得到出过]|[人上]量到|公布|发表"
    r"|(?<!没)有人(?:用|在|报)|用户测|项目报|日志里|团队在"
)
OURSELVES = re.compile(  # this course measured; or "published" as weights are
    r"(?i:(?:fitted|held|calibrated)[^.;]*measured (?:vLLM )?run|\bas measured\b|measured-run"
    r"|published (?:in|with) (?:it|\d+ bits)|our tests [^.]*|measured once)"
    r"|实测校准|实测拟合|当作实测|按实测|一次实测|实测记录|实测过"
)
DOCUMENTS = ("docs.vllm.ai", "docs.sglang.io", "nvidia.github.io", "docs.flashinfer.ai")


class Said(NamedTuple):
    """The same words in both languages, and where: the stem of a chapter and a name in it."""

    stem: str
    place: str
    zh: str
    en: str


@cache
def everything() -> tuple[Said, ...]:
    """All that a reader can read, as far as it lies in files."""
    return (*in_prose(), *in_self_checks(), *in_the_glossary(), *in_modules())


def in_prose() -> Iterator[Said]:
    files = {chapter.script: chapter.script.stem for chapter in (HOME, *CHAPTERS)}
    files |= dict.fromkeys(ROOT.glob("ui/**/*.zh.md"), "")
    files |= dict.fromkeys(ROOT.glob("ui/subjects/clinic/**/*.zh.md"), "14_clinic")
    for file, stem in files.items():
        script = Path(str(file).replace(".zh.md", ".md"))
        zh, en = (prose.read(script, language).sections for language in LANGUAGES)
        for name in zh:
            yield Said(stem, f"{file.name} {{#{name}}}", zh[name].body, en[name].body)


def in_self_checks() -> Iterator[Said]:
    stems = {chapter.stem[:2]: chapter.stem for chapter in chapters.in_order()}
    for file in sorted(ROOT.glob("assets/quiz/*.json")):
        for zh, en in pairs(without_stories(json.loads(file.read_text("utf-8")))):
            yield Said(stems.get(file.stem[:2], ""), f"{file.name} “{en[:60]}”", zh, en)


def without_stories(node: object) -> object:
    """A question tells of a server that nobody has; what is said about it stands elsewhere."""
    if isinstance(node, dict):
        return {key: without_stories(child) for key, child in node.items() if key != "question"}
    return [without_stories(child) for child in node] if isinstance(node, list) else node


def pairs(node: object) -> Iterator[tuple[str, str]]:
    """Every {"zh": ..., "en": ...} at any depth."""
    if isinstance(node, dict) and isinstance(node.get("zh"), str):
        yield node["zh"], node["en"]
    elif isinstance(node, dict | list):
        for child in node.values() if isinstance(node, dict) else node:
            yield from pairs(child)


def in_the_glossary() -> Iterator[Said]:
    for term in glossary.terms().values():
        yield Said(term.chapter, f"glossary {term.id}", term.definition_zh, term.definition_en)


def in_modules() -> Iterator[Said]:
    """Words side by side in code: `tr("中文", "English")`, a blank for what is filled in."""
    for file in sorted([*ROOT.glob("ui/**/*.py"), *ROOT.glob("pages/*.py")]):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            match node:
                case ast.Call(ast.Name("tr"), [zh, en]):
                    place = f"{file.relative_to(ROOT)}:{node.lineno}"
                    yield Said("", place, words_of(zh), words_of(en))


def words_of(node: ast.expr) -> str:
    parts = node.values if isinstance(node, ast.JoinedStr) else [node]
    return "".join(str(part.value) if isinstance(part, ast.Constant) else "{{}}" for part in parts)


@cache
def sentences(text: str) -> list[str]:
    return [one for one in SENTENCE.split(text) if one.strip()]


def numbers(sentence: str) -> set[str]:
    return set(NUMBER.findall(NO_NUMBER.sub(" ", sentence)))


@cache
def quoting(language: str) -> dict[str, str]:
    """Row -> all sentences that quote it."""
    found: dict[str, str] = defaultdict(str)
    for said in everything():
        for sentence in sentences(getattr(said, language)):
            for one in set(SOURCE.findall(sentence)):
                found[one] += sentence + "\n"
    return found


def told(row: Source, language: str) -> set[str]:
    """The numbers of a row: those quoted, and those of its conditions."""
    conditions = " ".join(
        getattr(row, f"{column}_{language}") for column in ("on", "against", "mind")
    )
    return set(row.quoted) | set(NUMBER.findall(conditions))


def not_of_their_rows(text: str, language: str) -> list[tuple[str, str]]:
    """Numbers of sentences that quote, which no row that is quoted there has."""
    found = []
    for sentence in sentences(text):
        ids = SOURCE.findall(sentence)
        known = {number for one in ids for number in told(sources()[one], language)}
        if ids:
            found += [(number, sentence) for number in sorted(numbers(sentence) - known)]
    return found


def without_source(text: str) -> list[str]:
    """Sentences in which others have a number and no row is quoted."""
    return [
        one
        for one in sentences(text)
        if not SOURCE.search(one) and OTHERS.search(OURSELVES.sub("", one)) and numbers(one)
    ]


# -- the prose ---------------------------------------------------------------------------------


def test_every_row_that_is_quoted_is_in_the_table():
    quoted = {one for said in everything() for one in SOURCE.findall(said.zh + said.en)}
    assert quoted - set(sources()) == set()


def test_both_languages_quote_the_same_rows_at_the_same_place():
    for said in everything():
        assert set(SOURCE.findall(said.zh)) == set(SOURCE.findall(said.en)), said.place


def test_the_numbers_of_a_sentence_that_quotes_are_those_of_its_rows():
    wrong = {
        said.place: found
        for said in everything()
        for language in LANGUAGES
        if (found := not_of_their_rows(getattr(said, language), language))
    }
    assert wrong == {}


def test_a_number_of_others_has_its_source():
    missing = {
        said.place: found
        for said in everything()
        for language in LANGUAGES
        if (found := without_source(getattr(said, language)))
    }
    assert missing == {}


def test_an_address_stands_in_the_table_and_not_in_the_prose():
    for said in everything():
        for address in re.findall(r"\]\(https?://([^/)]+)[^)]*\)", said.zh + said.en):
            assert address in DOCUMENTS, said.place


def test_a_figure_that_was_measured_elsewhere_names_its_row():
    marks = [
        mark
        for chapter in CHAPTERS
        for mark in re.findall(r'leaves_out\(\s*"\w+",\s*"measured",\s*(.*?)\s*\)', chapter.source)
    ]
    assert marks
    assert [mark for mark in marks if mark.strip('"') not in sources()] == []


# -- the table ---------------------------------------------------------------------------------


@every_row
def test_a_row_is_quoted_in_the_chapters_that_it_names(row):
    quoted = {said.stem for said in everything() if f"(#source-{row.id})" in said.en}
    quoted |= {
        chapter.script.stem for chapter in CHAPTERS if f'"measured", "{row.id}"' in chapter.source
    }
    order = ["app", *(chapter.stem for chapter in chapters.in_order())]
    assert row.chapters == [stem for stem in order if stem in quoted]


@every_row
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_value_of_a_row_is_said_with_its_unit(row, language):
    said = quoting(language)[row.id]
    assert set(row.quoted) - numbers(said) == set()
    for unit in row.units:
        assert UNITS.get(unit, (unit, unit))[LANGUAGES.index(language)] in said


@every_row
def test_a_row_says_where_it_comes_from_and_on_what_it_was_measured(row):
    for column in ("id", "used", "on_zh", "on_en", "title", "published", "read", "extent"):
        assert getattr(row, column), column
    assert row.address.startswith("https://")
    assert re.fullmatch(r"\d{4}(-\d\d-\d\d)?", row.published)
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", row.read)
    assert row.extent in ("whole", "part")
    assert all(NUMBER.fullmatch(value) for value in row.quoted)
    assert len(row.units) == len(row.quoted)


@every_row
def test_both_languages_of_a_row_say_as_much_and_are_set_as_they_should(row):
    for column in ("on", "against", "mind"):
        zh, en = (getattr(row, f"{column}_{language}") for language in LANGUAGES)
        assert bool(zh) == bool(en), column
        assert re.findall(f"{HAN}[A-Za-z0-9]|[A-Za-z0-9%]{HAN}|{HAN}[,;:!?.]", zh) == []
        assert re.findall(f"{HAN}|[，。；：（）、]", en) == []


def test_ids_are_plain_and_stand_once():
    with FILE.open(encoding="utf-8", newline="") as file:
        ids = [row["id"] for row in csv.DictReader(file)]
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(r"[a-z0-9-]+", one) for one in ids)


# -- the guard itself --------------------------------------------------------------------------


def test_a_number_that_its_row_does_not_have_is_found():
    right = "The paper measures [20–26%](#source-paged-kernel) for that kernel."
    assert not_of_their_rows(right, "en") == []
    wrong = right.replace("26", "62")
    assert not_of_their_rows(wrong, "en") == [("62", wrong)]


@pytest.mark.parametrize(
    "text",
    [
        "The vLLM blog reports 1.5 times the speed.",
        "A user saw 225 tokens/s.",
        "Throughput fell by 12% (vLLM issue 1545).",
        "论文测得慢 26%。",
        "有人测到 144 s。",
    ],
)
def test_a_number_of_others_without_a_source_is_found(text):
    assert without_source(text) == [text]
    assert without_source(text[:-1] + " [here](#source-paged-kernel).") == []


@pytest.mark.parametrize(
    "text",
    [
        "The report of chapter 7 is about an H100 and Llama-3.1-8B in fp8.",
        "With {{slots}} slots the paper's `block_size=16` holds $2^{10}$.",
        "Fitted to a measured run, 80% of the bandwidth.",
        "A step takes 12 ms.",
    ],
)
def test_names_and_numbers_of_our_own_need_no_source(text):
    assert without_source(text) == []
