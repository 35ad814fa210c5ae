"""The fast path against the loop: the same run, to the last bit."""

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim.engine import Run, Users, run_by_steps, simulate
from sim.errors import SimError
from tests.sim.strategies import setups

USERS = st.one_of(
    st.none(), st.builds(Users, st.integers(1, 4), st.sampled_from([0.0, 0.0, 0.05, 3.0]))
)


def same(fast: Run, slow: Run) -> None:
    for name in slow.series.__dataclass_fields__:
        ours, theirs = getattr(fast.series, name), getattr(slow.series, name)
        assert np.array_equal(ours, theirs), (name, ours, theirs)
        assert ours.dtype == theirs.dtype or not len(ours), name
    for ours, theirs in zip(fast.records, slow.records, strict=True):
        assert np.array_equal(ours.token_seconds, theirs.token_seconds), ours.request
        nothing = np.array(None)
        assert replace(ours, token_seconds=nothing) == replace(theirs, token_seconds=nothing)
    assert fast.num_preemptions == slow.num_preemptions


@settings(max_examples=300)
@given(setups(), USERS, st.booleans())
def test_the_fast_path_gives_the_same_run_to_the_last_bit(setup, users, reject):
    setup = replace(setup, users=users, reject_impossible=reject)
    try:
        slow = run_by_steps(setup)
    except SimError as error:
        with pytest.raises(SimError, match=re.escape(str(error))):
            simulate(setup)
    else:
        same(simulate(setup), slow)
