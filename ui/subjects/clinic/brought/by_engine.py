"""Which series says what, by engine: `assets/series.csv`, looked up in the engines' releases.

Ranks of one engine hold the same requests, so they are not added up; its data-parallel ranks are
engines of their own.  With priorities SGLang exports a gauge's total under an empty one.  A gauge
that each report sets anew (SGLang's `cache_hit_rate`, `num_retracted_reqs`) is not read.
"""

import csv
import math
from collections import defaultdict
from collections.abc import Mapping

from ui.files import ASSETS
from ui.subjects.clinic.brought.found import Interval
from ui.subjects.clinic.brought.scrapes import Labels, Scrape, Series

PREFIXES = {"vLLM": "vllm:", "SGLang": "sglang:", "DCGM": ""}
RANKS = {"tp_rank", "pp_rank", "moe_ep_rank", "ep_rank", "cp_rank", "pid"}  # dp_rank is an engine's
PERCENT = 99

Groups = dict[Labels, float]  # one value for each engine, by the labels that tell engines apart


def _listed() -> dict[tuple[str, str], list[str]]:
    """(reading, engine) -> names with their prefix, today's first."""
    listed: dict[tuple[str, str], list[str]] = defaultdict(list)
    with (ASSETS / "series.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            listed[row["reading"], row["engine"]].append(PREFIXES[row["engine"]] + row["name"])
    return dict(listed)


NAMES = _listed()
KNOWN = frozenset(name for names in NAMES.values() for name in names)
COUNTERS = ("preemptions", "hits", "queries", "rounds", "drafted", "accepted")
PLAIN_COUNTERS = frozenset(  # Ray may add no `_total`
    name for reading in COUNTERS for name in NAMES.get((reading, "vLLM"), ())
)


def name_of(reading: str, engine: str) -> str:
    """Today's name of a reading."""
    return NAMES[reading, engine][0]


def gauge(scrape: Scrape, reading: str) -> Groups:
    """The value of each engine; {} where the scrape has none."""
    for name in _names(reading):
        if scrape.get(name):
            return _by_engine(_totals_only(scrape[name]))
    return {}


def counter(scrape: Scrape, reading: str) -> float | None:
    """The sum over engines."""
    for name in _names(reading):
        plain = scrape.get(name) if name in PLAIN_COUNTERS else None
        found = scrape.get(f"{name}_total") or plain
        values = _by_engine(found or {})
        if values:
            return sum(values.values())
    return None


def by_label(scrape: Scrape, reading: str, label: str) -> dict[str, float]:
    """A gauge that is split by a label: its value -> the sum over engines."""
    parts: dict[str, float] = defaultdict(float)
    for name in _names(reading):
        for labels, value in scrape.get(name, {}).items():
            parts[dict(labels).get(label, "")] += value
    return dict(parts)


def p99(scrape: Scrape, reading: str) -> Interval | None:
    """The bucket that holds the 99th of a hundred, over all engines; None without observations."""
    for name in _names(reading):
        parts = (scrape.get(f"{name}_{part}", {}) for part in ("bucket", "sum", "count"))
        filled, sums, counts = map(_streaming_only, parts)
        buckets = _buckets(filled, counts)
        total = buckets.get(math.inf)
        if not total:
            continue
        taken, counted = (sum(_by_engine(series).values()) for series in (sums, counts))
        mean = taken / total if taken and counted == total else None
        return _quantile(buckets, total, mean)
    return None


def mean_alone(scrape: Scrape, reading: str) -> float | None:
    """The mean over all engines, where the text has kept no bucket."""
    for name in _names(reading):
        parts = (scrape.get(f"{name}_{part}", {}) for part in ("bucket", "sum", "count"))
        filled, sums, counts = map(_streaming_only, parts)
        observations = sum(_by_engine(counts).values())
        if sums and observations and not filled:
            return sum(_by_engine(sums).values()) / observations
    return None


def _names(reading: str) -> list[str]:
    return [name for (own, _), names in NAMES.items() if own == reading for name in names]


def _is_sound(value: float) -> bool:
    return 0 <= value < math.inf


def _by_engine(series: Series) -> Groups:
    """One value for each engine: of its ranks the largest."""
    found: Groups = {}
    for labels, value in series.items():
        if _is_sound(value):
            engine = tuple(pair for pair in labels if pair[0] not in RANKS)
            found[engine] = max(value, found.get(engine, 0.0))
    return found


def _totals_only(series: Series) -> Series:
    """Without the parts by priority, where their total is there."""
    if not any(("priority", "") in labels for labels in series):
        return series
    return {labels: value for labels, value in series.items() if ("priority", "") in labels}


def _streaming_only(series: Series) -> Series:
    """Without requests that get their answer in one piece, if there are others."""
    streaming = {
        labels: value for labels, value in series.items() if ("is_streaming", "true") in labels
    }
    return streaming if any(streaming.values()) else series


def _buckets(series: Series, counts: Series) -> dict[float, float]:
    """Bound -> observations up to there, over all engines, at the bounds that they share.

    `counts`: of all observations, where a text has lost the last bucket.
    """
    engines: dict[Labels, dict[Labels, dict[float, float]]] = defaultdict(lambda: defaultdict(dict))
    for labels, value in [*series.items(), *counts.items()]:
        bound = _bound(labels)
        if bound is not None and _is_sound(value):
            rank = tuple(pair for pair in labels if pair[0] in RANKS)
            engine = tuple(pair for pair in labels if pair[0] not in RANKS | {"le"})
            engines[engine][rank].setdefault(bound, value)
    counted = [
        max(ranks.values(), key=lambda buckets: buckets.get(math.inf, 0.0))
        for ranks in engines.values()
    ]
    whole = [buckets for buckets in counted if buckets.get(math.inf)]
    if not whole or any(map(_falls, whole)):
        return {}
    shared = set(whole[0]).intersection(*whole[1:])
    return {bound: sum(buckets[bound] for buckets in whole) for bound in sorted(shared)}


def _bound(labels: Labels) -> float | None:
    """Of a bucket its `le`; a count has none and goes on to the end."""
    try:
        bound = float(dict(labels).get("le", "inf"))
    except ValueError:
        return None
    return bound if bound >= 0 else None


def _falls(buckets: Mapping[float, float]) -> bool:
    """Whether a bound holds fewer observations than a lower one: no histogram."""
    counts = [buckets[bound] for bound in sorted(buckets)]
    return counts != sorted(counts)


def _quantile(buckets: Mapping[float, float], total: float, mean: float | None) -> Interval | None:
    """None where a text has kept so few buckets that it could be anywhere."""
    low = 0.0
    for bound, below in buckets.items():
        if below * 100 >= total * PERCENT:
            found = Interval(low, bound, total, mean)
            return None if found.is_anywhere else found
        low = max(low, bound)
    raise AssertionError("the last bucket holds everything")
