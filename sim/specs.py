"""Models and GPUs: the numbers a data sheet or a config file states, each with its source.

Everything else (parameter counts, KV bytes per token, the ridge of the roofline) follows from
them.  Give your own `Model` or `Gpu` to any function that takes one; the tables are only a start.
"""

from dataclasses import dataclass, replace

GB = 10**9
GIB = 2**30
TFLOP = 10**12


@dataclass(frozen=True)
class Model:
    """A decoder-only transformer, by the fields of its config.json.

    `ffn_matrices` is 3 for SwiGLU (gate, up, down) and 2 for a plain MLP; `experts` > 1 makes the
    feed-forward part a mixture of which every token uses `active_experts`.
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
    weight_bytes: float = 2  # per parameter: bf16
    kv_element_bytes: float = 2  # per cached number: bf16

    @property
    def attention_parameters(self) -> int:
        """Q, K, V and output projections of all layers."""
        q_and_out = 2 * self.hidden * self.q_heads * self.head_dim
        k_and_v = 2 * self.hidden * self.kv_heads * self.head_dim
        return self.layers * (q_and_out + k_and_v)

    @property
    def expert_parameters(self) -> int:
        """One expert's feed-forward matrices, over all layers (the whole MLP when dense)."""
        return self.layers * self.ffn_matrices * self.hidden * self.ffn

    @property
    def linear_parameters(self) -> int:
        """Parameters of all linear layers, the language-model head left out."""
        return self.attention_parameters + self.experts * self.expert_parameters

    @property
    def active_parameters(self) -> int:
        """The linear parameters that one token is multiplied with."""
        return self.attention_parameters + self.active_experts * self.expert_parameters

    @property
    def head_parameters(self) -> int:
        return self.hidden * self.vocab

    @property
    def parameters(self) -> int:
        """All matrices: linear layers, head and, unless it is tied to the head, the embedding."""
        embeddings = 1 if self.tied_embedding else 2
        return self.linear_parameters + embeddings * self.head_parameters

    @property
    def memory_bytes(self) -> float:
        """What the weights occupy on the GPU."""
        return self.parameters * self.weight_bytes

    @property
    def kv_bytes_per_token(self) -> float:
        """K and V of one token over all layers: 2 L H_kv d b."""
        return 2 * self.layers * self.kv_heads * self.head_dim * self.kv_element_bytes


@dataclass(frozen=True)
class Efficiency:
    """The share of the data sheet that real kernels reach, and the rest of a step.

    Fitted values do not transfer between GPUs, so whatever was not fitted on this very GPU says
    `calibrated=False`.
    """

    bandwidth: float = 0.8
    flops: float = 0.6
    fixed_seconds: float = 1e-3
    calibrated: bool = False
    source: str = "assumed, not measured"


IDEAL = Efficiency(1.0, 1.0, 0.0, source="the data sheet taken at its word")


@dataclass(frozen=True)
class Gpu:
    """One GPU: peak_flops in dense bf16 FLOP/s, bandwidth in bytes/s, memory a program can see."""

    name: str
    peak_flops: float
    bandwidth: float
    memory_bytes: float
    source: str
    efficiency: Efficiency = Efficiency()

    @property
    def ridge(self) -> float:
        """FLOP per byte above which a kernel is bound by compute (roofline)."""
        return self.peak_flops / self.bandwidth

    def with_efficiency(self, efficiency: Efficiency) -> "Gpu":
        return replace(self, efficiency=efficiency)


_LLAMA2 = "Touvron et al. 2023, Llama 2, and the model's config.json"
_LLAMA3 = "Llama Team 2024, The Llama 3 Herd of Models, table 3, and config.json"
_QWEN25 = "Qwen2.5 technical report, table 1, and config.json"
_QWEN3 = "Qwen3 technical report, table 1, and config.json"

