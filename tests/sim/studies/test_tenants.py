"""What a tenant can find out by TTFT, and what a salt makes of it."""

import pytest

from sim import engine, metrics, scheduler
from sim.cost import SimpleClock
from sim.errors import SimError
from sim.kv import Paged
from sim.request import Request, Segment
from sim.studies.tenants import Probe, salted

CLOCK = SimpleClock(prefill_tokens_per_second=10_000, decode_seconds_per_step=0.01)


def tried(probe: Probe, salt) -> tuple[list[int], list[float]]:
    """Cached tokens and TTFT of B's probes."""
    setup = engine.Setup(probe.requests(salt), scheduler.Chunked(8), Paged(2_000), CLOCK)
    records = engine.simulate(setup).records[2:]
    return [record.hit_tokens for record in records], [metrics.ttft(r) for r in records]


@pytest.mark.parametrize("secret", range(4))
def test_without_a_salt_the_fastest_probe_is_the_document_that_a_has_sent(secret):
    hits, ttft = tried(Probe(secret=secret), "none")
    assert ttft.index(min(ttft)) == secret
    others = [time for number, time in enumerate(ttft) if number != secret]
    assert max(others) - min(others) < 1e-9 < min(others) - min(ttft)
    assert hits[secret] == 3_072


def test_with_a_salt_per_tenant_all_probes_take_equally_long_and_still_share_bs_own_beginning():
    hits, ttft = tried(Probe(), "tenant")
    assert hits == [1_024] * 4
    assert max(ttft) - min(ttft) < 1e-9


def test_with_a_salt_per_request_nothing_is_shared():
    assert tried(Probe(), "request")[0] == [0] * 4


def test_the_salt_in_the_first_block_changes_every_block_behind_it():
    request = Request(0, 0.0, 64, 1, (Segment("a", 32), Segment("b", 32)))
    (other,) = salted([request], ["tenant-B"])
    assert request.block_content(0, 16) != other.block_content(0, 16)
    assert request.block_content(2, 16) == other.block_content(2, 16)  # the chain does the rest
    again = Request(1, 9.0, 64, 1, request.prefix)
    setup = engine.Setup((other, again), scheduler.Chunked(2), Paged(64), CLOCK)
    assert engine.simulate(setup).records[1].hit_tokens == 0


def test_no_salt_and_nothing_shared_stay_as_they_are():
    plain = Request(0, 0.0, 8, 1)
    assert salted([plain], [""]) == (plain,)
    assert salted([plain], ["x"]) == (plain,)


def test_a_salt_nobody_knows_is_an_error():
    with pytest.raises(SimError) as error:
        Probe().requests("pepper")
    assert error.value.code == "salt_unknown"
