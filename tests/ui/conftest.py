"""What several tests of the reader's side use."""

from collections.abc import Callable
from typing import Any

import pytest

from ui import charts
from ui.words import language


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """`read("zh")`: from now on the reader reads Chinese; English until then."""

    def choose(code: str) -> None:
        monkeypatch.setattr(language, "current", lambda: code)

    choose("en")
    return choose


@pytest.fixture
def rows(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The rows of the timeline that a picture draws."""
    drawn = []
    draw = charts.request_timeline

    def noting(given, *more, **rest):
        drawn.extend(given)
        return draw(given, *more, **rest)

    monkeypatch.setattr(charts, "request_timeline", noting)
    return drawn
