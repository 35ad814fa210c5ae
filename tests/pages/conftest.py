"""Pages under AppTest: the whole script runs, without a browser."""

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from tests.chapters import ROOT

OpenPage = Callable[..., AppTest]


@pytest.fixture
def open_page() -> OpenPage:
    """A first visit: `open_page("pages/05_batching.py", lang="en", part="hook", slots=4)`.

    The way leads through app.py: a page opened directly does not know its neighbours.
    """

    def open_one(file: str = "app.py", **query: object) -> AppTest:
        app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
        if file != "app.py":
            app.run()
            app.switch_page(file)
        app.query_params = {key: str(value) for key, value in query.items() if value != ""}
        return app.run()

    return open_one
