"""Which of the two languages this reader reads, and words side by side.

The language comes from the URL (`lang=`), else from what this reader chose before, else from the
browser, else it is Chinese.
"""

import threading

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

LANGUAGES = {"zh": "中文", "en": "English"}
DEFAULT = "zh"
KEY = "_language"


class _Known(threading.local):
    """The language of the run in this thread: thousands of words are said in a run, and a look
    into the session takes 30 us."""

    run: object = None
    language = DEFAULT


_known = _Known()


def current() -> str:
    """`"zh"` or `"en"`; Chinese outside a page, as in a plain test."""
    run = get_script_run_ctx(suppress_warning=True)
    if run is None:
        return DEFAULT
    if _known.run is not run:
        _known.language = str(st.session_state.get(KEY) or _of_browser())
        _known.run = run
    return _known.language


def choose(code: str | None) -> None:
    """Remember this reader's language; an unknown code changes nothing."""
    if code in LANGUAGES:
        st.session_state[KEY] = code
        _known.run = None


def worded(key: str) -> str:
    """The key of a widget whose options are words, one for each language.

    The browser tells which option is taken by its words.  Said in one language and heard in the
    other, as when something moves right after the language changed, they would mean nothing, and
    Streamlit would take the first option.
    """
    return f"{key}.{current()}"


def tr(zh: str, en: str) -> str:
    """The words in the reader's language."""
    return zh if current() == "zh" else en


def _of_browser() -> str:
    locale = st.context.locale or ""
    return "en" if locale and not locale.lower().startswith("zh") else DEFAULT
