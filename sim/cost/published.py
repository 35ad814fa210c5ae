"""One decode step that others measured, to hold the assumed efficiencies against.

Source: gpt-fast's README, batch 1, a prompt of 5 tokens, 16-bit weights, an A100 with 80 GB whose
power was limited to 330 W: 104.9 tokens/s.  Its answers have 200 tokens, 105 of context on average.
"""

from dataclasses import dataclass

from sim.cost import phases
from sim.cost.roofline import Roofline
from sim.specs import GPUS, MODELS


@dataclass(frozen=True)
class Decoded:
    """One request that is decoded alone, `context` tokens long on average."""

    clock: Roofline
    context: int
    tokens_per_second: float

    @property
    def seconds(self) -> float:
        """A token, as measured."""
        return 1 / self.tokens_per_second

    @property
    def computed_seconds(self) -> float:
        return self.clock.step_time(phases.decode(1, self.context)).seconds

    @property
    def reached(self) -> float:
        """The share of the data sheet's bandwidth, by the bytes that a step moves."""
        moved = self.clock.breakdown(phases.decode(1, self.context)).whole.bytes_moved
        return moved * self.tokens_per_second / self.clock.gpu.bandwidth


PUBLISHED = Decoded(Roofline(MODELS["Llama-2-7B"], GPUS["A100 80G SXM"]), 105, 104.9)
