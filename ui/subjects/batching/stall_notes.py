"""Prefill beside decodes, in words: who shares a step, and what that changes for whom."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from operator import itemgetter

from sim import events
from sim.engine import Step, StepWork
from ui.words.language import tr
from ui.words.notes import names
from ui.words.numbers import plain, seconds


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


def where_all_agree(loads: Sequence[float], signs: Sequence[int]) -> str:
    """At which loads all series come later (1) or sooner (-1), as the predicate of a sentence."""
    parts = []
    for sign, stretch in groupby(zip(signs, loads, strict=True), key=itemgetter(0)):
        places = [plain(load) for _, load in stretch]
        first, last = places[0], places[-1]
        if sign == 0:
            continue
        zh, en = (first, first) if first == last else (f"{first} 到 {last}", f"{first} to {last}")
        parts.append(
            tr(
                f"在每秒 {zh} 个请求时{'更晚' if sign > 0 else '更早'}",
                f"{'later' if sign > 0 else 'sooner'} at {en} requests per second",
            )
        )
    return tr("，", ", ").join(parts) or tr("在哪个负载下都不一致", "not the same way at any load")


def later_or_sooner(difference: float) -> str:
    """A difference of moments, in seconds: -0.0806 -> "80.6 ms sooner"."""
    much = seconds(abs(difference))
    if difference < 0:
        return tr(f"早 {much}", f"{much} sooner")
    return tr(f"晚 {much}", f"{much} later")
