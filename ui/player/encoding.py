"""What may go into a player, and how it travels: compact, thinned where there is too much of it."""

import base64
import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from ui import theme
from ui.words.language import tr

MAX_BYTES = 200_000  # what one set of frames may weigh on its way to the browser
MAX_STEPS = 32_767


class FramesError(ValueError):
    """The frames contradict themselves; the message says where."""


@dataclass(frozen=True, kw_only=True)
class Frames(ABC):
    """Everything one player shows: here what is said at every step, in a subclass the picture."""

    notes: tuple[str, ...]  # one sentence per step in the current language, "" for nothing to say
    events: tuple[tuple[str, ...], ...]  # what happened, per step; the player can pause there
    alt: str  # the picture in words
    times: tuple[str, ...] = ()  # shown beside the step, per step

    painter: ClassVar[str]  # the module that draws it

    @property
    @abstractmethod
    def num_steps(self) -> int: ...

    @abstractmethod
    def meanings(self) -> tuple[str, ...]:
        """Keys of ui.theme; the picture refers to them by number."""

    @abstractmethod
    def check(self) -> None:
        """Raise FramesError if the picture contradicts itself."""

    @abstractmethod
    def picture(self) -> dict[str, Any]:
        """What is drawn, compact, the same in either language."""

    @abstractmethod
    def texts(self) -> dict[str, Any]:
        """The names in the picture, in the current language."""

    @abstractmethod
    def words(self) -> dict[str, str]:
        """What the painter itself says."""

    def take(self, steps: np.ndarray) -> Self:
        """The frames of these steps alone; a picture that grows with its steps takes less, too."""
        return replace(
            self,
            notes=pick(self.notes, steps),
            events=pick(self.events, steps),
            times=pick(self.times, steps),
        )


def check(frames: Frames) -> None:
    """Raise FramesError if lengths, states or the picture do not agree."""
    if frames.num_steps == 0:
        raise FramesError("a player needs a picture with at least one step")
    if frames.num_steps > MAX_STEPS:
        raise FramesError(
            f"{frames.num_steps} steps are more than the {MAX_STEPS} a player can hold"
        )
    unknown = [name for name in frames.meanings() if name not in theme.MEANINGS]
    if unknown:
        raise FramesError(f"states {unknown} are not in ui.theme")
    for name in ("notes", "events", "times"):
        check_length(name, getattr(frames, name), frames.num_steps, optional=name == "times")
    frames.check()


def check_length(
    name: str, values: Sequence[object], expected: int, optional: bool = False
) -> None:
    if len(values) != expected and not (optional and not values):
        raise FramesError(
            f"{name} has {len(values)} entries, expected one for each of {expected} steps"
        )


# -- how it travels ----------------------------------------------------------------------------


def encode(frames: Frames) -> dict[str, Any]:
    """The compact form for the browser, thinned to MAX_BYTES if need be."""
    numbers = np.arange(frames.num_steps)
    payload = _encode(frames)
    every = 1
    while weight(payload) > MAX_BYTES and len(numbers) > 2:
        every *= 2
        numbers = _thin(frames, every)
        payload = _encode(frames.take(numbers))
    payload["total"] = frames.num_steps
    payload["at"] = numbers.tolist() if len(numbers) < frames.num_steps else None
    return payload


def _encode(frames: Frames) -> dict[str, Any]:
    happened = [step for step, kinds in enumerate(frames.events) if kinds]
    picture = {
        "painter": frames.painter,
        "steps": frames.num_steps,
        "states": frames.meanings(),
        "events": happened,
        "picture": frames.picture(),
    }
    identity = hashlib.sha256(json.dumps(picture).encode()).hexdigest()
    return picture | {
        "id": identity[:16],  # the same in either language
        "texts": frames.texts(),
        "states": [_state(name) for name in frames.meanings()],
        "queue": _state("queue"),
        "notes": changes(frames.notes),
        "times": changes(frames.times or ("",) * frames.num_steps),
        "alt": frames.alt,
        "words": frames.words(),
    }


def packed(numbers: np.ndarray, kind: str) -> str:
    """Numbers of one numpy type ("<i2", "<u4" ...) in base64."""
    return base64.b64encode(numbers.astype(kind).tobytes()).decode()


def changes(values: Iterable[Any]) -> list[list[Any]]:
    """[[step, value], ...] where the value differs from the one before."""
    found: list[list[Any]] = []
    for step, value in enumerate(values):
        if not found or found[-1][1] != value:
            found.append([step, value])
    return found


def pick(values: Sequence[Any], steps: np.ndarray) -> tuple[Any, ...]:
    """The values of these steps; a shorter sequence has fewer of them."""
    return tuple(values[step] for step in steps if step < len(values))


def _state(name: str) -> dict[str, str]:
    meaning = theme.MEANINGS[name]
    return {
        "name": name,
        "label": tr(meaning.zh, meaning.en),
        "colour": meaning.colour,
        "pattern": meaning.pattern,
    }


def weight(payload: dict[str, Any]) -> int:
    """Bytes on the way to the browser."""
    return len(json.dumps(payload))


def _thin(frames: Frames, every: int) -> np.ndarray:
    """Every n-th step, the last one, and those with events while these are the smaller part."""
    steps = np.arange(0, frames.num_steps, every)
    happened = np.flatnonzero([bool(kinds) for kinds in frames.events])
    if len(happened) <= len(steps):
        steps = np.append(steps, happened)
    return np.unique(np.append(steps, frames.num_steps - 1))
