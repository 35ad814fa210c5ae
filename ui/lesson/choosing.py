"""What a reader chooses: the controls of an act, their places, and settings kept aside.

Further keyword arguments of the controls: `help`, `unit`, `live` as in `ui.controls.widgets`;
`advanced` puts a control under "More", `group` under the name of a chapter there (or under
words of your own); `in_text` puts an answer where its question stands.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar, cast

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from sim.errors import SimError
from ui import tiny_model
from ui.controls import widgets
from ui.course import links, state
from ui.course.state import Parse
from ui.lesson.stage import Progress, Stage, stands_still
from ui.results import compare
from ui.words import problems
from ui.words.language import tr
from ui.words.numbers import in_words

Chosen = TypeVar("Chosen")


class Choosing(Stage):
    """The controls of an act; in a rehearsal they give their values without being drawn."""

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

    @stands_still
    def presets(self, presets: Mapping[str, Mapping[str, object]]) -> None:
        """Links into states of this act: prose section -> the values that differ from the defaults.

        A section's heading is the label of its link; its body says what to look for, its blanks
        are values of the preset.  In the lecture view the links stand among the further settings.
        """
        place = self._at.advanced() if self.large else self._at.text
        kept = state.wanted(state.KEPT_RUN)  # stays, to be compared with a preset
        beside = {state.KEPT_RUN: kept} if kept is not None else {}
        in_a_row = not any(self.text.section(section).body for section in presets)
        with place, st.container(key="presets", gap="small", horizontal=in_a_row):
            for section, values in presets.items():
                text = self.text.section(section)
                with st.container(
                    key=f"preset-{section}", gap=None, width="content" if in_a_row else "stretch"
                ):
                    code = self._current_act().code
                    links.fresh_link(self.here, text.heading, code, {**values, **beside})
                    if text.body and not self.large:
                        blanks = {name: in_words(values[name]) for name in text.blanks}
                        st.markdown(self.text.filled(section, **blanks))

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
