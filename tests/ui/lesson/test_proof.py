"""A claim proved on any text: the numbers compared are shown, and what differs is said so."""

import re
from unittest import mock

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from sim.model.proofs import SameDistribution, SameLogits, SameTokens
from tests.chapters import LANGUAGES
from tests.ui.visits import text_of
from ui import tiny_model
from ui.course import prose
from ui.lesson import proof
from ui.words import language

TEXTS = ("", tiny_model.SAMPLE, "🙂" * 80, "<b>|</b> مرحبا *x*", "a")
every_claim = pytest.mark.parametrize("claim", proof.CLAIMS)


@pytest.fixture(autouse=True)
def in_english(monkeypatch):
    monkeypatch.setattr(language, "current", lambda: "en")


@every_claim
def test_every_claim_holds_on_every_text(claim):
    for text in TEXTS:
        assert proof.of(claim, text, "en").holds, text


@every_claim
def test_the_words_of_every_claim_and_verdict_are_there_in_both_languages(claim):
    shown = proof.of(claim, tiny_model.SAMPLE, "en")
    for code in LANGUAGES:
        words = prose.read(proof.__file__, code)
        assert words.section(claim).heading
        assert words.filled(claim, **proof.SETTINGS.get(claim, {}))
        assert words.filled(shown.verdict, **shown.numbers)


def test_no_section_is_left_over():
    verdicts = {
        f"{kind}{end}" for kind in ("logits", "bits", "tokens", "draws") for end in ("", "_differ")
    }
    for code in LANGUAGES:
        others = {"tokens_tie", "model"}
        assert set(prose.read(proof.__file__, code).sections) == {*proof.CLAIMS, *verdicts, *others}


def test_what_differs_is_said_to_differ():
    """Each kind of comparison with one result spoilt."""
    logits = np.zeros((2, 9), np.float32)
    words = prose.read(proof.__file__, "en")
    spoilt = {
        "logits_differ": proof._logits(SameLogits(logits, logits + 1), "one", "other"),
        "bits_differ": proof._logits(SameLogits(logits, logits + 1e-6, 0), "one", "other"),
        "tokens_differ": proof._tokens(SameTokens((1, 2), (1, 3)), ("one", "other")),
        "draws_differ": proof._distribution(
            SameDistribution((1, 2), np.array([90, 10]), np.array([50.0, 50.0]))
        ),
    }
    for verdict, result in spoilt.items():
        assert (result.holds, result.verdict) == (False, verdict)
        assert "**They differ!**" in words.filled(verdict, **result.numbers)


def test_a_tie_is_reported_and_what_follows_it_is_not_held_against_anybody():
    words = prose.read(proof.__file__, "en")
    result = proof._tokens(SameTokens((1, 2, 3), (1, 2, 4), tie=2), ("one", "other"))
    assert (result.holds, result.verdict) == (True, "tokens_tie")
    said = words.filled(result.verdict, **result.numbers)
    assert "first 2 are the same" in said
    assert "10⁻⁴" in said
    before = proof._tokens(SameTokens((1, 2, 3), (1, 9, 3), tie=2), ("one", "other"))
    assert before.verdict == "tokens_differ"


def test_the_table_shows_both_numbers_of_the_largest_logits():
    one = np.array([[0, 3, 1, 2]], np.float32)
    shown = proof._logits(SameLogits(one, one + np.float32(5e-5)), "one", "other")
    assert shown.rows[0] == (tiny_model.piece(1), "3.000000", "3.000050")
    assert len(shown.rows) == 4
    assert shown.numbers["difference"] == "5 × 10⁻⁵"


def test_a_text_in_the_table_is_text_and_no_markdown():
    evil = proof.Proof(True, "bits", {}, (("<b>|*x*", "1", "2"),), ("a", "b"))
    assert r"\<b\>\|\*x\*" in proof._table(evil)


def page():
    from ui.course import state
    from ui.lesson import proof

    state.open_page("page")
    proof.panel("paged")
    state.write()


def test_nothing_is_computed_before_the_panel_is_opened():
    with mock.patch.object(proof, "of", side_effect=AssertionError):
        app = AppTest.from_function(page).run()
    assert not app.exception, app.exception
    assert "agree" not in text_of(app)


def test_the_reader_s_own_text_is_what_is_proved():
    app = AppTest.from_function(page)
    app.session_state["proof-paged"] = True
    app.run()
    assert not app.exception, app.exception
    with mock.patch.object(proof, "of", wraps=proof.of) as of:
        app.text_input[0].set_value("猫").run()
    assert of.call_args.args[:2] == ("paged", "猫")
    assert re.search(r"\*\*They agree\.\*\* Of [\d,]+ numbers", text_of(app))


def test_a_long_text_is_cut_with_a_message():
    app = AppTest.from_function(page)
    app.session_state["proof-paged"] = True
    app.run()
    app.text_input[0].set_value("cache " * 1_000).run()
    assert app.warning[0].value == "Of 6,000 characters only the first 160 are used here."
    app.text_input[0].set_value("🙂" * 20).run()
    assert app.warning[0].value == "Too many tokens: the last 16 are not read."
    app.text_input[0].set_value("x").run()
    assert not app.warning
