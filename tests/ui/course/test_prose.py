"""Chapter text: a blank without a number, or a number without a blank, is an error."""

import os

import pytest

from ui.course import prose

TEXT = """# 标题

## 先看 {#look}
一共 **{{total}}** 个，其中 {{part}} 个在等。

## {#result}
没有标题的一节。
## 公式 {#formula}
`x = {{total}}`，{{total}} 是总数。
"""


@pytest.fixture
def text(tmp_path):
    (tmp_path / "07_page.zh.md").write_text(TEXT, encoding="utf-8")
    return prose.read(tmp_path / "07_page.py", "zh")


def test_a_file_is_cut_into_its_sections(text):
    assert text.title == "标题"
    assert list(text.sections) == ["look", "result", "formula"]
    assert text.section("look").heading == "先看"
    assert text.section("result").heading == ""
    assert text.filled("result") == "没有标题的一节。"


def test_blanks_are_filled_with_the_numbers_of_the_run(text):
    assert text.filled("look", total=9, part="3.0") == "一共 **9** 个，其中 3.0 个在等。"
    assert text.filled("formula", total=9) == "`x = 9`，9 是总数。"


@pytest.mark.parametrize(
    "numbers", [{}, {"total": 9}, {"total": 9, "part": 3, "more": 1}, {"total": 9, "parts": 3}]
)
def test_a_blank_left_over_or_a_number_to_spare_is_an_error(text, numbers):
    with pytest.raises(prose.ProseError, match="look"):
        text.filled("look", **numbers)


def test_a_section_that_does_not_exist_is_an_error(text):
    with pytest.raises(prose.ProseError, match="nowhere"):
        text.section("nowhere")


def test_a_number_is_not_searched_for_blanks_again(text):
    assert "{{total}}" in text.filled("formula", total="{{total}}")


def test_a_changed_file_is_read_again(tmp_path):
    file = tmp_path / "07_page.en.md"
    file.write_text("# One\n", encoding="utf-8")
    assert prose.read(tmp_path / "07_page.py", "en").title == "One"
    file.write_text("# Two\n", encoding="utf-8")
    os.utime(file, ns=(1, 1))
    assert prose.read(tmp_path / "07_page.py", "en").title == "Two"
