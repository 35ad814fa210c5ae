"""A run over time: no token is lost between windows, and the log line by hand."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.engine import Setup, simulate
from sim.errors import SimError
from sim.kv import Paged
from sim.metrics import summarize
from sim.scheduler import Chunked, Dynamic
from sim.views import over_time
from tests.sim.helpers import PLENTY, SECOND, request
from tests.sim.strategies import setups

TWO_APART = Setup(
    (request(0, 300, 3), request(1, 500, 2, arrival=7.5)), Chunked(4, 200), PLENTY, SECOND
)


def test_tokens_count_at_the_end_of_their_step_and_an_idle_server_counts_none():
    """Steps end at 1, 2, 3, 4 and then, after a pause, at 8.5, 9.5, 10.5, 11.5."""
    found = over_time.rates(simulate(TWO_APART), 2.0)
    assert found.end_seconds.tolist() == [2, 4, 6, 8, 10, 12]
    assert found.prompt_tokens_per_second.tolist() == [150, 0, 0, 0, 200, 50]
    assert found.generation_tokens_per_second.tolist() == [0.5, 1, 0, 0, 0, 1]


def test_a_window_as_long_as_the_run_is_the_only_one():
    found = over_time.rates(simulate(TWO_APART), 11.5)
    assert found.end_seconds.tolist() == [11.5]
    assert found.prompt_tokens_per_second.tolist() == [800 / 11.5]


@given(setups(), st.sampled_from([0.01, 0.1, 0.3, 1.0, 7.0, 1e6]))
def test_no_token_is_lost_between_windows(setup, window):
    run = simulate(setup)
    found, series = over_time.rates(run, window), run.series
    prompt = np.sum(found.prompt_tokens_per_second) * window
    generated = np.sum(found.generation_tokens_per_second) * window
    assert prompt == pytest.approx(np.sum(series.prefill_tokens))
    assert generated == pytest.approx(summarize(run).output_tokens)
    last = np.max(series.end_seconds, initial=0.0)
    assert found.end_seconds[-1] >= last
    assert len(found.end_seconds) == 1 or found.end_seconds[-2] < last


def test_without_hits_and_preemptions_the_prompt_rate_adds_up_to_the_prompts():
    found = over_time.rates(simulate(TWO_APART), 0.5)
    assert np.sum(found.prompt_tokens_per_second) * 0.5 == 300 + 500


@pytest.mark.parametrize("window", [0.0, -1.0, math.inf, math.nan])
def test_a_window_has_a_width(window):
    with pytest.raises(SimError, match="window_not_positive"):
        over_time.rates(simulate(TWO_APART), window)


# -- the log line ------------------------------------------------------------------------------


def test_the_log_line_by_hand():
    memory = Paged(num_blocks=1 + 100, block_size=10, prefix_caching=True)
    asked = (
        request(0, 100, 3, shared=50),
        request(1, 100, 3, arrival=0.5, shared=50),
        request(2, 100, 3, arrival=0.5),
    )
    run = simulate(Setup(asked, Chunked(max_num_seqs=2), memory, SECOND))
    # The second joins for the second step, the third for the fourth.
    assert run.series.end_seconds.tolist() == [1, 2, 3, 4, 5, 6]
    assert over_time.log_line(run, 0.0) == over_time.LogLine(0, 0, 1, 0, 0.10, 0)
    assert over_time.log_line(run, 1.5) == over_time.LogLine(
        prompt_tokens_per_second=100 / 10,
        generation_tokens_per_second=1 / 10,
        num_running=2,
        num_waiting=1,
        kv_usage=(11 + 10 - 5) / 100,
        prefix_hit_rate=50 / 200,
    )
    at_the_end = over_time.log_line(run, 6.0)
    assert (at_the_end.num_running, at_the_end.num_waiting, at_the_end.kv_usage) == (0, 0, 0)
    assert at_the_end.generation_tokens_per_second == 9 / 10
    assert at_the_end.prefix_hit_rate == pytest.approx(50 / 300)
    # Ten seconds look back: the first step is out of sight at 11, all are at 16.
    assert over_time.log_line(run, 11.0).generation_tokens_per_second == 8 / 10
    assert over_time.log_line(run, 16.0).generation_tokens_per_second == 0


def test_between_two_steps_nothing_runs_and_those_who_wait_are_counted():
    setup = Setup(
        (request(0, 8, 2), request(1, 8, 2, arrival=3.0)),
        Dynamic(3, window_seconds=50.0),
        PLENTY,
        SECOND,
    )
    run = simulate(setup)
    start = float(run.series.start_seconds[0])
    line = over_time.log_line(run, start - 0.5)
    assert (line.num_running, line.num_waiting, line.kv_usage) == (0, 2, 0)
    assert over_time.log_line(run, 2.9).num_waiting == 1
    assert over_time.log_line(run, 3.0).num_waiting == 2
    assert over_time.log_line(run, start).num_running == 2


def test_the_hit_rate_of_the_log_forgets_all_but_a_thousand_requests():
    """Only the first one of a text misses it."""
    asked = tuple(request(k, 10, 1, arrival=float(k), shared=8) for k in range(1001))
    run = simulate(Setup(asked, Chunked(), PLENTY, SECOND))
    rates = [over_time.log_line(run, at).prefix_hit_rate for at in (0.0, 1.0, 999.0, 1000.0)]
    assert rates == [0, 8 / 20, 8 * 999 / 10_000, 8 / 10]
