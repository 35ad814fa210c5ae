"""What CPU and GPU have just done, in words: one sentence for each moment of a timeline."""

from collections.abc import Sequence

from ui.words.language import tr
from ui.words.numbers import microseconds, seconds


def launched(kernel: int, num_queued: int) -> str:
    """A single kernel was launched; `num_queued`: launched before it and not done yet."""
    if num_queued == 0:
        return tr(
            f"CPU 启动了 kernel {kernel}，GPU 正闲着，马上执行",
            f"The CPU has launched kernel {kernel}; the idle GPU starts it at once",
        )
    return tr(
        f"CPU 启动了 kernel {kernel}，排在 GPU 的队里，前面还有 {num_queued} 个",
        f"The CPU has launched kernel {kernel}; it queues on the GPU, {num_queued} before it",
    )


def executed(kernel: int, waits_seconds: float) -> str:
    """A kernel is done; how long the GPU now waits for the next launch."""
    if waits_seconds > 0:
        waits = microseconds(waits_seconds)
        return tr(
            f"GPU 执行完 kernel {kernel}，下一个还没启动，空等 {waits}",
            f"Kernel {kernel} is done; the next is not launched yet, the GPU waits for {waits}",
        )
    return tr(
        f"GPU 执行完 kernel {kernel}，下一个紧接着开始",
        f"Kernel {kernel} is done; the next one starts at once",
    )


def all_executed(kernel: int, total: int, took_seconds: float) -> str:
    took = microseconds(took_seconds)
    if kernel == total:
        return tr(f"整步的 {total} 个 kernel 用了 {took}", f"All {total} kernels took {took}")
    return tr(
        f"{total} 个 kernel 里的前 {kernel} 个用了 {took}",
        f"The first {kernel} of {total} kernels took {took}",
    )


def replayed(total: int) -> str:
    return tr(
        f"一次启动，整个图的 {total} 个 kernel 都交给了 GPU",
        f"One launch, and the GPU has the whole graph of {total} kernels",
    )


def prepared(step: int, busy_seconds: float) -> str:
    """A step was scheduled and prepared; `busy_seconds`: how long the GPU worked meanwhile."""
    if busy_seconds == 0:
        return tr(
            f"CPU 准备好了第 {step} 步，这段时间 GPU 闲着",
            f"The CPU has prepared step {step}; the GPU was idle meanwhile",
        )
    busy = seconds(busy_seconds)
    return tr(
        f"CPU 准备好了第 {step} 步，GPU 同时忙了 {busy}",
        f"The CPU has prepared step {step}; meanwhile the GPU worked for {busy}",
    )


def all_launched(step: int) -> str:
    return tr(f"第 {step} 步已全部启动", f"Step {step} is launched")


def step_done(step: int, since_seconds: float | None) -> str:
    """A step's token is there; `since_seconds`: since the token before it."""
    if since_seconds is None:
        return tr(f"第 {step} 步的 token 出来了", f"The token of step {step} is there")
    gap = seconds(since_seconds)
    return tr(
        f"第 {step} 步的 token 出来了，离上一个 {gap}",
        f"The token of step {step} is there, {gap} after the one before",
    )


def of_ways(names: Sequence[str], said: Sequence[str]) -> str:
    """What happened in one moment where launches are made in one way, or in several alike."""
    first, *others = names
    listed = tr("、".join(names), ", ".join([first, *map(_small, others)]))
    return tr(f"{listed}：{'；'.join(said)}。", f"{listed}: {'; '.join(map(_small, said))}.")


def _small(sentence: str) -> str:
    return sentence[0].lower() + sentence[1:]
