"""What the two READMEs say is so: the tree, commands, links, and the code to copy."""

import os
import re
import shutil
import subprocess
import sys

import pytest

from tests.chapters import LANGUAGES, ROOT
from tests.pages.test_texts import HAN

README = {
    "en": (ROOT / "README.md").read_text(encoding="utf-8"),
    "zh": (ROOT / "README.zh.md").read_text(encoding="utf-8"),
}
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
WORDS_FROM = 25  # the column of the tree in which its words begin
both_languages = pytest.mark.parametrize("language", LANGUAGES)

# Opens the page of the READMEs in both languages and moves its slider, in a copy of the app.
VISIT = """
from streamlit.testing.v1 import AppTest

for language in ("zh", "en"):
    app = AppTest.from_file("app.py", default_timeout=60).run()
    app.switch_page("pages/18_waiting.py")
    app.query_params["lang"] = language
    for slots in (2, 6):
        app.run()
        assert not app.exception, app.exception
        print(slots, *(text.value for text in app.main.markdown if "**" in text.value))
        app.main.slider[0].set_value(6)
"""


def blocks(language, kind):
    return [body for name, body in BLOCK.findall(README[language]) if name == kind]


def without_code(language):
    return re.sub(r"`[^`\n]*`|\]\([^)]*\)", "", BLOCK.sub("", README[language]))


def tree(language):
    """The names of the tree, without its annotations."""
    return re.findall(r"[\w.-]+/?", blocks(language, "")[0])


