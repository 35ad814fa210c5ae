"""Measuring here: a process of its own answers piece by piece, and its numbers are drawn."""

import math
import subprocess
from unittest import mock

import numpy as np
import pytest

from sim.errors import SimError
from sim.model.measured import NUM_PIECES, Pace, Product, Results
from ui.subjects.phases import measured
from ui.words import language

FAKE = Results(
    products=(Product(1, 1000, 0.001), Product(100, 1000, 0.002)),
    prefill=Pace(128, 0.1),
    alone=Pace(8, 0.1),
    together=Pace(64, 0.2),
)


@pytest.fixture(params=["zh", "en"], autouse=True)
def _reader(request):
    with mock.patch.object(language, "current", return_value=request.param):
        yield


def test_this_machine_answers_and_says_how_far_it_is():
    told = []
    done = measured.here(lambda *at: told.append(at))
    assert told == [(at, NUM_PIECES) for at in range(NUM_PIECES + 1)]
    paces = (done.prefill, done.alone, done.together)
    times = [one.seconds for one in done.products] + [pace.seconds for pace in paces]
    assert all(0 < seconds < math.inf for seconds in times)


def test_a_machine_that_does_not_come_to_an_end_is_given_up(monkeypatch):
    monkeypatch.setattr(measured, "MOST_SECONDS", 0.01)
    with pytest.raises(SimError, match="measurement_cut_short"):
        measured.here(lambda done, total: None)


def test_a_reader_who_goes_on_leaves_no_process_and_no_queue_behind(monkeypatch):
    started = []

    class Noted(subprocess.Popen):
        def __init__(self, *given, **more):
            super().__init__(*given, **more)
            started.append(self)

    monkeypatch.setattr(subprocess, "Popen", Noted)

    def leave(done, total):
        if done == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as left:  # whose traceback still holds every name
        measured.here(leave)
    (process,) = started
    assert process.poll() is not None, left
    measured.here(lambda done, total: None)  # the next one has its turn


def test_a_processor_has_a_name():
    assert measured.cpu().strip()


def test_every_product_is_a_point_at_its_own_intensity():
    roof, points = measured.own_roofline(FAKE).data[:2]
    assert list(points.x) == pytest.approx([one.intensity for one in FAKE.products])
    assert list(points.y) == pytest.approx([2.0, 100.0])  # GFLOP/s
    assert max(roof.y) == pytest.approx(100)
    slope = np.diff(np.log(roof.y[:2])) / np.diff(np.log(roof.x[:2]))
    assert slope == pytest.approx(1)


def test_tokens_per_second_are_those_of_the_three_paces():
    (bars,) = measured.paces(FAKE).data
    assert list(bars.x) == [1280, 80, 320]


def test_the_scale_of_the_paces_has_so_few_numbers_that_none_stands_on_end():
    assert measured.paces(FAKE).layout.xaxis.nticks == 3
