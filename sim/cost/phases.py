"""Prefill and decode: the same weights, two shapes of work, and where the bottleneck changes.

A token that goes through a linear layer is one row of a matrix.  Prefill sends all rows of a prompt
at once, a decode step one row for each request; both read the same weights.  With 16-bit weights
every row adds one FLOP to each byte read, so T rows have an intensity of T FLOP per byte and turn
compute-bound at the ridge (`Roofline.ridge`), whatever the model.  Attention does not: each request
brings its own KV, so the intensity of decoding stays at q_heads / kv_heads in any batch.

For dense models; of a mixture of experts more rows also touch more weights.  Source: Williams et
al. 2009 (roofline); Pope et al. 2022, "Efficiently scaling transformer inference", section 2.
"""

import math

from sim.cost.roofline import Roofline
from sim.scheduler import Load


def prefill(prompt_tokens: int) -> Load:
    """One whole prompt in one step; its last row is sampled from."""
    return Load.of_rows([prompt_tokens], [prompt_tokens], 1)


def decode(batch: int, context: int) -> Load:
    """A step of `batch` requests, each with `context` tokens, the new one counted."""
    return Load.decode(batch, batch * context)


def weights_crossover(clock: Roofline) -> int:
    """The smallest decode batch whose work with the weights is compute-bound."""
    one = clock.breakdown(decode(1, 1)).weights
    return math.floor(one.memory_seconds / one.compute_seconds) + 1


def step_crossover(clock: Roofline, context: int) -> int | None:
    """The smallest decode batch whose whole step is compute-bound; None where none is.

    A request adds compute and KV to read.  Where reading its KV takes longer, adding requests
    never helps:  B * compute > weights + B * kv  has a solution only for compute > kv.
    """
    one = clock.breakdown(decode(1, context))
    gain = one.whole.compute_seconds - one.attention.memory_seconds  # per request
    return math.floor(one.weights.memory_seconds / gain) + 1 if gain > 0 else None


def prompt_crossover(clock: Roofline) -> int:
    """The shortest prompt whose prefill is compute-bound.

    Every row of a prompt computes more and moves no more than the one before it, so halving finds
    it.
    """
    bound = 1
    while clock.step_time(prefill(bound)).memory_bound:
        bound *= 2
    low, high = bound // 2, bound
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (
            (middle, high) if clock.step_time(prefill(middle)).memory_bound else (low, middle)
        )
    return high
