"""Traffic by a few numbers, and what one of them changes while the others stay."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sim import workload
from sim.request import Request
from ui.results import runs

BURST_SIZE = 20


@dataclass(frozen=True)
class Traffic:
    """Requests but for their rate.  Lengths in tokens; `spread` is their p99 over their mean,
    `variation` that of gamma gaps, `giant_tokens` the one prompt of its own size (0: none)."""

    num_requests: int
    prompt_tokens: float
    output_tokens: float
    spread: float
    arrival: str = "poisson"
    variation: float = 1.0
    giant_tokens: int = 0
    prefix: workload.SharedPrefix | None = None
    seed: int = 0

    def at(self, rate: float) -> tuple[Request, ...]:
        """`rate` requests per second on average."""
        requests = runs.requests(
            workload.Workload(
                self.num_requests,
                self._arrivals(rate),
                workload.LognormalLength.with_spread(self.prompt_tokens, self.spread),
                workload.LognormalLength.with_spread(self.output_tokens, self.spread),
                self.prefix,
                self.seed,
            )
        )
        return workload.with_giant(requests, self.giant_tokens) if self.giant_tokens else requests

    def at_each(self, rates: Sequence[float]) -> dict[float, tuple[Request, ...]]:
        return {rate: self.at(rate) for rate in rates}

    def with_each_output(
        self, lengths: Sequence[int], rate: float
    ) -> dict[int, tuple[Request, ...]]:
        """The same requests with answers of another mean length: mean length -> requests."""
        return {length: replace(self, output_tokens=length).at(rate) for length in lengths}

    def _arrivals(self, rate: float) -> workload.Arrivals:
        arrivals: dict[str, workload.Arrivals] = {
            "poisson": workload.PoissonArrivals(rate),
            "constant": workload.ConstantArrivals(rate),
            "gamma": workload.GammaArrivals(rate, self.variation),
            "burst": workload.BurstArrivals.at_rate(rate, BURST_SIZE),
            "once": workload.BurstArrivals(self.num_requests),
        }
        return arrivals[self.arrival]
