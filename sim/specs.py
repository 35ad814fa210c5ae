"""Models and GPUs: the numbers a data sheet or a config file states, each with its source.

Everything else (parameter counts, KV bytes per token, the ridge of the roofline) follows from
them.  Give your own `Model` or `Gpu` to any function that takes one; the tables are only a start.

Long because of the tables: a row for each model and each GPU, with its source.
"""

from dataclasses import dataclass, replace

from sim.errors import require

GB = 10**9
GIB = 2**30
TFLOP = 10**12
BF16_BYTES = 2
TENSOR_PARALLEL = (1, 2, 4, 8)  # degrees that can be simulated


@dataclass(frozen=True)
class WeightFormat:
    """How the linear layers are stored, and the arithmetic they are meant for.

    Embedding, head and activations outside the layers stay in bf16, as in published checkpoints.
    8-bit formats here are W8A8: weights and activations have 8 bits and are multiplied as such;
    a GPU without that arithmetic uses them weight-only.  A weight-only format (W4A16) is
    dequantized and multiplied in bf16.
    """

    name: str
    bytes_per_parameter: float
    arithmetic: str  # "bf16", "fp8" or "int8"
    source: str

    @property
    def weight_only(self) -> bool:
        return self.arithmetic == "bf16" and self.bytes_per_parameter < BF16_BYTES


