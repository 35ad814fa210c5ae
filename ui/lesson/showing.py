"""What an act shows: players, charts, cards, a prediction, questions, what to take along."""

from collections.abc import Callable, Sequence
from typing import Any, cast

import streamlit as st

from sim.engine import Setup
from ui import charts, player
from ui.charts import go
from ui.course import state
from ui.lesson.following import Following
from ui.lesson.stage import stands_still
from ui.practice import predict, quiz
from ui.practice.kept import progress
from ui.results import cards, take_along
from ui.results.cards import Card
from ui.words.language import tr

BEGINNING = 0.3  # of a run: enough to see what goes on, too little to read the result off


class Showing(Following):
    """Figures of an act.  In the lecture view one at a time fills the screen."""

    def play(self, frames: player.Frames, key: str, clock: str | None = None, **more: Any) -> int:
        """The step player; the answer is the step at which the reader stands still.

        Players one after the other with the same `clock` are linked, and count as one figure.
        """
        name = f"{self.here.stem}-{key}"
        text = state.parameter("step")
        step = int(text) if text and text.isdecimal() else None
        if not self._takes_its_turn(clock or key):
            return 0
        more |= {"large": self.large, "step": step, "clock": clock}
        more |= {"ghost": self._ghost(), "plays": self._plays(name)}
        self._show(lambda: player.show(frames, name, **more), clock or key)
        return player.stands(name)

    def _ghost(self) -> float:
        """How much of a run is seen before it is played: so much that no question is answered."""
        return BEGINNING if any(guess.is_away for guess in self._guesses()) else 1.0

    def _plays(self, name: str) -> bool:
        """Whether this player is to play to an answer: the first one of the act does."""
        if not self.rehearses and len(self._at.figures) == 1:
            state.keep(self._player_key(), name)
        is_coming = any(guess.veil == "coming" for guess in self._guesses())
        return is_coming and state.kept(self._player_key(), "") == name

    def _player_key(self) -> str:
        return f"player-{self._current_act().code}"

    def _guesses(self) -> list[predict.Prediction]:
        """What the act has asked so far."""
        given = self._answers.values()
        return [answer for answer in given if isinstance(answer, predict.Prediction)]

    def draw(
        self,
        figure: go.Figure,
        key: str,
        alt: str,
        height: int | None = None,
        after: predict.Prediction | None = None,
        opens: str | None = None,
    ) -> None:
        """A chart.  While the question `after` is open it would give the answer away: not yet.

        A click on one of its points moves the control `opens` to the point's custom data.
        """
        if (after is not None and after.state == "open") or not self._takes_its_turn(key):
            return
        name = f"{self.here.stem}-{key}"
        clicked = self._opener(opens) if opens else None

        def show() -> None:
            with (after or predict.Prediction("not_asked")).veiled(f"figure-{key}"):
                charts.show(figure, name, alt, height, fill=self.large, clicked=clicked)

        self._show(show, key)

    def _opener(self, control: str) -> Callable[[object], None]:
        start, read = self._drawn[control]
        return lambda value: state.set_value(control, read(str(value)), start)

    def cards(self, given: Sequence[Card]) -> None:
        """The numbers of a result, in one row."""
        self._lead(lambda: cards.draw(given))

    def predict(
        self, key: str, question: str, kind: predict.Kind, outcome: str
    ) -> predict.Prediction:
        """Ask the reader for a guess, beside the figure in its starting state."""
        if self.rehearses:
            return cast(predict.Prediction, self._answers.get(key, predict.Prediction("not_asked")))
        if not self.large:
            place = self._at.text
        elif predict.standing(key) == "open":
            place = self._at.figure
        else:  # answered: the figure needs the screen
            place = self._at.controls.popover(tr("预测与结果", "Guess and result"))
        progress.mount()
        name = state.kept(self._player_key(), "")
        if predict.is_coming(key) and player.is_over(name):
            predict.arrived(key)
        with place:
            answer = predict.ask(
                key,
                question,
                kind,
                outcome,
                lecture=self.large,
                from_link=state.came_by_link(),
                plays=bool(name),
            )
        self._answers[key] = answer
        return answer

    @stands_still
    def take_along(self, setup: Setup, memory_utilization: float | None = None) -> None:
        """What a reader may carry off: link, results, `vllm serve` command, log of the run."""
        if not self.large:
            with self._at.whole:
                query = state.query_of(self.here.stem, part=self._current_act().code)
                take_along.show(setup, memory_utilization, query)

    @stands_still
    def quiz(self, name: str | None = None) -> None:
        """The self-check of the chapter; one question at a time in the lecture view."""
        with self._at.figure if self.large else self._at.whole:
            quiz.show(name or self.here.stem[:2], one_by_one=self.large)

    @stands_still
    def place(self, draw: Callable[[], None]) -> None:
        """What is neither chart nor player, as a round of questions, where the figure stands."""
        with self._at.figure:
            draw()

    def _takes_its_turn(self, figure: str) -> bool:
        """Whether the next figure is drawn: in the lecture view one at a time fills the screen."""
        if self._at.figures[-1:] != [figure]:
            self._at.figures.append(figure)
        return not self.large or len(self._at.figures) - 1 == self._shown_figure()

    def _shown_figure(self) -> int:
        """Which of the act's figures the lecture view shows."""
        wanted, known = state.kept(self._figure_key(), (0, 1))
        return int(wanted % known)

    def _figure_key(self) -> str:
        return f"figure-{self._current_act().code}"

    def _other_figure(self) -> None:
        """In the lecture view: the button to the next figure of the act, if it has several."""
        num_figures = max(1, len(self._at.figures))
        shown = self._shown_figure()
        state.keep(self._figure_key(), (shown, num_figures))
        if num_figures > 1:
            with self._at.controls:
                st.button(
                    tr("换一张图", "Other figure"),
                    key="lecture-figure",
                    on_click=state.keep,
                    args=(self._figure_key(), (shown + 1, num_figures)),
                )
