"""Which curve: the right one is what `sim` gives, and it can be told from the others."""

import numpy as np
import pytest

from sim.cost import Roofline, phases
from sim.studies import acceptance
from ui.practice import bank
from ui.practice.exhibits import quiz_curves

ITEMS = [item for item in bank.all_items().values() if item.kind == "curve"]
every_item = pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.key)


def right_option(item):
    return next(option for option in item.options if option.right)


def test_there_are_questions_of_this_kind():
    assert len(ITEMS) >= 3


@every_item
def test_every_option_is_a_curve_of_the_figure_and_the_right_one_is_that_of_sim(item):
    bundle = quiz_curves.BUNDLES[item.figure]()
    assert {option.curve for option in item.options} == set(bundle.curves)
    assert right_option(item).curve == bundle.right


@every_item
def test_curves_lie_apart_somewhere(item):
    lines = list(quiz_curves.BUNDLES[item.figure]().curves.values())
    top = max(curve.max() for curve in lines)
    for place, one in enumerate(lines):
        for other in lines[place + 1 :]:
            assert np.abs(one - other).max() > 0.1 * top


@every_item
def test_the_figure_names_every_curve_by_its_letter(item):
    letters = {letter: option.curve for letter, option in zip("ABC", item.options, strict=True)}
    figure = quiz_curves.figure(item.figure, letters)
    written = {note.text for note in figure.layout.annotations} | {t.name for t in figure.data}
    assert set("ABC") <= {str(text).strip("</b>") for text in written}


def test_throughput_bends_because_kv_has_to_be_read_for_every_request():
    bundle = quiz_curves.throughput_of_batch()
    clock = Roofline(quiz_curves.MODEL, quiz_curves.GPU)
    last = clock.step_time(phases.decode(256, quiz_curves.CONTEXT_TOKENS)).seconds
    assert bundle.curves["bends"][-1] == pytest.approx(256 / last)
    gains = np.diff(bundle.curves["bends"]) / np.diff(bundle.x)
    assert (np.diff(gains) < 0).all()


def test_kv_of_a_request_is_a_straight_line_from_what_the_prompt_took():
    line = quiz_curves.kv_of_a_request().curves["line"]
    assert np.diff(line, 2) == pytest.approx(0, abs=1e-12)
    assert line[-1] / line[0] == pytest.approx((200 + 600) / 200)


def test_the_speedup_has_its_peak_where_sim_finds_the_best_k():
    curve = quiz_curves.speedup_of_k().curves["rises_and_falls"]
    share, cost = quiz_curves.ACCEPTANCE, quiz_curves.DRAFT_COST
    assert int(np.argmax(curve)) == acceptance.best_num_proposed(share, cost, 16)
    assert curve[-1] < curve.max() / 1.2
