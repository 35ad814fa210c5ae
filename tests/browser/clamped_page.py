"""A page that allows less than its slider offers; `tests/browser/test_live_slider.py` runs it."""

import streamlit as st

from ui.controls import live, widgets
from ui.course import state

MOST, START = 8, 4


@st.fragment
def follow() -> None:
    st.text(f"{min(live.held().get('n', value), MOST)} served")
    live.mount()


state.open_page("clamped")
live.begin()
value = widgets.slide("n", "Wanted", 1, 16, START, live=True)
if value > MOST:
    state.set_value("n", MOST, START)
    st.rerun()
state.write()
follow()
