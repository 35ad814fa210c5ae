"""An act of a page played without a browser and without drawing, its controls set as we like.

The page's own code runs: what it simulates, says and shows is written down.  So a test holds a
sentence against the very setups behind it, at every place of a control, thousands of times faster
than a page is drawn.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any, cast
from unittest import mock

from sim import scheduler, workload
from sim.cost import SimpleClock
from sim.engine import Run, Setup
from sim.kv import Paged
from sim.metrics import Summary
from sim.views import slots
from tests.chapters import ROOT
from ui import lesson, player, tiny_model
from ui.controls import server_knobs
from ui.course import chapters, prose
from ui.lesson import proof, quoting
from ui.practice import predict
from ui.results import curves, run_pictures, runs, serve_command
from ui.subjects.batching import frames, pictures
from ui.words import language


@dataclass
class Played:
    """What an act did."""

    setups: list[Setup] = field(default_factory=list)  # in the order in which they were asked for
    said: dict[str, dict[str, Any]] = field(default_factory=dict)  # section -> blanks
    frames: list[player.Frames] = field(default_factory=list)
    cards: list[lesson.Card] = field(default_factory=list)
    guesses: dict[str, predict.Kind] = field(default_factory=dict)
    presets: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    controls: dict[str, list[Any]] = field(default_factory=dict)  # every place each may stand at
    taken: serve_command.Command | None = None
    text: dict[str, str] = field(default_factory=dict)  # section -> its words, filled

    @property
    def setup(self) -> Setup:
        """The only one."""
        (setup,) = self.setups
        return setup

    @property
    def summaries(self) -> list[Summary]:
        return [runs.summary(setup) for setup in self.setups]

    @property
    def summary(self) -> Summary:
        return runs.summary(self.setup)

    @property
    def run(self) -> Run:
        return runs.run(self.setup)


def set_alike(presets: Mapping[str, Mapping[str, Any]]) -> bool:
    """Whether every link of an act sets all that any of them sets: so that none shows something
    else than it says, whichever was clicked before."""
    return len({frozenset(values) for values in presets.values()}) == 1


class Rehearsal(quoting.Unseen):
    """A lesson without drawing, its controls where a test wants them; what is done is noted."""

    def __init__(self, text: prose.Prose):
        super().__init__(text)
        self.values: dict[str, Any] = {}
        self.played = Played()

    # -- controls

    def slide(
        self, key: str, label: str, low: float, high: float, start: float, **more: Any
    ) -> Any:
        step = more.get("step") or 1
        places = [low + index * step for index in range(round((high - low) / step) + 1)]
        return self._stand(key, places, start)

    def pick(self, key: str, label: str, values: Sequence[float], start: float, **more: Any) -> Any:
        return self._stand(key, list(values), start)

    def choose(
        self,
        key: str,
        label: str,
        options: Mapping[str, str] | Sequence[object],
        start: str,
        **more: Any,
    ) -> str:
        return self._stand(key, list(map(str, options)), start)

    def number(self, key: str, label: str, low: int, high: int, start: int, **more: Any) -> Any:
        return self._stand(key, list(range(low, high + 1)), start)

    def toggle(self, key: str, label: str, start: bool = False, **more: Any) -> bool:
        return self._stand(key, [False, True], start)

    def kept_as_a(self, choose: Callable[[], Any]) -> Any:
        """A by its settings, as values: `play("explore", a={"seqs": 8})`."""
        kept = self.values.pop("a", None)
        if kept is None:
            return None
        at_rest, self.values = self.values, dict(kept)
        chosen = choose()
        assert self.values == {}, f"no such control: {self.values}"
        self.values = at_rest
        return chosen

    def write(
        self,
        label: str,
        start: str = tiny_model.SAMPLE,
        is_prompt: bool = True,
        most: int = 0,
        **more: Any,
    ) -> str:
        return cast(str, self.values.pop("text", start))

    def press(self, key: str, label: str, words: str, compute: Callable[..., Any]) -> Any:
        """What the button gave, as a value: `play("measured", measure=results)`."""
        return self.values.pop(key, None)

    def upload(self, key: str, label: str, types: Sequence[str]) -> bytes | None:
        return self.values.pop(key, None)

    def paste(self, key: str, label: str, advanced: bool = False) -> str:
        return cast(str, self.values.pop(key, ""))

    def _stand(self, key: str, places: list[Any], start: Any) -> Any:
        assert start in places, f"{key} starts at {start!r}, which is no place of it"
        self.played.controls[key] = places
        value = self.values.pop(key, start)
        assert value in places, f"{key} cannot stand at {value!r}"
        return value

    # -- words and pictures

    def words(self, section: str, **numbers: object) -> str:
        self.played.said[section] = numbers
        self.played.text[section] = self.text.filled(section, **numbers)
        return self.played.text[section]

    def problem(self, message: str, section: str = "") -> None:
        if message:
            self.played.said[section] = {"message": message}

    def leads(self, ways: Mapping[str, str]) -> None:
        assert set(ways.values()) <= set(chapters.NAMES)

    def prove(self, claim: str, text: str | None = None) -> None:
        assert claim in proof.CLAIMS

    def play(self, frames: player.Frames, key: str, clock: str | None = None, **more: Any) -> int:
        self.played.frames.append(frames)
        return 0

    def cards(self, given: Sequence[lesson.Card]) -> None:
        self.played.cards += given

    def predict(
        self, key: str, question: str, kind: predict.Kind, outcome: str
    ) -> predict.Prediction:
        self.played.guesses[key] = kind
        return predict.Prediction("not_asked")

    def presets(self, presets: Mapping[str, Mapping[str, object]]) -> None:
        super().presets(presets)
        self.played.presets |= presets

    def take_along(self, setup: Setup, memory_utilization: float | None = None) -> None:
        self.played.taken = serve_command.of(setup, memory_utilization)


@dataclass(frozen=True)
class Page:
    """A page ready to be played."""

    chapter: Rehearsal
    constants: Mapping[str, Any]  # what the page's file defines
    code: str  # of the language

    def play(self, act: str, **values: Any) -> Played:
        """One act with its controls at `values`, the others where they start."""
        chapter = self.chapter
        chapter.values, chapter.played = dict(values), Played()
        with _written_down(chapter.played), _reading(self.code):
            chapter.acts[act]()
        assert chapter.values == {}, f"no such control in {act}: {chapter.values}"
        return chapter.played

    def setups(self, act: str, **values: Any) -> list[Setup]:
        """Only what an act would simulate, for walks along a control."""
        with _stand_in_runs():
            return self.play(act, **values).setups

    def at(self, link: Mapping[str, str]) -> Played:
        """The state that an address names, its parameters being text."""
        link = dict(link)
        act = link.pop("part", next(iter(self.chapter.acts)))
        places = self.play(act).controls
        if link.get("gpu") == server_knobs.SPEEDS:
            places |= self.play(act, gpu=link["gpu"]).controls
        return self.play(act, **{key: _place(places[key], text) for key, text in link.items()})


def open_page(stem: str, code: str = "en") -> Page:
    """A page of `pages/` in one language."""
    script = ROOT / "pages" / f"{stem}.py"
    chapter = Rehearsal(prose.read(script, code))
    with _reading(code):
        return Page(chapter, quoting.read(script, chapter), code)


def _reading(code: str) -> Any:
    """The reader's language, where there is no reader."""
    return mock.patch.object(language, "current", return_value=code)


