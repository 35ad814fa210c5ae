"""The language: what was chosen, else the browser's, else Chinese."""

import pytest

from ui.words import language


class Context:
    def __init__(self, locale):
        self.locale = locale


@pytest.fixture
def page(monkeypatch):
    """As if a page ran."""
    monkeypatch.setattr(language.st, "session_state", {})
    run = object()
    monkeypatch.setattr(language, "get_script_run_ctx", lambda suppress_warning: run)


@pytest.mark.parametrize(
    ("locale", "expected"),
    [
        ("zh-CN", "zh"),
        ("zh", "zh"),
        ("ZH-Hant-TW", "zh"),
        ("en-US", "en"),
        ("de-DE", "en"),
        ("", "zh"),
        (None, "zh"),
    ],
)
@pytest.mark.usefixtures("page")
def test_without_a_choice_the_browser_decides_and_else_it_is_chinese(monkeypatch, locale, expected):
    monkeypatch.setattr(language.st, "context", Context(locale))
    assert language.current() == expected
    assert language.tr("中", "en") == ("中" if expected == "zh" else "en")


@pytest.mark.usefixtures("page")
def test_a_choice_wins_over_the_browser_and_an_unknown_code_changes_nothing(monkeypatch):
    monkeypatch.setattr(language.st, "context", Context("zh-CN"))
    language.choose("en")
    assert language.current() == "en"
    for code in ("fr", "", None, "EN"):
        language.choose(code)
        assert language.current() == "en"


def test_outside_a_page_it_is_chinese_whatever_was_chosen_in_one(monkeypatch):
    monkeypatch.setattr(language.st, "session_state", {language.KEY: "en"})
    assert language.current() == "zh"


@pytest.mark.usefixtures("page")
def test_another_run_in_the_same_thread_is_asked_again(monkeypatch):
    monkeypatch.setattr(language.st, "session_state", {language.KEY: "en"})
    assert language.current() == "en"
    another = object()
    monkeypatch.setattr(language, "get_script_run_ctx", lambda suppress_warning: another)
    monkeypatch.setattr(language.st, "session_state", {language.KEY: "zh"})
    assert language.current() == "zh"
