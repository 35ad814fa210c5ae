"""Tokens as a reader can see them, and a text as the model reads it."""

from hypothesis import given
from hypothesis import strategies as st

from ui import tiny_model


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
