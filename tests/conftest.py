"""What every test may use."""

import logging
from collections.abc import Iterator

import pytest
from hypothesis import settings
from streamlit.runtime.scriptrunner.script_cache import ScriptCache
from streamlit.testing.v1 import local_script_runner

# Machines differ in speed: a property is about results, never about the time it took.
settings.register_profile("course", deadline=None)
settings.load_profile("course")


@pytest.fixture(autouse=True)
def _quiet_streamlit() -> None:
    """Code under test that runs outside a session makes Streamlit warn at every call."""
    logging.getLogger("streamlit.runtime.scriptrunner_utils.script_run_context").setLevel(
        logging.ERROR
    )


@pytest.fixture(scope="session", autouse=True)
def _scripts_are_compiled_once() -> Iterator[None]:
    """As on a server.  By itself AppTest compiles the app and the page anew for every run."""
    compiled = ScriptCache()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(local_script_runner, "ScriptCache", lambda: compiled)
        yield
