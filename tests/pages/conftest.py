"""Pages under AppTest: the whole script runs, without a browser."""

import sys
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from sim.engine import Setup
from sim.request import Request
from tests.chapters import ROOT
from tests.pages.rehearsal import quoted_anew
from ui.results import runs
from ui.results.apart import Outcome

OpenPage = Callable[..., AppTest]
FEW_REQUESTS, FEW_TOKENS = 24, 40


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


def whatever_keeps_runs() -> Iterator[Any]:
    """Functions that remember results, in `runs` and in every module that asks it for them."""
    for name, module in list(sys.modules.items()):
        if name.startswith("ui.") and (module is runs or getattr(module, "runs", None) is runs):
            yield from (
                one
                for one in vars(module).values()
                if hasattr(one, "cache_clear") and not isinstance(one, type)
            )


@pytest.fixture
def short_runs(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Few requests and short answers only, for tests that draw a page in very many states."""
    whole = runs._computed

    def computed(setups: Sequence[Setup]) -> Generator[Outcome | None]:
        return whole([replace(setup, requests=few(setup.requests)) for setup in setups])

    monkeypatch.setattr(runs, "_computed", computed)
    with quoted_anew():
        yield
    monkeypatch.undo()
    for kept in whatever_keeps_runs():  # what was made of short runs is not for other tests
        kept.cache_clear()


def few(requests: Sequence[Request]) -> tuple[Request, ...]:
    return tuple(map(shortened, requests[:FEW_REQUESTS]))


def shortened(request: Request) -> Request:
    """With an answer of FEW_TOKENS at most, or as long as others name of it."""
    named = request.named_tokens - request.prompt_tokens
    return replace(request, output_tokens=min(request.output_tokens, max(FEW_TOKENS, named)))
