"""The `vllm serve` command that matches a setup, and what of the setup no flag can say.

The batch limit, the token budget and the share of memory are always stated: their defaults depend
on the machine and the version.  So is the longest request: vLLM takes the model's own context for
it, and does not start when the pool cannot hold one request of that length.  Everything else only
where it differs from vLLM's default.

Flags as in vLLM 0.11 to 0.29 (docs.vllm.ai, `vllm serve`; `vllm/config/cache.py`, `scheduler.py`;
the refusal: `vllm/v1/core/kv_cache_utils.py`).
"""

import json
from dataclasses import dataclass

from sim.cost import Clock, Eager, Roofline
from sim.engine import Setup, Speculation
from sim.kv import Paged
from sim.specs import BF16_BYTES
from sim.studies.clinic.deployment import ALL_SIZES, EAGER, Machine
from ui.words.language import tr

BLOCK_SIZE = 16  # vLLM's own
LARGEST_BLOCK = 32  # tokens, on NVIDIA GPUs
DRAFT = "DRAFT_MODEL"
CHECKPOINTS = {  # names of sim.specs.MODELS -> on the Hugging Face hub
    "Llama-2-7B": "meta-llama/Llama-2-7b-hf",
    "Llama-2-13B": "meta-llama/Llama-2-13b-hf",
    "Llama-2-70B": "meta-llama/Llama-2-70b-hf",
    "Llama-3.1-8B": "meta-llama/Llama-3.1-8B-Instruct",
    "Llama-3.1-70B": "meta-llama/Llama-3.1-70B-Instruct",
    "Llama-3.1-405B": "meta-llama/Llama-3.1-405B-Instruct",
    "Llama-3.2-1B": "meta-llama/Llama-3.2-1B-Instruct",
    "Mistral-7B": "mistralai/Mistral-7B-Instruct-v0.3",
    "Mistral-Small-24B": "mistralai/Mistral-Small-24B-Instruct-2501",
    "Qwen2.5-7B": "Qwen/Qwen2.5-7B-Instruct",
    "Qwen2.5-14B": "Qwen/Qwen2.5-14B-Instruct",
    "Qwen3-0.6B": "Qwen/Qwen3-0.6B",
    "Qwen3-1.7B": "Qwen/Qwen3-1.7B",
    "Qwen3-4B": "Qwen/Qwen3-4B",
    "Qwen3-8B": "Qwen/Qwen3-8B",
    "Qwen3-14B": "Qwen/Qwen3-14B",
    "Qwen3-32B": "Qwen/Qwen3-32B",
    "Qwen3-30B-A3B": "Qwen/Qwen3-30B-A3B",
    "Qwen3-235B-A22B": "Qwen/Qwen3-235B-A22B",
    "Qwen3-Next-80B-A3B": "Qwen/Qwen3-Next-80B-A3B-Instruct",
    "DeepSeek-V3": "deepseek-ai/DeepSeek-V3",
    "gpt-oss-20b": "openai/gpt-oss-20b",
    "gpt-oss-120b": "openai/gpt-oss-120b",
    "Gemma-3-27B": "google/gemma-3-27b-it",
    "Mixtral-8x7B": "mistralai/Mixtral-8x7B-Instruct-v0.1",
    "OPT-13B": "facebook/opt-13b",
}


@dataclass(frozen=True)
class Command:
    """`text` is empty when there is no such server; `notes` say what the flags do not."""

    text: str
    notes: tuple[str, ...]


def of(setup: Setup, memory_utilization: float | None = None) -> Command:
    """The command for a setup; `memory_utilization` is the share its pool was computed with."""
    clock, memory, policy = _machine(setup.clock), setup.memory, setup.policy
    if not isinstance(clock, Roofline) or not isinstance(memory, Paged):
        return Command("", (_no_machine(),))
    chunks = getattr(policy, "max_num_batched_tokens", None)
    if chunks is None:
        return Command("", (_no_policy(),))
    model = clock.model
    longest = max(request.total_tokens for request in setup.requests)
    room = (memory.num_blocks - 1) * memory.block_size
    flags = [f"--max-model-len {min(longest, room)}", f"--max-num-seqs {policy.max_num_seqs}"]
    is_chunked = bool(getattr(policy, "chunked_prefill", True))
    if is_chunked:
        flags.append(f"--max-num-batched-tokens {chunks}")
    else:
        flags.append("--no-enable-chunked-prefill")
    if most := getattr(policy, "long_prefill_token_threshold", 0):
        flags.append(f"--long-prefill-token-threshold {most}")
    if memory_utilization is not None:
        flags.append(f"--gpu-memory-utilization {memory_utilization:g}")
    if clock.tensor_parallel > 1:
        flags.append(f"--tensor-parallel-size {clock.tensor_parallel}")
    if memory.block_size != BLOCK_SIZE:
        flags.append(f"--block-size {memory.block_size}")
    if not memory.prefix_caching:
        flags.append("--no-enable-prefix-caching")
    if model.weights.name == "fp8":
        flags.append("--quantization fp8")
    if model.kv_element_bytes != BF16_BYTES:
        flags.append("--kv-cache-dtype fp8")
    if most := getattr(policy, "max_loras", 0):
        flags.append(f"--enable-lora --max-loras {most}")
    flags += _graphs(setup.clock)
    if setup.speculation is not None:
        flags.append(f"--speculative-config '{_draft(setup.speculation)}'")
    name = CHECKPOINTS.get(model.name, model.name)
    text = " \\\n  ".join([f"vllm serve {name}", *flags])
    notes = [_length(longest, room), *_notes(clock, memory, is_chunked)]
    if setup.speculation is not None:
        notes.append(_no_acceptance(setup.speculation))
    if isinstance(setup.clock, Machine) and setup.clock.is_slowed:
        notes.append(_no_flag())
    return Command(text, tuple(notes))


