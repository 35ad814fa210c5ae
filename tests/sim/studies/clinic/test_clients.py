"""What lies between a user and the engine, and who gets a request where servers move."""

from dataclasses import replace

import numpy as np
import pytest

from sim import engine, workload
from sim.studies.clinic import Deployment, clients, moving_fleets
from sim.studies.clinic.deployment import LEAST_LOADED
from tests.sim.helpers import request


def arrivals(requests):
    return [one.arrival_seconds for one in requests]


def test_a_grammar_is_compiled_once_or_each_time_and_one_after_the_other():
    asked = tuple(request(who, 10, 4, arrival=float(who)) for who in range(4))
    schemas = (1, 0, 1, 2)
    kept = clients.compiled(asked, schemas, each_is_new=False, compile_seconds=5, num_threads=1)
    assert arrivals(kept) == [5, 1, 5, 10]
    anew = clients.compiled(asked, schemas, each_is_new=True, compile_seconds=5, num_threads=1)
    assert arrivals(anew) == [5, 1, 10, 15]
    two = clients.compiled(asked, schemas, each_is_new=True, compile_seconds=5, num_threads=2)
    assert arrivals(two) == [5, 1, 7, 10]


def test_users_count_from_when_they_sent_a_request_with_a_schema():
    asked = (request(0, 10, 4), request(1, 10, 4, arrival=1.0))
    server = Deployment(asked, schemas=(1, 0), grammar_seconds=3)
    (setup,) = server.setups()
    run = engine.simulate(setup)
    seen = server.seen(run)
    assert arrivals(seen.requests) == [0, 1]
    assert arrivals(run.requests) == [3, 1]
    assert seen.records[0].token_seconds[0] > 3


def test_tokens_become_text_one_after_the_other_and_each_server_has_its_own():
    (setup,) = Deployment(workload.of_lengths([3, 3])).setups()
    run = replace(engine.simulate(setup), token_seconds=np.array([1.0, 2, 9, 1, 2, 9]))
    one = clients.as_text(run, seconds_per_token=0.75, num_servers=1)
    assert one.token_seconds == pytest.approx([1.75, 3.25, 9.75, 2.5, 4.0, 10.5])
    two = clients.as_text(run, seconds_per_token=0.75, num_servers=2)
    assert two.token_seconds == pytest.approx([1.75, 2.75, 9.75] * 2)


def test_whoever_waits_too_long_asks_again_and_what_was_asked_is_computed_all_the_same():
    asked = tuple(request(who, 100, 400) for who in range(3))
    server = Deployment(asked, max_num_seqs=1, patience_seconds=5, retries=2)
    alone = engine.simulate(replace(server, requests=asked[:1], retries=0).setups()[0])
    whole = float(alone.token_seconds[-1])
    assert 2.5 < whole < 5  # so the third waits for more than 5 s, and the second does not
    assert [one.id for one in server.traffic] == [0, 1, 2, 2 + 3, 2 + 6]
    assert [one.arrival_seconds for one in server.traffic] == [0, 0, 0, 5, 10][
        : len(server.traffic)
    ]
    patient = replace(server, patience_seconds=60)
    assert patient.traffic == asked


def test_a_router_that_looks_seldom_sends_all_who_come_between_to_one():
    asked = tuple(request(who, 10, 4, arrival=who / 10) for who in range(40))
    stale = moving_fleets.least_loaded(asked, 4, age_seconds=1)
    assert stale == tuple(np.repeat([0, 1, 2, 3], 10).tolist())
    fresh = moving_fleets.least_loaded(asked, 4, age_seconds=0)
    assert sorted(np.bincount(fresh)) == [10] * 4
    assert max(np.diff(np.flatnonzero(np.array(fresh) == 0))) <= 4
    server = Deployment(asked, num_replicas=4, routing=LEAST_LOADED, load_age_seconds=1)
    assert [len(setup.requests) for setup in server.setups()] == [10] * 4


def test_new_replicas_take_part_from_when_they_are_ready():
    asked = tuple(request(who, 10, 4, arrival=float(who)) for who in range(8))
    assert moving_fleets.growing(asked, 1, 3, ready_seconds=5) == (0, 0, 0, 0, 0, 2, 0, 1)


def test_more_replicas_are_asked_for_when_so_many_wait_and_never_if_nobody_does():
    asked = tuple(request(who, 100, 200) for who in range(6))
    busy = Deployment(asked, max_num_seqs=1, max_replicas=2, scale_at=3, start_seconds=7)
    assert busy.asked_seconds == 0
    idle = replace(busy, max_num_seqs=8)
    assert idle.asked_seconds is None
    assert len(idle.setups()) == 1


def test_a_fourth_adapter_waits_for_a_slot_and_those_behind_it_pass():
    asked = tuple(request(who, 100, 50, arrival=who / 1000) for who in range(4))
    server = Deployment(asked, adapters=(1, 2, 3, 1), max_loras=2)
    (setup,) = server.setups()
    run = engine.simulate(setup)
    third, fourth = (record.scheduled_seconds for record in run.records[2:])
    assert fourth is not None
    assert third is not None
    assert fourth < third
    assert third >= min(run.records[0].token_seconds[-1], run.records[1].token_seconds[-1])
    slow = engine.run_by_steps(setup)
    assert np.array_equal(run.token_seconds, slow.token_seconds)


def test_without_chunks_a_server_starts_only_with_a_budget_for_its_longest_request():
    server = Deployment(workload.of_lengths([100], 5_000), max_num_batched_tokens=2_048)
    assert server.starts
    assert not replace(server, chunked_prefill=False).starts
    assert replace(server, chunked_prefill=False, max_num_batched_tokens=5_100).starts
