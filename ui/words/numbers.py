"""Numbers for readers: a unit, and at most three significant digits."""

import math

from ui.words.language import tr


def significant(value: float, digits: int = 3) -> str:
    """1234.5 -> "1,230"; 0.04567 -> "0.0457"; NaN -> an en dash."""
    if math.isnan(value):
        return "–"
    if value == 0:
        return "0"
    rounded = float(f"{value:.{digits - 1}e}")  # first, so that 99.96 is "100" and not "100.0"
    decimals = digits - 1 - math.floor(math.log10(abs(rounded)))
    return f"{rounded:,.{max(0, decimals)}f}"


def plain(value: float) -> str:
    """A setting as it stands on its control: 1.0 -> "1", 0.5 -> "0.5"."""
    return f"{value:g}"


def in_words(value: object) -> str:
    """A setting within a sentence: 1200 -> "1,200"; text stays as it is."""
    return f"{value:,g}" if isinstance(value, int | float) else str(value)


def percent(share: float) -> str:
    """0.46667 -> "46.7%"; no decimals for what rounds to none or to all; NaN -> an en dash."""
    if math.isnan(share):
        return "–"
    return f"{share:.1%}" if 0 < round(share, 3) < 1 else f"{share:.0%}"


def off_by(ours: float, measured: float) -> str:
    """How far ours is from what was measured."""
    return percent(ours / measured - 1)


def in_percent(share: float) -> float:
    """0.46667 -> 46.667, for scales that run from 0 to 100."""
    return share * 100


def seconds(value: float) -> str:
    """Milliseconds below one second: 0.0156 -> "15.6 ms"; 75.3 -> "75.3 s"."""
    if math.isnan(value):
        return "–"
    return f"{significant(value * 1000)} ms" if 0 < value < 0.9995 else f"{significant(value)} s"


def microseconds(value: float) -> str:
    """For what is far below a millisecond: 2e-05 -> "20 µs"; from 1 ms on as `seconds`."""
    if value >= 0.9995e-3:
        return seconds(value)
    text = significant(value * 1e6)
    return f"{text.rstrip('0').rstrip('.') if '.' in text else text} µs"


def steps(value: float, tick_seconds: float) -> str:
    """Seconds as steps of a clock whose steps all take one tick: 0.609 -> "39 steps"."""
    number = significant(value / tick_seconds)
    return tr(f"{number} 步", f"{number} steps")


def count(value: float) -> str:
    """Whole numbers are exact: 19366 -> "19,366"."""
    return f"{value:,.0f}"


def memory(num_bytes: float) -> str:
    """In binary units, as `nvidia-smi` and vLLM's log count: 524288 -> "512 KiB"."""
    for unit in ("B", "KiB", "MiB"):
        if num_bytes < 999.5:
            return f"{significant(num_bytes)} {unit}"
        num_bytes /= 1024
    return f"{significant(num_bytes)} GiB"


def scaled(value: float, unit: str) -> str:
    """In decimal units, as data sheets count: 2.859e13, "FLOP" -> "28.6 TFLOP"."""
    for prefix in ("", "k", "M", "G", "T"):
        if value < 999.5:
            return f"{significant(value)} {prefix}{unit}"
        value /= 1000
    return f"{significant(value)} P{unit}"
