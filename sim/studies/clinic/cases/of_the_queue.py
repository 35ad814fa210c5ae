"""First tokens come late: servers on which people wait, each for another reason."""

from dataclasses import replace

import numpy as np

from sim.request import Segment
from sim.studies.clinic.cases.arrivals_of_cases import chats, with_a_rush, with_documents
from sim.studies.clinic.cases.case import (
    FP8_KV,
    LARGER_STEPS,
    MORE_MEMORY,
    MORE_SLOTS,
    TWO_REPLICAS,
    Case,
    issue,
    pull,
)
from sim.studies.clinic.deployment import Change, Deployment
from sim.studies.clinic.panel import Slo
from sim.studies.clinic.signs import CHAT

NUM_ADAPTERS, NUM_SCHEMAS = 24, 4


def few_slots(seed: int) -> Deployment:
    """The queue grows before a server that is nearly empty."""
    return Deployment(chats(300, 6, 400, 300, seed), max_num_seqs=16)


def lora_slots(seed: int) -> Deployment:
    """Of many adapters only four fit into a step, and no counter of the batch says so."""
    rng = np.random.default_rng([seed, NUM_ADAPTERS])
    adapters = tuple(rng.integers(NUM_ADAPTERS, size=300).tolist())
    return Deployment(chats(300, 4, 400, 250, seed), adapters=adapters, max_loras=4)


def grammar_queue(seed: int) -> Deployment:
    """A third of the requests bring a JSON schema with a value of their own in it."""
    rng = np.random.default_rng([seed, NUM_SCHEMAS])
    has_schema = rng.random(500) < 1 / 3
    schemas = np.where(has_schema, rng.integers(1, NUM_SCHEMAS + 1, 500), 0).tolist()
    return Deployment(
        chats(500, 6, 400, 150, seed),
        schemas=tuple(schemas),
        schemas_vary=True,
        grammar_seconds=1.2,
        grammar_threads=2,
    )


def long_answers(seed: int) -> Deployment:
    """From the first quarter on answers are eight times as long, and nobody told the server."""
    traffic = chats(900, 12, 400, 1_024, seed)
    cut = len(traffic) // 4
    short = (replace(request, output_tokens=128) for request in traffic[:cut])
    return Deployment(
        (*short, *traffic[cut:]),
        max_num_seqs=512,
        max_num_batched_tokens=512,
        gpu_memory_utilization=0.95,
    )


def long_head(seed: int) -> Deployment:
    """Chunking is on, and a huge prompt still takes all that decodes leave of each step."""
    traffic = with_documents(chats(400, 3, 200, 200, seed), 100, 50_000, 60_000, seed)
    return Deployment(traffic, max_num_batched_tokens=8_192, gpu_memory_utilization=0.95)


def retry_storm(seed: int) -> Deployment:
    """After a rush clients give up and ask again, and the server computes for both."""
    traffic = with_a_rush(chats(300, 2.6, 300, 500, seed), 60, 40, 2)
    named = (
        replace(request, prefix=(Segment(f"prompt-{request.id}", request.prompt_tokens),))
        for request in traffic
    )
    return Deployment(tuple(named), gpu="RTX 4090", max_num_seqs=40, patience_seconds=5, retries=2)


CASES = (
    Case(
        "few_slots",
        few_slots,
        Slo(1, 0.08),
        ("ttft", "room", "bandwidth"),
        (Change("max_num_seqs", 64),),
        (MORE_MEMORY, FP8_KV, LARGER_STEPS),
        "kv_full",
        "05_batching",
        (issue("vllm-project/vllm", 13508), issue("vllm-project/vllm", 6801)),
    ),
    Case(
        "lora_slots",
        lora_slots,
        Slo(1, 0.08),
        ("ttft", "room", "bandwidth"),
        (Change("max_loras", 24),),
        (MORE_SLOTS, MORE_MEMORY, LARGER_STEPS),
        "few_slots",
        "05_batching",
        (pull("vllm-project/vllm", 15422), issue("vllm-project/vllm", 5830)),
    ),
    Case(
        "grammar_queue",
        grammar_queue,
        Slo(2, 0.1),
        ("ttft", "room", "bandwidth"),
        (Change("schemas_vary", False), Change("grammar_threads", 8)),
        (Change("gpu", "H100 SXM"), MORE_SLOTS, LARGER_STEPS),
        "lora_slots",
        "13_systems",
        (issue("vllm-project/vllm", 54003), issue("mlc-ai/xgrammar", 680)),
    ),
    Case(
        "long_answers",
        long_answers,
        Slo(1, 0.085),
        ("ttft", "room", "bandwidth"),
        (TWO_REPLICAS,),
        (LARGER_STEPS, Change("max_num_seqs", 256)),
        "retry_storm",
        "03_latency",
        ("https://stackbytes.beehiiv.com/p/why-your-gpu-is-idle-but-your-requests-are-queued",),
        trades=(Change("max_tokens", 256),),
    ),
    Case(
        "long_head",
        long_head,
        Slo(1, 0.12, CHAT),
        ("ttft", "room", "bandwidth"),
        (Change("long_prefill_token_threshold", 256),),
        (
            Change("max_num_batched_tokens", 16_384),
            Change("max_num_batched_tokens", 512),
            MORE_SLOTS,
            TWO_REPLICAS,
        ),
        "long_answers",
        "09_chunked_prefill",
        (issue("vllm-project/vllm", 21495), issue("vllm-project/vllm", 10235)),
    ),
    Case(
        "retry_storm",
        retry_storm,
        Slo(15, 0.1),
        ("ttft", "room", "bandwidth"),
        (Change("patience_seconds", 60),),
        (LARGER_STEPS, FP8_KV, MORE_MEMORY),
        "long_answers",
        "03_latency",
        (
            issue("lmstudio-ai/lmstudio-bug-tracker", 693),
            pull("llm-exe/llm-exe", 797),
            pull("Alishahryar1/free-claude-code", 1460),
        ),
        trades=(Change("retries", 0),),
    ),
)
