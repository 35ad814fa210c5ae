"""A run that is kept as "A", beside the one on the page.

A is kept by its settings, as one parameter of the URL: `a=rate.8~seqs.64`.  So a link carries both
runs, and A is computed again wherever it is opened.
"""

import math
from collections.abc import Callable, Mapping

from ui.words.numbers import significant

AS_IT_STARTS = "~"  # every control stands where it starts
FACTOR = 2.0  # from here on, up or down, a change is said as a factor and not in percent
UNCHANGED = 0.0005


def packed(settings: Mapping[str, str]) -> str:
    """The settings of a run as one value of the URL; control names hold no points."""
    return "~".join(f"{key}.{text}" for key, text in settings.items()) or AS_IT_STARTS


def unpacked(value: str) -> dict[str, str]:
    """The settings again; what has no name is left out."""
    pairs = (part.partition(".") for part in value.split("~"))
    return {key: text for key, point, text in pairs if key and point}


def against(here: float, kept: float, words: Callable[[float], str]) -> str:
    """What a number was in A, and how it has changed since: "A 1.2 s, −35%"."""
    said = f"A {words(kept)}"
    if math.isnan(here) or math.isnan(kept) or kept <= 0:
        return said
    return f"{said}, {change(here / kept)}"


def change(ratio: float) -> str:
    """0.65 -> "−35%", 1.1 -> "+10%", 1 -> "±0%", 3.2 -> "×3.2", 0.1 -> "×0.10"."""
    if abs(ratio - 1) < UNCHANGED:
        return "±0%"
    if ratio >= FACTOR or 0 < ratio <= 1 / FACTOR:
        return f"×{significant(ratio, 2)}"
    sign = "+" if ratio > 1 else "−"
    return f"{sign}{abs(ratio - 1):.{1 if abs(ratio - 1) < 0.1 else 0}%}"
