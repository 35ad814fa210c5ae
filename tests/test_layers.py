"""The layout is a promise: sim knows no web, ui knows no scheduling, pages know no arithmetic."""

import ast
import re
import sys

import pytest

from tests.chapters import ROOT

STANDARD = set(sys.stdlib_module_names)
ALLOWED = {
    "sim": STANDARD | {"sim", "numpy"},
    "ui": STANDARD
    | {"ui", "sim", "streamlit", "plotly", "numpy", "pandas", "prometheus_client", "outlines_core"},
    "pages": {"sim", "ui", "typing"},
}


def files(layer):
    return sorted((ROOT / layer).rglob("*.py"))


def imports(file):
    """Full dotted names; `from sim import scheduler` gives both sim and sim.scheduler."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("layer", ALLOWED)
def test_a_layer_imports_only_what_it_may(layer):
    for file in files(layer):
        assert {name.split(".")[0] for name in imports(file)} <= ALLOWED[layer], file


def reading_order():
    listing = ast.get_docstring(ast.parse((ROOT / "sim" / "__init__.py").read_text("utf-8")))
    assert listing
    return re.findall(r"^    (\w+) {2,}", listing, re.MULTILINE)


def part_of(file):
    """sim/kv/paged.py belongs to the part `kv`."""
    return file.relative_to(ROOT / "sim").parts[0].removesuffix(".py")


def test_every_part_of_sim_is_in_its_reading_order():
    assert {part_of(file) for file in files("sim")} - {"__init__"} == set(reading_order())


def test_sim_imports_up_its_reading_order_and_never_back():
    order = reading_order()
    for file in files("sim"):
        here = part_of(file)
        inside = [name.split(".")[1] for name in imports(file) if name.startswith("sim.")]
        later = order[order.index(here) + 1 :] if here in order else []
        assert set(inside) & set(later) == set(), file


def test_ui_knows_no_scheduling():
    for file in files("ui"):
        assert [name for name in imports(file) if name.startswith("sim.scheduler")] == [], file


def test_a_page_has_no_loop_and_no_html():
    for file in files("pages"):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        loops = [n.lineno for n in ast.walk(tree) if isinstance(n, (ast.For, ast.While))]
        assert loops == [], file
        assert "unsafe_allow_html" not in file.read_text(encoding="utf-8"), file
