"""The lesson frame: everything that is the same on every page.

A page opens its chapter, registers its acts, and shows it:

    chapter = lesson.open(__file__)

    @chapter.act("hook", tr("引子", "A riddle"))
    def hook() -> None:
        chapter.say("hook")                                   # prose, in the column of text
        slots = chapter.slide("slots", tr(...), 1, 16, 3)     # controls, above the figure
        chapter.play(frames, "grid")                          # the figure, staying in view

    chapter.show()

While a slider with `live=True` is dragged, the cards and the first figure follow; all else stands
as it was until the slider is let go.  For this the act runs as a rehearsal: its controls give their
values without being drawn, and it stops as soon as everything that follows is known.

One act is on the page at a time (`part=` in the URL).  In the lecture view (`view=lecture`) only
the figure, its controls and the note of the step are there, large, on one screen.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar, cast

import plotly.graph_objects as go
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from sim.engine import Setup
from sim.errors import SimError
from ui import charts, player, tiny_model
from ui.controls import live, widgets
from ui.course import chapters, glossary, links, state
from ui.course.state import Parse
from ui.lesson import acts, explain, proof
from ui.lesson.acts import Act
from ui.lesson.explain import Mark
from ui.lesson.places import Places
from ui.page import frame
from ui.practice import predict, quiz
from ui.results import cards, compare, take_along
from ui.results.cards import Card
from ui.words import language as languages
from ui.words import problems
from ui.words.language import tr
from ui.words.numbers import in_words

__all__ = ["Card", "Chapter", "open", "tr"]


Method = TypeVar("Method", bound=Callable[..., None])
Chosen = TypeVar("Chosen")
Progress = Callable[[int, int], None]  # (done, in all)


def _stands_still(method: Method) -> Method:
    """A part of an act that does not follow a slider: nothing to do in a rehearsal."""

    @wraps(method)
    def draw(chapter: "Chapter", *given: Any, **more: Any) -> None:
        if not chapter.rehearses:
            method(chapter, *given, **more)

    return cast(Method, draw)


class _AllKnown(Exception):  # noqa: N818 (nothing is wrong)
    """A rehearsal has come to the last part that follows a slider."""


class Chapter:
    """One page while it is being drawn."""

    def __init__(self, script: Path):
        self.script = script
        self.here = chapters.Chapter(script.stem)
        self.text = self.here.text(languages.current())
        self.large = links.is_lecture()
        self.acts: list[Act] = []
        self.rehearses = False
        self._answers: dict[str, Any] = {}  # what the reader has chosen, given and guessed
        self._drawn: dict[str, tuple[Any, Parse]] = {}  # control -> where it starts, how it reads
        self._quoted: Mapping[str, str] | None = None  # settings that stand in for the controls
        self._front: Sequence[str] = ()  # controls beside the figure, whatever their group
        self._followed: Sequence[str] = ()
        self._leading: list[Callable[[], Any]] = []  # draws what follows a slider
        self._num_leading = 0
        self._places: Places | None = None

    # -- acts -------------------------------------------------------------------------------

    def act(
        self, code: str, name: str, deeper: bool = False
    ) -> Callable[[Callable[[], None]], Callable[[], None]]:
        """Register a function as the next act; `code` stands in the URL, `name` in the header."""

        def register(draw: Callable[[], None]) -> Callable[[], None]:
            self.acts.append(Act(code, name, draw, deeper))
            return draw

        return register

    def show(self) -> None:
        """Draw the header, the act that the URL names, and the ways onward."""
        act = self._current_act()
        state.settle("part", act.code, self.acts[0].code)
        if not self.large:
            acts.header(self.here, self.text, self.acts, act)
        self._places = Places(self.large)
        live.begin()
        try:
            act.draw()
        except SimError as error:  # a setting that cannot be simulated: say so, keep the controls
            self.problem(problems.error(error))
        if self.large:
            self._other_figure()
            acts.lecture_bar(self.here, self.text, self.acts, act)
        else:
            acts.onward(self.here, self.text, self.acts, act)
        glossary.mount()
        state.write()
        if self._leading:
            with self._at.leading:
                st.fragment(self._follow)(act)

    # -- saying -----------------------------------------------------------------------------

    @_stands_still
    def say(
        self,
        section: str,
        after: predict.Prediction | None = None,
        hidden_by: predict.Prediction | None = None,
        **numbers: object,
    ) -> None:
        """A section of the chapter's prose, its blanks filled in; absent from the lecture view.

        What would give a prediction away stands folded while the question `after` is open; what
        speaks of a figure that is not there yet is hidden while the question `hidden_by` is.
        """
        text = self.text.filled(section, **numbers)
        if self.large or (hidden_by is not None and hidden_by.state == "open"):
            return
        heading = self.text.section(section).heading
        folded = after is not None and after.state == "open"
        with self._at.text:
            if heading:
                st.subheader(heading, anchor=False)
            if folded:
                with st.expander(tr("直接看结果", "Just show me the result")):
                    st.markdown(text)
            else:
                st.markdown(text)

    def words(self, section: str, **numbers: object) -> str:
        """A section as Markdown, to hand on."""
        return self.text.filled(section, **numbers)

    @_stands_still
    def explain(self, section: str, **numbers: object) -> None:
        """ "How is this computed?", opened on demand."""
        text = self.text.filled(section, **numbers)
        if not self.large:
            with self._at.text:
                explain.how(text, key=f"how-{section}")

    @_stands_still
    def leaves_out(
        self, section: str, mark: Mark = "computed", source: str = "", **numbers: object
    ) -> None:
        """The honest line under a figure."""
        text = self.text.filled(section, **numbers)
        if not self.large:
            with self._at.figure:
                explain.leaves_out(text, mark, source)

    @_stands_still
    def leads(self, ways: Mapping[str, str]) -> None:
        """Links into other chapters: what is told there -> stem of the chapter, if it exists."""
        if self.large:
            return
        with self._at.text, st.container(key="leads", gap=None):
            for what, stem in ways.items():
                chapter = chapters.Chapter(stem)
                if chapter.exists:
                    links.link(chapter, f"{what} → {chapter.name(languages.current())}")

    @_stands_still
    def flags(self, section: str = "flags", **numbers: object) -> None:
        """From the model to the real thing: a table of flags and metric names."""
        text = self.text.filled(section, **numbers)
        if not self.large:
            with self._at.whole:
                explain.flags(text)

    @_stands_still
    def prove(self, claim: str, text: str | None = None) -> None:
        """ "Prove it": a claim of `proof`, on `text` or on one that the reader writes there."""
        if not self.large:
            with self._at.text:
                proof.panel(claim, text)

    # -- choosing ---------------------------------------------------------------------------

    # Further keyword arguments of the controls: `help`, `unit`, `live` as in `widgets`;
    # `advanced` puts a control under "More", `group` under the name of a chapter there (or under
    # words of your own); `in_text` puts an answer where its question stands.

    def front(self, *keys: str, live: Sequence[str] = ()) -> None:
        """The few controls of this act that stand beside its figure, though they have a group;
        and those of them that are followed while they are dragged."""
        self._front, self._followed = keys, live

    def slide(
        self, key: str, label: str, low: float, high: float, start: float, **more: Any
    ) -> Any:
        read = widgets.on_scale(low, high, start, more.get("step"))
        return self._control(widgets.slide, (key, label, low, high, start), more, read)

    def pick(self, key: str, label: str, values: Sequence[float], start: float, **more: Any) -> Any:
        read = widgets.nearest(values)
        return self._control(widgets.pick, (key, label, values, start), more, read)

    def number(self, key: str, label: str, low: int, high: int, start: int, **more: Any) -> int:
        read = widgets.on_scale(low, high, start)
        return cast(int, self._control(widgets.number, (key, label, low, high, start), more, read))

    def toggle(self, key: str, label: str, start: bool = False, **more: Any) -> bool:
        given = (key, label, start)
        return cast(bool, self._control(widgets.toggle, given, more, widgets.switch))

    def choose(
        self,
        key: str,
        label: str,
        options: Mapping[str, str] | Sequence[object],
        start: str,
        **more: Any,
    ) -> str:
        """One of `options`: code -> words, or codes that are words themselves."""
        if not isinstance(options, Mapping):
            options = {str(code): str(code) for code in options}
        given = (key, label, options, start)
        return cast(str, self._control(widgets.choose, given, more, widgets.known(options)))

    def write(
        self, label: str, start: str = tiny_model.SAMPLE, is_prompt: bool = True, **more: Any
    ) -> str:
        """A line of the reader's own words, cut with a message where it is too long.

        A prompt is also too long if the tiny model would not read all of it.
        """
        given = (state.TYPED, label, start)
        if self.rehearses or self._quoted is not None:
            return cast(str, self._control(widgets.line, given, more, widgets.writable))
        text, letters = self._control(widgets.line, given, more, widgets.writable)
        self._answers[state.TYPED] = text
        left_out = tiny_model.left_out(text) if is_prompt else 0
        self.problem(problems.text_cut(letters, text, left_out))
        return cast(str, text)

    def press(
        self, key: str, label: str, words: str, compute: Callable[[Progress], Chosen]
    ) -> Chosen | None:
        """A button, and what `compute(progress)` gave when it was last pressed; None before.

        For what is done only when the reader asks, as a measurement: kept for this session, never
        in the URL.  `words` stand beside the bar meanwhile.
        """
        name = f"press-{key}"
        if not self.rehearses:
            with self._at.controls:
                pressed = st.button(label, key=name, on_click=state.moved)
            if pressed:
                state.keep(name, compute(self.progress(words)))
        return cast(Chosen | None, state.kept(name, None))

    def upload(self, key: str, label: str, types: Sequence[str]) -> bytes | None:
        """The bytes of a file the reader gives, or None."""
        if not self.rehearses:
            with self._at.controls:
                given = st.file_uploader(
                    label, type=list(types), key=f"{self.here.stem}-{key}", on_change=state.moved
                )
            self._answers[key] = given.getvalue() if given else None
        return cast(bytes | None, self._answers.get(key))

    def paste(self, key: str, label: str, most: int) -> str:
        """Text of the reader's own, up to `most` letters; for this session, never in the URL."""
        if not self.rehearses:
            with self._at.controls:
                given = st.text_area(
                    label,
                    max_chars=most,
                    height=80,
                    key=f"{self.here.stem}-{key}",
                    on_change=state.moved,
                )
            self._answers[key] = given or ""
        return cast(str, self._answers.get(key, ""))

    def kept_as_a(self, choose: Callable[[], Chosen]) -> Chosen | None:
        """What `choose` gives at the settings that the reader has kept as A; None without an A.

        Draws the button that keeps, or drops, a run.  `choose` asks for the controls of the act,
        which it has already done once.
        """
        kept = state.wanted(state.KEPT_RUN)
        if not self.rehearses:
            with self._at.controls if self.large else self._at.text:
                self._keep_or_drop(kept is not None)
        if kept is None:
            return None
        at_rest, self._quoted = self._quoted, compare.unpacked(kept)
        try:
            return choose()
        except SimError as error:  # a link may hold anything
            self.problem(f"A: {problems.error(error)}")
            return None
        finally:
            self._quoted = at_rest

    def _keep_or_drop(self, has_kept: bool) -> None:
        if has_kept:
            label, keep = tr("放下 A", "Drop A"), lambda: ""
            icon = ":material/keep_off:"
        else:
            label, icon = tr("留作 A", "Keep as A"), ":material/keep:"
            keys = list(self._answers)

            def keep() -> str:
                return compare.packed(state.settings(keys))

        st.button(
            label,
            key="keep-as-a",
            icon=icon,
            help=tr(
                "把这次运行留在图上作对照，再改旋钮",
                "Leave this run on the figure for comparison, then turn the knobs",
            ),
            on_click=lambda: state.set_value(state.KEPT_RUN, keep(), ""),
        )

    @_stands_still
    def presets(self, presets: Mapping[str, Mapping[str, object]]) -> None:
        """Links into states of this act: prose section -> the values that differ from the defaults.

        A section's heading is the label of its link; its body says what to look for, its blanks
        are values of the preset.  In the lecture view the links stand among the further settings.
        """
        place = self._at.advanced() if self.large else self._at.text
        kept = state.wanted(state.KEPT_RUN)  # stays, to be compared with a preset
        beside = {state.KEPT_RUN: kept} if kept is not None else {}
        with place, st.container(key="presets", gap="small"):
            for section, values in presets.items():
                text = self.text.section(section)
                with st.container(key=f"preset-{section}", gap=None):
                    code = self._current_act().code
                    links.fresh_link(self.here, text.heading, code, {**values, **beside})
                    if not self.large:
                        blanks = {name: in_words(values[name]) for name in text.blanks}
                        st.markdown(self.text.filled(section, **blanks))

    # -- showing ----------------------------------------------------------------------------

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
        self._show(lambda: player.show(frames, name, **more), clock or key)
        return player.stands(name)

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
        self._show(
            lambda: charts.show(figure, name, alt, height, fill=self.large, clicked=clicked), key
        )

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
        with place:
            answer = predict.ask(
                key, question, kind, outcome, lecture=self.large, from_link=state.came_by_link()
            )
        self._answers[key] = answer
        return answer

    @_stands_still
    def problem(self, message: str, section: str = "") -> None:
        """Something the reader should know, if there is something; `section` says what now."""
        if message:
            after = self.text.filled(section) if section else ""
            with self._at.figure:
                st.warning(f"{message}  \n{after}".strip())

    @_stands_still
    def take_along(self, setup: Setup, memory_utilization: float | None = None) -> None:
        """What a reader may carry off: link, results, `vllm serve` command, log of the run."""
        if not self.large:
            with self._at.whole:
                query = state.query_of(self.here.stem, part=self._current_act().code)
                take_along.show(setup, memory_utilization, query)

    @contextmanager
    def waiting(self, words: str) -> Iterator[None]:
        """Says above the figure what is being done, for as long as it takes."""
        if self.rehearses:
            yield
            return
        with self._at.figure, st.spinner(words):
            yield

    def progress(self, words: str) -> Progress:
        """A bar above the figure while something is computed: call it with (done, in all)."""
        if self.rehearses:
            return lambda done, total: None
        with self._at.figure:
            place = st.empty()

        def report(done: int, total: int) -> None:
            if done < total:
                place.progress(done / total, words)
            else:
                place.empty()

        return report

    @_stands_still
    def quiz(self, name: str | None = None) -> None:
        """The self-check of the chapter; one question at a time in the lecture view."""
        with self._at.figure if self.large else self._at.whole:
            quiz.show(name or self.here.stem[:2], one_by_one=self.large)

    @_stands_still
    def place(self, draw: Callable[[], None]) -> None:
        """What is neither chart nor player, as a round of questions, where the figure stands."""
        with self._at.figure:
            draw()

    # -- following a slider ------------------------------------------------------------------

    def _show(self, draw: Callable[[], Any], figure: str) -> None:
        """A figure, or one of several linked players: the first figure follows a slider."""
        self._at.leading_figure = self._at.leading_figure or figure
        if self._at.leading_figure == figure:
            self._lead(draw)
        elif not self.rehearses:
            with self._at.figure:
                draw()

    def _lead(self, draw: Callable[[], Any]) -> None:
        """A part that follows a slider, if there is one to follow."""
        if not live.has_sliders():
            with self._at.figure:
                draw()
            return
        self._leading.append(draw)
        if not self.rehearses:
            self._at.leading  # noqa: B018 (this is where it stands)
        elif len(self._leading) == self._num_leading:
            raise _AllKnown

    def _follow(self, act: Act) -> None:
        """Draw all parts that follow a slider.  A fragment: a drag runs it again, alone."""
        if not self.rehearses:
            self.rehearses, self._num_leading = True, len(self._leading)
        elif live.held():
            self._rehearse(act)
        else:  # the slider was let go, or something in here has moved, as a player's step
            state.moved()
            st.rerun()
        for draw in self._leading:
            draw()
        live.mount()

    def _rehearse(self, act: Act) -> None:
        """Find out what follows and how it looks now."""
        at_rest, self._answers = self._answers, self._answers | live.held()
        self._leading, self._at.figures, self._at.leading_figure = [], [], ""
        try:
            act.draw()
        except _AllKnown:
            pass
        except SimError as error:
            message = problems.error(error)
            self._leading = [lambda: st.warning(message)]
        finally:
            self._answers = at_rest

    # -- inside -----------------------------------------------------------------------------

    @property
    def _at(self) -> Places:
        if self._places is None:
            raise RuntimeError("a chapter is drawn inside its acts, from chapter.show() on")
        return self._places

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

    def _control(
        self, draw: Callable[..., Any], given: tuple[Any, ...], more: dict[str, Any], read: Parse
    ) -> Any:
        """The value of a control; `given` begins with its key and ends with where it starts."""
        key, start = given[0], given[-1]
        group, is_advanced = more.pop("group", None), more.pop("advanced", False)
        in_text = more.pop("in_text", False)
        if self._quoted is not None:
            return state.parsed(self._quoted.get(key), read, start)
        if self.rehearses:
            return self._answers.get(key, start)
        if key in self._followed:
            more["live"] = True
        is_advanced = is_advanced or (group is not None and key not in self._front)
        if in_text and self.large:  # where there is no text
            in_text, is_advanced = False, True
        state.restate(is_advanced)
        with self._place_of(group, is_advanced, in_text):
            self._answers[key] = draw(*given, **more)
        self._drawn[key] = (start, read)
        return self._answers[key]

    def _place_of(self, group: str | None, is_advanced: bool, in_text: bool) -> DeltaGenerator:
        if in_text:
            return self._at.text
        return self._at.advanced(group) if is_advanced else self._at.controls

    def _current_act(self) -> Act:
        return acts.current(self.acts)

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


def open(script: str) -> Chapter:
    """Begin a page: its title, the reader's language, the frame around it."""
    path = Path(script)
    frame.begin(path.stem, lambda: chapters.Chapter(path.stem).title(languages.current()))
    return Chapter(path)
