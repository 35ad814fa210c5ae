"""What every test may use."""

import logging
import os
from collections.abc import Iterator
from functools import cache
from typing import Any

import plotly.graph_objects
import pytest
from hypothesis import settings
from streamlit.components.v2 import manifest_scanner
from streamlit.runtime.scriptrunner.script_cache import ScriptCache
from streamlit.testing.v1 import app_test, local_script_runner

from ui.charts import go

# Machines differ in speed: a property is about results, never about the time it took.
settings.register_profile("quick", deadline=None, max_examples=60)
settings.register_profile("long", deadline=None, max_examples=1_000)  # make test-long
settings.load_profile(os.environ.get("EXAMPLES", "quick"))


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
        for runner in (app_test, local_script_runner):
            patch.setattr(runner, "ScriptCache", lambda: compiled)
        yield


@pytest.fixture(scope="session", autouse=True)
def _figures_are_checked_by_plotly() -> Iterator[None]:
    """The app leaves this out (`ui.charts.go`): every figure that a test draws is checked here."""
    drawn = go.Figure.to_dict

    def checked(figure: go.Figure) -> dict[str, Any]:
        plotly.graph_objects.Figure(drawn(figure))
        return drawn(figure)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(go.Figure, "to_dict", checked)
        yield


@pytest.fixture(scope="session", autouse=True)
def _packages_are_searched_for_components_once() -> Iterator[None]:
    """As on a server.  By itself every AppTest reads the metadata of all that is installed."""
    with pytest.MonkeyPatch.context() as patch:
        found = cache(manifest_scanner.scan_component_manifests)
        patch.setattr(manifest_scanner, "scan_component_manifests", found)
        yield