MODELS: dict[str, Model] = {
    model.name: model
    for model in (
        #     name             L  hidden   q  kv    d    ffn   vocab
        Model("Llama-2-7B", 32, 4096, 32, 32, 128, 11008, 32000, _LLAMA2),
        Model("Llama-2-13B", 40, 5120, 40, 40, 128, 13824, 32000, _LLAMA2),
        Model("Llama-2-70B", 80, 8192, 64, 8, 128, 28672, 32000, _LLAMA2),
        Model("Llama-3.1-8B", 32, 4096, 32, 8, 128, 14336, 128256, _LLAMA3),
        Model("Llama-3.1-70B", 80, 8192, 64, 8, 128, 28672, 128256, _LLAMA3),
        Model("Mistral-7B", 32, 4096, 32, 8, 128, 14336, 32000, "Jiang et al. 2023, table 1"),
        Model("Qwen2.5-7B", 28, 3584, 28, 4, 128, 18944, 152064, _QWEN25),
        Model("Qwen3-8B", 36, 4096, 32, 8, 128, 12288, 151936, _QWEN3),
        Model("Qwen3-14B", 40, 5120, 40, 8, 128, 17408, 151936, _QWEN3),
        Model("Qwen3-32B", 64, 5120, 64, 8, 128, 25600, 151936, _QWEN3),
        Model(
            "Mixtral-8x7B",
            *(32, 4096, 32, 8, 128, 14336, 32000),
            "Jiang et al. 2024, Mixtral of Experts, table 1",
            experts=8,
            active_experts=2,
        ),
        Model(
            "OPT-13B",
            *(40, 5120, 40, 40, 128, 20480, 50272),
            "Zhang et al. 2022, table 1, and config.json",
            ffn_matrices=2,
            tied_embedding=True,
        ),
    )
}

_FIT = "fitted to a measured vLLM 0.19 run (300 ShareGPT requests at 10/s, Llama-3.1-8B bf16)"
_FIT_4090 = Efficiency(0.86, 0.78, 0.5e-3, calibrated=True, source=_FIT)
# The fit used the measured 1,597 GB/s; stated here as a share of the data sheet's 1,792 GB/s.
_FIT_PRO_6000 = Efficiency(0.80 * 1597 / 1792, 0.55, 3e-3, calibrated=True, source=_FIT)

GPUS: dict[str, Gpu] = {
    gpu.name: gpu
    for gpu in (
        Gpu("A100 80G SXM", 312 * TFLOP, 2039 * GB, 80 * GIB, "NVIDIA A100 data sheet"),
        Gpu("H100 SXM", 989 * TFLOP, 3350 * GB, 80 * GIB, "NVIDIA H100 data sheet, dense"),
        Gpu("H200 SXM", 989 * TFLOP, 4800 * GB, 141 * GB, "NVIDIA H200 data sheet, dense"),
        Gpu("B200 SXM", 2250 * TFLOP, 7700 * GB, 180 * GB, "NVIDIA B200 data sheet, dense"),
        Gpu("L4", 121 * TFLOP, 300 * GB, 24 * GB, "NVIDIA L4 data sheet, dense"),
        Gpu("L40S", 362.05 * TFLOP, 864 * GB, 44.98828125 * GIB, "NVIDIA L40S data sheet, dense"),
        Gpu(
            "RTX 4090",
            *(165.2 * TFLOP, 1008 * GB, 25_250_627_584),
            "NVIDIA Ada whitepaper, dense, fp32 accumulate",
            _FIT_4090,
        ),
        Gpu(
            "RTX PRO 6000",
            *(467.8 * TFLOP, 1792 * GB, 95.6 * GIB),
            "NVIDIA RTX PRO 6000 Blackwell data sheet",
            _FIT_PRO_6000,
        ),
        Gpu("RTX A6000", 154.8 * TFLOP, 768 * GB, 48 * GB, "NVIDIA RTX A6000 data sheet"),
    )
}
