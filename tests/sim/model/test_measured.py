"""Measuring, with a clock that is counted and not read: what is asked for is what is reported."""

import numpy as np
import pytest

from sim.errors import SimError
from sim.model import measured
from sim.model.measured import NUM_PIECES, ROWS, SIZE, STEPS, TOGETHER, Pace, Product
from tests.sim.model.tiny import target


class Ticking:
    """A second passes whenever it is asked."""

    def __init__(self):
        self.asked = 0

    def __call__(self):
        self.asked += 1
        return float(self.asked)


def test_a_product_counts_its_flops_and_bytes():
    one = Product(rows=1, size=1000, seconds=0.001)
    assert one.flops == 2_000_000
    assert one.bytes_moved == 4 * (1_000_000 + 2_000)
    assert one.flops_per_second == pytest.approx(2e9)
    assert one.intensity == pytest.approx(0.5, rel=0.01)  # 2 FLOPs for 4 bytes
    assert Product(100, 1000, 0.001).intensity == pytest.approx(50 / 1.2)


def test_each_piece_takes_the_time_that_its_clock_says():
    done = measured.results(measured.pieces(target(), Ticking()))
    assert [one.rows for one in done.products] == list(ROWS)
    assert all((one.size, one.seconds) == (SIZE, 1.0) for one in done.products)
    assert done.prefill.tokens_per_second == measured.CONTEXT
    assert done.alone.tokens_per_second == STEPS
    assert done.together.tokens_per_second == STEPS * TOGETHER
    assert done.gain == ROWS[-1] / ROWS[0]


def test_the_fastest_of_several_tries_counts():
    times = iter([0.0, 9.0, 10.0, 12.0, 20.0, 25.0, 30.0, 37.0, 40.0, 48.0])
    weights = np.ones((4, 4), np.float32)
    assert measured.multiply(weights, 2, lambda: next(times)).seconds == 2


def test_a_piece_survives_its_way_between_processes():
    for piece in (Product(4, 16, 0.25), Pace(128, 0.5)):
        assert measured.from_line(measured.to_line(piece)) == piece


def test_a_measurement_that_is_cut_short_is_refused():
    with pytest.raises(SimError, match="measurement_cut_short"):
        measured.results([Product(1, 4, 1.0)] * (NUM_PIECES - 1))
