"""What is read off a chapter's script is what its page registers."""

import pytest

from tests.chapters import CHAPTERS
from ui.course import chapters, outline
from ui.course.chapters import Chapter


@pytest.mark.parametrize("chapter", CHAPTERS, ids=str)
def test_every_act_is_found_in_order_and_named_in_both_languages(chapter):
    acts = outline.of(Chapter(chapter.script.stem))
    assert [act.code for act in acts] == chapter.acts
    assert all(act.zh and act.en for act in acts)


def test_the_main_line_has_neither_the_self_check_nor_what_goes_deeper():
    batching = next(c for c in CHAPTERS if c.path == "/batching")
    acts = outline.of(Chapter(batching.script.stem))
    assert [act.code for act in acts if act.deeper] == ["dynamic"]
    line = outline.main_line(Chapter(batching.script.stem))
    assert {act.code for act in acts} - {act.code for act in line} == {"dynamic", "check"}


def test_the_main_line_is_two_to_four_acts_a_chapter_and_at_most_fifty_in_all():
    taught = [one for one in chapters.in_order() if one.is_numbered and one.number <= 14]
    lengths = {chapter.stem: len(outline.main_line(chapter)) for chapter in taught}
    assert {stem: length for stem, length in lengths.items() if not 2 <= length <= 4} == {}
    assert 40 <= sum(lengths.values()) <= 50
