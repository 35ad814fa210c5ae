"""The honest line, and the way from the model to the real engines."""

import pytest

from ui.lesson import explain


def test_each_mark_says_where_a_number_comes_from():
    words = [explain.mark_words(mark, "vLLM 0.19") for mark in explain.MARKS]
    assert words == [
        "此处计算",
        "在这台机器上实测：vLLM 0.19",
        "他处实测：vLLM 0.19",
        "需要 GPU，此处未执行",
    ]


def test_an_unknown_mark_is_refused():
    with pytest.raises(ValueError, match="expected one of computed, here, measured, gpu"):
        explain.leaves_out("text", "guessed")  # type: ignore[arg-type]
