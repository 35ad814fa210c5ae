"""How a step reaches the GPU: kernel by kernel, as one replayed graph, or prepared ahead.

A step is a sequence of small programs, its kernels.  The CPU launches, the GPU executes in order:
kernel i starts when it has been launched and kernel i - 1 is done.  With n kernels of k seconds,
launches of l, and h seconds in which the CPU schedules and prepares a step, the time from one
step's token to the next is

    one by one          h + max(n * l + k, l + n * k)     the slower of the two sets the pace
    replayed            h + l + n * k                     the whole graph is one launch
    replayed, ahead     max(h + l, n * k)                 the CPU prepares while the GPU works

Ahead by one step: step s + 1 is prepared while s runs, so it waits until s - 1 is done; the token
of s stays on the GPU.  Sources: NVIDIA developer blog, "Getting started with CUDA graphs"; vLLM
pull requests 1926 (graphs) and 27614 (asynchronous scheduling, on by default since 0.14).

A graph is recorded for fixed shapes and addresses.  So vLLM captures some batch sizes and pads a
batch up to the next one; what is larger than all of them is launched kernel by kernel (vLLM 0.12,
`config/compilation.py`).

All kernels of a step are taken to be equally long: what `sim.cost` gives for the step, in equal
parts.  Left out: the gap of a microsecond or so that the GPU itself makes between two kernels.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import NamedTuple

from sim.cost.eager import Eager
from sim.cost.phases import decode, prefill
from sim.scheduler import Load
from sim.specs import Model

CPU, GPU = "cpu", "gpu"
MIB = 2**20


@dataclass(frozen=True)
class Way:
    """How launches are made: the whole step as one `graph`; the next step prepared `ahead`."""

    graph: bool = False
    ahead: bool = False


ONE_BY_ONE = Way()
REPLAY = Way(graph=True)
AHEAD = Way(graph=True, ahead=True)


@dataclass(frozen=True)
class LaunchWork:
    """A step as the two machines see it.  `replay_seconds`: the launch of the whole graph."""

    num_kernels: int
    kernel_seconds: float
    launch_seconds: float
    replay_seconds: float
    host_seconds: float = 0.0

    @classmethod
    def of(cls, clock: Eager, load: Load, host_seconds: float | None = None) -> "LaunchWork":
        """A step of `load`: its time by the roofline, in equal kernels; a replay is one launch.

        `host_seconds` is the fixed rest of the roofline where it is not given.
        """
        if host_seconds is None:
            host_seconds = clock.roofline.used_efficiency.fixed_seconds
        kernels, launch = clock.num_kernels, clock.launch_seconds
        return cls(kernels, gpu_seconds(clock, load) / kernels, launch, launch, host_seconds)

    def first(self, num_kernels: int) -> "LaunchWork":
        """Its first kernels, without what the CPU prepares before them."""
        return replace(self, num_kernels=min(num_kernels, self.num_kernels), host_seconds=0.0)

    @property
    def gpu_seconds(self) -> float:
        return self.num_kernels * self.kernel_seconds

    def launching_seconds(self, way: Way) -> float:
        return self.replay_seconds if way.graph else self.num_kernels * self.launch_seconds

    def cpu_seconds(self, way: Way) -> float:
        """Preparing and launching a step."""
        return self.host_seconds + self.launching_seconds(way)


class Activity(NamedTuple):
    """What one of the two does.  `kind`: "prepare", "launch" or "kernel"; `kernel` from 1, 0 for
    all of a step at once; `step` from 0."""

    place: str
    kind: str
    step: int
    kernel: int
    start_seconds: float
    end_seconds: float


def spans(work: LaunchWork, way: Way, num_steps: int = 1) -> tuple[Activity, ...]:
    """What CPU and GPU do through `num_steps` steps, in the order in which it begins."""
    found: list[Activity] = []
    cpu = gpu = 0.0  # until when each of them is busy
    done = [0.0, 0.0]  # when the step before, and the one before that, left the GPU
    for step in range(num_steps):
        cpu = max(cpu, done[-2] if way.ahead else done[-1])
        if work.host_seconds:
            found.append(Activity(CPU, "prepare", step, 0, cpu, cpu + work.host_seconds))
            cpu += work.host_seconds
        if way.graph:
            found.append(Activity(CPU, "launch", step, 0, cpu, cpu + work.replay_seconds))
            cpu += work.replay_seconds
        for kernel in range(1, work.num_kernels + 1):
            if not way.graph:
                found.append(Activity(CPU, "launch", step, kernel, cpu, cpu + work.launch_seconds))
                cpu += work.launch_seconds
            start = max(cpu, gpu)
            gpu = start + work.kernel_seconds
            found.append(Activity(GPU, "kernel", step, kernel, start, gpu))
        done = [done[-1], gpu]
    return tuple(sorted(found, key=lambda span: span.start_seconds))


def merged(found: Iterable[Activity], kernels_each: int) -> tuple[Activity, ...]:
    """So many kernels as one piece, where single ones could not be seen.

    A piece on the GPU is as long as its kernels and ends with the last of them, so the gaps between
    them stand before it.  `kernel` counts the pieces.
    """
    pieces: dict[tuple[str, str, int, int], list[Activity]] = {}
    for span in found:
        number = -(-span.kernel // kernels_each)
        pieces.setdefault((span.place, span.kind, span.step, number), []).append(span)
    made = [Activity(*name, _begin(own), own[-1].end_seconds) for name, own in pieces.items()]
    return tuple(sorted(made, key=lambda span: span.start_seconds))


def _begin(spans: list[Activity]) -> float:
    return spans[-1].end_seconds - sum(span.end_seconds - span.start_seconds for span in spans)


def step_seconds(work: LaunchWork, way: Way) -> float:
    """From one step's token to the next, once the server runs."""
    kernel, launch = work.kernel_seconds, work.launch_seconds
    launching, working = work.launching_seconds(way), work.gpu_seconds
    if way.ahead:
        return max(work.cpu_seconds(way), working)
    if way.graph:
        return work.host_seconds + launching + working
    return work.host_seconds + max(launching + kernel, launch + working)


