"""A server as whoever runs it sees it: flags and replicas before traffic; a cure turns some.

The other pages put a `Setup` together knob by knob.  Here the knobs have the names under which they
are turned on a real server, and `setups` makes the setups of all replicas of them.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sim import scheduler, specs
from sim.cost import Eager, Roofline, StepTime
from sim.engine import Setup, Speculation
from sim.kv import Contiguous, Paged
from sim.request import Request
from sim.scheduler import Load
from sim.studies import replicas

EAGER = 0  # the largest captured size when nothing is captured
ALL_SIZES = 1_000_000
MODEL_LENGTH = 4_096  # what contiguous memory reserves for each request
SPECULATED_COST = 0.05  # of a decode step, for each step of the draft: a head on the model


@dataclass(frozen=True)
class Machine:
    """A roofline with two more limits: captured sizes, and a CPU that handles every token.

    A step with more tokens than `largest_graph` is launched kernel by kernel (`sim.cost.Eager`).
    `host_seconds_per_token` is what one CPU thread does for each token that comes out, while the
    GPU waits: detokenizing, stop strings, streaming.  The thread is one; its time adds up.
    """

    roofline: Roofline
    largest_graph: int = ALL_SIZES
    host_seconds_per_token: float = 0.0

    def step_time(self, load: Load) -> StepTime:
        graph = self.roofline.step_time(load)
        eager = Eager(self.roofline).step_time(load)
        is_eager = load.num_tokens > self.largest_graph
        launched = np.where(is_eager, eager.seconds, graph.seconds)
        seconds = launched + self.host_seconds_per_token * load.num_sampled
        return graph._replace(seconds=seconds if seconds.ndim else float(seconds))


@dataclass(frozen=True)
class Deployment:
    """Flags, replicas and traffic.  Names as in `vllm serve` where there is such a flag.

    `max_tokens` cuts answers, `longest_prompt` refuses prompts; `variable_first` puts what differs
    from request to request (a time of day, an id) before what all share; `host_microseconds` as in
    `Machine`, divided among `api_servers`.
    """

    requests: tuple[Request, ...]
    model: str = "Llama-3.1-8B"
    gpu: str = "A100 80G SXM"
    max_num_seqs: int = 256
    max_num_batched_tokens: int = 2_048
    chunked_prefill: bool = True
    long_prefill_token_threshold: int = 0
    gpu_memory_utilization: float = 0.9
    kv_cache_dtype: str = "bf16"
    prefix_caching: bool = True
    static: bool = False
    paged: bool = True
    largest_graph: int = ALL_SIZES
    host_microseconds: float = 0.0
    api_servers: int = 1
    tensor_parallel: int = 1
    num_replicas: int = 1
    routing: str = "round_robin"
    num_speculative_tokens: int = 0
    acceptance: float = 0.5
    max_tokens: int | None = None
    longest_prompt: int | None = None
    variable_first: bool = False

    @property
    def roofline(self) -> Roofline:
        model = specs.MODELS[self.model].in_format("bf16", self.kv_cache_dtype)
        return Roofline(model, specs.GPUS[self.gpu], tensor_parallel=self.tensor_parallel)

    @property
    def traffic(self) -> tuple[Request, ...]:
        """The requests as they reach the engine."""
        return tuple(self._as_sent(request) for request in self.requests if self._takes(request))

    @property
    def num_refused(self) -> int:
        """Requests that the server turns away because of their length."""
        return len(self.requests) - len(self.traffic)

    @property
    def num_gpus(self) -> int:
        return self.num_replicas * self.tensor_parallel

    @property
    def policy(self) -> scheduler.Policy:
        if self.static:
            return scheduler.Static(self.max_num_seqs)
        return scheduler.Chunked(
            self.max_num_seqs,
            self.max_num_batched_tokens if self.chunked_prefill else ALL_SIZES,
            self.chunked_prefill,
            self.long_prefill_token_threshold,
        )

    @property
    def memory(self) -> Paged | Contiguous:
        """The pool beside the weights; contiguous, the same bytes in one piece."""
        clock = self.roofline
        pool = Paged.beside(
            clock.model,
            clock.gpu,
            prefix_caching=self.prefix_caching,
            tensor_parallel=self.tensor_parallel,
            memory_utilization=self.gpu_memory_utilization,
        )
        if self.paged:
            return pool
        slots = (pool.num_blocks - 1) * pool.block_size
        return Contiguous(slots, max_model_len=MODEL_LENGTH)

    @property
    def pool_tokens(self) -> int:
        """Tokens whose K and V fit into one replica."""
        memory = self.memory
        if isinstance(memory, Contiguous):
            return memory.num_slots
        return (memory.num_blocks - 1) * memory.block_size

    def setups(self) -> tuple[Setup, ...]:
        """One for each replica that got a request."""
        host = self.host_microseconds / 1e6 / self.api_servers
        clock = Machine(self.roofline, self.largest_graph, host)
        draft = None
        if self.num_speculative_tokens:
            draft = Speculation(self.num_speculative_tokens, self.acceptance, SPECULATED_COST)
        whole = Setup(self.traffic, self.policy, self.memory, clock, speculation=draft)
        if self.num_replicas == 1:
            return (whole,)
        targets = replicas.route(whole.requests, self.num_replicas, self.routing)
        return replicas.parts(whole, targets, self.num_replicas)

    # -- inside -----------------------------------------------------------------------------

    def _takes(self, request: Request) -> bool:
        return self.longest_prompt is None or request.prompt_tokens <= self.longest_prompt

    def _as_sent(self, request: Request) -> Request:
        if self.variable_first:
            request = replace(request, prefix=())
        if self.max_tokens is not None and request.output_tokens > self.max_tokens:
            request = replace(request, output_tokens=self.max_tokens)
        return request


@dataclass(frozen=True)
class Change:
    """One flag, turned to another value."""

    flag: str  # a field of `Deployment`
    value: Any


def changed(server: Deployment, changes: Iterable[Change]) -> Deployment:
    """The server with these changes, a later one of the same flag winning."""
    return replace(server, **{change.flag: change.value for change in changes})
