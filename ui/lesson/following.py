"""What follows a slider while it is dragged: the cards and the first figure of an act.

All else stands as it was until the slider is let go.  For this the act runs as a rehearsal: its
controls give their values without being drawn, and it stops as soon as everything that follows is
known.
"""

from collections.abc import Callable
from typing import Any

import streamlit as st

from sim.errors import SimError
from ui.controls import live
from ui.course import state
from ui.lesson.acts import Act
from ui.lesson.stage import Stage
from ui.words import problems


class _AllKnown(Exception):  # noqa: N818 (nothing is wrong)
    """A rehearsal has come to the last part that follows a slider."""


class Following(Stage):
    """Who leads: parts are handed in as they are drawn, and drawn again while a slider moves."""

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
