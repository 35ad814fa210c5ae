"""Tokens as a reader can see them, and a text as the model reads it."""

import shutil
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ui import tiny_model

PLAIN = "DejaVu Sans"  # what a machine has that was given no fonts


def has_letter(font, letter):
    command = ["fc-list", f"{font}:charset={ord(letter):x}", "family"]
    return bool(subprocess.run(command, capture_output=True, check=True).stdout)


def test_the_sample_can_be_read_where_no_emoji_font_is():
    if not shutil.which("fc-list") or not has_letter(PLAIN, "a"):
        pytest.skip(f"this machine lacks {PLAIN}")
    chinese = [letter for letter in tiny_model.SAMPLE if "\u3000" <= letter <= "\uffef"]
    others = set(tiny_model.SAMPLE) - set(chinese)
    assert chinese
    assert max(others) > "\uffff"
    assert [letter for letter in others if not has_letter(PLAIN, letter)] == []


def test_a_text_begins_where_another_has_ended():
    assert tiny_model.prompt("") == (tiny_model.encoder().end,)
    assert tiny_model.pieces(tiny_model.prompt("")) == [tiny_model.BEGIN]
    assert tiny_model.piece(tiny_model.encoder().end) == tiny_model.END


def test_spaces_can_be_seen_and_half_a_character_is_its_bytes():
    assert tiny_model.piece(ord(" ")) == "␣"
    assert tiny_model.piece(ord("\n")) == "⏎"
    assert tiny_model.piece(0xE7) == "E7"
    assert tiny_model.piece(0x00) == "00"
    assert "".join(tiny_model.pieces(tiny_model.prompt("🙂"))[1:]) == "F09F9982"


@given(st.text(max_size=200))
def test_any_text_fits_and_every_token_can_be_seen(text):
    prompt = tiny_model.prompt(text)
    assert len(prompt) <= tiny_model.MAX_TOKENS + 1
    assert len(prompt) - 1 + tiny_model.left_out(text) == len(tiny_model.encoder().encode(text))
    assert all(piece and piece.isprintable() for piece in tiny_model.pieces(prompt))
