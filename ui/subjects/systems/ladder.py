"""From a naive server to a modern one, rung by rung: what each mechanism gains.

They read results of `sim.studies.ablation`; nothing here decides.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from sim import specs
from sim.cost import Roofline
from sim.engine import Setup
from sim.kv import sizes
from sim.metrics import Summary, computed_tokens
from sim.studies import ablation
from sim.studies.ablation import RUNGS, Ladder
from sim.workload import LognormalLength, PoissonArrivals, SharedPrefix, Workload
from ui.charts import go
from ui.results import runs
from ui.subjects.systems.rows import draw_columns
from ui.words.language import tr
from ui.words.numbers import in_percent, percent, seconds, significant

MODEL, GPU = specs.MODELS["Llama-3.1-8B"], specs.GPUS["RTX 4090"]
NUM_REQUESTS = 120
SYSTEM_TOKENS = 512
LONGEST = 4_096
SERVER = Ladder(Roofline(MODEL, GPU), sizes.Division(MODEL, GPU).pool_tokens, LONGEST)
RATES = (1, 2, 4, 8)


def names() -> dict[str, str]:
    """The rungs of the ladder in words."""
    return {
        "naive": tr("朴素的服务器", "naive server"),
        "batching": tr("＋ 连续批处理", "+ continuous batching"),
        "paging": tr("＋ 分页 KV", "+ paged KV"),
        "cache": tr("＋ 前缀缓存", "+ prefix cache"),
        "chunks": tr("＋ 分块预填充", "+ chunked prefill"),
    }


@dataclass(frozen=True)
class Rung:
    """One run of the same requests."""

    setup: Setup
    summary: Summary
    waste: float

    @property
    def tokens_per_second(self) -> float:
        return self.summary.output_tokens_per_second

    @property
    def computed_tokens(self) -> int:
        return computed_tokens(runs.run(self.setup))


def workload(rate: float) -> Workload:
    """So many requests per second."""
    return Workload(
        NUM_REQUESTS,
        PoissonArrivals(rate),
        LognormalLength(512, 2048, 2500),
        LognormalLength(192, 700, 1000),
        SharedPrefix(SYSTEM_TOKENS, num_groups=2),
        seed=1,
    )


def ladder(rate: float) -> dict[str, Rung]:
    """Every rung, at so many requests per second."""
    requests = runs.requests(workload(rate))
    return {rung: _run(SERVER.setup(rung, requests)) for rung in RUNGS}


@lru_cache(maxsize=runs.KEPT)
def _run(setup: Setup) -> Rung:
    return Rung(setup, runs.summary(setup), ablation.wasted_share(runs.run(setup)))


def gains(rungs: Mapping[str, Rung]) -> dict[str, float]:
    """How many times the tokens/s of the rung below each one has."""
    speeds = [rungs[rung].tokens_per_second for rung in RUNGS]
    pairs = zip(RUNGS[1:], speeds[1:], speeds[:-1], strict=True)
    return {rung: after / before for rung, after, before in pairs}


def against(now: Rung, naive: Rung) -> str:
    """How many times the tokens/s of the naive server; nothing about itself."""
    times = significant(factor(now, naive))
    same = now.setup == naive.setup
    return "" if same else tr(f"朴素的 {times} 倍", f"{times}× the naive server")


def mechanisms() -> dict[str, str]:
    """The rungs above the first, each by itself."""
    return {
        "batching": tr("连续批处理", "continuous batching"),
        "paging": tr("分页 KV", "paged KV"),
        "cache": tr("前缀缓存", "prefix cache"),
        "chunks": tr("分块预填充", "chunked prefill"),
    }


def largest(gains: Mapping[str, float]) -> str:
    return max(gains, key=gains.__getitem__)


def as_factors(gains: Mapping[str, float]) -> dict[str, str]:
    return {rung: f"{significant(gain)}×" for rung, gain in gains.items()}


def factor(one: Rung, other: Rung) -> float:
    return one.tokens_per_second / other.tokens_per_second


def ladder_figure(
    rungs: Mapping[str, Rung], num_on: int, guess: object = None, large: bool = False
) -> go.Figure:
    """Three columns of bars, one row per rung; what is not switched on yet has no bar.

    `guess`: the rung of which somebody expects the most; it is marked.
    """
    mine = tr(" ◇ 你的预测", " ◇ your guess")
    reached = RUNGS[: num_on + 1]
    columns = [
        (tr("token/s ↑", "tokens/s ↑"), 0, [rungs[r].tokens_per_second for r in RUNGS]),
        (tr("TTFT p99 ↓", "TTFT p99 ↓"), 1, [rungs[r].summary.ttft.p99 for r in RUNGS]),
        (
            tr("KV 浪费 ↓", "KV waste ↓"),
            2,
            [in_percent(rungs[r].waste) for r in RUNGS],
        ),
    ]
    words = [
        [significant(rungs[r].tokens_per_second) for r in RUNGS],
        [seconds(rungs[r].summary.ttft.p99) for r in RUNGS],
        [percent(rungs[r].waste) for r in RUNGS],
    ]
    return draw_columns(
        [names()[rung] + (mine if rung == guess else "") for rung in RUNGS],
        [(title, hue, values) for title, hue, values in columns],
        [[word if rung in reached else "" for word, rung in zip(said, RUNGS, strict=True)]
         for said in words],
        shown=len(reached),
        large=large,
    )  # fmt: skip
