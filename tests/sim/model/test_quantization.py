"""Rounding to levels: they are the format's, each weight goes to the nearest, scales reach."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from sim.errors import SimError
from sim.model.quantization import GRIDS, Granularity, e4m3_levels, rounded

FP8, INT8, INT4 = GRIDS["fp8"], GRIDS["int8"], GRIDS["int4"]
TENSOR, CHANNEL, GROUP = Granularity("tensor"), Granularity("channel"), Granularity("group", 4)
EVERY_GRID = pytest.mark.parametrize("grid", GRIDS.values(), ids=list(GRIDS))
EVERY_GRANULARITY = pytest.mark.parametrize("granularity", [TENSOR, CHANNEL, GROUP], ids=str)


def matrix(seed=0, channels=6, inputs=8):
    return np.random.default_rng(seed).normal(0, 0.1, (channels, inputs)).astype(np.float32)


def decoded(code):
    """A byte as the OCP 8-bit specification reads it: sign, 4 bits of exponent, 3 of mantissa."""
    exponent, mantissa = code >> 3 & 15, code & 7
    size = mantissa / 8 * 2**-6 if exponent == 0 else (1 + mantissa / 8) * 2 ** (exponent - 7)
    return -size if code & 128 else size


def test_e4m3_has_exactly_the_numbers_that_its_bytes_stand_for():
    codes = [code for code in range(256) if code & 127 != 127]  # the two NaNs
    assert e4m3_levels().tolist() == sorted({decoded(code) for code in codes})
    assert len(e4m3_levels()) == 253


def test_the_landmarks_of_e4m3_are_those_of_the_specification():
    positive = [level for level in e4m3_levels().tolist() if level > 0]
    assert positive[0] == 2**-9  # smallest subnormal
    assert 2**-6 in positive  # smallest normal
    assert 7 / 8 * 2**-6 in positive  # largest subnormal
    assert positive[-1] == 448
    assert [level for level in positive if 1 <= level < 2] == [1 + step / 8 for step in range(8)]


def test_integers_are_symmetric_and_leave_the_lowest_code_out():
    assert INT4.levels.tolist() == list(range(-7, 8))
    assert (len(INT8.levels), INT8.largest) == (255, 127)


@EVERY_GRID
@given(
    x=arrays.arrays(np.float32, 16, elements=st.floats(-600, 600, width=32, allow_subnormal=False))
)
def test_every_number_goes_to_the_nearest_level(grid, x):
    distances = np.abs(grid.levels[None].astype(np.float64) - x[:, None])
    found = grid.nearest(x)
    assert np.isin(found, grid.levels).all()
    assert np.abs(found.astype(np.float64) - x) == pytest.approx(distances.min(axis=1), abs=0)


@EVERY_GRID
def test_levels_stay_where_they_are(grid):
    assert (grid.nearest(grid.levels) == grid.levels).all()


def test_halfway_goes_to_the_even_neighbour():
    assert INT4.nearest(np.array([0.5, 1.5, -2.5])).tolist() == [0, 2, -2]
    assert FP8.nearest(np.array([1.0625, 1.1875], np.float32)).tolist() == [1.0, 1.25]


@EVERY_GRID
@EVERY_GRANULARITY
def test_the_largest_weight_that_shares_a_scale_survives_and_none_is_off_by_over_half_a_level(
    grid, granularity
):
    before = matrix()
    done = rounded(before, grid, granularity)
    spans, after = (granularity.spans(each) for each in (before, done.after))
    largest = np.abs(spans).max(axis=1)
    assert np.abs(after).max(axis=1) == pytest.approx(largest, rel=1e-6)
    widest = np.diff(grid.levels).max() * done.scales
    assert (np.abs(after - spans).max(axis=1) <= widest / 2 * 1.0001).all()


@EVERY_GRID
@EVERY_GRANULARITY
def test_what_is_stored_are_levels_and_scales(grid, granularity):
    done = rounded(matrix(), grid, granularity)
    assert np.isin(done.levels, grid.levels).all()
    scales = np.repeat(done.scales, done.levels.size // done.scales.size)
    assert done.after.ravel() == pytest.approx(done.levels.ravel() * scales)


@pytest.mark.parametrize(
    ("granularity", "scales", "bits"), [(TENSOR, 1, 4 + 16 / 48), (CHANNEL, 6, 6), (GROUP, 12, 8)]
)
def test_scales_are_counted_in(granularity, scales, bits):
    done = rounded(matrix(), INT4, granularity)
    assert done.scales.size == scales
    assert done.bits_per_weight == pytest.approx(bits)


def test_an_outlier_spoils_those_that_share_its_scale_and_nobody_else():
    before = matrix()
    spoiled = before.copy()
    spoiled[2, 5] = 10.0
    for granularity, suffers in ((CHANNEL, np.s_[2]), (GROUP, np.s_[2, 4:])):
        well, ill = (rounded(each, INT4, granularity).after for each in (before, spoiled))
        assert (ill[suffers] == 0).sum() == np.size(ill[suffers]) - 1
        untouched = np.ones(before.shape, bool)
        untouched[suffers] = False
        assert (well[untouched] == ill[untouched]).all()
    assert (rounded(spoiled, INT4, TENSOR).after == 0).sum() == before.size - 1


def test_int8_is_finer_than_int4_and_fp8_is_worth_most_where_weights_differ():
    before = matrix(channels=32, inputs=64)
    spoiled = before.copy()
    spoiled[:, 0] *= 64
    error = {
        (grid.name, at): rounded(each, grid, CHANNEL).after[:, 1:] - each[:, 1:]
        for grid in GRIDS.values()
        for at, each in enumerate((before, spoiled))
    }
    size = {key: float(np.square(each).mean()) for key, each in error.items()}
    assert size["int8", 0] < size["fp8", 0] < size["int4", 0]
    assert size["fp8", 1] < size["int8", 1] < size["int4", 1]


@EVERY_GRID
@EVERY_GRANULARITY
def test_zeros_stay_zeros(grid, granularity):
    done = rounded(np.zeros((2, 8), np.float32), grid, granularity)
    assert (done.after == 0).all()
    assert (done.scales == 1).all()


def test_the_share_of_weights_that_vanish_leaves_out_those_that_were_zero():
    done = rounded(np.array([[0, 0.01, 1, -1]], np.float32), INT4, TENSOR)
    assert done.zeroed_share == pytest.approx(1 / 3)


@EVERY_GRID
def test_the_largest_group_is_a_channel_and_in_the_smallest_nothing_is_lost(grid):
    before = matrix()
    whole, channel = (rounded(before, grid, each) for each in (Granularity("group", 8), CHANNEL))
    assert (whole.after == channel.after).all()
    alone = rounded(before, grid, Granularity("group", 1))
    assert alone.after == pytest.approx(before, rel=1e-6)


@pytest.mark.parametrize("size", [0, -4, 3, 16])
def test_groups_that_do_not_fill_a_channel_are_refused(size):
    with pytest.raises(SimError) as error:
        rounded(matrix(), INT4, Granularity("group", size))
    assert error.value.code == "group_size_bad"
    assert error.value.values == {"value": size, "inputs": 8}


def test_an_unknown_granularity_is_refused():
    with pytest.raises(SimError, match="granularity_unknown"):
        rounded(matrix(), INT4, Granularity("row"))


def test_the_error_counts_weights_as_their_inputs_are_large():
    done = rounded(np.array([[7, 0.4, 3]], np.float32), INT4, TENSOR)
    assert done.relative_error() == pytest.approx(0.4 / np.sqrt(49 + 0.16 + 9))
    inputs = np.array([0, 1, 1])
    assert done.relative_error(inputs) == pytest.approx(0.4 / np.sqrt(0.16 + 9))
    assert done.of(0, 1, 2).relative_error() == pytest.approx(1)
    assert done.of(0, 0, 1).relative_error() == 0
    assert done.of(0, 1, 3).before.tolist() == done.before[:, 1:].tolist()
