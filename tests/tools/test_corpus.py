"""What the tiny model is trained on: plain paragraphs of the course, some of them never."""

import json

import pytest

from tests.chapters import ROOT
from tools.corpus import LANGUAGES, Paragraph, clean, is_held_out, paragraphs


@pytest.mark.parametrize(
    ("markdown", "plain"),
    [
        (
            "平均 [TTFT](#term-ttft) **{{ttft}}** ，其中排队 {{queue}}。",
            "平均 TTFT N ，其中排队 N。",
        ),
        ("## Heading {#hook}\nText", "Heading\nText"),
        ("## {#hook}\nText", "Text"),
        ("- one\n- two", "one\ntwo"),
        ("Run `--max-num-seqs` at $t_0$ now", "Run --max-num-seqs at t_0 now"),
        ("| a | b |\n|---|---|\nText", "Text"),
        ("$$t = \\max(a,\nb)$$", ""),
        ("```sh\nmake run\n```\nText", "Text"),
    ],
)
def test_marks_go_and_words_stay(markdown, plain):
    assert clean(markdown) == plain


def test_every_source_is_read_in_both_languages():
    found = set(paragraphs())
    for language, home, term in (
        ("zh", "大模型推理服务是怎样工作的", "请求：用户发来的一次提问"),
        ("en", "How large language models are served", "Request: One question to the server"),
    ):
        texts = [text for where, text in found if where == language]
        assert any(text.startswith(home) for text in texts)
        assert any(text.startswith(term) for text in texts)
    quiz = json.loads((ROOT / "assets/quiz/05.json").read_text(encoding="utf-8"))["items"][0]
    for language in LANGUAGES:
        assert Paragraph(language, clean(quiz["question"][language])) in found


def test_a_paragraph_comes_once_and_without_marks():
    found = paragraphs()
    assert len(found) == len(set(found))
    marks = ("{{", "**", "](#", "{#", "\n\n", "$$")
    assert [text for _, text in found if any(mark in text for mark in marks)] == []


def test_about_one_paragraph_in_ten_is_held_out():
    assert 0.08 < sum(is_held_out(f"paragraph {n}") for n in range(2000)) / 2000 < 0.12


def test_the_list_of_held_out_paragraphs_ships_with_the_weights():
    rows = json.loads((ROOT / "assets/model/held_out.json").read_text(encoding="utf-8"))
    assert {row["language"] for row in rows} == set(LANGUAGES)
    assert all(is_held_out(row["text"]) for row in rows)