def _place(places: list[Any], text: str) -> Any:
    """Where a control stands that the address gives as text."""
    found = [place for place in places if str(place) == text]
    if not found:
        found = [
            place for place in places if isinstance(place, int | float) and place == float(text)
        ]
    assert found, f"{text!r} is none of {places}"
    return found[0]


TINY = Setup(workload.of_lengths((2,)), scheduler.Static(1), Paged(64), SimpleClock(1_000, 1.0))


DRAWING = {
    frames: ["slot_frames", "request_timeline", "step_timeline"],
    pictures: ["shared_step", "slot_shares"],
    run_pictures: ["timeline", "load"],
    curves: ["load_curve", "goodput_curve", "two_loops"],
}


RUNS = ("run", "steps", "step", "grid", "by_prompt", "_figures_of")  # all that is kept


@contextmanager
def quoted_anew() -> Iterator[None]:
    """What is quoted while runs are not the real ones is not for others, nor what was before."""
    quoting._said.cache_clear()
    try:
        yield
    finally:
        quoting._said.cache_clear()


@contextmanager
def _stand_in_runs() -> Iterator[None]:
    """Every run is the same tiny one: what an act asks for does not depend on what it gets."""
    (figures,) = runs._figures_of([TINY])
    results: dict[str, Any] = {
        "run": runs.run(TINY),
        "steps": runs.steps(TINY),
        "step": runs.step(TINY, 1),
        "grid": slots.slot_grid(TINY, 1.0),
        "by_prompt": runs.by_prompt(TINY, 16),
        "_figures_of": figures,
    }

    def stand_in(result: Any) -> Callable[..., Any]:
        return lambda asked, *more: [result] * len(asked) if isinstance(asked, list) else result

    with ExitStack() as patches:
        for name in RUNS:
            patches.enter_context(mock.patch.object(runs, name, stand_in(results[name])))
        for module, names in DRAWING.items():
            for name in names:
                patches.enter_context(mock.patch.object(module, name))
        with quoted_anew():
            yield


@contextmanager
def _written_down(played: Played) -> Iterator[None]:
    """Every setup that is asked for is noted, once."""

    def noting(compute: Callable[..., Any]) -> Callable[..., Any]:
        def note(asked: Setup | list[Setup], *more: Any) -> Any:
            for setup in asked if isinstance(asked, list) else [asked]:
                if setup not in played.setups:
                    played.setups.append(setup)
            return compute(asked, *more)

        return note

    computed = {name: noting(getattr(runs, name)) for name in RUNS}
    with ExitStack() as patches:
        for name, compute in computed.items():
            patches.enter_context(mock.patch.object(runs, name, compute))
        yield
