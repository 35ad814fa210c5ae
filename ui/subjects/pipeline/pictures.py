"""One text through the pipeline, in pictures: alone, and one of many.

They read what `sim.model.pipeline` and `sim.model.sampling` give; nothing here decides anything.
The model runs once for a text and its settings, with this machine's clock, and is kept.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from time import perf_counter

import numpy as np

from sim import specs
from sim.cost import Roofline, phases
from sim.engine import Setup, Step
from sim.kv import sizes
from sim.model import pipeline, sampling
from sim.model.pipeline import Passage, Turn
from sim.model.sampling import GREEDY, Sampling
from ui import tiny_model
from ui.player.painters.crowd import Crowd, Scene
from ui.player.painters.pipeline import (
    DECODE,
    DETOKENIZE,
    PREFILL,
    QUEUE,
    SAMPLE,
    TEXT,
    TOKENIZE,
    Pipeline,
    PipelineBar,
    PipelineMoment,
)
from ui.results import runs
from ui.subjects.pipeline import pipeline_notes
from ui.theme import request_letter
from ui.words.language import tr
from ui.words.numbers import percent, significant

KEPT = 64  # passages in memory, shared by all readers
MIN_TOKENS = 4  # of an answer, before the model may end it
BARS = 5  # tokens that the player shows
REAL = Roofline(specs.MODELS["Llama-3.1-8B"], specs.GPUS["H100 SXM"])
TEMPLATE_TOKENS = 10  # of Llama 3's chat template: begin, two headers of four, the end of the turn
RUNS = 3  # whoever else uses this machine shows less in the fastest


@lru_cache(maxsize=KEPT)
def passage(text: str, num_tokens: int, how: Sampling = GREEDY, seed: int = 0) -> Passage:
    """The text's way, with the times of this machine: those of the fastest of a few runs."""
    ways = [_through(text, num_tokens, how, seed) for _ in range(RUNS)]
    return min(ways, key=_seconds)


def _seconds(way: Passage) -> float:
    return way.tokenize_seconds + sum(turn.times.total for turn in way.turns)


def _through(text: str, num_tokens: int, how: Sampling, seed: int) -> Passage:
    return pipeline.passage(
        tiny_model.encoder(),
        tiny_model.target(),
        text,
        num_tokens,
        how,
        perf_counter,
        seed,
        max_prompt_tokens=tiny_model.MAX_TOKENS + 1,
        min_tokens=MIN_TOKENS,
    )


@dataclass(frozen=True)
class AtRealScale:
    """The same text, in a chat template, asked of a real model for `num_tokens`."""

    way: Passage
    num_tokens: int

    @property
    def prompt_tokens(self) -> int:
        return len(self.way.prompt) - 1 + TEMPLATE_TOKENS  # the template has a beginning of its own

    @property
    def kv_bytes(self) -> float:
        """At the end; the last token written has none."""
        return sizes.request_bytes(REAL.model, self.prompt_tokens + self.num_tokens - 1)

    @property
    def decode_seconds(self) -> float:
        """One step, with everything before it to be read."""
        return REAL.step_time(phases.decode(1, self.prompt_tokens + self.num_tokens)).seconds


def time(seconds: float) -> str:
    """Of a station: 0.0000421 -> "42 µs", 0.00312 -> "3.1 ms"."""
    for unit, size in (("µs", 1e6), ("ms", 1e3)):
        if seconds * size < 999.5:
            return f"{significant(seconds * size, 2)} {unit}"
    return f"{significant(seconds, 2)} s"


# -- the player -------------------------------------------------------------------------------


@dataclass
class _Film:
    """Frames as they come."""

    moments: list[PipelineMoment] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    times: list[str] = field(default_factory=list)
    events: list[tuple[str, ...]] = field(default_factory=list)

    def add(
        self, moment: PipelineMoment, note: str, seconds: float | None = None, event: str = ""
    ) -> None:
        self.moments.append(moment)
        self.notes.append(note)
        self.times.append("" if seconds is None else time(seconds))
        self.events.append((event,) if event else ())


