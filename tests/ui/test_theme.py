"""One meaning, one look: told apart on either background, by colour and without it."""

import re
import tomllib

import pytest

from tests.chapters import ROOT
from ui import theme

BACKGROUNDS = (theme.BACKGROUND_LIGHT, theme.BACKGROUND_DARK)
CONFIG = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
WORDS = 4.5  # contrast of text (WCAG 2, AA)
SHAPES = 3.0  # of everything else one must see


@pytest.mark.parametrize("background", BACKGROUNDS)
@pytest.mark.parametrize("name", theme.MEANINGS)
def test_every_meaning_stands_out_from_either_page(name, background):
    assert theme.contrast(theme.MEANINGS[name].colour, background) >= SHAPES


@pytest.mark.parametrize("background", BACKGROUNDS)
@pytest.mark.parametrize("colour", theme.SERIES)
def test_every_curve_stands_out_from_either_page(colour, background):
    assert theme.contrast(colour, background) >= SHAPES


SLOT = ("queue", "prefill", "decode", "held", "stalled", "preempted", "free")
REQUEST = ("queue", "tokenize", "prefill", "decode", "mixed", "sample", "detokenize", "preempted")
MEMORY = ("weights", "overhead", "stored", "free", "left_alone", "too_much")
TAPE = ("given", "proposed", "accepted", "rejected", "corrected", "bonus")
TREE = ("cached", "prefill", "decode", "missing", "locked", "evictable", "evicted")
PROCESSOR = ("tokenize", "prepare", "launch", "kernel", "sample", "detokenize", "idle")


@pytest.mark.parametrize("states", [SLOT, REQUEST, PROCESSOR, MEMORY, TAPE, TREE])
def test_states_that_stand_in_one_picture_have_patterns_of_their_own(states):
    patterns = [theme.MEANINGS[name].pattern for name in states]
    assert len(set(patterns)) == len(patterns)


def test_every_meaning_has_a_known_pattern_its_own_colour_and_a_name_in_both_languages():
    meanings = theme.MEANINGS.values()
    assert {meaning.pattern for meaning in meanings} <= set(theme.PATTERNS)
    assert len({meaning.colour for meaning in meanings}) == len(meanings)
    assert len({meaning.zh for meaning in meanings}) == len(meanings)
    assert len({meaning.en for meaning in meanings}) == len(meanings)


def test_contrast_is_that_of_the_standard():
    assert theme.contrast("#000000", "#ffffff") == pytest.approx(21)
    assert theme.contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)
    assert theme.contrast("#0072b2", "#0072b2") == 1


def test_the_theme_knows_the_backgrounds_and_texts_of_the_configuration():
    light, dark = CONFIG["theme"]["light"], CONFIG["theme"]["dark"]
    assert (light["backgroundColor"], light["textColor"]) == (
        theme.BACKGROUND_LIGHT,
        theme.TEXT_LIGHT,
    )
    assert (dark["backgroundColor"], dark["textColor"]) == (
        theme.BACKGROUND_DARK,
        theme.TEXT_DARK,
    )


@pytest.mark.parametrize("name", ["light", "dark"])
@pytest.mark.parametrize("ink", ["textColor", "primaryColor", "linkColor"])
def test_whatever_carries_words_can_be_read_in_either_theme(name, ink):
    colours = CONFIG["theme"][name]
    for background in ("backgroundColor", "secondaryBackgroundColor"):
        assert theme.contrast(colours[ink], colours[background]) >= WORDS


def test_the_page_asks_nobody_else_for_anything():
    fonts = CONFIG["theme"]["font"]
    assert not re.search(r"https?:|//", fonts)
    assert CONFIG["browser"]["gatherUsageStats"] is False
    for sheet in (ROOT / "assets").rglob("*.css"):
        assert not re.search(r"@import|url\(\s*['\"]?(https?:)?//", sheet.read_text("utf-8")), sheet


@pytest.mark.parametrize(
    ("index", "letter"), [(0, "A"), (25, "Z"), (26, "A1"), (51, "Z1"), (52, "A2")]
)
def test_requests_are_called_by_letters(index, letter):
    assert theme.request_letter(index) == letter
