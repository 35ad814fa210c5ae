"""What else stands on the panel of a sick server, as a table beside its figure.

It is there before anything is answered: among these is the figure that tells a disease from its
look-alikes.  A server without a feature has no row for it.
"""

from collections.abc import Iterator
from math import isfinite

from sim.studies.clinic import Deployment, Panel, Signs
from sim.studies.clinic.signs import CHAT
from ui.words.language import tr
from ui.words.numbers import count, scaled, seconds

Row = tuple[str, str]


def table(here: Panel, server: Deployment) -> str:
    """Its rows as a Markdown table."""
    signs = here.signs
    rows = [
        *_of_the_batch(here, signs),
        *_of_latencies(here, signs),
        *_of_prompts(here, signs),
        *_of_clients(server, signs),
        *_of_several(server, signs),
    ]
    head = tr("| 还有这些读数 | |", "| More readings | |")
    return "\n".join([head, "|---|---|", *(f"| {name} | {value} |" for name, value in rows)])


def _of_the_batch(here: Panel, signs: Signs) -> Iterator[Row]:
    running = tr("同时运行，最多 / 批上限", "Running at once, at most / batch limit")
    yield running, f"{here.most_running} / {signs.batch_limit}"
    if signs.adapters:
        name = tr("LoRA：要用的 / 一步里至多", "LoRA adapters: asked for / at most in a step")
        yield name, f"{signs.adapters[0]} / {signs.adapters[1]}"
    queue = here.queue_time
    yield tr("排队时间 p50 / p99", "Queue time p50 / p99"), _joined(queue.p50, queue.p99)
    if signs.most_deferred is not None:
        name = tr("其中等语法编译，最多", "Of them for a grammar to compile, at most")
        yield name, count(signs.most_deferred)


def _of_latencies(here: Panel, signs: Signs) -> Iterator[Row]:
    for label, ttft in (
        (tr(f"{CHAT:,} token 以内的提示词", f"prompts up to {CHAT:,}"), signs.ttft_chats),
        (tr("更长的提示词", "longer prompts"), signs.ttft_documents),
    ):
        if len(ttft):
            name = tr(f"TTFT p50 / p95 / p99，{label}", f"TTFT p50 / p95 / p99, {label}")
            yield name, _joined(ttft.p50, ttft.percentile(95), ttft.p99)
    yield tr("最长的一次间隔", "Longest gap of all"), seconds(here.longest_gap)
    name = tr("ITL p99：用户看到的 / 引擎里的", "ITL p99: as users see it / in the engine")
    yield name, _joined(here.itl.p99, signs.engine_itl.p99)
    if isfinite(signs.itl_with_few):
        name = tr(
            "只解码的一步：人最少时 / 最多时", "A step that only decodes: fewest / most running"
        )
        yield name, _joined(signs.itl_with_few, signs.itl_with_many)


def _of_prompts(here: Panel, signs: Signs) -> Iterator[Row]:
    name = tr("提示词：最短，中位，最长", "Prompt tokens: least, median, most")
    yield name, _listed(signs.prompt_tokens)
    if signs.hit_tokens[-1]:
        name = tr("其中在缓存里找到的：最少，中位，最多", "Of them found: least, median, most")
        yield name, _listed(signs.hit_tokens)
    name = tr("回答的中位长度：最早 1/4 → 最晚 1/4", "Answer, median: first quarter → last")
    yield name, f"{count(signs.answers[0])} → {count(signs.answers[1])}"
    if signs.offloaded_bytes is not None:
        name = tr("KV 写到显存外的 / 从那里找回的", "KV copied off the GPU / found again there")
        yield name, f"{scaled(signs.offloaded_bytes, 'B')} / 0"


def _of_clients(server: Deployment, signs: Signs) -> Iterator[Row]:
    if not isfinite(server.patience_seconds):
        return
    if server.retries:
        name = tr("用户的请求 / 服务器收到的", "Requests of users / received by the server")
        yield name, f"{count(signs.num_users)} / {count(signs.num_sent)}"
    limit = seconds(server.patience_seconds)
    name = tr(f"失败的（客户端等 {limit}）", f"Failed (clients wait {limit})")
    yield name, count(signs.num_failed)


def _of_several(server: Deployment, signs: Signs) -> Iterator[Row]:
    if signs.requests_each and signs.running_each:
        name = tr("各副本分到的请求", "Requests of each replica")
        yield name, _between(*signs.requests_each)
        name = tr(
            "同一时刻各副本在跑的，差最多时", "Running on each at one moment, at their most unequal"
        )
        yield name, _between(*signs.running_each)
    if server.max_replicas > server.num_replicas:
        name = tr("加副本：提出 / 就绪", "More replicas: asked for / ready")
        yield name, f"{_moment(signs.asked_seconds)} / {_moment(signs.ready_seconds)}"
    if signs.kernel_seconds:
        name = tr("每步的 kernel：最快的 GPU / 最慢的", "Kernels of a step: fastest GPU / slowest")
        yield name, _joined(*signs.kernel_seconds)


def _joined(*values: float) -> str:
    return " / ".join(seconds(value) for value in values)


def _between(low: int, high: int) -> str:
    return tr(f"{count(low)} 到 {count(high)}", f"{count(low)} to {count(high)}")


def _moment(at: float | None) -> str:
    return "–" if at is None else seconds(at)


def _listed(values: tuple[float, float, float]) -> str:
    return tr("，", ", ").join(count(value) for value in values)
