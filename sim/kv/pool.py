"""How a server divides the memory of its GPUs when it starts, and how many blocks of KV are left.

    pool = memory * share - weights - activations - communication - context [- CUDA graphs]

The engine measures most of this itself: it runs the largest step that it allows and notes the peak.
The peak is the longer of two moments, both of which it is possible to write down (bytes, one GPU):

    in a layer       tokens * 2 * (3 ffn + 3 hidden)    gate and up, their product; two residual
                                                         streams and a norm
    at the sampler   sequences * vocab * bytes          logits and what filtering them needs

tokens is `max_num_batched_tokens`, sequences `max_num_seqs`, vocab the whole vocabulary: logits are
gathered on every GPU that samples.  In a mixture each token counts once for each of its experts.

Where the constants come from
* in a layer: Llama-3.1-8B took 0.92 GiB more for 9,000 tokens more, 110 kB each (vLLM issue 10517);
  the formula says 110,592.
* at the sampler: PyTorch's sort of 256 x 131,072 logits takes 1.25 GiB, 40 bytes each (vLLM pull
  request 32558): 2 + 4 for the logits in bf16 and float32, 4 + 8 sorted with their indices, 8
  unsorted indices, 12 to work in, 38 in all.  Logged: 5.58 GiB for 1,024 x 151,936 (vLLM 0.11,
  Qwen3-Next on two H200), 38.5 bytes each.  Since 0.17 a kernel does without the sort: 2 + 4 + 4
  for the logits and their filtered copy, 4 + 4 for probabilities and random numbers, and 80 MiB
  (pull request 33538).
* communication: see `sim.specs.gpus`.
* context: what is allocated outside torch on one GPU, 0.02 to 0.26 GiB in the logs; 0.1 here.
  Before 0.6.5 the CUDA context was counted, too: 0.35 GiB (issue 10517).
* CUDA graphs: 0.55 GiB for 32 layers (vLLM 0.15, Llama-3.1-8B), 1.02 for 62 (0.11, Gemma 3): 17 MiB
  a layer.  They come on top of the share before vLLM 0.21, and out of it since.

Assumed: those 17 MiB, which depend on the driver (2.4 GiB in one log with driver 535), and 0.1 GiB.
Left out: vision encoders, speculation, LoRA, what KV connectors and other processes take, and
weights that kernels pad (gpt-oss-20b took 13.7 GiB instead of 12.8).
"""

from dataclasses import dataclass
from functools import cached_property

from sim.errors import require
from sim.kv.groups import Groups
from sim.specs import BF16_BYTES, GIB, Gpu, Model

BLOCK_SIZE = 16
MIB = 2**20
GRAPH_BYTES_PER_LAYER = 17 * MIB
LARGE_GPU_BYTES = 70 * GIB  # from here on vLLM allows larger steps, but for the A100


@dataclass(frozen=True)
class Release:
    """What changed in vLLM: `since` which version, bytes of the sampler for each logit and in all,
    what is counted outside torch, and whether CUDA graphs are counted within the share."""

    since: str
    sampler_bytes: float
    sampler_fixed_bytes: float = 0.0
    context_bytes: float = 0.1 * GIB
    graphs_inside: bool = False


RELEASES: dict[str, Release] = {
    release.since: release
    for release in (
        Release("0.2", 38, context_bytes=0.35 * GIB),
        Release("0.6.5", 38),
        Release("0.17", 18, 80 * MIB),
        Release("0.21", 18, 80 * MIB, graphs_inside=True),
    )
}