def frames(text: str, way: Passage, alt: str) -> Pipeline:
    """The way of one text: a frame for each layer of the prefill, and for each later station."""
    film = _Film()
    num_layers = len(way.turns[0].attention)
    size = len(way.prompt)
    empty = (0,) * num_layers
    film.add(PipelineMoment(TEXT, 0, empty), pipeline_notes.arrived(text))
    tokenized = pipeline_notes.tokenized(size - 1)
    film.add(PipelineMoment(TOKENIZE, size, empty), tokenized, way.tokenize_seconds, "tokenized")
    first = way.turns[0]
    scheduled = pipeline_notes.scheduled(first)
    film.add(PipelineMoment(QUEUE, size, empty), scheduled, first.times.schedule, "admitted")
    for layer in range(1, num_layers + 1):
        kv = (size,) * layer + (0,) * (num_layers - layer)
        is_last = layer == num_layers
        film.add(
            PipelineMoment(PREFILL, size, kv),
            pipeline_notes.prefilled(layer, num_layers, size),
            first.times.forward if is_last else None,
            "prefilled" if is_last else "",
        )
    screen = ""
    for number, turn in enumerate(way.turns, start=1):
        screen = _turn(film, way, turn, number, screen)
    tokens = (*way.prompt, *way.answer)
    return Pipeline(
        text=text,
        pieces=tuple(tiny_model.pieces(tokens)),
        token_ids=tokens,
        prompt_tokens=size,
        distributions=tuple(tuple(_bars(turn)) for turn in way.turns),
        moments=tuple(film.moments),
        notes=tuple(film.notes),
        events=tuple(film.events),
        times=tuple(film.times),
        alt=alt,
    )


def _turn(film: _Film, way: Passage, turn: Turn, number: int, screen: str) -> str:
    """The frames of one turn of the loop; returns what is on the screen after it."""
    before = film.moments[-1]
    held = (turn.step.work[0].context,) * len(before.kv)
    num_tokens = len(way.prompt) + number
    waiting = before.waiting
    if number > 1:
        decode = PipelineMoment(DECODE, num_tokens - 1, held, -1, waiting, screen)
        film.add(decode, pipeline_notes.decoded(turn), turn.times.forward)
    bars = number - 1
    piece, chance = tiny_model.piece(turn.token), _chance(turn)
    film.add(
        PipelineMoment(SAMPLE, num_tokens, held, bars, waiting, screen),
        pipeline_notes.sampled(number, piece, chance),
        turn.times.sample,
        "first_token" if number == 1 else "",
    )
    is_last = number == len(way.turns)
    screen += turn.text + (way.rest if is_last else "")
    waiting = tuple(turn.waiting.hex(" ").upper().split())
    film.add(
        PipelineMoment(DETOKENIZE, num_tokens, held, bars, waiting, screen),
        pipeline_notes.shown(turn, is_last),
        turn.times.detokenize,
        "finished" if is_last else "waits" if waiting else "",
    )
    return screen


def _bars(turn: Turn) -> Iterator[PipelineBar]:
    """The most probable tokens; the chosen one is among them."""
    chances = sampling.probabilities(turn.logits, Sampling())
    order = np.argsort(-chances, kind="stable")[:BARS].tolist()
    if turn.token not in order:
        order[-1] = turn.token
    for token in order:
        chance = float(chances[token])
        yield PipelineBar(tiny_model.piece(token), chance, percent(chance), token == turn.token)


def _chance(turn: Turn) -> float:
    return float(sampling.probabilities(turn.logits, Sampling())[turn.token])


# -- many requests ----------------------------------------------------------------------------


def crowd(setup: Setup, alt: str) -> Crowd:
    """All requests in the queue, then a frame for each step and one when all are done."""
    steps = runs.steps(setup)
    everybody = [request.id for request in setup.requests]
    pool = steps[0].num_usable_blocks
    done: list[int] = []
    scenes = [Scene((_crowded(everybody), (), (), ()), 0, 0)]
    for step in steps:
        scenes.append(_scene(step, done))
        done += step.finished
    scenes.append(Scene(((), (), (), _crowded(done)), 0, 0))
    finished = tr("都写完了。", "All are done.")
    return Crowd(
        scenes=tuple(scenes),
        num_blocks=pool,
        notes=(
            pipeline_notes.waiting(len(everybody)),
            *(pipeline_notes.shared(step) for step in steps),
            finished,
        ),
        events=(
            (),
            *(("finished",) if step.finished else () for step in steps),
            (),
        ),
        alt=alt,
    )


def _scene(step: Step, done: Sequence[int]) -> Scene:
    prefill, decode = (
        tuple(
            (request_letter(work.request_id), work.num_tokens)
            for work in step.work
            if work.is_prefill == is_prefill
        )
        for is_prefill in (True, False)
    )
    return Scene(
        (_crowded(step.waiting), prefill, decode, _crowded(done)),
        sum(work.sampled for work in step.work),
        step.num_usable_blocks - step.num_free_blocks,
    )


def _crowded(request_ids: Sequence[int]) -> tuple[tuple[str, int], ...]:
    return tuple((request_letter(who), 0) for who in request_ids)
