"""What a reader brings, read and kept: metrics of a server, or the result of a benchmark.

Hostile until read: what is too large, unknown or broken gets a message, and the last good one
stays.
"""

import re
from collections.abc import Mapping
from dataclasses import replace

import streamlit as st

from sim.errors import SimError
from ui.course import state
from ui.subjects.clinic.brought import bench, exposed, results, texts
from ui.subjects.clinic.brought.found import Brought, Note

JSON_BEGINS = re.compile(r"^[ \t]*+(?=[{\[])", re.MULTILINE)
NOTHING = {"upload": b"", "paste": b"", "before": b""}


def read(
    uploaded: bytes | None, pasted: str, before: str = ""
) -> tuple[Brought | None, SimError | None]:
    """This reader's last good text, and what is wrong with the newest one.

    The newer of the two counts: what has changed since the last run.
    """
    given = {"upload": uploaded or b"", "paste": _bytes(pasted), "before": _bytes(before)}
    was: Mapping[str, bytes] = state.kept("given", NOTHING)
    newest = state.kept("newest", "paste")
    for how in ("upload", "paste"):
        if given[how] and given[how] != was[how]:
            newest = how
    if given != was and given[newest]:
        try:
            state.keep("brought", parse(given[newest], given["before"]))
            state.keep("problem", None)
        except SimError as error:
            state.keep("problem", error)
    elif not given["upload"] and not given["paste"]:
        state.keep("problem", None)
    state.keep("given", given)
    state.keep("newest", newest)
    return state.kept("brought", None), state.kept("problem", None)


def _bytes(text: str) -> bytes:
    return text.encode(errors="replace")  # half a surrogate pair can be typed


@st.cache_resource(max_entries=8, show_spinner=False)
def _kept(text: bytes, before: bytes) -> Brought:
    return read_text(text, before)


def parse(text: bytes, before: bytes = b"") -> Brought:
    """Raises: SimError, as `read_text`."""
    for one in (text, before):
        texts.weigh(one)  # too much is not even hashed
    return _kept(text, before)


def read_text(data: bytes, before: bytes = b"") -> Brought:
    """What one text says of a server, or with an earlier one of the same server, two.

    Raises:
        SimError: as `texts.decoded`, `exposed.read`, `results.read`.
    """
    given = texts.decoded(data)
    text = texts.without_fences(given)
    found = _read(text, texts.without_fences(texts.decoded(before)))
    return found if text == given else replace(found, notes=(*found.notes, Note("fences")))


def _read(text: str, before: str) -> Brought:
    if text.lstrip().startswith(("{", "[")):
        return results.read(text)
    if bench.is_report(text):
        return bench.read_report(text)
    try:
        texts.weigh(text + before, texts.MAX_METRICS_BYTES)
        return exposed.read(text, before)
    except SimError:
        begin = JSON_BEGINS.search(text)
        if begin:
            return results.read(text, begin.end())
        results.refuse_tables(text)
        raise
