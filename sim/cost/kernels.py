"""What one kind of work computes and moves in a step, and how long it takes.

Kernels run one after the other, each under its own roof: a GPU cannot compute one while it waits
for the bytes of another.  So a step is the sum of what each of them takes, not the longer of all
bytes and all arithmetic.  (Source: Williams et al. 2009 for one kernel.)
"""

from typing import Any, NamedTuple

from sim.cost.clock import longer


class Part(NamedTuple):
    """FLOPs and bytes, and how long either takes alone."""

    flops: Any
    bytes_moved: Any
    compute_seconds: Any
    memory_seconds: Any

    @property
    def intensity(self) -> float:
        """FLOPs for each byte."""
        return self.flops / self.bytes_moved

    @property
    def memory_bound(self) -> bool:
        return self.memory_seconds >= self.compute_seconds

    @property
    def seconds(self) -> Any:
        """As one kernel: the longer of the two."""
        return longer(self.memory_seconds, self.compute_seconds)

    def beside(self, other: "Part") -> "Part":
        """All bytes and all FLOPs of both."""
        return Part(*(one + two for one, two in zip(self, other, strict=True)))


class Kernels(NamedTuple):
    """A step by its kernels, in the order of a layer; parts that a model lacks are all 0.

    linear: projections and dense MLPs, shared experts and routers; experts: those that were chosen;
    attention: over the KV; head: logits.
    """

    linear: Part
    experts: Part
    attention: Part
    head: Part

    @property
    def seconds(self) -> Any:
        """One after the other."""
        return sum(part.seconds for part in self)


class Breakdown(NamedTuple):
    """A step in two: tokens times weights (linear layers and head), and attention over KV."""

    weights: Part
    attention: Part

    @property
    def whole(self) -> Part:
        return self.weights.beside(self.attention)
