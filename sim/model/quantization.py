"""Weights rounded to few levels: a scale, a grid of levels, and what is lost on the way back.

    scale     = max |w| / largest level, over all weights that share it
    level     = the level of the grid that is nearest to w / scale
    w'        = level * scale

int8 and int4 have evenly spaced levels, -127 ... 127 and -7 ... 7; fp8 (E4M3) has levels that lie
the denser the smaller they are.  Weights share a scale over a whole matrix, over the weights of one
output channel, or over a group of its inputs: the fewer share one, the less a single large weight
spoils, and the more scales have to be stored.

Symmetric, round to nearest, no calibration.  Source: Jacob et al. 2018, "Quantization and training
of neural networks for efficient integer-arithmetic-only inference"; Micikevicius et al. 2022, "FP8
formats for deep learning"; Dettmers et al. 2022, LLM.int8 (outliers, granularity).
"""

from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from sim.errors import SimError, require

Array = np.ndarray

SCALE_BITS = 16  # of each scale that is stored

# -- levels ---------------------------------------------------------------------------------


def e4m3_levels() -> Array:
    """All finite numbers of fp8 E4M3, rising: 253 of them, from -448 to 448; 0 stands once.

    1 sign, 4 exponent bits (bias 7), 3 mantissa bits.  Exponent 0 has no leading one (subnormal);
    exponent 15 with mantissa 7 is NaN, and there is no infinity.
    """
    exponent, mantissa = np.divmod(np.arange(127), 8)  # 127, the last code, is NaN
    subnormal = mantissa / 8 * 2.0**-6
    normal = (1 + mantissa / 8) * 2.0 ** (exponent - 7)
    positive = np.where(exponent == 0, subnormal, normal)  # [127], from 0
    return np.concatenate([-positive[:0:-1], positive]).astype(np.float32)


@dataclass(frozen=True)
class LevelGrid:
    """The levels that a format can hold, and the bits that name one."""

    name: str
    bits: int

    @property
    def levels(self) -> Array:
        return _levels(self.name, self.bits)

    @property
    def largest(self) -> float:
        return float(self.levels[-1])

    def nearest(self, x: Array) -> Array:
        """The level next to each number; of two equally near ones the even one, as IEEE rounds."""
        if self.name != "fp8":
            return np.clip(np.rint(x), -self.largest, self.largest)
        size = np.minimum(np.abs(x), np.float32(self.largest))
        _, exponent = np.frexp(np.maximum(size, np.float32(2.0**-6)))  # size < 2^exponent
        step = np.ldexp(np.float32(1), exponent - 4)  # between neighbours: 3 mantissa bits
        return np.copysign(np.rint(size / step) * step, x)


@cache
def _levels(name: str, bits: int) -> Array:
    if name == "fp8":
        return e4m3_levels()
    largest = 2 ** (bits - 1) - 1
    return np.arange(-largest, largest + 1, dtype=np.float32)


GRIDS = {
    grid.name: grid for grid in (LevelGrid("int8", 8), LevelGrid("fp8", 8), LevelGrid("int4", 4))
}

# -- one matrix -----------------------------------------------------------------------------


NAMES = ("tensor", "channel", "group")


@dataclass(frozen=True)
class Granularity:
    """Who shares a scale: a whole matrix ("tensor"), an output channel ("channel"), or `size`
    neighbouring inputs of a channel ("group")."""

    name: str
    size: int = 0

    def spans(self, matrix: Array) -> Array:
        """The matrix [channels, inputs] as [num_scales, weights that share one].

        Raises:
            SimError: `granularity_unknown`; `group_size_bad` where groups do not fill a channel.
        """
        inputs = matrix.shape[1]
        match self.name:
            case "tensor":
                return matrix.reshape(1, -1)
            case "channel":
                return matrix
            case "group":
                fills = 0 < self.size <= inputs and inputs % self.size == 0
                require(fills, "group_size_bad", value=self.size, inputs=inputs)
                return matrix.reshape(-1, self.size)
        raise SimError("granularity_unknown", value=self.name, known=NAMES)


@dataclass(frozen=True, eq=False)
class Rounded:
    """A matrix after rounding."""

    grid: LevelGrid
    before: Array  # [channels, inputs]
    levels: Array  # [channels, inputs]; what is stored, with the scales
    scales: Array  # [num_scales]
    after: Array  # [channels, inputs]; what is computed with

    @property
    def bits_per_weight(self) -> float:
        """The scales counted in."""
        return self.grid.bits + SCALE_BITS * self.scales.size / self.before.size

    def of(self, channel: int, first: int, end: int) -> "Rounded":
        """Some neighbouring weights of one channel; the scales stay those of the matrix."""
        own = np.s_[channel : channel + 1, first:end]
        return replace(
            self, before=self.before[own], levels=self.levels[own], after=self.after[own]
        )

    def relative_error(self, inputs: Array | float = 1.0) -> float:
        """Root mean square of what was lost, over that of the weights.

        A weight counts times the size of the input it is multiplied with, `inputs` [inputs].
        """
        lost, own = ((each * inputs) for each in (self.after - self.before, self.before))
        return float(np.sqrt(np.square(lost).mean() / np.square(own).mean()))

    @property
    def zeroed_share(self) -> float:
        """Of the weights that were not zero, those that are now."""
        return float((self.after == 0)[self.before != 0].mean())


def rounded(matrix: Array, grid: LevelGrid, granularity: Granularity) -> Rounded:
    """Quantize a matrix [channels, inputs] and come back.

    Raises:
        SimError: as `Granularity.spans`.
    """
    spans = granularity.spans(matrix)
    largest = np.abs(spans).max(axis=1, keepdims=True)  # [num_scales, 1]
    scales = np.where(largest > 0, largest / grid.largest, 1).astype(np.float32)
    levels = grid.nearest(spans / scales)
    after = (levels * scales).reshape(matrix.shape)
    return Rounded(grid, matrix, levels.reshape(matrix.shape), scales[:, 0], after)
