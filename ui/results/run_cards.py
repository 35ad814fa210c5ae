"""The five numbers of a whole run, alone or beside the run that is kept as A."""

from collections.abc import Callable

from sim.engine import Setup
from sim.kv import sizes
from sim.metrics import Summary
from sim.specs import Model
from ui.results import compare, runs
from ui.results.cards import Card
from ui.words.language import tr
from ui.words.numbers import count, memory, percent, seconds, significant


def of(setup: Setup, kept: Setup | None = None) -> list[Card]:
    here, a = runs.summary(setup), runs.summary(kept) if kept else None

    def card(
        label: str, read: Callable[[Summary], float], words: Callable[[float], str], alone: str
    ) -> Card:
        value = read(here)
        return Card(label, words(value), compare.against(value, read(a), words) if a else alone)

    return [
        card(
            tr("TTFT 均值", "TTFT, mean"),
            lambda run: run.ttft.mean,
            seconds,
            f"p99 {seconds(here.ttft.p99)}",
        ),
        card(
            tr("ITL 均值", "ITL, mean"),
            lambda run: run.itl.mean,
            seconds,
            f"p99 {seconds(here.itl.p99)} · max {seconds(here.itl.max)}",
        ),
        card(
            tr("TPOT 均值", "TPOT, mean"),
            lambda run: run.tpot.mean,
            seconds,
            f"p99 {seconds(here.tpot.p99)}",
        ),
        card(
            tr("输出 token/s", "Output tokens/s"),
            lambda run: run.output_tokens_per_second,
            count,
            tr(
                f"平均 {significant(here.mean_running)} 个在跑",
                f"{significant(here.mean_running)} running",
            ),
        ),
        card(
            tr("KV 峰值", "KV, peak"),
            lambda run: run.peak_kv_usage,
            percent,
            tr(
                f"抢占 {count(here.num_preemptions)} 次",
                f"preemptions: {count(here.num_preemptions)}",
            ),
        ),
    ]


def with_memory(setup: Setup, model: Model, pool_tokens: int) -> list[Card]:
    """Four of them; what the KV of a model takes in a pool of so many tokens in bytes as well."""
    ttft, itl, _, throughput, kv = of(setup)
    share = runs.summary(setup).peak_kv_usage
    held = memory(share * sizes.request_bytes(model, pool_tokens))
    return [ttft, itl, throughput, Card(kv.label, held, percent(share))]
