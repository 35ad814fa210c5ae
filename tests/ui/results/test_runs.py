"""A run kept as A, settings under their chapters, a point that opens its run: on the real page."""

import pytest

from tests.ui.visits import WORKBENCH, address, drag, go, links, opened, press
from ui import lesson
from ui.charts import drawing
from ui.controls import widgets
from ui.course import chapters, state


def explore(**query):
    return opened(WORKBENCH, lang="en", **query)


def notes(app):
    return [metric.delta for metric in app.metric]


def values(app):
    return [metric.value for metric in app.metric]


# -- A ------------------------------------------------------------------------------------------


def test_a_kept_run_is_in_the_address_and_stays_when_a_knob_is_moved():
    app = explore(rate=20)
    before = values(app)
    press(app, "keep-as-a")
    assert address(app)["a"] == "rate.20"
    assert all(note.endswith("±0%") for note in notes(app))
    app.select_slider(key="17_workbench:seqs.en").set_value(8).run()
    assert address(app) == {
        "lang": "en",
        "rate": "20",
        "seqs": "8",
        "a": "rate.20",
    }
    assert [note.split(",")[0].split(" (")[0] for note in notes(app)[:1]] == [f"A {before[0]}"]
    press(app, "keep-as-a")  # now it drops A
    assert "a" not in address(app)
    assert not any(note.startswith("A ") for note in notes(app))


def test_a_link_with_a_kept_run_shows_both_in_either_language():
    app = explore(seqs=8, a="seqs.64~gpu.RTX 4090")
    shown = notes(app)
    assert all(note.startswith("A ") for note in shown)
    chinese = go(opened(WORKBENCH, lang="zh"), seqs=8, a="seqs.64~gpu.RTX 4090")
    assert notes(chinese) == shown


def test_a_run_kept_where_everything_starts_is_kept_too():
    app = press(explore(), "keep-as-a")
    assert address(app)["a"] == "~"
    assert all(note.endswith("±0%") for note in notes(app))


def test_a_preset_is_compared_with_the_run_that_is_kept():
    app = explore(a="seqs.8")
    presets = [query for _, label, query in links(app.main) if label == "Overload"]
    assert presets
    assert all("a=seqs.8" in query for query in presets)


@pytest.mark.parametrize("a", ["nonsense", "seqs.abc~rate.nan~gpu.<b>", "~~~~", "x" * 400])
def test_a_hostile_kept_run_is_one_at_the_start(a):
    app = explore(a=a)
    assert not app.exception
    assert all(note.endswith("±0%") for note in notes(app))


def test_a_kept_run_that_cannot_be_is_said_and_left_out():
    app = explore(a="model.Llama-3.1-70B")
    assert ["A: The weights of Llama-3.1-70B" in box.value for box in app.warning] == [True]
    assert not any(note.startswith("A ") for note in notes(app))


def test_while_a_slider_is_dragged_it_is_compared_with_a():
    app = drag(explore(a="~"), "rate", 11)
    assert all(metric.delta.startswith("A ") for metric in app.metric)
    assert any("×" in metric.delta for metric in app.metric)


def test_reset_drops_a():
    app = press(opened(WORKBENCH, a="seqs.8", view="lecture"), "lecture-reset")
    assert "a" not in address(app)


# -- groups -------------------------------------------------------------------------------------


def test_settings_stand_under_the_name_of_their_chapter_which_leads_there():
    app = explore()
    names = {chapters.Chapter(stem).name("en"): stem for stem in chapters.NAMES}
    linked = {label for _, label, _ in links(app.main)}
    for name, stem in names.items():
        assert (name in linked) == (
            stem in ("05_batching", "02_prefill_decode", "06_kv_cache", "07_fragmentation",
                     "08_prefix_cache", "09_chunked_prefill", "10_spec_decode", "11_cuda_graph",
                     "12_quantization", "13_systems")
        ), name  # fmt: skip


def test_every_planned_chapter_has_a_name_for_its_settings():
    planned = [stem for group in chapters.GROUPS for stem in group.stems]
    assert sorted(chapters.NAMES) == sorted(planned)


# -- a point that opens its run ----------------------------------------------------------------


def test_a_point_of_the_curve_moves_the_knob_to_the_very_value_of_the_scale(monkeypatch):
    moved = []
    monkeypatch.setattr(state, "set_value", lambda *given: moved.append(given))
    chapter = lesson.Lesson.__new__(lesson.Lesson)
    chapter._drawn = {"rate": (8, widgets.nearest((0.5, 1, 8, 20)))}
    for data in (20, 20.0, "0.5"):
        chapter._opener("rate")(data)
    assert moved == [("rate", 20, 8), ("rate", 20, 8), ("rate", 0.5, 8)]


def test_a_second_click_on_a_point_says_nothing(monkeypatch):
    clicked: list[object] = []
    for points in ([{"customdata": 20}], [{"customdata": [30]}], [{"x": 1}], []):
        monkeypatch.setattr(drawing.st, "session_state", {"c": {"selection": {"points": points}}})
        drawing.pass_on("c", clicked.append)
    assert clicked == [20, 30]
