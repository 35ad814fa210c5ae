"""Pictures of batches: what they draw adds up to what the run gave."""

import pytest

from sim import engine, scheduler, workload
from sim.cost import SimpleClock
from sim.engine import Setup
from sim.kv import Paged
from sim.views import slots
from ui.subjects.batching import pictures
from ui.words import language

TICK = 1 / 64
CLOCK = SimpleClock(20_000, TICK)
REQUESTS = workload.of_lengths((10, 100, 30, 50, 20, 40), (12, 40, 6, 24, 18, 30))


@pytest.fixture(autouse=True)
def _english(monkeypatch):
    monkeypatch.setattr(language, "current", lambda: "en")


def setup(policy, requests=REQUESTS, blocks=4096):
    return Setup(requests, policy, Paged(blocks), CLOCK)


def step(number):
    return list(engine.steps(setup(scheduler.Chunked(4))))[number - 1]


# -- a shared step ------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [1, 5, 11, 31])
def test_a_step_lays_all_tokens_end_to_end_and_attention_apart(rows, number):
    shared = step(number)
    pictures.shared_step(shared)
    together, *apart = rows
    lengths = [span.end - span.start for span in together.spans]
    assert lengths == [work.num_tokens for work in shared.work]
    assert [span.start for span in together.spans[1:]] == [span.end for span in together.spans[:-1]]
    assert together.spans[-1].end == shared.num_tokens
    for row, work in zip(apart, shared.work, strict=True):
        assert row.spans[-1].end == work.context
        assert row.spans[-1].end - row.spans[-1].start == work.num_tokens
        stored = [span for span in row.spans if span.state == "stored"]
        assert sum(span.end - span.start for span in stored) == work.context - work.num_tokens
        assert row.spans[-1].state == ("prefill" if work.is_prefill else "decode")


def test_contexts_are_those_of_the_step_in_the_readers_list(monkeypatch):
    lengths = [str(work.context) for work in step(11).work]
    assert pictures.contexts(step(11)).split(", ") == lengths
    monkeypatch.setattr(language, "current", lambda: "zh")
    assert pictures.contexts(step(11)).split("、") == lengths


# -- where the slots' time goes -----------------------------------------------------------------


@pytest.mark.parametrize("policy", [scheduler.Static(3), scheduler.Continuous(3)], ids=str)
def test_shares_of_the_slots_time_sum_up_to_a_hundred(rows, policy):
    grid = slots.slot_grid(setup(policy), TICK)
    pictures.slot_shares([("one", grid)])
    spans = rows[0].spans
    assert spans[0].start == 0
    ends = [span.end for span in spans]
    assert [span.start for span in spans[1:]] == pytest.approx(ends[:-1])
    assert ends[-1] == pytest.approx(100)
    for span in spans:
        assert span.end - span.start == pytest.approx(100 * grid.shares[span.state])


def test_every_state_of_a_slot_has_its_place_in_a_bar():
    assert set(pictures.SHARES) == set(slots.STATES)
