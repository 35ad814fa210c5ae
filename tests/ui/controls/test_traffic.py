"""Traffic by a few numbers: the same requests again, but for what is turned."""

from dataclasses import replace

import numpy as np
import pytest

from ui.controls.traffic import Traffic

TRAFFIC = Traffic(400, prompt_tokens=500, output_tokens=200, spread=4)
PATTERNS = ("poisson", "constant", "gamma", "burst")


def times(requests):
    return np.array([request.arrival_seconds for request in requests])


@pytest.mark.parametrize("arrival", PATTERNS)
def test_every_pattern_with_a_rate_keeps_it(arrival):
    requests = replace(TRAFFIC, arrival=arrival).at(5)
    assert len(requests) / times(requests)[-1] == pytest.approx(5, rel=0.15)


def test_at_once_is_at_once_at_any_rate():
    assert set(times(replace(TRAFFIC, arrival="once").at(5))) == {0.0}


def test_another_rate_changes_arrivals_and_no_length():
    slow, fast = TRAFFIC.at_each([1, 10]).values()
    assert times(slow)[-1] == pytest.approx(10 * times(fast)[-1])
    lengths = [[(one.prompt_tokens, one.output_tokens) for one in each] for each in (slow, fast)]
    assert lengths[0] == lengths[1]


def test_another_output_length_changes_nothing_else():
    short, long = TRAFFIC.with_each_output([50, 800], 5).values()
    assert list(times(short)) == list(times(long))
    assert [one.prompt_tokens for one in short] == [one.prompt_tokens for one in long]
    means = [np.mean([one.output_tokens for one in each]) for each in (short, long)]
    assert means == pytest.approx([50, 800], rel=0.15)


def test_one_giant_prompt_among_all_others():
    usual, giant = TRAFFIC.at(5), replace(TRAFFIC, giant_tokens=64_000).at(5)
    assert [one.prompt_tokens for one in giant if one not in usual] == [64_000]
