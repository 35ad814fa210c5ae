"""The layout is a promise: imports run one way, a folder shows about a dozen entries, one name
means one thing."""

import ast
import re
import shutil
import subprocess
import sys
import tomllib
from collections import defaultdict
from pathlib import Path

import pytest

from tests.chapters import ROOT

STANDARD = set(sys.stdlib_module_names)
ALLOWED = {
    "sim": STANDARD | {"sim", "numpy"},
    "ui": STANDARD
    | {"ui", "sim", "streamlit", "plotly", "numpy", "pandas", "prometheus_client", "outlines_core"}
    | {"starlette", "google"},
    "pages": {"sim", "ui", "typing"},
}
ROOMS = ("sim", "ui")
A_DOZEN = {"sim": 14, "ui": 13}  # entries of a folder; 12 where nothing is said
LONG = 300  # lines; a longer file says why
SAME_FOR_ALL = {"pictures"}  # modules that mean the same in every folder


def files(layer):
    return sorted((ROOT / layer).rglob("*.py"))


def tree_of(file):
    return ast.parse(file.read_text(encoding="utf-8"))


def imports(file):
    """Full dotted names; `from sim import scheduler` gives both sim and sim.scheduler."""
    for node in ast.walk(tree_of(file)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def dotted(file):
    return ".".join(file.relative_to(ROOT).with_suffix("").parts)


def docstring(file):
    return ast.get_docstring(tree_of(file)) or ""


# -- imports run one way -----------------------------------------------------------------------


@pytest.mark.parametrize("layer", ALLOWED)
def test_a_layer_imports_only_what_it_may(layer):
    for file in files(layer):
        assert {name.split(".")[0] for name in imports(file)} <= ALLOWED[layer], file


def reading_order(room):
    listing = docstring(ROOT / room / "__init__.py")
    return re.findall(r"^    (\w+) {2,}", listing, re.MULTILINE)


def part_of(file, room):
    """sim/kv/paged.py belongs to the part `kv`."""
    return file.relative_to(ROOT / room).parts[0].removesuffix(".py")


@pytest.mark.parametrize("room", ROOMS)
def test_every_part_is_in_the_reading_order(room):
    assert {part_of(file, room) for file in files(room)} - {"__init__"} == set(reading_order(room))


@pytest.mark.parametrize("room", ROOMS)
def test_imports_point_up_the_reading_order_and_never_back(room):
    order = reading_order(room)
    for file in files(room):
        here = part_of(file, room)
        inside = [name.split(".")[1] for name in imports(file) if name.startswith(f"{room}.")]
        later = order[order.index(here) + 1 :] if here in order else []
        assert set(inside) & set(later) == set(), file


def test_ui_knows_no_scheduling():
    for file in files("ui"):
        assert [name for name in imports(file) if name.startswith("sim.scheduler")] == [], file


def settings():
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("room", ROOMS)
def test_the_contract_is_the_reading_order(room):
    contracts = settings()["tool"]["importlinter"]["contracts"]
    (layers,) = (one["layers"] for one in contracts if one.get("containers") == [room])
    listed = reading_order(room)
    for layer in reversed(layers):
        beside = {part.strip() for part in re.split(r"[|:]", layer)}
        assert set(listed[: len(beside)]) == beside
        listed = listed[len(beside) :]
    assert listed == []


def linted(folder):
    """What import-linter says of a checkout."""
    return subprocess.run(
        [Path(sys.executable).parent / "lint-imports", "--no-cache"],
        cwd=folder,
        capture_output=True,
        encoding="utf-8",
        check=False,
        env={"PYTHONPATH": str(folder), "PYTHONIOENCODING": "utf-8"},
    )


def test_the_contracts_of_imports_are_kept():
    told = linted(ROOT)
    assert told.returncode == 0, told.stdout
    assert " 0 broken" in told.stdout


@pytest.mark.parametrize(
    ("file", "line", "broken"),
    [
        ("sim/errors.py", "from ui import theme", "The simulation does not know its readers"),
        ("sim/kv/sizes.py", "from sim import engine", "sim: the order of its rooms"),
        ("ui/words/numbers.py", "from ui import lesson", "ui: the order of its rooms"),
        ("sim/engine/setup.py", "from sim.engine import steps", "No circle in any room"),
        ("ui/charts/style.py", "from sim.scheduler import Chunked", "Who goes next"),
        (
            "ui/subjects/memory/pictures.py",
            "from ui.subjects.prefix import trees",
            "A subject knows no other",
        ),
    ],
)
def test_an_import_in_the_wrong_direction_breaks_a_contract(tmp_path, file, line, broken):
    for folder in ("sim", "ui", "pages"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    with (tmp_path / file).open("a", encoding="utf-8") as source:
        source.write(f"\n{line}\n")
    told = linted(tmp_path)
    assert told.returncode == 1, told.stdout + told.stderr
    assert re.search(rf"^{re.escape(broken)}.* BROKEN$", told.stdout, re.MULTILINE), told.stdout


# -- a folder can be taken in ------------------------------------------------------------------


def folders():
    return sorted({file.parent for room in ROOMS for file in files(room)})


def entries(folder):
    """Modules and folders of modules, without what every package has."""
    names = {path.stem for path in folder.glob("*.py")} - {"__init__", "__main__"}
    return names | {path.name for path in folder.iterdir() if (path / "__init__.py").exists()}


@pytest.mark.parametrize("folder", folders(), ids=lambda folder: str(folder.relative_to(ROOT)))
def test_a_folder_shows_about_a_dozen_entries_and_says_what_each_is(folder):
    names = entries(folder)
    assert len(names) <= A_DOZEN.get(folder.name, 12)
    said = docstring(folder / "__init__.py")
    assert {name for name in names if not re.search(rf"\b{name}\b", said)} == set()


@pytest.mark.parametrize("room", ROOMS)
def test_a_long_file_says_why_it_is_long(room):
    silent = [
        dotted(file)
        for file in files(room)
        if len(file.read_text(encoding="utf-8").splitlines()) > LONG
        and "Long because" not in docstring(file)
    ]
    assert silent == []


@pytest.mark.parametrize("room", ROOMS)
def test_tests_stand_where_what_they_test_stands(room):
    mirrored = {path.parent.relative_to(ROOT / "tests") for path in files(f"tests/{room}")}
    assert {folder for folder in mirrored if not (ROOT / folder).is_dir()} == set()


# -- one name, one thing -----------------------------------------------------------------------


def test_two_modules_share_a_name_only_if_one_is_the_other_s_view():
    """It imports it.  Painters are named after what they paint, in JavaScript as well."""
    named = defaultdict(list)
    for file in [file for room in ROOMS for file in files(room)]:
        if not file.stem.startswith("__") and file.parent.name != "painters":
            named[file.stem].append(file)
    for name, alike in named.items():
        if name in SAME_FOR_ALL or len(alike) == 1:
            continue
        one, other = alike
        assert dotted(one) in imports(other) or dotted(other) in imports(one), alike


def test_no_two_classes_share_a_name():
    defined = defaultdict(list)
    for file in [file for room in ROOMS for file in files(room)]:
        for node in tree_of(file).body:
            if isinstance(node, ast.ClassDef):
                defined[node.name].append(dotted(file))
    assert {name: where for name, where in defined.items() if len(where) > 1} == {}


# -- pages -------------------------------------------------------------------------------------


def test_a_page_has_no_loop_and_no_html():
    for file in files("pages"):
        tree = tree_of(file)
        loops = [n.lineno for n in ast.walk(tree) if isinstance(n, (ast.For, ast.While))]
        assert loops == [], file
        assert "unsafe_allow_html" not in file.read_text(encoding="utf-8"), file