BF16 = WeightFormat("bf16", BF16_BYTES, "bf16", "as published")
# Scales of the 8-bit formats, one per channel, weigh nothing.  Int4 keeps a 16-bit scale and a
# 4-bit zero point for each group of 128: 4 + 20 / 128 = 4.16 bits.
WEIGHT_FORMATS: dict[str, WeightFormat] = {
    weights.name: weights
    for weights in (
        BF16,
        WeightFormat("fp8", 1, "fp8", "vLLM documentation, FP8 W8A8"),
        WeightFormat("int8", 1, "int8", "vLLM documentation, INT8 W8A8"),
        WeightFormat("int4", (4 + 20 / 128) / 8, "bf16", "Lin et al. 2023, AWQ, groups of 128"),
    )
}
KV_FORMATS: dict[str, float] = {"bf16": BF16_BYTES, "fp8": 1, "int8": 1}  # bytes per number


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
    weights: WeightFormat = BF16
    kv_element_bytes: float = BF16_BYTES  # per cached number

    def in_format(self, weights: str = "bf16", kv: str = "bf16") -> "Model":
        """The same model, stored as named in `WEIGHT_FORMATS` and `KV_FORMATS`.

        The two are independent: quantized weights leave the KV cache as it was.

        Raises:
            SimError: `format_unknown`.
        """
        for name, known in ((weights, WEIGHT_FORMATS), (kv, KV_FORMATS)):
            require(name in known, "format_unknown", value=name, known=tuple(known))
        return replace(self, weights=WEIGHT_FORMATS[weights], kv_element_bytes=KV_FORMATS[kv])

    def kv_heads_per_gpu(self, tensor_parallel: int) -> int:
        """More GPUs than KV heads hold copies of them."""
        return max(1, self.kv_heads // tensor_parallel)

    def shard(self, tensor_parallel: int) -> "Model":
        """What each of `tensor_parallel` GPUs holds, again as a model.

        Heads, columns of the feed-forward part (of every expert) and vocabulary are dealt out;
        `hidden` stays whole.  Source: Shoeybi et al. 2019, Megatron-LM, section 3.

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
            vocab=-(-self.vocab // tensor_parallel),
        )

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
        in_bf16 = self.parameters - self.linear_parameters
        return self.linear_parameters * self.weights.bytes_per_parameter + in_bf16 * BF16_BYTES

    @property
    def kv_bytes_per_token(self) -> float:
        """K and V of one token over all layers: 2 L H_kv d b."""
        return 2 * self.layers * self.kv_heads * self.head_dim * self.kv_element_bytes


@dataclass(frozen=True)
class Efficiency:
    """The share of the data sheet that real kernels reach, and the rest of a step.

    Fitted values do not transfer between GPUs, so whatever was not fitted on this very GPU says
    `calibrated=False`.  `dequantization` is what is left of the bf16 speed where weights are
    dequantized before they are multiplied; it was never fitted.
    """

    bandwidth: float = 0.8
    flops: float = 0.6
    fixed_seconds: float = 1e-3
    calibrated: bool = False
    source: str = "assumed, not measured"
    dequantization: float = 0.8


IDEAL = Efficiency(1.0, 1.0, 0.0, source="the data sheet taken at its word", dequantization=1.0)


@dataclass(frozen=True)
class Interconnect:
    """What joins the GPUs of one server.

    bandwidth: bytes/s in each direction (data sheets of NVLink add both), taken at its word.
    all_reduce_seconds: the least that one all-reduce takes, however small; assumed, not measured.
    """

    name: str
    bandwidth: float
    all_reduce_seconds: float


NVLINK_3 = Interconnect("NVLink 3", 300 * GB, 10e-6)
NVLINK_4 = Interconnect("NVLink 4", 450 * GB, 10e-6)
NVLINK_5 = Interconnect("NVLink 5", 900 * GB, 10e-6)
PCIE_4 = Interconnect("PCIe 4.0 x16", 32 * GB, 30e-6)
PCIE_5 = Interconnect("PCIe 5.0 x16", 64 * GB, 30e-6)


@dataclass(frozen=True)
class Gpu:
    """One GPU: peak_flops in dense bf16 FLOP/s, bandwidth in bytes/s, memory a program can see.

    fp8_speedup, int8_speedup: the dense peak of 8-bit arithmetic over `peak_flops`, by the same
    data sheet; None where the GPU has none (FP8 begins with Ada and Hopper).
    """

    name: str
    peak_flops: float
    bandwidth: float
    memory_bytes: float
    source: str
    efficiency: Efficiency = Efficiency()
    link: Interconnect = PCIE_4
    fp8_speedup: float | None = 2
    int8_speedup: float | None = 2

    @property
    def ridge(self) -> float:
        """FLOP per byte above which a kernel is bound by compute (roofline)."""
        return self.peak_flops / self.bandwidth

    def speedup(self, arithmetic: str) -> float | None:
        """Its peak in "bf16", "fp8" or "int8" arithmetic over `peak_flops`."""
        return {"bf16": 1, "fp8": self.fp8_speedup, "int8": self.int8_speedup}[arithmetic]

    def with_efficiency(self, efficiency: Efficiency) -> "Gpu":
        return replace(self, efficiency=efficiency)


_LLAMA2 = "Touvron et al. 2023, Llama 2, and the model's config.json"
_LLAMA3 = "Llama Team 2024, The Llama 3 Herd of Models, table 3, and config.json"
_LLAMA32 = "the model card of Llama 3.2, and config.json"
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
        Model(
            "Llama-3.2-1B",
            *(16, 2048, 32, 8, 64, 8192, 128256),
            _LLAMA32,
            tied_embedding=True,
        ),
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
        Gpu(
            "A100 80G SXM",
            *(312 * TFLOP, 2039 * GB, 80 * GIB),
            "NVIDIA A100 data sheet",
            link=NVLINK_3,
            fp8_speedup=None,
        ),
        Gpu(
            "H100 SXM",
            *(989 * TFLOP, 3350 * GB, 80 * GIB),
            "NVIDIA H100 data sheet, dense",
            link=NVLINK_4,
        ),
        Gpu(
            "H200 SXM",
            *(989 * TFLOP, 4800 * GB, 141 * GB),
            "NVIDIA H200 data sheet, dense",
            link=NVLINK_4,
        ),
        Gpu(
            "B200 SXM",
            *(2250 * TFLOP, 7700 * GB, 180 * GB),
            "NVIDIA B200 data sheet, dense",
            link=NVLINK_5,
        ),
        Gpu("L4", 121 * TFLOP, 300 * GB, 24 * GB, "NVIDIA L4 data sheet, dense"),
        Gpu("L40S", 362.05 * TFLOP, 864 * GB, 44.98828125 * GIB, "NVIDIA L40S data sheet, dense"),
        Gpu(
            "RTX 4090",
            *(165.2 * TFLOP, 1008 * GB, 25_250_627_584),
            "NVIDIA Ada whitepaper, dense, fp32 accumulate",
            _FIT_4090,
            int8_speedup=4,  # fp32 accumulation halves bf16 and FP8 on this card, not INT8
        ),
        Gpu(
            "RTX PRO 6000",
            *(467.8 * TFLOP, 1792 * GB, 95.6 * GIB),
            "NVIDIA RTX PRO 6000 Blackwell data sheet",
            _FIT_PRO_6000,
            link=PCIE_5,
        ),
        Gpu(
            "RTX A6000",
            *(154.8 * TFLOP, 768 * GB, 48 * GB),
            "NVIDIA RTX A6000 data sheet",
            fp8_speedup=None,
        ),
    )
}
