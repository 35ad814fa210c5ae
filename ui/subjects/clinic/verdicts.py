"""The clinic's three questions, answered for a server of the reader's own.

An answer is never surer than its data: a limit inside a bucket cannot be told, a gauge speaks of
one moment, and of a GPU it is not known whether it serves this model.
"""

import math
from collections.abc import Sequence

from sim.studies.clinic import Slo, Thresholds
from ui.subjects.clinic.brought.found import Brought, GpuReading, Interval
from ui.words.language import tr
from ui.words.numbers import count, percent, seconds

IDLE = 0.01  # a GPU whose readings are both below
FAILED = 0.01  # of all requests: more than that, and 99 of 100 cannot have kept a target


# -- question 1 ---------------------------------------------------------------------------------


def gap(brought: Brought) -> str:
    return "TPOT" if brought.itl_is_tpot else "ITL"


def latencies(brought: Brought) -> str:
    said = [f"TTFT p99 {_long(brought.ttft)}", f"{gap(brought)} p99 {_long(brought.itl)}"]
    if brought.queue is not None:
        said.append(tr("排队 p99 ", "queue time p99 ") + _long(brought.queue))
    if brought.completed is not None:
        said.append(tr(f"完成 {count(brought.completed)}", f"completed {count(brought.completed)}"))
    if brought.failed is not None:
        said.append(tr(f"失败 {count(brought.failed)}", f"failed {count(brought.failed)}"))
    of_few = brought.ttft is not None and brought.ttft.is_of_few
    own = brought.ttft.observations if brought.ttft and of_few else None
    if own is not None:
        said.append(tr(f"只有 {count(own)} 个请求", _requests(own)))
    return listed(said)


def _requests(number: float) -> str:
    return f"{count(number)} request only" if number == 1 else f"{count(number)} requests only"


def _long(own: Interval | None) -> str:
    """Where a latency lies, in words; its mean beside it where that is known."""
    if own is None:
        return tr("没有", "missing")
    low = seconds(own.low)
    if own.is_exact:
        said = low
    elif own.high == math.inf:
        said = tr(f"超过 {low}", f"more than {low}")
    elif own.low == 0:
        said = tr(f"至多 {seconds(own.high)}", f"at most {seconds(own.high)}")
    else:
        high = seconds(own.high)
        said = tr(f"在 {low} 到 {high} 之间", f"between {low} and {high}")
    if own.mean is None:
        return said
    return said + tr(f"（均值 {seconds(own.mean)}）", f" (mean {seconds(own.mean)})")


def which_latency(brought: Brought, slo: Slo) -> str:
    gap_name = gap(brought)
    named = (
        ("TTFT", brought.ttft, slo.ttft_seconds),
        (gap_name, brought.itl, slo.itl_seconds),
    )
    told = [None if own is None else own.exceeds(limit) for _, own, limit in named]
    unsure = [_unsure(*one) for one, late in zip(named, told, strict=True) if late is None]
    if not unsure:
        return _sure(brought, (bool(told[0]), bool(told[1])))
    above = [name for (name, _, _), late in zip(named, told, strict=True) if late]
    kept = [name for (name, _, _), late in zip(named, told, strict=True) if late is False]
    said = [tr(f"{name} 超出目标。", f"{name} is above its target.") for name in above]
    said += [_keeps(brought, name) for name in kept]
    return tr("", " ").join([*said, *unsure])


def _sure(brought: Brought, late: tuple[bool, bool]) -> str:
    return {
        (True, False): tr("排队或预填充的问题。", "Queueing or prefill."),
        (False, True): tr(
            "解码、预填充干扰或抢占。", "Decode, prefill interference, or preemption."
        ),
        (True, True): tr("两边都有问题。", "Both."),
        (False, False): _keeps(brought, ""),
    }[late]


def _keeps(brought: Brought, name: str) -> str:
    """A target is kept, as far as that can be said; without a name, both are."""
    if brought.share_failed > FAILED:
        failed, all_ = (
            count(brought.failed or 0),
            count((brought.failed or 0) + (brought.completed or 0)),
        )
        return tr(
            f"完成的请求达标，但 {all_} 个里失败了 {failed} 个：不能算 99% 达标。",
            f"Kept by the requests that completed, but {failed} of {all_} failed: 99 of 100 did "
            "not keep it.",
        )
    own = brought.ttft if brought.ttft and brought.ttft.is_of_few else None
    few = ""
    if own and own.observations is not None:
        few = tr("，但请求太少，谈不上百里挑一", ", by too few requests to speak of 1 in 100")
    if name:
        return tr(f"{name} 达标{few}。", f"{name} keeps its target{few}.")
    return tr(f"都达标{few}。", f"Both targets are kept{few}.")


def _unsure(name: str, own: Interval | None, limit: float) -> str:
    if own is None:
        return tr(f"{name} 答不了：缺读数。", f"{name} cannot be answered: a reading is missing.")
    target = seconds(limit)
    return tr(
        f"{name} 无法判断：目标 {target} 落在这一段之内。要知道，得有界线恰在 {target} 的桶，"
        "或者客户端逐个记下的时间（`vllm bench serve --save-detailed`）。",
        f"{name}: cannot tell, since the target of {target} lies within these bounds. A bucket "
        f"that ends at {target} would tell, or the single times of a client (`vllm bench serve "
        "--save-detailed`).",
    )


# -- question 2 ---------------------------------------------------------------------------------


