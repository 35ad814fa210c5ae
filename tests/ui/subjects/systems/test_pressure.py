"""Three pools on one clock: every step and every interruption is where it happened."""

import numpy as np
import pytest

from sim.studies.pressure import ANSWERS, Comparison
from ui.subjects.systems import pressure

POOL = 3_072
BOLD = Comparison(pressure.CLOCK, POOL, conservativeness=0.3)


@pytest.mark.usefixtures("read")
@pytest.mark.parametrize("large", [False, True])
def test_each_server_has_its_memory_and_its_marks_on_the_same_clock(large):
    found = pressure.outcomes(BOLD)
    figure = pressure.memory_figure(found, POOL, large)
    marks = [trace for trace in figure.data if trace.mode == "markers"]
    assert [trace.yaxis for trace in marks] == ["y", "y2", "y3"]
    assert [len(trace.x) for trace in marks] == [
        found[answer].summary.num_preemptions for answer in ANSWERS
    ]
    assert figure.layout.xaxis.range[1] == max(
        found[answer].run.series.end_seconds[-1] for answer in ANSWERS
    )
    written = " ".join(note.text for note in figure.layout.annotations)
    assert all(rule in written for rule in pressure.rules().values())


@pytest.mark.usefixtures("read")
def test_what_is_kept_lies_on_what_is_there_and_never_above_the_pool():
    figure = pressure.memory_figure(pressure.outcomes(BOLD), POOL)
    areas = [trace for trace in figure.data if trace.mode == "lines"]
    for kept, held in zip(areas[::2], areas[1::2], strict=True):
        assert kept.yaxis == held.yaxis
        assert np.max(kept.y) <= POOL
        assert np.max(held.y) <= POOL
    assert np.max(areas[1].y) == np.max(areas[0].y)  # vLLM keeps nothing
    assert np.mean(areas[4].y) > 1.1 * np.mean(areas[5].y)
    assert [bool(trace.fillpattern.shape) for trace in areas] == [True, False] * 3


@pytest.mark.usefixtures("read")
def test_the_names_of_the_areas_stand_once():
    figure = pressure.memory_figure(pressure.outcomes(BOLD), POOL)
    named = [trace.name for trace in figure.data if trace.showlegend is not False]
    assert len(named) == len(set(named)) == 3


def test_a_value_and_its_unit_stay_on_one_line():
    found = pressure.in_blanks(pressure.outcomes(BOLD))
    blanks = {name: value for name, value in found.items() if "_rule" not in name}
    assert len(blanks) == 7 * len(ANSWERS)
    assert not any(" " in value for value in blanks.values())
