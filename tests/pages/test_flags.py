"""Every flag and metric that the chapters name has been looked up, in a version that is told."""

import csv
import json
import re

import pytest

from tests.chapters import LANGUAGES, ROOT
from ui.course import chapters

with (ROOT / "assets" / "flags.csv").open(encoding="utf-8", newline="") as file:
    CHECKED = {(row["name"], row["engine"]): row for row in csv.DictReader(file)}
ENGINES = {"vLLM": "0.33.0", "SGLang": "0.5.23"}
IN_FULL = {name for name, _ in CHECKED if name.endswith("_total")}
# of tools that send requests, not of a server
CLIENT = {"--max-concurrency", "--request-rate", "--save-result"}
NAME = re.compile(r"--[a-z][a-z0-9-]+|(?:vllm|sglang):[a-z0-9_]+")
PAGES = [stem for group in chapters.GROUPS for stem in group.stems]


def named(text):
    """Names as they are listed: a switch that is turned off, and a counter, by their own."""
    found = (name.replace("--no-", "--") for name in NAME.findall(text))
    return {name.removesuffix("_total") if name not in IN_FULL else name for name in found}


def tables(text):
    """Rows of tables that compare engines, each a dict from engine to cell."""
    columns: dict[str, int] = {}
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not line.startswith("|"):
            columns = {}
        elif not columns:
            heads = {engine: at for engine in ENGINES for at, cell in enumerate(cells)
                     if cell.replace("`", "").lower().startswith(engine.lower())}  # fmt: skip
            columns = heads if len(heads) == len(ENGINES) else {}
        else:
            yield {engine: cells[at] for engine, at in columns.items()}


def prose(stem, language):
    return (ROOT / "pages" / f"{stem}.{language}.md").read_text("utf-8")


@pytest.mark.parametrize("stem", PAGES)
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_name_in_a_table_of_flags_is_one_of_its_engine(stem, language):
    for row in tables(prose(stem, language)):
        for engine, cell in row.items():
            assert [name for name in named(cell) if (name, engine) not in CHECKED] == [], cell


@pytest.mark.parametrize("stem", PAGES)
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_name_in_the_prose_and_the_self_check_is_one_of_some_engine(stem, language):
    quiz = ROOT / "assets" / "quiz" / f"{stem[:2]}.json"
    text = prose(stem, language) + (quiz.read_text("utf-8") if quiz.exists() else "")
    known = {name for name, _ in CHECKED} | CLIENT
    assert named(" ".join(re.findall(r"`[^`\n]*`", text))) - known == set()


def test_the_tables_tell_the_versions_in_which_names_were_looked_up():
    told = {row["version"] for (name, _), row in CHECKED.items() if name != "--policy"}
    assert {version for version in told if "gone" not in version} == set(ENGINES.values())
    for language in LANGUAGES:
        for version in ENGINES.values():
            assert version in prose("13_systems", language)
        for stem in PAGES:
            for table in re.findall(r"(?:^\|.*\n)+", prose(stem, language), re.MULTILINE):
                if "SGLang" in table and NAME.search(table):
                    head = table.split("\n")[0]
                    assert re.search(r"0\.33.*0\.5\.23", head), head


def test_what_is_listed_is_named_somewhere():
    everything = "".join(prose(stem, language) for stem in PAGES for language in LANGUAGES)
    assert {name for name, _ in CHECKED} - named(everything) == set()


def test_defaults_in_the_whole_table_are_those_that_were_read():
    table = json.dumps(list(tables(prose("13_systems", "en"))))
    assert (
        f"--gpu-memory-utilization` ({CHECKED['--gpu-memory-utilization', 'vLLM']['default']})"
        in table
    )
    assert f"--page-size` ({CHECKED['--page-size', 'SGLang']['default'].split(';')[0]};" in table
    assert f"`{CHECKED['--schedule-policy', 'SGLang']['default']}`" in table
