"""A kept run travels as one value of the URL, and numbers are said against it."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ui.course import state
from ui.results import compare
from ui.words.numbers import seconds

SETTINGS = st.dictionaries(
    st.from_regex(state.NAME, fullmatch=True),
    st.sampled_from(["8", "0.5", "RTX 4090", "Qwen2.5-7B", "gamma", "1"]),
    min_size=1,
)


@given(SETTINGS)
def test_settings_survive_the_way_through_the_url(settings):
    assert compare.unpacked(compare.packed(settings)) == settings


def test_a_run_at_its_start_is_a_value_too():
    assert compare.packed({}) == "~"
    assert compare.unpacked("~") == {}


@pytest.mark.parametrize("nonsense", ["", "~~~", "8", ".8", "<b>~", "a" * 400])
def test_what_has_no_name_is_left_out(nonsense):
    assert compare.unpacked(nonsense) == {}


@pytest.mark.parametrize(
    ("here", "kept", "said"),
    [
        (0.65, 1.0, "A 1.00 s, −35%"),
        (1.04, 1.0, "A 1.00 s, +4.0%"),
        (1.0, 1.0, "A 1.00 s, ±0%"),
        (3.2, 1.0, "A 1.00 s, ×3.2"),
        (247.0, 1.0, "A 1.00 s, ×250"),
        (0.0627, 15.5, "A 15.5 s, ×0.0040"),
        (34_560.0, 1.0, "A 1.00 s, ×35,000"),
        (0.0, 1.0, "A 1.00 s, −100%"),
        (1.0, 0.0, "A 0 s"),
        (math.nan, 1.0, "A 1.00 s"),
        (1.0, math.nan, "A –"),
    ],
)
def test_a_number_is_said_against_that_of_a(here, kept, said):
    assert compare.against(here, kept, seconds) == said
