"""Every token is slow: servers whose steps, or what follows them, take too long."""

from sim.studies.clinic.cases.arrivals_of_cases import chats, ramp
from sim.studies.clinic.cases.case import FP8_KV, MORE_SLOTS, Case, issue
from sim.studies.clinic.deployment import Change, Deployment
from sim.studies.clinic.panel import Slo


def few_graphs(seed: int) -> Deployment:
    """Load rises, and beyond a batch of 32 no graph was captured."""
    traffic = ramp(chats(700, 1, 100, 200, seed), 30, 80)
    return Deployment(traffic, model="Llama-3.2-1B", gpu="H100 SXM", largest_graph=32)


def busy_cpu(seed: int) -> Deployment:
    """Load rises, and one thread of the API server turns every token into text."""
    traffic = ramp(chats(700, 1, 100, 200, seed), 10, 80)
    return Deployment(traffic, model="Llama-3.2-1B", gpu="H100 SXM", host_microseconds=100)


def poor_draft(seed: int) -> Deployment:
    """Speculation that helps a request alone, on a server too busy to check so many proposals."""
    return Deployment(chats(180, 17, 300, 250, seed), num_speculative_tokens=6, acceptance=0.4)


def slow_rank(seed: int) -> Deployment:
    """One of four GPUs is throttled, and the other three wait for it in every layer."""
    traffic = chats(200, 3, 400, 200, seed)
    return Deployment(
        traffic,
        model="Llama-3.1-70B",
        gpu="H100 SXM",
        tensor_parallel=4,
        slowest_gpu=3.0,
    )


CASES = (
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
        Slo(0.1, 0.003),
        ("both", "room", "bandwidth"),
        (Change("api_servers", 4),),
        (Change("gpu", "H200 SXM"), MORE_SLOTS, Change("largest_graph", 2_048)),
        "few_graphs",
        "11_cuda_graph",
        (issue("vllm-project/vllm", 4806), issue("vllm-project/vllm", 25301)),
    ),
    Case(
        "poor_draft",
        poor_draft,
        Slo(1, 0.15),
        ("itl", "room", "compute"),
        (Change("num_speculative_tokens", 2), Change("num_speculative_tokens", 0)),
        (Change("num_speculative_tokens", 8), FP8_KV, MORE_SLOTS),
        "slow_rank",
        "10_spec_decode",
        (issue("vllm-project/vllm", 19254), issue("vllm-project/vllm", 6494)),
    ),
    Case(
        "slow_rank",
        slow_rank,
        Slo(1, 0.05),
        ("itl", "room", "low"),
        (Change("slowest_gpu", 1.0),),
        (MORE_SLOTS, FP8_KV, Change("tensor_parallel", 8)),
        "thin_steps",
        "13_systems",
        (issue("pytorch/pytorch", 120787), issue("NVIDIA/nccl", 893)),
    ),
)
