"""A model by the fields of its config.json, and what follows from them."""

from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property

from sim.errors import require
from sim.specs.attention import FULL, Attention, Heads
from sim.specs.storage import BF16, BF16_BYTES, KV_FORMATS, WEIGHT_FORMATS, WeightFormat

TENSOR_PARALLEL = (1, 2, 4, 8)  # degrees that can be simulated


@dataclass(frozen=True)
class Model:
    """A decoder-only transformer.

    `ffn_matrices` is 3 for SwiGLU (gate, up, down) and 2 for a plain MLP.  `experts` > 1 makes the
    feed-forward part a mixture of which every token uses `active_experts` and all
    `shared_experts`, `ffn` wide each; the first `dense_layers` have one MLP of `dense_ffn` instead.
    `pattern` names the attention of the first layers, and is repeated through all of them.
    `other_parameters` are in memory but not in a step of text (a vision tower).
    """

    name: str
    layers: int
    hidden: int
    q_heads: int
    kv_heads: int
    head_dim: int
    ffn: int
    vocab: int
    source: str
    ffn_matrices: int = 3
    tied_embedding: bool = False
    experts: int = 1
    active_experts: int = 1
    weights: WeightFormat = BF16
    kv_element_bytes: float = BF16_BYTES  # per cached number
    pattern: tuple[Attention, ...] = (FULL,)
    shared_experts: int = 0
    dense_layers: int = 0
    dense_ffn: int = 0
    other_parameters: int = 0

    def in_format(self, weights: str = "bf16", kv: str = "bf16") -> "Model":
        """The same model, stored as named in `WEIGHT_FORMATS` and `KV_FORMATS`.

        The two are independent: quantized weights leave the KV cache as it was.  "bf16" is as
        published, also where that is fewer bits (DeepSeek-V3, gpt-oss).

        Raises:
            SimError: `format_unknown`.
        """
        for name, known in ((weights, WEIGHT_FORMATS), (kv, KV_FORMATS)):
            require(name in known, "format_unknown", value=name, known=tuple(known))
        stored = self.weights if weights == BF16.name else WEIGHT_FORMATS[weights]
        return replace(self, weights=stored, kv_element_bytes=KV_FORMATS[kv])

    # -- on several GPUs ----------------------------------------------------------------------

    def kv_heads_per_gpu(self, tensor_parallel: int) -> int:
        """More GPUs than KV heads hold copies of them."""
        return max(1, self.kv_heads // tensor_parallel)

    def shard(self, tensor_parallel: int) -> "Model":
        """What each of `tensor_parallel` GPUs holds, again as a model.

        Heads, columns of the feed-forward part (of every expert) and vocabulary are dealt out;
        `hidden`, routers and the latent vector of MLA stay whole.  Source: Shoeybi et al. 2019,
        Megatron-LM, section 3.

        Raises:
            SimError: `tensor_parallel_unknown`; `heads_not_divisible` where vLLM refuses too.
        """
        require(
            tensor_parallel in TENSOR_PARALLEL,
            "tensor_parallel_unknown",
            value=tensor_parallel,
            known=TENSOR_PARALLEL,
        )
        if tensor_parallel == 1:
            return self
        kv_heads = self.kv_heads_per_gpu(tensor_parallel)
        dealt_evenly = kv_heads * tensor_parallel % self.kv_heads == 0
        require(
            self.q_heads % tensor_parallel == 0 and dealt_evenly,
            "heads_not_divisible",
            model=self.name,
            value=tensor_parallel,
            q_heads=self.q_heads,
            kv_heads=self.kv_heads,
        )
        return replace(
            self,
            q_heads=self.q_heads // tensor_parallel,
            kv_heads=kv_heads,
            ffn=-(-self.ffn // tensor_parallel),
            dense_ffn=-(-self.dense_ffn // tensor_parallel),
            vocab=-(-self.vocab // tensor_parallel),
            pattern=tuple(kind.shard(tensor_parallel) for kind in self.pattern),
        )

    # -- attention ----------------------------------------------------------------------------

    @property
    def heads(self) -> Heads:
        return Heads(self.hidden, self.q_heads, self.kv_heads, self.head_dim)

    @cached_property
    def layers_of(self) -> Counter[Attention]:
        """How many layers have attention of each kind."""
        return Counter(self.pattern[layer % len(self.pattern)] for layer in range(self.layers))

    @property
    def is_hybrid(self) -> bool:
        """Whether its layers remember differently."""
        return len(self.layers_of) > 1

    def kv_bytes(self, tokens: int) -> float:
        """What a request of so many tokens keeps: layers with a window stop growing, and those
        with a state keep it whatever the length."""
        numbers = sum(
            num * (kind.kv_numbers(self.heads) * min(tokens, kind.window) + kind.state_numbers)
            for kind, num in self.layers_of.items()
        )
        return numbers * self.kv_element_bytes

    @cached_property
    def kv_bytes_per_token(self) -> float:
        """What one more token adds while no window is full; 2 L H_kv d b for full attention."""
        numbers = sum(num * kind.kv_numbers(self.heads) for kind, num in self.layers_of.items())
        return numbers * self.kv_element_bytes

    @property
    def kv_bytes_per_late_token(self) -> float:
        """What one more token adds once every window is full."""
        numbers = sum(
            num * kind.kv_numbers(self.heads)
            for kind, num in self.layers_of.items()
            if kind.window == FULL.window
        )
        return numbers * self.kv_element_bytes

    # -- parameters ---------------------------------------------------------------------------

    @property
    def attention_parameters(self) -> int:
        """The projections of all layers."""
        return sum(num * kind.parameters(self.heads) for kind, num in self.layers_of.items())

    @property
    def expert_parameters(self) -> int:
        """One expert's feed-forward matrices, over all layers (the whole MLP when dense)."""
        return (self.layers - self.dense_layers) * self.ffn_matrices * self.hidden * self.ffn

    @property
    def router_parameters(self) -> int:
        """What chooses the experts; kept in bf16."""
        if self.experts == 1:
            return 0
        return (self.layers - self.dense_layers) * self.hidden * self.experts

    @property
    def always_used_parameters(self) -> int:
        """What every token is multiplied with in the layers, chosen experts and routers aside."""
        dense = self.dense_layers * self.ffn_matrices * self.hidden * self.dense_ffn
        return self.attention_parameters + dense + self.shared_experts * self.expert_parameters

    @property
    def linear_parameters(self) -> int:
        """Parameters of all linear layers, the language-model head left out."""
        always = self.always_used_parameters + self.router_parameters
        return always + self.experts * self.expert_parameters

    @property
    def active_parameters(self) -> int:
        """The linear parameters that one token is multiplied with."""
        always = self.always_used_parameters + self.router_parameters
        return always + self.active_experts * self.expert_parameters

    @property
    def head_parameters(self) -> int:
        return self.hidden * self.vocab

    @property
    def parameters(self) -> int:
        """All matrices: linear layers, head and, unless it is tied to the head, the embedding."""
        embeddings = 1 if self.tied_embedding else 2
        outside = embeddings * self.head_parameters + self.other_parameters
        return self.linear_parameters + outside

    # -- bytes of weights ---------------------------------------------------------------------

    @property
    def always_read_bytes(self) -> float:
        """Of the layers' weights, what every step reads whatever its tokens."""
        each = BF16_BYTES if self.weights.experts_only else self.weights.bytes_per_parameter
        return self.always_used_parameters * each + self.router_parameters * BF16_BYTES

    @property
    def expert_bytes(self) -> float:
        """One expert, over all layers."""
        return self.expert_parameters * self.weights.bytes_per_parameter

    @property
    def memory_bytes(self) -> float:
        """What the weights occupy on the GPU."""
        in_bf16 = self.parameters - self.linear_parameters
        layers = self.always_read_bytes + self.experts * self.expert_bytes
        return layers + in_bf16 * BF16_BYTES
