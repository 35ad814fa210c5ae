"""A server as whoever runs it sees it: flags and replicas before traffic; a cure turns some.

The other pages put a `Setup` together knob by knob.  Here the knobs have the names under which they
are turned on a real server, and `setups` makes the setups of all replicas of them.
"""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from sim import scheduler, specs
from sim.cost import Eager, Roofline, StepTime
from sim.engine import Run, Setup, Speculation, simulate
from sim.kv import Contiguous, Paged
from sim.request import Request, Segment
from sim.scheduler import Load
from sim.studies import replicas
from sim.studies.clinic import clients, moving_fleets
from sim.studies.clinic.adapters import WithAdapters

EAGER = 0  # the largest captured size when nothing is captured
ALL_SIZES = 1_000_000
MODEL_LENGTH = 4_096  # what contiguous memory reserves for each request
LEAST_LOADED = "least_loaded"  # a rule beside those of `replicas`
SPECULATED_COST = 0.05  # of a decode step, for each step of the draft: a head on the model


@dataclass(frozen=True)
class Machine:
    """A roofline with what slows a real one down.

    A step with more tokens than `largest_graph` is launched kernel by kernel (`sim.cost.Eager`).
    Under tensor parallelism the others wait for a GPU whose kernels take `slowest_gpu` times as
    long.  K and V of prompts are copied out at `offload_bytes_per_second` before a step is over.
    """

    roofline: Roofline
    largest_graph: int = ALL_SIZES
    slowest_gpu: float = 1.0
    offload_bytes_per_second: float = math.inf

    @property
    def is_slowed(self) -> bool:
        """By something that is no flag of a server."""
        return self.slowest_gpu > 1 or self.offload_bytes_per_second < math.inf

    def step_time(self, load: Load) -> StepTime:
        is_eager = load.num_tokens > self.largest_graph
        time = (Eager(self.roofline) if is_eager else self.roofline).step_time(load)
        copied = load.prompt_tokens * self.roofline.shard.kv_bytes_per_token
        more = copied / self.offload_bytes_per_second
        if self.slowest_gpu > 1:
            more = more + (self.slowest_gpu - 1) * self.roofline.kernel_seconds(load)
        return time._replace(seconds=time.seconds + more)


