"""The chapter list: every page once, in reading order; a page that does not exist is not listed."""

from tests.chapters import CHAPTERS
from ui.course import chapters


def test_every_page_is_in_the_list_and_nothing_else():
    assert sorted(one.stem for one in chapters.in_order()) == [c.script.stem for c in CHAPTERS]


def test_the_numbered_chapters_stand_in_order_and_the_workbench_right_before_the_clinic():
    planned = [chapters.Chapter(stem) for group in chapters.GROUPS for stem in group.stems]
    numbers = [chapter.number for chapter in planned if chapter.is_numbered]
    assert numbers == list(range(1, len(numbers) + 1))
    (bench,) = [at for at, chapter in enumerate(planned) if not chapter.is_numbered]
    assert [planned[bench - 1].path, planned[bench + 1].path] == ["systems", "clinic"]
    assert planned[bench].heading("en") == planned[bench].title("en")


def test_a_group_without_a_page_is_left_out(monkeypatch):
    alone = chapters.Group("无", "None", ("99_nothing",))
    monkeypatch.setattr(chapters, "GROUPS", (alone, *chapters.GROUPS))
    assert alone not in [group for group, _ in chapters.listed()]


def test_neighbours_follow_the_reading_order():
    first, *_, last = chapters.in_order()
    assert chapters.neighbours(first.stem)[0] is None
    assert chapters.neighbours(last.stem)[1] is None
    assert chapters.neighbours(first.stem)[1] == chapters.in_order()[1]


def test_every_chapter_has_a_title_and_one_line_about_it_in_both_languages():
    for chapter in chapters.in_order():
        for language in ("zh", "en"):
            assert chapter.title(language)
            assert "\n" not in chapter.teaser(language)
