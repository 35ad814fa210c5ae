"""An uploaded trace is hostile until read: a bad one gets a message, the last good one stays."""

import streamlit as st

from sim import workload
from sim.errors import SimError
from sim.workload import Trace
from ui import notes, state

LIMIT = 500  # requests that are replayed; the rest of the file is only checked


def read(uploaded: bytes | None) -> tuple[Trace | None, str]:
    """This reader's last good trace, and what is wrong with the newest file ("" if nothing)."""
    problem = ""
    if uploaded is not None:
        try:
            state.keep("trace", _parse(uploaded))
        except SimError as error:
            problem = notes.error(error)
    return state.kept("trace", None), problem


@st.cache_data(max_entries=16, show_spinner=False)
def _parse(uploaded: bytes) -> Trace:
    try:
        text = uploaded.decode("utf-8")
    except UnicodeDecodeError as error:
        raise SimError("trace_not_text") from error
    return workload.read_azure(text, limit=LIMIT)
