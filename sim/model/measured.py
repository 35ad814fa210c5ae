"""How fast the machine at hand multiplies: thin and tall matrices, and a real model's two phases.

The shapes of `sim.cost.phases`, measured instead of computed, one small piece after the other so
that whoever asks can show how far it is.  `clock` tells seconds, as `time.perf_counter` does.  Of
several tries the fastest counts: the others were disturbed.  As a command, one JSON line for each
piece:

    OPENBLAS_NUM_THREADS=1 python -m sim.model.measured assets/model/target.npz
"""

import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass

import numpy as np

from sim.errors import require
from sim.model.generation import Decoder
from sim.model.kv_store import ContiguousStore
from sim.model.transformer import Array, Chunk, Weights, forward, load

Clock = Callable[[], float]

FLOAT_BYTES = 4
TRIES = 5
SIZE = 2_048  # weights of 16 MiB, more than the caches next to a core hold
ROWS = (1, 4, 16, 64, 256)
CONTEXT = 128  # tokens of the model's prompts
STEPS = 8
TOGETHER = 8  # sequences in a batch
NUM_PIECES = len(ROWS) + 3


@dataclass(frozen=True)
class Product:
    """Rows [rows, size] times weights [size, size], in float32."""

    rows: int
    size: int
    seconds: float

    @property
    def flops(self) -> int:
        return 2 * self.rows * self.size**2

    @property
    def bytes_moved(self) -> int:
        """Weights once, rows in and out."""
        return FLOAT_BYTES * (self.size**2 + 2 * self.rows * self.size)

    @property
    def intensity(self) -> float:
        return self.flops / self.bytes_moved

    @property
    def flops_per_second(self) -> float:
        return self.flops / self.seconds

    @property
    def bytes_per_second(self) -> float:
        return self.bytes_moved / self.seconds


@dataclass(frozen=True)
class Pace:
    """So many tokens went through a model in so many seconds."""

    tokens: int
    seconds: float

    @property
    def tokens_per_second(self) -> float:
        return self.tokens / self.seconds


@dataclass(frozen=True)
class Results:
    """A machine's answers: products by number of rows; the model's prefill; its decoding, of one
    sequence alone and of TOGETHER at a time."""

    products: tuple[Product, ...]
    prefill: Pace
    alone: Pace
    together: Pace

    @property
    def gain(self) -> float:
        """How many times as fast a row of the largest product is done as a single one."""
        return self.products[-1].flops_per_second / self.products[0].flops_per_second


def results(pieces: Iterable[Product | Pace]) -> Results:
    """What `pieces` gave, put together.

    Raises:
        SimError: `measurement_cut_short`, when some are missing.
    """
    done = list(pieces)
    require(len(done) == NUM_PIECES, "measurement_cut_short", done=len(done), total=NUM_PIECES)
    products = tuple(piece for piece in done if isinstance(piece, Product))
    return Results(products, *(piece for piece in done if isinstance(piece, Pace)))


def pieces(model: Weights, clock: Clock) -> Iterator[Product | Pace]:
    """All measurements, one at a time: NUM_PIECES of them, in the order of `Results`."""
    weights = np.full((SIZE, SIZE), 0.5, np.float32)  # [size, size]; the values do not matter
    for rows in ROWS:
        yield multiply(weights, rows, clock)
    yield prefill(model, CONTEXT, clock)
    yield decode(model, CONTEXT, 1, clock)
    yield decode(model, CONTEXT, TOGETHER, clock)


def multiply(weights: Array, rows: int, clock: Clock) -> Product:
    """One product: with one row a GEMV, with more a GEMM."""
    size = len(weights)
    x = np.full((rows, size), 0.5, np.float32)  # [rows, size]
    out = np.empty((rows, size), np.float32)  # [rows, size]
    return Product(rows, size, _fastest(lambda: np.matmul(x, weights, out=out), clock))


def prefill(model: Weights, tokens: int, clock: Clock) -> Pace:
    """A prompt of so many tokens in one pass."""
    prompt = [token % model.model.vocab for token in range(tokens)]
    took = _fastest(lambda: Decoder.with_room(model, tokens).extend(prompt), clock)
    return Pace(tokens, took)


def decode(model: Weights, context: int, batch: int, clock: Clock) -> Pace:
    """STEPS passes of one token for each of `batch` sequences that have `context` tokens."""
    stores = [ContiguousStore(model.model, context + STEPS) for _ in range(batch)]

    def write() -> None:
        for store in stores:
            store.num_tokens = context  # of zeros: attention takes as long with them
        for _ in range(STEPS):
            forward(model, [Chunk([0], store) for store in stores])

    return Pace(batch * STEPS, _fastest(write, clock))


def _fastest(work: Callable[[], object], clock: Clock) -> float:
    """Seconds of the best try."""
    times = []
    for _ in range(TRIES):
        start = clock()
        work()
        times.append(clock() - start)
    return min(times)


# -- from one process to another --------------------------------------------------------------


def to_line(piece: Product | Pace) -> str:
    return json.dumps(asdict(piece))


def from_line(line: str) -> Product | Pace:
    told = json.loads(line)
    return Product(**told) if "rows" in told else Pace(**told)


if __name__ == "__main__":
    for piece in pieces(load(sys.argv[1]), time.perf_counter):
        print(to_line(piece), flush=True)
