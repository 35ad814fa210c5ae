"""The same pipeline with many requests: who is at which station in each step, and the KV pool."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from ui import theme
from ui.player import Frames, FramesError, pick
from ui.player.painters.pipeline import (
    DECODE,
    DETOKENIZE,
    PREFILL,
    QUEUE,
    SAMPLE,
    SCREEN,
    STATIONS,
    station_names,
)
from ui.words.language import tr

ROWS = (QUEUE, PREFILL, DECODE, SCREEN)  # stations whose requests are named
LIVELY = (PREFILL, DECODE, SAMPLE, DETOKENIZE)  # at work in a step that has requests


@dataclass(frozen=True)
class Scene:
    """One step.  `places`: for each of ROWS its requests, as (letter, rows they have in the pass).

    `num_sampled`: tokens that come out of the pass; `used_blocks`: of the KV pool.
    """

    places: tuple[tuple[tuple[str, int], ...], ...]
    num_sampled: int
    used_blocks: int


@dataclass(frozen=True, kw_only=True)
class Crowd(Frames):
    """Many requests on their way."""

    scenes: tuple[Scene, ...]
    num_blocks: int

    painter: ClassVar[str] = "crowd"

    @property
    def num_steps(self) -> int:
        return len(self.scenes)

    def meanings(self) -> tuple[str, ...]:
        return tuple(name for name in theme.MEANINGS if name in (*STATIONS, "stored"))

    def check(self) -> None:
        for scene in self.scenes:
            if len(scene.places) != len(ROWS):
                raise FramesError(f"{scene} has not {len(ROWS)} places")
            if not 0 <= scene.used_blocks <= self.num_blocks:
                raise FramesError(f"{scene} uses more than {self.num_blocks} blocks")

    def picture(self) -> dict[str, Any]:
        meanings = self.meanings()
        return {
            "kinds": [meanings.index(name) for name in STATIONS],
            "stored": meanings.index("stored"),
            "rows": ROWS,
            "lively": LIVELY,
            "blocks": self.num_blocks,
            "scenes": [
                [scene.places, scene.num_sampled, scene.used_blocks] for scene in self.scenes
            ],
        }

    def texts(self) -> dict[str, Any]:
        return {
            "stations": station_names(),
            "rows": [
                tr("在队列里", "in the queue"),
                tr("预填充", "prefill"),
                tr("解码", "decode"),
                tr("写完了", "done"),
            ],
        }

    def words(self) -> dict[str, str]:
        return {
            "loop": tr("每个 token 一圈", "once per token"),
            "pool": tr("KV 块", "KV blocks"),
            "of": tr("{n} / {total}", "{n} of {total}"),
        }

    def take(self, steps: np.ndarray) -> Self:
        return replace(super().take(steps), scenes=pick(self.scenes, steps))
