"""GPUs: the numbers a data sheet states, and what programs and kernels get of them.

Memory is what torch reports (`total_memory`), which is less than what is sold.  A row is one card
with all its figures of that card.
"""

from dataclasses import dataclass, replace

GB = 10**9
GIB = 2**30
TFLOP = 10**12


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

    bandwidth: bytes/s in each direction by the data sheet (those of NVLink add both directions).
    all_reduce_bandwidth: the "busbw" that nccl-tests reach in an all-reduce, by `source`.
    all_reduce_seconds: the least that one all-reduce of two GPUs takes, however small, and
    `seconds_per_more` for each GPU beyond.  buffer_bytes: what NCCL keeps on each GPU.
    """

    name: str
    bandwidth: float
    all_reduce_bandwidth: float
    all_reduce_seconds: float
    source: str
    seconds_per_more: float = 0.0
    buffer_bytes: float = 0.0

    def all_reduce(self, num_gpus: int) -> tuple[float, float]:
        """Seconds that an all-reduce takes at least, and for each byte that is added up.

        As a ring: every byte is sent 2 (n - 1) / n times.
        """
        least = self.all_reduce_seconds + (num_gpus - 2) * self.seconds_per_more
        return least, 2 * (num_gpus - 1) / num_gpus / self.all_reduce_bandwidth


# Buffers: 1.38 GiB on two H200 and 0.95 GiB on four B200 (vLLM 0.11 and 0.2x, "non-torch memory"),
# 0.25 GiB on two 4090 and 0.20 GiB on sixteen 3090 (vLLM issue 13061, pull request 14447).
_NVLINK_BUFFERS, _PCIE_BUFFERS = 1.2 * GIB, 0.25 * GIB
_SMALL = "small all-reduces of NVLink assumed 10 us"
NVLINK_3 = Interconnect(
    "NVLink 3",
    *(300 * GB, 200 * GB, 10e-6),
    f"nccl-tests issue 149, 8 A100; {_SMALL}",
    buffer_bytes=_NVLINK_BUFFERS,
)
NVLINK_4 = Interconnect(
    "NVLink 4",
    *(450 * GB, 383 * GB, 10e-6),
    f"nccl-tests on 8 H100, 128 MiB (477 GB/s from 4 GiB on); {_SMALL}",
    buffer_bytes=_NVLINK_BUFFERS,
)
NVLINK_5 = Interconnect(
    "NVLink 5",
    *(900 * GB, 811 * GB, 10e-6),
    f"nccl-tests on 8 GB200 (lixueduan.com, MNNVL); {_SMALL}",
    buffer_bytes=_NVLINK_BUFFERS,
)
INFINITY_FABRIC = Interconnect(
    "Infinity Fabric",
    *(448 * GB, 448 * 0.7 * GB, 10e-6),
    f"70 % of the data sheet assumed, as NVLink 3; {_SMALL}",
    buffer_bytes=_NVLINK_BUFFERS,
)
# Without peer access every byte goes through the host's memory: 19 to 21 GB/s in both directions
# together between two A40 on PCIe 4.0 (nccl-tests issue 74, P2P disabled).  The smallest exchange
# takes 12 us between two 4090 (tinygrad kernel modules, issue 17), an all-reduce of eight 42 us
# (nccl issue 1530).
PCIE_4 = Interconnect(
    "PCIe 4.0 x16",
    *(32 * GB, 10 * GB, 12e-6),
    "nccl-tests issue 74, no peer access; nccl issue 1530",
    seconds_per_more=5e-6,
    buffer_bytes=_PCIE_BUFFERS,
)
PCIE_5 = Interconnect(
    "PCIe 5.0 x16",
    *(64 * GB, 35 * GB, 12e-6),
    "nccl issue 1639, four RTX 5090; latency as PCIe 4.0",
    seconds_per_more=5e-6,
    buffer_bytes=_PCIE_BUFFERS,
)


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


_FIT = "fitted to a measured vLLM 0.19 run (300 ShareGPT requests at 10/s, Llama-3.1-8B bf16)"
_FIT_4090 = Efficiency(0.84, 0.80, 0.5e-3, calibrated=True, source=_FIT)
_FIT_PRO_6000 = Efficiency(0.85, 0.65, 3e-3, calibrated=True, source=_FIT)

# GiB as torch reports them: vLLM's "total_gpu_memory" or "Free memory on device", and "total
# capacity" in torch's own message when it runs out; for the RTX 4090 the exact number of bytes.
GPUS: dict[str, Gpu] = {
    gpu.name: gpu
    for gpu in (
        Gpu(
            "A100 40G SXM",
            *(312 * TFLOP, 1555 * GB, 39.49 * GIB),
            "NVIDIA A100 data sheet",
            link=NVLINK_3,
            fp8_speedup=None,
        ),
        Gpu(
            "A100 80G SXM",
            *(312 * TFLOP, 2039 * GB, 79.25 * GIB),
            "NVIDIA A100 data sheet",
            link=NVLINK_3,
            fp8_speedup=None,
        ),
        Gpu(
            "H100 SXM",
            *(989 * TFLOP, 3350 * GB, 79.19 * GIB),
            "NVIDIA H100 data sheet, dense",
            link=NVLINK_4,
        ),
        Gpu(
            "H200 SXM",
            *(989 * TFLOP, 4800 * GB, 139.80 * GIB),
            "NVIDIA H200 data sheet, dense",
            link=NVLINK_4,
        ),
        Gpu(
            "H20",
            *(148 * TFLOP, 4000 * GB, 95.22 * GIB),
            "NVIDIA H20 data sheet, dense; memory from an out-of-memory error on one",
            link=NVLINK_4,
        ),
        Gpu(
            "B200 SXM",
            *(2250 * TFLOP, 7700 * GB, 178.35 * GIB),
            "NVIDIA B200 data sheet, dense",
            link=NVLINK_5,
        ),
        Gpu(
            "MI300X",
            *(1307.4 * TFLOP, 5300 * GB, 191.98 * GIB),
            "AMD Instinct MI300X data sheet, dense",
            link=INFINITY_FABRIC,
        ),
        Gpu("L4", 121 * TFLOP, 300 * GB, 22.03 * GIB, "NVIDIA L4 data sheet, dense"),
        Gpu("L40S", 362.05 * TFLOP, 864 * GB, 44.39 * GIB, "NVIDIA L40S data sheet, dense"),
        Gpu(
            "RTX 3090",
            *(71 * TFLOP, 936 * GB, 23.58 * GIB),
            "NVIDIA Ampere GA102 whitepaper, dense, fp32 accumulate",
            fp8_speedup=None,
            int8_speedup=4,
        ),
        Gpu(
            "RTX 4090",
            *(165.2 * TFLOP, 1008 * GB, 25_250_627_584),
            "NVIDIA Ada whitepaper, dense, fp32 accumulate",
            _FIT_4090,
            int8_speedup=4,  # fp32 accumulation halves bf16 and FP8 on this card, not INT8
        ),
        Gpu(
            "RTX 5090",
            *(209.5 * TFLOP, 1792 * GB, 31.36 * GIB),
            "NVIDIA RTX Blackwell whitepaper, dense, fp32 accumulate",
            link=PCIE_5,
            int8_speedup=4,
        ),
        Gpu(
            "RTX PRO 6000",
            *(467.8 * TFLOP, 1597 * GB, 94.97 * GIB),
            "NVIDIA RTX PRO 6000 Blackwell Server Edition data sheet, dense",
            _FIT_PRO_6000,
            link=PCIE_5,
        ),
        Gpu(
            "RTX A6000",
            *(154.8 * TFLOP, 768 * GB, 47.53 * GIB),
            "NVIDIA RTX A6000 data sheet",
            fp8_speedup=None,
        ),
    )
}
