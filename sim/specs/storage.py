"""How numbers are stored, and what they are computed in.

Embedding, head and activations outside the layers stay in bf16, as in published checkpoints.
"""

from dataclasses import dataclass

BF16_BYTES = 2


@dataclass(frozen=True)
class WeightFormat:
    """How the linear layers are stored, and the arithmetic they are meant for.

    8-bit formats here are W8A8: weights and activations have 8 bits and are multiplied as such;
    a GPU without that arithmetic uses them weight-only.  A weight-only format (W4A16) is
    dequantized and multiplied in bf16.  `experts_only`: attention and what is dense stay in bf16.
    """

    name: str
    bytes_per_parameter: float
    arithmetic: str  # "bf16", "fp8" or "int8"
    source: str
    experts_only: bool = False

    @property
    def weight_only(self) -> bool:
        return self.arithmetic == "bf16" and self.bytes_per_parameter < BF16_BYTES


BF16 = WeightFormat("bf16", BF16_BYTES, "bf16", "as published")
# Scales of the 8-bit formats, one per channel or block, weigh nothing.  Int4 keeps a 16-bit scale
# and a 4-bit zero point for each group of 128: 4 + 20 / 128 = 4.16 bits.
FP8 = WeightFormat("fp8", 1, "fp8", "vLLM documentation, FP8 W8A8")
WEIGHT_FORMATS: dict[str, WeightFormat] = {
    weights.name: weights
    for weights in (
        BF16,
        FP8,
        WeightFormat("int8", 1, "int8", "vLLM documentation, INT8 W8A8"),
        WeightFormat("int4", (4 + 20 / 128) / 8, "bf16", "Lin et al. 2023, AWQ, groups of 128"),
    )
}
# An 8-bit scale for each group of 32: 4 + 8 / 32 = 4.25 bits.  Only published, not offered.
MXFP4 = WeightFormat(
    "mxfp4", (4 + 8 / 32) / 8, "bf16", "OCP Microscaling formats 1.0; gpt-oss model card", True
)
KV_FORMATS: dict[str, float] = {"bf16": BF16_BYTES, "fp8": 1, "int8": 1}  # bytes per number
