"""The three servers of the course, with the cures that it names."""

from dataclasses import replace

from sim.studies.clinic.cases.arrivals_of_cases import chats, with_documents
from sim.studies.clinic.cases.case import (
    FP8_KV,
    FP8_WEIGHTS,
    LARGER_STEPS,
    MORE_SLOTS,
    TWO_REPLICAS,
    Case,
    issue,
)
from sim.studies.clinic.deployment import EAGER, Change, Deployment
from sim.studies.clinic.panel import Slo


def long_prompts(seed: int) -> Deployment:
    """Short prompts are quick; the longer a document, the later its first token."""
    traffic = with_documents(chats(300, 0.6, 200, 150, seed), 30, 8_000, 32_000, seed)
    return Deployment(traffic, max_num_batched_tokens=32_768)


def kv_full(seed: int) -> Deployment:
    """More is admitted than can finish: requests are preempted and computed again."""
    traffic = chats(260, 3, 400, 800, seed)
    return Deployment(traffic, gpu="RTX 4090", patience_seconds=20)


def thin_steps(seed: int) -> Deployment:
    """A small model on a fast GPU: batches that stay as they are, launched kernel by kernel."""
    return replace(
        Deployment(chats(300, 2.4, 200, 200, seed), model="Llama-3.2-1B", gpu="H100 SXM"),
        static=True,
        max_num_seqs=8,
        largest_graph=EAGER,
    )


CASES = (
    Case(
        "long_prompts",
        long_prompts,
        Slo(1.5, 0.1),
        ("ttft", "room", "bandwidth"),
        (Change("gpu", "H200 SXM"),),
        (MORE_SLOTS, FP8_KV),
        "long_head",
        "09_chunked_prefill",
        (issue("vllm-project/vllm", 3130),),
        trades=(Change("max_num_batched_tokens", 2_048), Change("longest_prompt", 16_000)),
    ),
    Case(
        "kv_full",
        kv_full,
        Slo(10, 0.14),
        ("both", "full", "bandwidth"),
        (FP8_KV, FP8_WEIGHTS, TWO_REPLICAS),
        (MORE_SLOTS, LARGER_STEPS),
        "few_slots",
        "06_kv_cache",
        (issue("vllm-project/vllm", 23444), issue("vllm-project/vllm", 18115)),
        trades=(Change("max_num_seqs", 32),),
    ),
    Case(
        "thin_steps",
        thin_steps,
        Slo(10, 0.003),
        ("itl", "room", "low"),
        (Change("largest_graph", 512),),
        (Change("gpu", "H200 SXM"), Change("tensor_parallel", 2)),
        "few_graphs",
        "11_cuda_graph",
        (issue("flagos-ai/vllm-plugin-FL", 396),),
        trades=(Change("static", False), Change("max_num_seqs", 32)),
    ),
)