def busy_share(work: LaunchWork, way: Way) -> float:
    """The share of its time in which the GPU executes kernels."""
    return work.gpu_seconds / step_seconds(work, way)


def speedup(work: LaunchWork, before: Way, after: Way) -> float:
    """How many times as many tokens per second."""
    return step_seconds(work, before) / step_seconds(work, after)


def gpu_bound_ahead(work: LaunchWork) -> bool:
    """Whether, prepared ahead, the GPU sets the pace: nothing of the CPU's work is seen then."""
    return work.cpu_seconds(AHEAD) <= work.gpu_seconds


def in_seconds(milliseconds: float) -> float:
    return milliseconds / 1000


# -- when launches matter -----------------------------------------------------------------------


def gpu_seconds(clock: Eager, load: Load) -> float:
    """How long the GPU works on a step; the CPU's part is not in it."""
    return float(clock.roofline.kernel_seconds(load))


def launch_bound(clock: Eager, load: Load) -> bool:
    """Whether launching the step kernel by kernel takes longer than executing it."""
    return gpu_seconds(clock, load) < clock.launching_seconds


def decode_crossover(clock: Eager, context: int) -> int:
    """The smallest decode batch that is not launch-bound."""
    return _first(lambda batch: not launch_bound(clock, decode(batch, context)))


def prefill_crossover(clock: Eager) -> int:
    """The shortest prompt whose prefill is not launch-bound."""
    return _first(lambda tokens: not launch_bound(clock, prefill(tokens)))


def _first(holds: Callable[[int], bool]) -> int:
    """The smallest number from 1 on for which `holds`, if it holds for all larger ones."""
    high = 1
    while not holds(high):
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


# -- captured sizes -----------------------------------------------------------------------------


def captured_sizes(largest: int) -> tuple[int, ...]:
    """The batch sizes that vLLM captures up to `largest`; by default that is min(2 * max_num_seqs,
    512)."""
    sizes = (1, 2, 4, *range(8, 256, 8), *range(256, largest + 1, 16))
    return tuple(size for size in sizes if size <= largest)


def padded(batch: int, sizes: tuple[int, ...]) -> int | None:
    """The captured size that a batch is padded to; None where it is larger than all of them."""
    return next((size for size in sizes if size >= batch), None)


def graph_load(batch: int, context: int, size: int) -> Load:
    """A decode step in a graph for `size` rows: padding rows go through the linear layers, have no
    context, and are not sampled from."""
    load = decode(batch, context)
    return load._replace(num_tokens=size)


def captured_seconds(clock: Eager, batch: int, context: int, sizes: tuple[int, ...]) -> float:
    """A decode step with these captured sizes: padded and replayed, or launched one by one."""
    size = padded(batch, sizes)
    if size is None:
        return step_seconds(LaunchWork.of(clock, decode(batch, context)), ONE_BY_ONE)
    return step_seconds(LaunchWork.of(clock, graph_load(batch, context, size)), REPLAY)


def edge_seconds(clock: Eager, context: int, sizes: tuple[int, ...]) -> tuple[float, float]:
    """A step of the largest captured size, and one with a request more."""
    largest = sizes[-1]
    inside = captured_seconds(clock, largest, context, sizes)
    return inside, captured_seconds(clock, largest + 1, context, sizes)


def padding(batch: int, size: int) -> int:
    """Rows that are computed for nobody."""
    return size - batch


def graph_bytes(sizes: tuple[int, ...], mebibytes_each: float) -> float:
    """What the graphs of these sizes hold.  Reported: 35 sizes of Llama-3.2-1B took 0.21 GiB, 6 MiB
    each (vLLM pull request 11349); sizes above 256 of another model took 24 to 28 MiB each (22897).
    """
    return len(sizes) * mebibytes_each * MIB


def kv_tokens_lost(model: Model, num_bytes: float) -> float:
    """Tokens of KV for which there is no room any more."""
    return num_bytes / model.kv_bytes_per_token