def memory(brought: Brought) -> str:
    said = [f"KV {share_range(brought.kv)}"]
    if brought.kv:
        said[0] += tr("（此刻）", " (at this moment)")
    own, since = brought.preemptions, brought.preemptions_since_start
    if own is not None:
        words = tr("抢占 ", "preemptions ")
        if brought.span == "between" and since is not None:
            inner = tr(f"，其中这段时间 {count(own)}", f", of them {count(own)} in this span")
            said.append(words + count(since) + inner)
        else:
            said.append(words + count(own))
    for words, value in (
        (tr("运行 ", "running "), brought.running),
        (tr("排队 ", "waiting "), brought.waiting),
        (tr("其中推迟的 ", "deferred of these "), brought.deferred),
    ):
        if value is not None:
            said.append(words + count(value))
    if brought.hit_rate is not None:
        said.append(tr("命中率 ", "hit rate ") + percent(brought.hit_rate))
    return listed(said)


def kv(brought: Brought, limits: Thresholds) -> str:
    waiting = (brought.waiting or 0) - (brought.deferred or 0)
    is_full = any(value >= limits.kv for value in brought.kv)
    own = brought.preemptions
    if is_full and own:
        return tr("并发被 KV 卡住。", "KV limits concurrency.")
    if is_full and waiting > 0:
        return tr(
            "此刻并发被 KV 卡住：已经到顶，还有请求在排队。",
            "At this moment KV limits concurrency: it is at its limit, and requests wait.",
        )
    if own:
        return (
            tr(
                f"此刻不满，但有过 {count(own)} 次抢占：KV 曾经用满。",
                f"Not full at this moment, but with {count(own)} preemptions it was full before.",
            )
            if brought.kv
            else tr(
                f"有过 {count(own)} 次抢占：KV 曾经用满。",
                f"With {count(own)} preemptions KV was full before.",
            )
        )
    if not brought.kv:
        return tr("答不了：缺读数。", "Cannot be answered: a reading is missing.")
    if is_full:
        return tr(
            "此刻到顶；没有请求因此排队或被抢占，单凭这一刻说明不了并发被卡住。",
            "At its limit at this moment; nobody is seen to wait or to be preempted for it, and "
            "one moment does not show that it limits concurrency.",
        )
    if own is None or any(value >= limits.kv for value in brought.kv_before):
        return tr(
            "此刻有余地；只凭这一刻，说不了别的时候。",
            "There is room at this moment; of other times one moment says nothing.",
        )
    return tr(
        "KV 有余地：此刻不满，也没有过抢占。",
        "KV has room: not full at this moment, and nobody was preempted.",
    )


# -- question 3 ---------------------------------------------------------------------------------


def utilization(gpus: Sequence[GpuReading]) -> str:
    bandwidth = [gpu.bandwidth for gpu in gpus if gpu.bandwidth is not None]
    compute = [gpu.compute for gpu in gpus if gpu.compute is not None]
    said = [
        tr("带宽 " if bandwidth else "带宽", "bandwidth ") + share_range(bandwidth),
        tr("算力 " if compute else "算力", "compute ") + share_range(compute),
    ]
    if gpus:
        gpu = tr(f"读到 {len(gpus)} 个 GPU", f"GPUs read: {len(gpus)}")
        said.append(gpu + tr("，此刻，按墙上时间", ", at this moment, of wall-clock time"))
    return listed(said)


def bottleneck(brought: Brought, limits: Thresholds) -> str:
    full = [(gpu.bandwidth, gpu.compute) for gpu in brought.gpus
            if gpu.bandwidth is not None and gpu.compute is not None]  # fmt: skip
    if not full:
        return tr("答不了：缺读数。", "Cannot be answered: a reading is missing.")
    working = [(b, c) for b, c in full if b is not None and c is not None and max(b, c) >= IDLE]
    idle = len(full) - len(working)
    said = ""
    if idle:
        said = tr(f"{idle} 个 GPU 闲着。", f"Idle: {idle} of the GPUs. ")
    found = {one_gpu(b or 0.0, c or 0.0, limits) for b, c in working}
    if not working:
        return tr("GPU 都闲着。", "No GPU has anything to do.")
    if len(found) > 1:
        return said + tr(
            "在用的几个各不相同：先看哪些 GPU 服务这个模型。",
            "Those at work differ: first find out which of them serve this model.",
        )
    (kind,) = found
    if kind == "low" and not brought.running:
        return said + tr(
            "此刻都低；没有看到在跑的请求，也可能只是没人用。",
            "Both low at this moment; no request is seen running, so perhaps nobody asks.",
        )
    return (
        said
        + {
            "compute": tr("此刻主要在算提示词。", "Mostly computing prompts at this moment."),
            "bandwidth": tr("此刻主要在解码。", "Mostly decoding at this moment."),
            "low": tr(
                "此刻双低，却有请求在跑：调度或启动的问题。",
                "Both low at this moment, with requests running: scheduling or launches.",
            ),
        }[kind]
    )


def one_gpu(bandwidth: float, compute: float, limits: Thresholds) -> str:
    if max(bandwidth, compute) < limits.busy:
        return "low"
    return "compute" if compute >= bandwidth else "bandwidth"


# -- parts of sentences ---------------------------------------------------------------------------


def listed(said: Sequence[str]) -> str:
    return tr("，", ", ").join(said) + tr("。", ".")


def share_range(values: Sequence[float]) -> str:
    """One share, or from the lowest to the highest."""
    if not values:
        return tr("没有", "missing")
    low, high = percent(min(values)), percent(max(values))
    return high if low == high else tr(f"{low} 到 {high}", f"{low} to {high}")
