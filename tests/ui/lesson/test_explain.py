"""The honest line, and the way from the model to the real engines."""

import pytest

from ui.course.sources import sources
from ui.lesson import explain


def test_each_mark_says_where_a_number_comes_from():
    assert explain.mark_words("computed") == "此处计算"
    assert explain.mark_words("here", "EPYC 9554") == "在这台机器上实测：EPYC 9554"
    assert explain.mark_words("gpu") == "需要 GPU，此处未执行"
    title = sources()["leviathan-table"].title
    assert explain.mark_words("measured", "leviathan-table") == f"他处实测：{title}"


def test_a_number_from_elsewhere_is_one_of_the_table():
    with pytest.raises(KeyError, match="hearsay"):
        explain.mark_words("measured", "hearsay")


def test_an_unknown_mark_is_refused():
    with pytest.raises(ValueError, match="expected one of computed, here, measured, gpu"):
        explain.leaves_out("text", "guessed")  # type: ignore[arg-type]
