"""CPU and GPU on one time axis: kernel by kernel, or step by step."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sim.cost import launches
from sim.cost.launches import CPU, GPU, LaunchWork, Way
from ui.player.painters.timeline import LaneSpan, Timeline
from ui.subjects.launches import launch_notes
from ui.words.language import tr

LANES = (CPU, GPU)
TOLD_APART = 400  # moments on the axis


def name_of(way: Way) -> str:
    if way.ahead:
        return tr("提前调度", "Ahead")
    return tr("整图回放", "Replayed") if way.graph else tr("逐个启动", "One by one")


@dataclass(frozen=True)
class Lanes:
    """CPU and GPU where launches are made one way: their spans, and what is said when."""

    way: Way
    spans: Sequence[LaneSpan]
    said: Mapping[float, list[str]]
    stops: frozenset[float]  # moments at which the player can pause


def first_kernels(
    work: LaunchWork, ways: Sequence[Way], shown: int, alt: str, guess: object = None
) -> Timeline:
    """The first kernels of a step; a frame for each end of a launch or of a kernel.

    `guess`: for what percentage of the step the GPU works, in somebody's eyes, the first way; it
    is marked where the GPU would then be done.
    """
    parts = []
    for way in ways:
        found = launches.spans(work.first(shown), way)
        said: dict[float, list[str]] = {}
        for span in found:
            said.setdefault(span.end_seconds, []).append(_kernel_note(found, span, work))
        drawn = [*map(_kernel_span, found), *_idle(found)]
        parts.append(Lanes(way, drawn, said, frozenset({max(said)})))
    return replace(_above_each_other(parts, alt), marks=_guessed_end(parts[0], guess))


def _guessed_end(part: Lanes, guess: object) -> tuple[tuple[float, str], ...]:
    if not isinstance(guess, int | float) or guess <= 0:
        return ()
    working = sum(span.end - span.start for span in part.spans if span.kind == "kernel")
    words = tr(f"你猜忙 {guess:g}%：会在这里做完", f"your guess, {guess:g}% busy: done here")
    return ((working / guess * 100, words),)


def whole_steps(
    work: LaunchWork, ways: Sequence[Way], per_layer: int, num: int, alt: str
) -> Timeline:
    """A few steps; of one launched kernel by kernel, each layer is one piece."""
    parts = []
    for way in ways:
        found = launches.merged(
            launches.spans(work, way, num), work.num_kernels if way.graph else per_layer
        )
        drawn = [*map(_step_span, found), *_idle(found)]
        said, tokens = _said_of_steps(found, num)
        parts.append(Lanes(way, drawn, said, frozenset(tokens)))
    return _above_each_other(parts, alt)


def _above_each_other(parts: Sequence[Lanes], alt: str) -> Timeline:
    """All ways on one axis: two lanes each, a frame for each moment at which one of them moves."""
    moments = _moments(sorted({moment for part in parts for moment in part.said}))
    return Timeline(
        lanes=tuple(lane for part in parts for lane in (f"{name_of(part.way)} · CPU", "GPU")),
        spans=tuple(
            replace(span, lane=2 * number + span.lane)
            for number, part in enumerate(parts)
            for span in part.spans
        ),
        at=tuple(together[-1] for together in moments),
        notes=tuple(_note(parts, together) for together in moments),
        events=tuple(
            ("finished",) if any(part.stops & set(together) for part in parts) else ()
            for together in moments
        ),
        alt=alt,
    )


def _moments(found: Sequence[float]) -> list[list[float]]:
    """Moments that nobody could tell apart on the axis, together."""
    groups = [[found[0]]]
    for moment in found[1:]:
        if moment - groups[-1][0] < found[-1] / TOLD_APART:
            groups[-1].append(moment)
        else:
            groups.append([moment])
    return groups


def _note(parts: Sequence[Lanes], together: Sequence[float]) -> str:
    """A line for each way, or one for ways of which the same can be said."""
    lines: dict[tuple[str, ...], list[str]] = {}  # what is said -> of which ways
    for part in parts:
        said = tuple(words for moment in together for words in part.said.get(moment, ()))
        if said:
            lines.setdefault(said, []).append(name_of(part.way))
    return "\n".join(launch_notes.of_ways(names, said) for said, names in lines.items())


def _idle(found: Sequence[launches.Activity]) -> list[LaneSpan]:
    """Where the GPU has nothing to do before its last kernel."""
    busy = [span for span in found if span.place == GPU]
    ends = [0.0, *(span.end_seconds for span in busy)]
    return [
        LaneSpan(LANES.index(GPU), end, span.start_seconds, "idle")
        for end, span in zip(ends, busy, strict=False)
        if span.start_seconds > end
    ]


def _drawn(span: launches.Activity, label: str) -> LaneSpan:
    return LaneSpan(LANES.index(span.place), span.start_seconds, span.end_seconds, span.kind, label)


def _kernel_span(span: launches.Activity) -> LaneSpan:
    return _drawn(span, str(span.kernel) if span.kernel else tr("图", "graph"))


def _step_span(span: launches.Activity) -> LaneSpan:
    return _drawn(span, "" if span.kind == "launch" else str(span.step + 1))


def _kernel_note(
    found: Sequence[launches.Activity], span: launches.Activity, work: LaunchWork
) -> str:
    """What the end of a launch or of a kernel means."""
    kernels = [one for one in found if one.place == GPU]
    end = span.end_seconds
    if span.kind == "launch" and not span.kernel:
        return launch_notes.replayed(work.num_kernels)
    if span.kind == "launch":
        queued = sum(one.end_seconds > end for one in kernels[: span.kernel - 1])
        return launch_notes.launched(span.kernel, queued)
    if span.kernel == len(kernels):
        return launch_notes.all_executed(span.kernel, work.num_kernels, end)
    return launch_notes.executed(span.kernel, kernels[span.kernel].start_seconds - end)


def _said_of_steps(
    found: Sequence[launches.Activity], num_steps: int
) -> tuple[dict[float, list[str]], list[float]]:
    """What to say when, and the moments at which a token comes out."""
    said: dict[float, list[str]] = {}
    tokens: list[float] = []
    for step in range(num_steps):
        own = [span for span in found if span.step == step]
        (ahead,) = [span for span in own if span.kind == "prepare"]
        *_, last = [span for span in own if span.kind == "launch"]
        done = max(span.end_seconds for span in own)
        since = done - tokens[-1] if tokens else None
        prepared = launch_notes.prepared(step + 1, _busy_during(found, ahead))
        is_graph = last.kernel == 0  # a single launch, just after
        said.setdefault(last.end_seconds if is_graph else ahead.end_seconds, []).append(prepared)
        if not is_graph:
            said.setdefault(last.end_seconds, []).append(launch_notes.all_launched(step + 1))
        said.setdefault(done, []).append(launch_notes.step_done(step + 1, since))
        tokens.append(done)
    return said, tokens


def _busy_during(found: Sequence[launches.Activity], span: launches.Activity) -> float:
    """How long the GPU works while `span` lasts."""
    return sum(
        max(
            0.0, min(one.end_seconds, span.end_seconds) - max(one.start_seconds, span.start_seconds)
        )
        for one in found
        if one.place == GPU
    )
