"""Twelve sick servers: what the panel shows, what cures them, and what only seems to.

A case is a server before traffic that a seed draws; nothing about it is drawn by hand, so every
reading is one of a run.  `symptoms` are the answers to the three questions of `panel`;
each of `cures` alone makes the server keep its promise, none of `lures` does; `twin` is the case
with the same complaint and another cause.

The first three are those of the course; the others are patterns of reported incidents, scaled to
servers that run here within a second.

Long because it is a table: twelve servers with their traffic, cures and lures.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import count

import numpy as np

from sim.request import Request, Segment
from sim.studies.clinic.deployment import EAGER, Change, Deployment
from sim.studies.clinic.panel import Slo, Thresholds
from sim.workload import (
    LognormalLength,
    OneInMany,
    PoissonArrivals,
    SharedPrefix,
    Workload,
)

THRESHOLDS = Thresholds()
CHAT = 1_000  # tokens; longer prompts are documents


@dataclass(frozen=True)
class Case:
    """One sick server; `chapter` is where its cure is explained, by the start of the page's name.

    `sources` are reports of the incident; the seed draws the traffic.
    """

    code: str
    build: Callable[[int], Deployment]
    slo: Slo
    symptoms: tuple[str, str, str]
    cures: tuple[Change, ...]
    lures: tuple[Change, ...]
    twin: str
    chapter: str
    sources: tuple[str, ...]

    @property
    def offers(self) -> tuple[Change, ...]:
        """Everything that may be turned, in an order that gives nothing away."""
        return tuple(sorted((*self.cures, *self.lures), key=lambda one: (one.flag, str(one.value))))


def issue(repository: str, number: int) -> str:
    return f"https://github.com/{repository}/issues/{number}"


# -- traffic ----------------------------------------------------------------------------------


def ramp(requests: tuple[Request, ...], low: float, high: float) -> tuple[Request, ...]:
    """Requests of rate 1 per second, made to come at `low` per second at first and `high` at last.

    With N(t) = low t + (high - low) t^2 / 2T requests until t, and T = 2n / (low + high).
    """
    number = np.array([request.arrival_seconds for request in requests])
    whole = 2 * number[-1] / (low + high)
    growth = (high - low) / whole
    times = (np.sqrt(low**2 + 2 * growth * number) - low) / growth
    return tuple(
        replace(request, arrival_seconds=at)
        for request, at in zip(requests, times.tolist(), strict=True)
    )


def _chats(
    num_requests: int, rate: float, prompt: int, output: int, seed: int
) -> tuple[Request, ...]:
    return Workload(
        num_requests,
        PoissonArrivals(rate),
        LognormalLength(prompt, 3 * prompt),
        LognormalLength(output, 3 * output),
        seed=seed,
    ).requests()


def _on_prefixes(
    num_requests: int, rate: float, num_texts: int, tokens: int, seed: int
) -> tuple[Request, ...]:
    """Questions about one of so many texts, drawn anew for each."""
    rng = np.random.default_rng([seed, num_texts])
    arrivals = np.cumsum(rng.exponential(1 / rate, num_requests)).tolist()
    texts = rng.integers(0, num_texts, num_requests).tolist()
    return tuple(
        Request(who, at, tokens + 64, 150, (Segment(f"text-{text}", tokens),))
        for who, (at, text) in enumerate(zip(arrivals, texts, strict=True))
    )


# -- the cases of the course ------------------------------------------------------------------


def long_prompts(seed: int) -> Deployment:
    """Documents are computed whole, and everybody waits for them."""
    lengths = OneInMany(200, 10_000, 3)
    traffic = Workload(240, PoissonArrivals(2.1), lengths, LognormalLength(100, 250), seed=seed)
    return Deployment(traffic.requests(), max_num_batched_tokens=512, chunked_prefill=False)


def kv_full(seed: int) -> Deployment:
    """More is admitted than can finish: requests are preempted and computed again."""
    return Deployment(_chats(260, 3, 400, 800, seed), gpu="RTX 4090", max_num_batched_tokens=2_048)


def thin_steps(seed: int) -> Deployment:
    """A small model on a fast GPU, launched kernel by kernel."""
    traffic = _chats(300, 8, 200, 200, seed)
    return Deployment(traffic, model="Llama-3.2-1B", gpu="H100 SXM", largest_graph=EAGER)


# -- reported incidents -----------------------------------------------------------------------


def few_slots(seed: int) -> Deployment:
    """The queue grows before a server that is nearly empty."""
    return Deployment(_chats(300, 6, 400, 300, seed), max_num_seqs=16)


def long_answers(seed: int) -> Deployment:
    """From the first quarter on answers are eight times as long, and nobody told the server."""
    traffic = _chats(900, 12, 400, 1_024, seed)
    cut = len(traffic) // 4
    short = (replace(request, output_tokens=128) for request in traffic[:cut])
    return Deployment((*short, *traffic[cut:]))


def long_head(seed: int) -> Deployment:
    """Chunking is on, and a huge prompt still takes all that decodes leave of each step."""
    lengths = OneInMany(200, 60_000, 50)
    traffic = Workload(300, PoissonArrivals(4), lengths, LognormalLength(200, 500), seed=seed)
    return Deployment(traffic.requests(), max_num_batched_tokens=8_192, gpu_memory_utilization=0.95)


def scattered(seed: int) -> Deployment:
    """Four replicas by turns: each of them must compute and keep every prefix."""
    traffic = _on_prefixes(640, 11, 40, 1_500, seed)
    return Deployment(traffic, gpu="RTX 4090", num_replicas=4)


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
    return Deployment(_on_prefixes(320, 3.0, 26, 1_500, seed), gpu="RTX 4090")


def few_graphs(seed: int) -> Deployment:
    """Load rises, and beyond a batch of 32 no graph was captured."""
    traffic = ramp(_chats(700, 1, 100, 200, seed), 30, 80)
    return Deployment(traffic, model="Llama-3.2-1B", gpu="H100 SXM", largest_graph=32)


def busy_cpu(seed: int) -> Deployment:
    """Load rises, and one CPU thread handles every token that comes out."""
    traffic = ramp(_chats(600, 1, 100, 200, seed), 6, 50)
    return Deployment(traffic, model="Llama-3.2-1B", gpu="H100 SXM", host_microseconds=80)


def poor_draft(seed: int) -> Deployment:
    """Speculation that helps a request alone, on a server too busy to check so many proposals."""
    return Deployment(_chats(180, 17, 300, 250, seed), num_speculative_tokens=6, acceptance=0.4)


MORE_MEMORY = Change("gpu_memory_utilization", 0.95)
FP8_KV = Change("kv_cache_dtype", "fp8")
MORE_SLOTS = Change("max_num_seqs", 512)
LARGER_STEPS = Change("max_num_batched_tokens", 8_192)

CASES = {
    case.code: case
    for case in (
        Case(
            "long_prompts",
            long_prompts,
            Slo(7, 0.08, CHAT),
            ("itl", "room", "compute"),
            (Change("chunked_prefill", True),),
            (FP8_KV, MORE_SLOTS, Change("longest_prompt", 4_000)),
            "long_head",
            "09_chunked_prefill",
            (issue("vllm-project/vllm", 3130),),
        ),
        Case(
            "kv_full",
            kv_full,
            Slo(10, 0.14),
            ("both", "full", "bandwidth"),
            (FP8_KV, Change("num_replicas", 2)),
            (MORE_SLOTS, LARGER_STEPS, Change("max_num_seqs", 16)),
            "few_slots",
            "06_kv_cache",
            (issue("vllm-project/vllm", 23444), issue("vllm-project/vllm", 18115)),
        ),
        Case(
            "thin_steps",
            thin_steps,
            Slo(0.1, 0.003),
            ("itl", "room", "low"),
            (Change("largest_graph", 512),),
            (Change("gpu", "H200 SXM"), MORE_SLOTS, Change("tensor_parallel", 2)),
            "few_graphs",
            "11_cuda_graph",
            (issue("flagos-ai/vllm-plugin-FL", 396),),
        ),
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
            "long_answers",
            long_answers,
            Slo(1, 0.125),
            ("ttft", "room", "bandwidth"),
            (Change("max_tokens", 256), Change("num_replicas", 2)),
            (MORE_SLOTS, LARGER_STEPS, MORE_MEMORY),
            "long_head",
            "03_latency",
            ("https://stackbytes.beehiiv.com/p/why-your-gpu-is-idle-but-your-requests-are-queued",),
        ),
        Case(
            "long_head",
            long_head,
            Slo(1, 0.12, CHAT),
            ("both", "room", "compute"),
            (Change("long_prefill_token_threshold", 256),),
            (
                Change("max_num_batched_tokens", 16_384),
                Change("max_num_batched_tokens", 512),
                MORE_SLOTS,
                Change("num_replicas", 2),
            ),
            "long_answers",
            "09_chunked_prefill",
            (issue("vllm-project/vllm", 21495), issue("vllm-project/vllm", 10235)),
        ),
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
            "no_hits",
            no_hits,
            Slo(2, 0.1),
            ("both", "room", "compute"),
            (Change("variable_first", False),),
            (MORE_MEMORY, FP8_KV, MORE_SLOTS, LARGER_STEPS),
            "scattered",
            "08_prefix_cache",
            ("https://docs.morphllm.com/sdk/components/caching",),
        ),
        Case(
            "small_cache",
            small_cache,
            Slo(1, 0.06),
            ("itl", "room", "bandwidth"),
            (FP8_KV,),
            (MORE_SLOTS, Change("chunked_prefill", False)),
            "no_hits",
            "08_prefix_cache",
            (
                "https://freya-end-to-end-latency.pages.dev/parts/"
                "05-prefill-prefix-cache-warmups.html",
            ),
        ),
        Case(
            "few_graphs",
            few_graphs,
            Slo(0.1, 0.0035),
            ("itl", "room", "low"),
            (Change("largest_graph", 512),),
            (Change("gpu", "H200 SXM"), MORE_SLOTS, Change("api_servers", 4)),
            "busy_cpu",
            "11_cuda_graph",
            (issue("1CatAI/1Cat-vLLM", 89),),
        ),
        Case(
            "busy_cpu",
            busy_cpu,
            Slo(0.1, 0.004),
            ("itl", "room", "low"),
            (Change("api_servers", 4),),
            (Change("gpu", "H200 SXM"), MORE_SLOTS, Change("largest_graph", 2_048)),
            "few_graphs",
            "11_cuda_graph",
            (issue("vllm-project/vllm", 4806), issue("vllm-project/vllm", 25301)),
        ),
        Case(
            "poor_draft",
            poor_draft,
            Slo(1, 0.12),
            ("itl", "room", "compute"),
            (Change("num_speculative_tokens", 0),),
            (Change("num_speculative_tokens", 8), FP8_KV, MORE_SLOTS),
            "long_prompts",
            "10_spec_decode",
            (issue("vllm-project/vllm", 19254), issue("vllm-project/vllm", 6494)),
        ),
    )
}


def drawn(seed: int) -> Case:
    """A case by lot; the same seed draws its traffic."""
    codes = list(CASES)
    return CASES[codes[int(np.random.default_rng([seed, len(codes)]).integers(len(codes)))]]


def number_of(code: str) -> int:
    """The smallest seed that draws this case."""
    return next(seed for seed in count() if drawn(seed).code == code)
