"""What every test may use."""

import logging

import pytest
from hypothesis import settings

# Machines differ in speed: a property is about results, never about the time it took.
settings.register_profile("course", deadline=None)
settings.load_profile("course")


@pytest.fixture(autouse=True)
def _quiet_streamlit() -> None:
    """Code under test that runs outside a session makes Streamlit warn at every call."""
    logging.getLogger("streamlit.runtime.scriptrunner_utils.script_run_context").setLevel(
        logging.ERROR
    )
