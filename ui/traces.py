"""An uploaded trace is hostile until read: a bad one gets a message, the last good one stays."""

from itertools import accumulate

import streamlit as st

from sim import traces
from sim.errors import SimError, require
from sim.traces import Trace
from ui import notes, state

LIMIT = 500  # requests that are replayed; the rest of the file is only checked
MAX_OUTPUT_TOKENS = 250_000  # and no more of them than this, since each is a step to simulate


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
    return _affordable(traces.read(text).first(LIMIT))


def _affordable(trace: Trace) -> Trace:
    """The earliest requests that can be replayed while a reader waits."""
    totals = accumulate(request.output_tokens for request in trace.requests)
    num_kept = sum(total <= MAX_OUTPUT_TOKENS for total in totals)
    first = trace.requests[0].output_tokens
    require(num_kept > 0, "trace_too_long", value=first, most=MAX_OUTPUT_TOKENS)
    return trace.first(num_kept)
