"""Several servers: who goes where, and what that does to hits and to the busiest one."""

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim import engine, metrics, scheduler
from sim.cost import SimpleClock
from sim.errors import SimError
from sim.kv import Paged
from sim.request import Request, Segment
from sim.studies import replicas
from sim.studies.replicas import route, traffic

CLOCK = SimpleClock(prefill_tokens_per_second=10_000, decode_seconds_per_step=0.001)
RULES = st.sampled_from(["round_robin", "random", "affinity", "balanced"])


def fleet(num_replicas, rule, popular=0.0):
    requests = traffic(num_replicas, popular)
    setup = engine.Setup(requests, scheduler.Chunked(64), Paged(100_000), CLOCK)
    parts = replicas.parts(setup, route(requests, num_replicas, rule), num_replicas)
    summaries = [metrics.summarize(engine.simulate(part)) for part in parts]
    return replicas.together(parts, summaries, num_replicas)


def test_round_robin_goes_round():
    assert route(traffic(1, 0.0)[:5], 2, "round_robin") == (0, 1, 0, 1, 0)


def test_affinity_sends_a_prefix_always_to_the_same_server():
    requests = traffic(4, 0.3)
    targets = route(requests, 4, "affinity")
    homes = {(request.prefix, target) for request, target in zip(requests, targets, strict=True)}
    assert len(homes) == len({request.prefix for request in requests})


def test_balanced_is_affinity_as_long_as_loads_are_even_and_spreads_a_popular_prefix():
    calm = [replace(one, arrival_seconds=10.0 * one.id) for one in traffic(4, 0.9)]
    assert route(calm, 4, "balanced") == route(calm, 4, "affinity")
    busy = traffic(4, 0.6)
    of_popular = [request.prefix[0].id == "prefix-0" for request in busy]
    for rule, most in (("affinity", 1), ("balanced", 4)):
        targets = route(busy, 4, rule)
        homes = {to for to, is_popular in zip(targets, of_popular, strict=True) if is_popular}
        assert len(homes) == most
    assert max(Counter(route(busy, 4, "balanced")).values()) < 1.3 * len(busy) / 4


def test_what_was_sent_long_ago_is_no_load_and_new_texts_go_to_whoever_had_least():
    texts = [(Segment(f"text-{who}", 5),) for who in range(4)]
    calm = [Request(who, 10.0 * who, 9, 1, text) for who, text in enumerate(texts)]
    assert route(calm, 3, "affinity") == (0, 1, 2, 0)


def test_whoever_begins_alike_goes_to_the_same_server_whatever_follows():
    system = Segment("system", 5)
    chats = [Request(who, who, 9, 1, (system, Segment(f"chat-{who}", 3))) for who in range(4)]
    assert len(set(route(chats, 4, "affinity"))) == 1


def test_every_replica_brings_four_requests_a_second():
    for number in (1, 20):
        last = traffic(number, 0.0)[-1].arrival_seconds
        assert replicas.REQUESTS_EACH / last == pytest.approx(replicas.RATE_EACH, rel=0.2)


def test_among_many_requests_every_text_is_asked_for():
    ids = {request.prefix[0].id for request in traffic(2, 0.2)}
    assert ids == {f"prefix-{text}" for text in range(1 + 2 * replicas.PREFIXES_EACH)}


@given(rule=RULES, num_replicas=st.integers(1, 9), popular=st.sampled_from([0.0, 0.5, 1.0]))
def test_every_request_goes_to_one_server_that_exists(rule, num_replicas, popular):
    requests = traffic(num_replicas, popular)
    targets = route(requests, num_replicas, rule)
    assert len(targets) == len(requests)
    assert set(targets) <= set(range(num_replicas))
    setup = engine.Setup(requests, scheduler.Chunked(64), Paged(1_000), CLOCK)
    sent = replicas.parts(setup, targets, num_replicas)
    assert sorted(one.id for part in sent for one in part.requests) == list(range(len(requests)))


def test_with_plenty_of_memory_round_robin_still_computes_each_prefix_on_every_server():
    rates = [fleet(n, "round_robin").hit_rate for n in (1, 2, 4, 8)]
    assert rates == sorted(rates, reverse=True)
    assert rates[0] > 3 * rates[-1]


def test_affinity_keeps_the_hits_of_one_server():
    one, eight = fleet(1, "affinity"), fleet(8, "affinity")
    assert eight.hit_rate == pytest.approx(one.hit_rate, abs=0.05)


def test_a_popular_prefix_makes_one_server_hot_under_affinity():
    assert fleet(8, "affinity", 0.5).imbalance > 3
    assert fleet(8, "round_robin", 0.5).imbalance == pytest.approx(1)


def test_the_shares_add_up_and_idle_servers_count():
    one = fleet(4, "affinity", 1.0)
    assert one.shares == (1.0, 0, 0, 0)
    assert one.imbalance == 4


def test_the_fleet_is_its_servers_together():
    whole = fleet(1, "round_robin")
    requests = traffic(1, 0.0)
    setup = engine.Setup(requests, scheduler.Chunked(64), Paged(100_000), CLOCK)
    alone = metrics.summarize(engine.simulate(setup))
    assert whole.hit_rate == pytest.approx(alone.prefix_hit_rate)
    assert whole.ttft.mean == pytest.approx(alone.ttft.mean)


def test_traffic_is_the_same_each_time_and_grows_with_the_servers():
    assert traffic(3, 0.2) == traffic(3, 0.2)
    assert len(traffic(3, 0.2)) == 3 * len(traffic(1, 0.2))


def test_no_server_at_all_is_an_error():
    with pytest.raises(SimError) as error:
        route(traffic(1, 0.0), 0, "round_robin")
    assert error.value.code == "replicas_below_one"


def test_a_rule_nobody_knows_is_an_error():
    with pytest.raises(SimError) as error:
        route(traffic(1, 0.0), 1, "nearest")
    assert error.value.code == "rule_unknown"
