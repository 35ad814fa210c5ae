"""Several servers, each of them well by itself."""

from sim.studies.clinic.cases.arrivals_of_cases import chats, on_prefixes, ramp
from sim.studies.clinic.cases.case import (
    FP8_KV,
    MORE_MEMORY,
    Case,
    issue,
    pull,
)
from sim.studies.clinic.deployment import LEAST_LOADED, Change, Deployment
from sim.studies.clinic.panel import Slo


def scattered(seed: int) -> Deployment:
    """Four replicas by turns: each of them must compute and keep every prefix."""
    traffic = on_prefixes(640, 11, 40, 1_500, seed)
    return Deployment(traffic, gpu="RTX 4090", num_replicas=4)


def cold_replicas(seed: int) -> Deployment:
    """Load rises; two more replicas are asked for, and are there a minute later."""
    traffic = ramp(chats(1_300, 1, 400, 500, seed), 4, 15)
    return Deployment(traffic, max_num_seqs=64, max_replicas=3, start_seconds=60)


def stale_router(seed: int) -> Deployment:
    """The router sends everybody to the replica that was least loaded five seconds ago."""
    return Deployment(
        chats(900, 24, 400, 250, seed),
        max_num_seqs=64,
        num_replicas=4,
        routing=LEAST_LOADED,
        load_age_seconds=5,
    )


CASES = (
    Case(
        "scattered",
        scattered,
        Slo(1, 0.06),
        ("itl", "room", "bandwidth"),
        (Change("routing", "balanced"),),
        (MORE_MEMORY, FP8_KV, Change("num_replicas", 6)),
        "no_hits",
        "08_prefix_cache",
        (issue("sgl-project/sglang", 2114), issue("vllm-project/vllm", 11477)),
    ),
    Case(
        "cold_replicas",
        cold_replicas,
        Slo(5, 0.08),
        ("ttft", "room", "bandwidth"),
        (Change("num_replicas", 3), Change("start_seconds", 10.0)),
        (Change("max_replicas", 8), Change("scale_at", 1), MORE_MEMORY),
        "long_answers",
        "13_systems",
        (issue("llm-d/llm-d-autoscaling", 1433), pull("ray-project/ray", 60738)),
    ),
    Case(
        "stale_router",
        stale_router,
        Slo(1, 0.12),
        ("ttft", "room", "bandwidth"),
        (Change("load_age_seconds", 0.0), Change("routing", "round_robin")),
        (MORE_MEMORY, FP8_KV, Change("num_replicas", 6)),
        "scattered",
        "13_systems",
        (issue("vllm-project/aibrix", 646), issue("higress-group/higress", 4751)),
    ),
)
