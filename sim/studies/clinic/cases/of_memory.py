"""KV that is not found again, or is kept at too high a price."""

from sim.studies.clinic.cases.arrivals_of_cases import agents, on_prefixes
from sim.studies.clinic.cases.case import (
    FP8_KV,
    LARGER_STEPS,
    MORE_MEMORY,
    MORE_SLOTS,
    Case,
    issue,
)
from sim.studies.clinic.deployment import Change, Deployment
from sim.studies.clinic.panel import Slo
from sim.workload import LognormalLength, PoissonArrivals, SharedPrefix, Workload


def no_hits(seed: int) -> Deployment:
    """The time of day stands before a system prompt that all share."""
    traffic = Workload(
        260,
        PoissonArrivals(5),
        LognormalLength(200, 600),
        LognormalLength(150, 400),
        SharedPrefix(4_000, 4),
        seed=seed,
    )
    return Deployment(traffic.requests(), variable_first=True)


def small_cache(seed: int) -> Deployment:
    """The prefixes in use do not all fit beside the running requests: some are found, some not."""
    return Deployment(on_prefixes(320, 2.6, 26, 1_500, seed), gpu="RTX 4090")


def broken_turns(seed: int) -> Deployment:
    """Agents put their notes, new in every turn, between the tools and the history."""
    return Deployment(agents(14, 10, 6, seed), notes_before_history=True)


def offloaded_kv(seed: int) -> Deployment:
    """K and V of every prompt are copied out over a slow way, and nobody asks for them again."""
    traffic = Workload(
        300,
        PoissonArrivals(2.5),
        LognormalLength(1_800, 4_000),
        LognormalLength(150, 400),
        SharedPrefix(512, 1),
        seed=seed,
    )
    return Deployment(traffic.requests(), offload_gigabytes=1.5)


CASES = (
    Case(
        "no_hits",
        no_hits,
        Slo(2, 0.1),
        ("both", "room", "compute"),
        (Change("variable_first", False),),
        (MORE_MEMORY, FP8_KV, MORE_SLOTS, LARGER_STEPS),
        "broken_turns",
        "08_prefix_cache",
        (
            "https://docs.morphllm.com/sdk/components/caching",
            issue("goruck/home-generative-agent", 617),
        ),
    ),
    Case(
        "small_cache",
        small_cache,
        Slo(1, 0.16),
        ("itl", "room", "bandwidth"),
        (FP8_KV, MORE_MEMORY),
        (MORE_SLOTS, Change("max_num_seqs", 64)),
        "broken_turns",
        "08_prefix_cache",
        ("https://freya-end-to-end-latency.pages.dev/parts/05-prefill-prefix-cache-warmups.html",),
    ),
    Case(
        "broken_turns",
        broken_turns,
        Slo(1, 0.1),
        ("both", "room", "compute"),
        (Change("notes_before_history", False),),
        (MORE_MEMORY, FP8_KV),
        "small_cache",
        "08_prefix_cache",
        (
            issue("openclaw/openclaw", 95610),
            issue("mozilla-ai/clawbolt", 1420),
            issue("NousResearch/hermes-agent", 100336),
        ),
    ),
    Case(
        "offloaded_kv",
        offloaded_kv,
        Slo(10, 0.2),
        ("itl", "room", "low"),
        (Change("offload_gigabytes", 0.0),),
        (MORE_MEMORY, MORE_SLOTS),
        "no_hits",
        "08_prefix_cache",
        (issue("LMCache/LMCache", 1241), issue("LMCache/LMCache", 1061)),
    ),
)