@dataclass(frozen=True)
class Deployment:
    """Flags, replicas and traffic.  Names as in `vllm serve` where there is such a flag.

    `max_tokens` cuts answers, `longest_prompt` refuses prompts; `variable_first` puts what differs
    from request to request (a time of day, an id) before what all share, `notes_before_history`
    what an agent notes anew in every turn before its history (segments called "turn-...").

    `slowest_gpu` as in `Machine`; `offload_gigabytes` per second, 0: KV stays on the GPU.
    `host_microseconds` is what a thread does for each token's text, `api_servers` how many threads
    there are.  `adapters` and `schemas` belong to the requests, by id (`adapters`, `clients`).
    Clients wait `patience_seconds` for a token and ask again `retries` times.

    With `max_replicas` an autoscaler asks for that many once `scale_at` requests wait, and they are
    there `start_seconds` later; the router then goes by turns.
    """

    requests: tuple[Request, ...]
    model: str = "Llama-3.1-8B"
    gpu: str = "A100 80G SXM"
    max_num_seqs: int = 256
    max_num_batched_tokens: int = 2_048
    chunked_prefill: bool = True
    long_prefill_token_threshold: int = 0
    gpu_memory_utilization: float = 0.9
    quantization: str = "bf16"
    kv_cache_dtype: str = "bf16"
    prefix_caching: bool = True
    static: bool = False
    paged: bool = True
    largest_graph: int = ALL_SIZES
    slowest_gpu: float = 1.0
    offload_gigabytes: float = 0.0
    host_microseconds: float = 0.0
    api_servers: int = 1
    adapters: tuple[int, ...] = ()
    max_loras: int = 0
    schemas: tuple[int, ...] = ()
    schemas_vary: bool = False
    grammar_seconds: float = 0.0
    grammar_threads: int = 4
    tensor_parallel: int = 1
    num_replicas: int = 1
    routing: str = "round_robin"
    load_age_seconds: float = 0.0
    max_replicas: int = 0
    scale_at: int = 10
    start_seconds: float = 0.0
    num_speculative_tokens: int = 0
    acceptance: float = 0.5
    max_tokens: int | None = None
    longest_prompt: int | None = None
    variable_first: bool = False
    notes_before_history: bool = False
    patience_seconds: float = math.inf
    retries: int = 0

    @property
    def roofline(self) -> Roofline:
        model = specs.MODELS[self.model].in_format(self.quantization, self.kv_cache_dtype)
        return Roofline(model, specs.GPUS[self.gpu], tensor_parallel=self.tensor_parallel)

    @property
    def starts(self) -> bool:
        """vLLM does not start without chunks under a budget below its longest request."""
        longest = max(request.total_tokens for request in self.requests)
        return self.chunked_prefill or self.static or self.max_num_batched_tokens >= longest

    @cached_property
    def traffic(self) -> tuple[Request, ...]:
        """The requests as clients send them, retries among them."""
        sent = tuple(self._as_sent(request) for request in self.requests if self._takes(request))
        if self.retries == 0:
            return sent
        return clients.attempts(sent, self.patience_seconds, self.retries, self._serve)

    @property
    def num_refused(self) -> int:
        """Requests that the server turns away because of their length."""
        return sum(not self._takes(request) for request in self.requests)

    @property
    def num_cut(self) -> int:
        """Requests whose answers end too early."""
        most = math.inf if self.max_tokens is None else self.max_tokens
        return sum(request.output_tokens > most for request in self.requests)

    @property
    def num_gpus(self) -> int:
        return max(self.num_replicas, self.max_replicas) * self.tensor_parallel

    @property
    def policy(self) -> scheduler.Policy:
        if self.static:
            return scheduler.Static(self.max_num_seqs)
        flags = (
            self.max_num_seqs,
            self.max_num_batched_tokens,
            self.chunked_prefill,
            self.long_prefill_token_threshold,
        )
        if self.max_loras:
            return WithAdapters(*flags, max_loras=self.max_loras, adapters=self.adapters)
        return scheduler.Chunked(*flags)

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

    @cached_property
    def asked_seconds(self) -> float | None:
        """When the autoscaler asks for more replicas; None if it never does."""
        if self.max_replicas <= self.num_replicas:
            return None
        few = replace(self, max_replicas=0)
        return moving_fleets.asked_at([simulate(setup) for setup in few.setups()], self.scale_at)

    def setups(self) -> tuple[Setup, ...]:
        """One for each replica that got a request."""
        return self._setups_for(self.traffic)

    def seen(self, run: Run) -> Run:
        """The run of a replica as its clients see it."""
        if self.schemas:
            sent = {request.id: request for request in self.traffic}
            run = replace(run, requests=tuple(sent[request.id] for request in run.requests))
        if self.host_microseconds:
            run = clients.as_text(run, self.host_microseconds / 1e6, self.api_servers)
        return run

    # -- inside -----------------------------------------------------------------------------

    def _serve(self, requests: tuple[Request, ...]) -> list[Run]:
        return [simulate(setup) for setup in self._setups_for(requests)]

    def _setups_for(self, requests: tuple[Request, ...]) -> tuple[Setup, ...]:
        if self.schemas:
            requests = clients.compiled(
                requests,
                self.schemas,
                self.schemas_vary,
                self.grammar_seconds,
                self.grammar_threads * max(self.num_replicas, self.max_replicas),
            )
        offload = self.offload_gigabytes * 1e9 or math.inf
        clock = Machine(self.roofline, self.largest_graph, self.slowest_gpu, offload)
        draft = None
        if self.num_speculative_tokens:
            draft = Speculation(self.num_speculative_tokens, self.acceptance, SPECULATED_COST)
        whole = Setup(requests, self.policy, self.memory, clock, speculation=draft)
        number = max(self.num_replicas, self.max_replicas)
        if number == 1:
            return (whole,)
        return replicas.parts(whole, self._targets(requests), number)

    def _targets(self, requests: tuple[Request, ...]) -> tuple[int, ...]:
        """The replica of each request, [num_requests]."""
        if self.max_replicas > self.num_replicas:
            asked = math.inf if self.asked_seconds is None else self.asked_seconds
            ready = asked + self.start_seconds
            return moving_fleets.growing(requests, self.num_replicas, self.max_replicas, ready)
        if self.routing == LEAST_LOADED:
            return moving_fleets.least_loaded(requests, self.num_replicas, self.load_age_seconds)
        return replicas.route(requests, self.num_replicas, self.routing)

    def _takes(self, request: Request) -> bool:
        return self.longest_prompt is None or request.prompt_tokens <= self.longest_prompt

    def _as_sent(self, request: Request) -> Request:
        if self.variable_first:
            request = replace(request, prefix=())
        if self.notes_before_history:
            request = replace(request, prefix=tuple(_noted(request)))
        if self.max_tokens is not None and request.output_tokens > self.max_tokens:
            request = replace(request, output_tokens=self.max_tokens)
        return request


def _noted(request: Request) -> Iterator[Segment]:
    """The history behind notes that no other request has: the same text, found by nobody."""
    for segment in request.prefix:
        is_history = segment.id.startswith("turn-")
        yield replace(segment, id=f"{segment.id} noted {request.id}") if is_history else segment


@dataclass(frozen=True)
class Change:
    """One flag, turned to another value."""

    flag: str  # a field of `Deployment`
    value: Any


def changed(server: Deployment, changes: Iterable[Change]) -> Deployment:
    """The server with these changes, a later one of the same flag winning."""
    return replace(server, **{change.flag: change.value for change in changes})
