"""A server put together from names and numbers."""

import pytest

from sim import scheduler, workload
from sim.cost import SimpleClock
from sim.engine import Setup, Speculation, Users, simulate
from sim.engine.server import POLICIES, Server, policy_named
from sim.kv import Paged

FEW, MANY = workload.of_lengths((4, 4)), workload.of_lengths((4,) * 8)
MEMORY, CLOCK = Paged(64), SimpleClock(1_000, 1.0)


def test_a_server_keeps_all_it_has_whatever_is_sent_to_it():
    draft = Speculation(4, 0.7, 0.1)
    server = Server(scheduler.Chunked(2), MEMORY, CLOCK, draft)
    users = Users(3)
    assert server.serving(FEW) == Setup(FEW, server.policy, MEMORY, CLOCK, speculation=draft)
    setups = server.serving_each({"few": FEW, "many": MANY}, users)
    assert [setup.requests for setup in setups.values()] == [FEW, MANY]
    assert {setup.users for setup in setups.values()} == {users}


@pytest.mark.parametrize("name", POLICIES)
def test_every_policy_has_a_name_and_keeps_the_batch_limit(name):
    policy = policy_named(name, 2, 512)
    run = simulate(Server(policy, MEMORY, CLOCK).serving(MANY))
    assert run.series.num_running.max() == 2


def test_only_chunked_is_held_to_the_real_scheduler():
    is_vllm = {
        name: Server(policy_named(name, 2, 512), MEMORY, CLOCK).schedules_as_vllm
        for name in POLICIES
    }
    assert is_vllm == {"chunked": True, "continuous": False, "static": False}
    for other in (scheduler.Reserving(2, 512), scheduler.Estimating(2, 512)):
        assert not Server(other, MEMORY, CLOCK).schedules_as_vllm


def test_without_a_budget_the_longest_prompt_goes_in_one_step():
    long = workload.of_lengths((2,), prompt_tokens=9_000)
    whole = simulate(Server(policy_named("chunked", 2, None), Paged(1_000), CLOCK).serving(long))
    cut = simulate(Server(policy_named("chunked", 2, 512), Paged(1_000), CLOCK).serving(long))
    assert len(whole.series.end_seconds) == 2
    assert len(cut.series.end_seconds) > 9_000 / 512