def tracked(*folders):
    """What belongs to the repository; names at the top, paths in a folder."""
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    listing = subprocess.run(
        ["git", "ls-files", *folders], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return listing.stdout.splitlines()


# The two say the same


def test_both_have_the_same_outline():
    levels = {
        language: re.findall(r"^#+(?= )", BLOCK.sub("", text), re.MULTILINE)
        for language, text in README.items()
    }
    assert levels["en"] == levels["zh"]


def test_both_have_the_same_code():
    kinds = {
        language: [name for name, _ in BLOCK.findall(text)] for language, text in README.items()
    }
    assert kinds["en"] == kinds["zh"]
    for kind in ("sh", "python", "text"):
        assert blocks("en", kind) == blocks("zh", kind)


def test_both_show_the_same_tree():
    names = {
        language: [
            name for name in tree(language) if re.search(r"/$|\.\w|^(Makefile|LICENSE)$", name)
        ]
        for language in LANGUAGES
    }
    assert set(names["en"]) == set(names["zh"])


def test_the_chinese_one_is_set_as_chinese():
    text = without_code("zh")
    assert re.findall(f".{{0,6}}(?:{HAN}[A-Za-z0-9]|[A-Za-z0-9%]{HAN}).{{0,6}}", text) == []
    assert re.findall(f".{{0,6}}{HAN}[,;:!?](?!\\w).{{0,6}}", text) == []


# They are right


@both_languages
def test_every_entry_at_the_top_is_in_the_tree(language):
    top = {name + "/" if rest else name for name, _, rest in (p.partition("/") for p in tracked())}
    texts = {"app.zh.md", "app.en.md"}
    missing = {name for name in top - texts if not name.startswith(".")} - set(tree(language))
    assert missing == set()


@both_languages
def test_the_tree_can_be_taken_in_at_a_glance(language):
    assert len(blocks(language, "")[0].splitlines()) <= 45


def placed(language):
    """Each entry of the tree with what its line says: (path, words)."""
    folder, found = "", list[tuple[str, str]]()
    for line in blocks(language, "")[0].splitlines():
        names, words = line[:WORDS_FROM].split(), line[WORDS_FROM:]
        if not names:  # the line above goes on
            found[-1] = (found[-1][0], f"{found[-1][1]} {words}")
        is_inside = line.startswith(" ")
        found += [(f"{folder}{name}" if is_inside else name, words) for name in names]
        folder = folder if is_inside else names[0]
    return found


@both_languages
def test_every_entry_of_sim_and_ui_stands_at_its_place_in_the_tree(language):
    """What is in a folder, its own list says; `test_layers` holds it to the files."""
    there = {
        "/".join(path.split("/")[:2]) + "/" * (path.count("/") > 1)
        for path in tracked("sim", "ui")
        if not path.endswith("__init__.py") or path.count("/") > 1
    }
    shown = {path for path, _ in placed(language) if re.match("(sim|ui)/.", path)}
    assert shown == there


@both_languages
def test_what_a_line_of_the_tree_names_lies_where_the_line_is(language):
    everything = tracked()
    for path, words in placed(language):
        if path in ("app.py", "pages/"):  # their texts stand beside them, named by a pattern
            continue
        inside = [one for one in everything if one == path or one.startswith(path)]
        assert inside, path
        elsewhere = re.findall(r"`([\w./]+/[\w.]+)`", words)
        assert set(elsewhere) <= set(everything), path
        words = re.sub(r"`[^`]*`", "", words)
        for name in re.findall(r"[\w.-]+\.(?:py|csv|md)|[\w-]+/(?=[:：,，、; ])", words):
            assert any(f"/{name}" in one or one.startswith(name) for one in inside), (path, name)


@both_languages
def test_every_subject_is_named_in_the_tree(language):
    subjects = {path.split("/")[2] for path in tracked("ui/subjects") if path.count("/") > 2}
    (words,) = (words for path, words in placed(language) if path == "ui/subjects/")
    assert {subject for subject in subjects if not re.search(rf"\b{subject}\b", words)} == set()


@both_languages
def test_every_name_in_the_tree_exists(language):
    there = {part for path in tracked() for part in path.split("/")}
    names = {name.rstrip("/") for name in tree(language) if re.search(r"/$|\.\w+$", name)}
    patterns = {"NN_name.py", "NN_name.zh.md", "NN_name.en.md"}
    assert names - patterns - there == set()


@both_languages
def test_every_command_of_make_exists(language):
    targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    named = re.findall(r"(?:^|`)make ([a-z]+)", README[language], re.MULTILINE)
    assert {"run", "test", "check", "bench"} <= set(named) <= set(targets)


@both_languages
def test_every_module_that_is_run_exists(language):
    modules = re.findall(r"python -m ((?:sim|benchmarks|tools)\.\w+)", README[language])
    assert modules
    paths = [ROOT / module.replace(".", "/") for module in modules]
    assert [
        path
        for path in paths
        if not path.with_suffix(".py").exists() and not (path / "__main__.py").exists()
    ] == []


@both_languages
def test_every_link_leads_to_a_file(language):
    links = re.findall(r"\]\(([^)#]+)\)", BLOCK.sub("", README[language]))
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_the_lines_for_a_notebook_print_what_is_said():
    lines, said = blocks("en", "python")[-2], blocks("en", "text")[-1]
    assert len(lines.split("\n\n")[1].splitlines()) + 1 == 5  # the import is the first
    assert ran(lines) == said


def test_the_replays_print_what_is_said():
    commands = [block for block in blocks("en", "sh") if "sim.replay" in block]
    assert len(commands) == 2
    for command, said in zip(commands, blocks("en", "text"), strict=False):
        assert ran(*command.split()[1:]) == said


def test_the_page_to_copy_runs_in_both_languages(tmp_path):
    for name in ("sim", "ui", "assets", "pages", ".streamlit"):
        shutil.copytree(ROOT / name, tmp_path / name)
    for script in ROOT.glob("app.*"):
        shutil.copy(script, tmp_path)
    page, line = blocks("en", "python")[0], blocks("en", "")[1]
    (tmp_path / "pages" / "18_waiting.py").write_text(page, encoding="utf-8")
    for language in LANGUAGES:
        text = tmp_path / "pages" / f"18_waiting.{language}.md"
        text.write_text(blocks(language, "markdown")[0], encoding="utf-8")
    chapters = tmp_path / "ui" / "course" / "chapters.py"
    before = chapters.read_text(encoding="utf-8")
    chapters.write_text(re.sub(r"(?<=\nGROUPS = \(\n)", line, before), encoding="utf-8")
    assert chapters.read_text(encoding="utf-8") != before
    shown = ran(VISIT, folder=tmp_path).splitlines()
    assert [re.sub(r"\*\*.*?\*\*", "_", line) for line in shown] == [
        "2 平均每个请求要等 _ 才轮到。",
        "6 平均每个请求要等 _ 才轮到。",
        "2 On average a request waits _ for its slot.",
        "6 On average a request waits _ for its slot.",
    ]
    assert ["**0 s**" in line for line in shown] == [False, True, False, True]  # six seats for six


def ran(*arguments, folder=ROOT):
    """What Python prints, given lines of code or `-m module ...`."""
    given = arguments if arguments[0] == "-m" else ("-c", *arguments)
    done = subprocess.run(
        [sys.executable, *given],
        cwd=folder,
        env={**os.environ, "PYTHONIOENCODING": "utf-8", "PYTHONPATH": str(folder)},
        capture_output=True,
        encoding="utf-8",
        timeout=150,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
