"""Models and GPUs: the numbers a config file or a data sheet states, each with its source.

storage    how weights and KV are stored
attention  what a layer remembers: full, window, latent (MLA), state
model      a model: parameters, bytes, KV of a request, its share of several GPUs
models     the table of models
gpus       the table of GPUs, what kernels reach on them, and what joins them

Everything else (parameter counts, KV bytes, the ridge of the roofline) follows from them.  Give
your own `Model` or `Gpu` to any function that takes one; the tables are only a start.
"""

from sim.specs.attention import FULL, Attention, Latent, State, Window
from sim.specs.gpus import GB, GIB, GPUS, IDEAL, TFLOP, Efficiency, Gpu, Interconnect
from sim.specs.model import TENSOR_PARALLEL, Model
from sim.specs.models import MODELS
from sim.specs.storage import (
    BF16,
    BF16_BYTES,
    FP8,
    KV_FORMATS,
    MXFP4,
    WEIGHT_FORMATS,
    WeightFormat,
)

__all__ = [
    "BF16",
    "BF16_BYTES",
    "FP8",
    "FULL",
    "GB",
    "GIB",
    "GPUS",
    "IDEAL",
    "KV_FORMATS",
    "MODELS",
    "MXFP4",
    "TENSOR_PARALLEL",
    "TFLOP",
    "WEIGHT_FORMATS",
    "Attention",
    "Efficiency",
    "Gpu",
    "Interconnect",
    "Latent",
    "Model",
    "State",
    "WeightFormat",
    "Window",
]
