"""From a simulated run to the frames of the player: pictures and sentences, no scheduling."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from sim.engine import Setup, Step, StepWork
from sim.views import lives, slots, stalls
from sim.views.slots import SlotGrid
from ui import theme
from ui.player.painters.slots import Grid, Slots
from ui.player.painters.timeline import LaneSpan, Timeline
from ui.results import runs
from ui.subjects.batching import stall_notes
from ui.theme import request_letter
from ui.words import notes
from ui.words.language import tr
from ui.words.numbers import percent, seconds

UNSEEN = {"block_full", "pool_full"}  # no blocks in these pictures: nothing to stop at


def slot_frames(
    grids: Sequence[tuple[str, SlotGrid]], num_requests: int, alt: str, guess: object = None
) -> Slots:
    """Slot grids above each other on one time axis; the note of a step says what each one did.

    `guess`: the utilization in percent that somebody expects; it stands beside what there is.
    """
    num_ticks = max(len(grid.steps) for _, grid in grids)
    tick_seconds = grids[0][1].tick_seconds
    return Slots(
        grids=tuple(_player_grid(title, grid, guess) for title, grid in grids),
        notes=tuple(_note(grids, tick) for tick in range(num_ticks)),
        events=tuple(_kinds(grids, tick) for tick in range(num_ticks)),
        states=slots.STATES,
        requests=tuple(request_letter(who) for who in range(num_requests)),
        alt=alt,
        times=tuple(f"{(tick + 1) * tick_seconds:.2f} s" for tick in range(num_ticks)),
    )


def _player_grid(title: str, grid: SlotGrid, guess: object) -> Grid:
    is_number = isinstance(guess, int | float)
    mine = tr(f" · 你猜 {guess:g}%", f" · your guess {guess:g}%") if is_number else ""
    return Grid(
        title=title,
        slots=tuple(tr(f"槽 {slot + 1}", f"slot {slot + 1}") for slot in range(grid.num_slots)),
        cells=grid.cells,
        owners=grid.owners.astype(np.int16),
        waiting=tuple(step.waiting if step else () for step in grid.steps),
        counters=tuple(
            tr(f"利用率 {percent(share)}", f"utilization {percent(share)}") + mine
            for share in grid.utilization
        ),
    )


# -- timelines --------------------------------------------------------------------------------


def request_timeline(setup: Setup, alt: str, title: str = "") -> Timeline:
    """A lane for each request, from its arrival to its last token; a frame for each engine step."""
    records, steps = runs.run(setup).records, runs.steps(setup)
    return Timeline(
        title=title,
        lanes=tuple(request_letter(record.request.id) for record in records),
        spans=tuple(
            LaneSpan(lane, span.start_seconds, span.end_seconds, span.kind, _word(span.kind))
            for lane, record in enumerate(records)
            for span in lives.spans(record)
        ),
        at=tuple(step.end_seconds for step in steps),
        notes=tuple(notes.step_note(step) for step in steps),
        events=tuple(_kinds_of([step]) for step in steps),
        alt=alt,
    )


def step_timeline(setups: Mapping[str, Setup], alt: str, title: str = "") -> Timeline:
    """A lane for each setup, a span for each engine step: what it carries, in tokens.

    A frame for each moment at which a step of one of them ends.
    """
    names = tuple(setups)
    lanes = [runs.steps(setup) for setup in setups.values()]
    ended: dict[float, dict[str, Step]] = {}  # moment -> the steps that end there, by lane
    for name, steps in zip(names, lanes, strict=True):
        for step in steps:
            ended.setdefault(step.end_seconds, {})[name] = step
    at = tuple(sorted(ended))
    return Timeline(
        title=title,
        lanes=names,
        spans=tuple(_step_span(lane, step) for lane, steps in enumerate(lanes) for step in steps),
        at=at,
        notes=tuple(_notes_of(ended[moment], is_alone=len(names) == 1) for moment in at),
        events=tuple(_kinds_of(ended[moment].values()) for moment in at),
        alt=alt,
    )


def shared_steps(setup: Setup, alt: str, title: str = "") -> Timeline:
    """A lane for each request, cut into the steps it takes part in; below them a lane of steps.

    Who decodes beside a prefill is drawn as waiting from the moment at which its token would have
    been there without it.
    """
    records, steps = runs.run(setup).records, runs.steps(setup)
    lanes = {record.request.id: lane for lane, record in enumerate(records)}
    alone = [stalls.seconds_alone(step, setup.clock) for step in steps]
    prompts = {request.id: request.prompt_tokens for request in setup.requests}
    queued = (span for record in records for span in lives.spans(record) if span.kind == "queue")
    spans = [
        LaneSpan(lanes[span.request_id], span.start_seconds, span.end_seconds, "queue")
        for span in queued
    ]
    for step, own in zip(steps, alone, strict=True):
        spans += [span for work in step.work for span in _shares(lanes, step, work, own)]
        spans.append(replace(_step_span(len(lanes), step), label=_sum_of(step)))
    return Timeline(
        title=title,
        lanes=(*(request_letter(who) for who in lanes), tr("步", "step")),
        spans=tuple(spans),
        at=tuple(step.end_seconds for step in steps),
        notes=tuple(
            stall_notes.shares(step, own, prompts) for step, own in zip(steps, alone, strict=True)
        ),
        events=tuple(_kinds_of([step]) for step in steps),
        alt=alt,
    )


def _shares(
    lanes: Mapping[int, int], step: Step, work: StepWork, alone_seconds: float
) -> Iterator[LaneSpan]:
    """A request's part of a step: its prefill, or its decode and the wait for that of others."""
    lane, start, end = lanes[work.request_id], step.start_seconds, step.end_seconds
    if work.is_prefill:
        yield LaneSpan(lane, start, end, "prefill", f"{work.num_tokens:,} {tr('token', 'tokens')}")
        return
    ready = start + alone_seconds if alone_seconds < step.seconds else end
    yield LaneSpan(lane, start, ready, "decode")
    if ready < end:
        yield LaneSpan(lane, ready, end, "stalled", seconds(end - ready))


