"""What masks cost: the CPU makes them, and a step cannot sample before they are there.

A grammar is compiled once; a mask is made for every request in every step.  An engine that makes
them while the GPU computes the logits hides them, as long as they take less than the step.

Source: Dong et al. 2024 (XGrammar), section 3; vLLM issues 10081 and 12122 (what happens if not).
"""

from dataclasses import dataclass

from sim.cost import Roofline
from sim.scheduler import Load


@dataclass(frozen=True)
class MaskWork:
    """A decode step whose requests each need a mask that the CPU makes, one after the other.

    In `overlaps` engines the CPU works on them while the GPU computes the logits; otherwise the
    GPU waits.
    """

    clock: Roofline
    context: int
    mask_seconds: float
    overlaps: bool

    def step_seconds(self, batch: int) -> float:
        computing = self._computing_seconds(batch)
        masking = batch * self.mask_seconds
        return max(computing, masking) if self.overlaps else computing + masking

    def longest_hidden_seconds(self, batch: int) -> float:
        """How long a mask may take if all of a step's are to be made while the GPU computes."""
        return self._computing_seconds(batch) / batch

    def _computing_seconds(self, batch: int) -> float:
        return float(self.clock.step_time(Load.decode(batch, batch * self.context)).seconds)

    def tokens_per_second(self, batch: int) -> float:
        return batch / self.step_seconds(batch)