@dataclass(frozen=True)
class Division:
    """The memory of a GPU, one of `tensor_parallel`, when `model` is served on them.

    `max_num_batched_tokens` and `max_num_seqs` are vLLM's defaults where they are None; `graphs`
    is off with `--enforce-eager`.

    Raises:
        SimError: `model_does_not_fit`, when asked for the pool; as `Model.shard`.
    """

    model: Model
    gpu: Gpu
    memory_utilization: float = 0.9
    tensor_parallel: int = 1
    max_num_batched_tokens: int | None = None
    max_num_seqs: int | None = None
    release: Release = RELEASES["0.21"]
    graphs: bool = True
    least_block_size: int = BLOCK_SIZE

    # -- what the engine allows in a step ---------------------------------------------------

    @property
    def _allows_large_steps(self) -> bool:
        return self.gpu.memory_bytes >= LARGE_GPU_BYTES and "A100" not in self.gpu.name

    @property
    def step_tokens(self) -> int:
        """Source: vLLM, `engine/arg_utils.py`, defaults of the API server."""
        return self.max_num_batched_tokens or (8192 if self._allows_large_steps else 2048)

    @property
    def step_sequences(self) -> int:
        return self.max_num_seqs or (1024 if self._allows_large_steps else 256)

    # -- what is taken ----------------------------------------------------------------------

    @cached_property
    def shard(self) -> Model:
        """What one GPU holds of the model."""
        return self.model.shard(self.tensor_parallel)

    @property
    def left_alone_bytes(self) -> float:
        """What the server does not touch."""
        return self.gpu.memory_bytes * (1 - self.memory_utilization)

    @property
    def layer_bytes(self) -> float:
        """The peak within a layer."""
        model = self.shard
        width = 3 * max(model.ffn * (model.active_experts + model.shared_experts), model.dense_ffn)
        if model.experts > 1:  # each expert's output is kept until they are added up
            width += model.active_experts * model.hidden
        return self.step_tokens * BF16_BYTES * (width + 3 * model.hidden)

    @property
    def sampler_bytes(self) -> float:
        """The peak when sampling, beside the hidden states of the step."""
        sequences = min(self.step_sequences, self.step_tokens)
        logits = sequences * self.model.vocab
        hidden = self.step_tokens * self.model.hidden * BF16_BYTES
        return logits * self.release.sampler_bytes + self.release.sampler_fixed_bytes + hidden

    @property
    def activation_bytes(self) -> float:
        """The peak of the profiled step, beside the weights."""
        return max(self.layer_bytes, self.sampler_bytes)

    @property
    def communication_bytes(self) -> float:
        return self.gpu.link.buffer_bytes if self.tensor_parallel > 1 else 0.0

    @property
    def graph_bytes(self) -> float:
        """CUDA graphs, as far as they count within the share."""
        counted = self.graphs and self.release.graphs_inside
        return self.model.layers * GRAPH_BYTES_PER_LAYER if counted else 0.0

    @property
    def overhead_bytes(self) -> float:
        """All but weights and pool."""
        context = self.release.context_bytes
        return self.activation_bytes + self.communication_bytes + context + self.graph_bytes

    # -- what is left -----------------------------------------------------------------------

    @cached_property
    def groups(self) -> Groups:
        return Groups(self.shard, self.least_block_size)

    @property
    def free_bytes(self) -> float:
        """What is left for KV on each GPU; negative where not even the weights fit."""
        share = self.gpu.memory_bytes * self.memory_utilization
        return share - self.shard.memory_bytes - self.overhead_bytes

    @property
    def fits(self) -> bool:
        return self.free_bytes >= 2 * self.groups.num_groups * self.groups.block_bytes

    @cached_property
    def num_pool_blocks(self) -> int:
        """Blocks of the pool, which all groups of layers draw from."""
        require(self.fits, "model_does_not_fit", model=self.model.name, gpu=self.gpu.name)
        return int(self.free_bytes // self.groups.block_bytes)

    @property
    def num_blocks(self) -> int:
        """Blocks, each of them in all layers: what every layer could keep of every token."""
        return self.num_pool_blocks // self.groups.num_groups

    @property
    def pool_tokens(self) -> int:
        """How many tokens the pool holds, over all requests, if every layer keeps all of them."""
        return self.num_blocks * self.groups.block_size

    @property
    def pool_bytes(self) -> float:
        """On each GPU."""
        return self.num_pool_blocks * self.groups.block_bytes

    @property
    def occupied_bytes(self) -> float:
        """What `nvidia-smi` shows from the start on: weights, overhead and the whole pool."""
        return self.shard.memory_bytes + self.overhead_bytes + self.pool_bytes

    @property
    def occupied_share(self) -> float:
        return self.occupied_bytes / self.gpu.memory_bytes

    def concurrency(self, tokens: int) -> float:
        """How many requests of so many tokens the pool holds at a time, as vLLM logs it."""
        return self.num_pool_blocks / self.groups.blocks_for(tokens, self.step_tokens)

    def logged_tokens(self, tokens: int) -> int:
        """ "GPU KV cache size" as vLLM logs it for requests of at most `tokens`: how many tokens so
        many requests have."""
        return int(self.concurrency(tokens) * tokens)

    def num_requests(self, tokens: float) -> int:
        """How many requests of (on average) so many tokens the pool holds."""
        require(tokens > 0, "length_below_one", value=tokens)
        if self.model.is_hybrid:
            return int(self.concurrency(max(1, round(tokens))))
        return int(self.pool_tokens // tokens)

    # -- against the weights ----------------------------------------------------------------

    @cached_property
    def break_even_tokens(self) -> int:
        """From so many tokens in one request on KV takes as much memory as the weights."""
        low, high = 0, 1
        while self.model.kv_bytes(high) < self.model.memory_bytes:
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            enough = self.model.kv_bytes(middle) >= self.model.memory_bytes
            low, high = (low, middle) if enough else (middle, high)
        return high

    @property
    def pool_fills_first(self) -> bool:
        """Whether the pool is full before KV takes more than the weights."""
        return self.pool_tokens < self.break_even_tokens


def num_kv_blocks(
    model: Model,
    gpu: Gpu,
    *,
    block_size: int = BLOCK_SIZE,
    tensor_parallel: int = 1,
    memory_utilization: float = 0.9,
) -> int:
    """How many blocks of KV fit beside the weights, each of them in all layers.

    All on one GPU: under tensor parallelism a block lies on every GPU, with the heads of each.

    Raises:
        SimError: `model_does_not_fit`; as `Model.shard`.
    """
    return Division(
        model, gpu, memory_utilization, tensor_parallel, least_block_size=block_size
    ).num_blocks
