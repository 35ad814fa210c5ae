"""Prefill beside decodes, in words: who shares a step, and what that changes for whom."""

from collections.abc import Mapping, Sequence

from sim import events
from sim.engine import Step, StepWork
from ui.words.language import tr
from ui.words.notes import names
from ui.words.numbers import seconds


def shares(step: Step, alone_seconds: float, prompt_tokens: Mapping[int, int]) -> str:
    """Who computes how much of a step, and how long it takes for whom; short enough for one line.

    `alone_seconds`: how long it would have taken without its prefills; `prompt_tokens`: by request.
    """
    first = [event.request_id for event in step.events if isinstance(event, events.FirstToken)]
    done = [event.request_id for event in step.events if isinstance(event, events.Finished)]
    pieces = [_piece(work, prompt_tokens) for work in step.work if work.is_prefill]
    decoding = [work.request_id for work in step.work if not work.is_prefill]
    parts = []
    if pieces:
        listed = tr("、", ", ").join(pieces)
        parts.append(tr(f"预填充：{listed}", f"Prefill: {listed}"))
    if first:
        parts.append(tr(f"首个 token：{names(first)}", f"First token: {names(first)}"))
    if decoding:
        parts.append(tr(f"解码：{names(decoding)}", f"Decode: {names(decoding)}"))
    if done:
        parts.append(tr(f"写完：{names(done)}", f"Done: {names(done)}"))
    lasts, alone = seconds(step.seconds), seconds(alone_seconds)
    if 0 < alone_seconds < step.seconds:
        lasts = tr(f"{lasts}，本来 {alone}", f"{lasts} instead of {alone}")
    return tr("；".join([*parts, lasts]) + "。", ". ".join([*parts, lasts]) + ".")


def _piece(work: StepWork, prompt_tokens: Mapping[int, int]) -> str:
    """A piece of a prompt, and how far that has come: "D 509 (1,018 of 8,192)"."""
    who, total = names([work.request_id]), prompt_tokens[work.request_id]
    if work.context == total:  # its first token says so
        return f"{who} {work.num_tokens:,}"
    so_far = tr(f"（{work.context:,} / {total:,}）", f" ({work.context:,} of {total:,})")
    return f"{who} {work.num_tokens:,}{so_far}"


def where_it_turns(loads: Sequence[float]) -> str:
    """Where a difference changes sign along the load, as the predicate of a sentence."""
    if not loads:
        return tr("始终没有变号", "never changes sign")
    places = tr("、", ", ").join(f"{load:.1f}" for load in loads)
    return tr(f"在每秒 {places} 个请求处变号", f"changes sign at {places} requests per second")


def later_or_sooner(difference: float) -> str:
    """A difference of moments, in seconds: -0.0806 -> "80.6 ms sooner"."""
    much = seconds(abs(difference))
    if difference < 0:
        return tr(f"早 {much}", f"{much} sooner")
    return tr(f"晚 {much}", f"{much} later")