def _machine(clock: Clock) -> Clock:
    """Model and GPU, however the kernels are launched."""
    return clock.roofline if isinstance(clock, Eager | Machine) else clock


def _graphs(clock: Clock) -> list[str]:
    """Without graphs, or with graphs up to some size; nothing where every batch has one."""
    largest = clock.largest_graph if isinstance(clock, Machine) else ALL_SIZES
    if isinstance(clock, Eager) or largest == EAGER:
        return ["--enforce-eager"]
    return [f"--max-cudagraph-capture-size {largest}"] if largest < ALL_SIZES else []


def _draft(speculation: Speculation) -> str:
    """A draft that costs nothing can only be a lookup of n-grams."""
    how = {"model": DRAFT} if speculation.draft_cost else {"method": "ngram"}
    return json.dumps(how | {"num_speculative_tokens": speculation.num_speculative_tokens})


def _no_acceptance(speculation: Speculation) -> str:
    said = tr(
        "接受率不是参数：它由 draft 和流量里的文字决定，运行时看 "
        "`vllm:spec_decode_num_accepted_tokens`。",
        "Acceptance is no flag: the draft and the texts of the traffic decide it; watch "
        "`vllm:spec_decode_num_accepted_tokens`.",
    )
    if not speculation.draft_cost:
        return said
    return said + tr(
        f"把 {DRAFT} 换成与模型同词表的小模型；vLLM 0.11 的 V1 只接受 EAGLE 一类的草稿模型。",
        f" Put a small model with the same vocabulary in place of {DRAFT}; V1 of vLLM 0.11 takes "
        "only drafts of the EAGLE kind.",
    )


def _length(longest: int, room: int) -> str:
    said = tr(
        "`--max-model-len` 是这次运行里最长的提示词加输出。",
        "`--max-model-len` is the longest prompt plus output of this run.",
    )
    if longest > room:
        said = tr(
            f"`--max-model-len` 是 KV 池放得下的长度；这次运行里最长的请求有 {longest:,} 个 token，"
            "会被拒绝。",
            "`--max-model-len` is what the KV pool can hold; the longest request of this run has "
            f"{longest:,} tokens and is refused.",
        )
    return said + tr(
        "不写时 vLLM 取模型自己的上下文长度，KV 池放不下这么长的一个请求，它就不启动；"
        "写得比模型的上下文还长，它也不启动。",
        " Left out, vLLM takes the model's own context, and does not start if the KV pool cannot "
        "hold one request of that length; nor does it start with more than the model's context.",
    )


def _notes(clock: Roofline, memory: Paged, is_chunked: bool) -> list[str]:
    model = clock.model
    notes = []
    if model.weights.name in ("int8", "int4"):
        kind = {"int8": "INT8 W8A8", "int4": "AWQ / GPTQ"}[model.weights.name]
        notes.append(
            tr(
                f"{model.weights.name} 权重不是一个开关：把模型名换成已经量化好的检查点（{kind}），"
                "vLLM 从它的配置里认出格式。",
                f"{model.weights.name} weights are not a switch: put the name of a quantized "
                f"checkpoint ({kind}) in place of the model; vLLM reads the format from it.",
            )
        )
    if memory.block_size > LARGEST_BLOCK:
        notes.append(
            tr(
                f"在 NVIDIA GPU 上，多数注意力后端只接受不大于 {LARGEST_BLOCK} 的块。",
                f"On NVIDIA GPUs most attention backends take blocks of at most {LARGEST_BLOCK}.",
            )
        )
    if not is_chunked:
        notes.append(
            tr(
                "关掉分块预填充后，每步的预算至少要等于模型长度；不写时 vLLM 自己取够。",
                "Without chunked prefill the budget of a step must be at least the model length; "
                "left out, vLLM makes it large enough.",
            )
        )
    if clock.efficiency is not None:
        notes.append(
            tr(
                "你设的效率描述的是机器，没有对应的参数。",
                "The efficiencies that you set describe the machine; there is no flag for them.",
            )
        )
    notes.append(
        tr(
            f"GPU（{clock.gpu.name}）由你运行它的机器决定；到达、长度和共享前缀属于流量，"
            "用 `vllm bench serve` 来发。",
            f"The GPU ({clock.gpu.name}) is that of the machine you run it on; arrivals, lengths "
            "and shared prefixes belong to the traffic, which `vllm bench serve` sends.",
        )
    )
    return notes


def _no_flag() -> str:
    return tr(
        "这台机器本身的毛病（一块慢 GPU、慢的拷贝）不是参数，命令里没有。",
        "What ails the machine itself (a slow GPU, slow copies) is no flag and not in the command.",
    )


def _no_machine() -> str:
    return tr(
        "直接给速度的服务器没有型号，也就没有对应的命令：先选一块 GPU 和一个模型。",
        "A server given by two speeds is no product, so no command matches it: "
        "choose a GPU and a model.",
    )


def _no_policy() -> str:
    return tr(
        "vLLM 没有这种调度策略：换成 vLLM V1，就有对应的命令。",
        "vLLM has no such scheduling policy: choose vLLM V1 and there is a matching command.",
    )
