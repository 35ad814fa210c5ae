"""What several tests of the reader's side use."""

from collections.abc import Callable

import pytest

from ui import language


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """`read("zh")`: from now on the reader reads Chinese; English until then."""

    def choose(code: str) -> None:
        monkeypatch.setattr(language, "current", lambda: code)

    choose("en")
    return choose
