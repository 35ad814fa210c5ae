"""What any record must be, and how a replay went.

A file is hostile until read: whatever is not as expected is named, with the case it stands in.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sim.errors import SimError, require

LARGEST_NUMBER = 1_000_000  # of blocks, tokens, steps: what was recorded were small servers


@dataclass(frozen=True)
class Mismatch:
    """The first place where ours differs; steps or operations count from 0."""

    index: int
    what: str
    ours: object
    theirs: object


@dataclass(frozen=True)
class Replay:
    """How one case went.  The comparison ends at the first step or operation that differs.

    `unknown_settings` were left aside: if one matters, a step will differ.
    """

    case: str
    num_compared: int
    mismatches: tuple[Mismatch, ...] = ()
    unknown_settings: tuple[str, ...] = ()


def read_cases(path: Path) -> dict[str, Any]:
    """The cases of a file by name.

    Raises:
        SimError: `replay_not_json`, `replay_bad_case`.
        OSError: where there is no such file.
    """
    try:
        cases = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:  # no text, no JSON, a number of 5,000 digits
        raise SimError("replay_not_json", path=str(path), reason=str(error)) from error
    require(isinstance(cases, dict) and bool(cases), "replay_bad_case", case=str(path))
    return cases


@contextmanager
def reading(case: str) -> Iterator[None]:
    """Whatever is wrong while a case is read becomes `replay_bad_case`, with its name."""
    try:
        yield
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
        raise SimError("replay_bad_case", case=case, reason=repr(error)) from error


def number(value: object, least: int = 0) -> int:
    """A whole number as JSON writes it; 4.0 and true are none."""
    if type(value) is not int or not least <= value <= LARGEST_NUMBER:
        raise ValueError(f"{_short(value)} is no whole number from {least} to {LARGEST_NUMBER}")
    return value


def switch(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"{_short(value)} is neither true nor false")
    return value


def tokens(value: object) -> tuple[int, ...]:
    """Token ids, one by one."""
    if not isinstance(value, list):
        raise ValueError(f"{_short(value)} is no list of token ids")
    return tuple(number(token) for token in value)


def _short(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) <= 40 else f"{text[:40]}..."