def _sum_of(step: Step) -> str:
    """Decode and prefill tokens: "512 = 4 + 508", or the number alone."""
    decode = sum(work.num_tokens for work in step.work if not work.is_prefill)
    prefill = step.num_tokens - decode
    whole = f"{step.num_tokens:,}"
    return f"{whole} = {decode:,} + {prefill:,}" if decode and prefill else whole


def _word(kind: str) -> str:
    meaning = theme.MEANINGS[kind]
    return tr(meaning.zh, meaning.en)


def _step_span(lane: int, step: Step) -> LaneSpan:
    """Prefill and decode tokens: "512 + 8", or the one of the two that there is."""
    prefill = sum(work.num_tokens for work in step.work if work.is_prefill)
    decode = step.num_tokens - prefill
    kind = "mixed" if prefill and decode else "prefill" if prefill else "decode"
    label = " + ".join(f"{tokens:,}" for tokens in (prefill, decode) if tokens)
    return LaneSpan(lane, step.start_seconds, step.end_seconds, kind, label)


# -- inside -----------------------------------------------------------------------------------


def _notes_of(steps: Mapping[str, Step], is_alone: bool) -> str:
    said = [(name, notes.step_note(step)) for name, step in steps.items()]
    return said[0][1] if is_alone else _by_name(said)


def _by_name(said: Sequence[tuple[str, str]]) -> str:
    return "\n".join(tr(f"{name}：{note}", f"{name}: {note}") for name, note in said)


def _note(grids: Sequence[tuple[str, SlotGrid]], tick: int) -> str:
    said = [(title, _grid_note(grid, tick)) for title, grid in grids]
    return said[0][1] if len(said) == 1 else _by_name(said)


def _grid_note(grid: SlotGrid, tick: int) -> str:
    if tick >= len(grid.steps):
        return tr("已全部完成。", "Everything is done.")
    column, owners = grid.cells[:, tick], grid.owners[:, tick]
    return notes.step_note(
        grid.steps[tick],
        held=owners[column == slots.HELD].tolist(),
        stalled=owners[column == slots.STALLED].tolist(),
    )


def _kinds(grids: Sequence[tuple[str, SlotGrid]], tick: int) -> tuple[str, ...]:
    return _kinds_of([grid.steps[tick] for _, grid in grids if tick < len(grid.steps)])


def _kinds_of(steps: Iterable[Step | None]) -> tuple[str, ...]:
    """Kinds of events in all these steps, each once, without what the pictures cannot show."""
    happened = dict.fromkeys(kind for step in steps for kind in notes.kinds(step))
    return tuple(kind for kind in happened if kind not in UNSEEN)
