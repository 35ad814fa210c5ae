"""The bank of questions: what an item is, and how it is read.

The items live in `assets/quiz/NN.json`, both languages side by side; `load` reads them and names
file, item and field where one is wrong.  `before.json` has one for each chapter, to be asked at its
door; at its end the self-check asks the same with other numbers.

Long because an item has many fields, and each is checked where it is read.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from ui.files import ASSETS
from ui.words.language import tr

FOLDER = ASSETS / "quiz"
BEFORE = "before"  # the file of what is asked before a chapter
KINDS = ("single", "several", "numeric", "order", "curve")
LEVELS = ("recall", "apply", "analyse")
FEWEST = {"single": 4, "several": 4, "order": 3, "curve": 3}  # options
LARGEST_NUMBER = 1e15  # of an answer

Kind = Literal["single", "several", "numeric", "order", "curve"]
Level = Literal["recall", "apply", "analyse"]
Answer = Any  # single, curve: option index; several, order: list of indices; numeric: float


class QuizError(ValueError):
    """An item is not written as it should be; the message names file, item and field."""

    def __init__(self, file: str, item: str, field: str, expected: str):
        super().__init__(f"{file}, item {item}, field {field}: {expected}")


@dataclass(frozen=True)
class Words:
    """One text in both languages."""

    zh: str
    en: str

    def here(self) -> str:
        return tr(self.zh, self.en)


@dataclass(frozen=True)
class Option:
    """One possible answer, whether it is right, and why somebody would (not) choose it."""

    text: Words
    right: bool
    feedback: Words
    misconception: int | None  # the row of the list of misconceptions this lure stands for
    curve: str = ""  # which curve of the item's figure it is


@dataclass(frozen=True)
class KnownNumber:
    """A number that is recognized, and what to say to it."""

    value: float
    tolerance: float
    feedback: Words

    def matches(self, number: float) -> bool:
        return abs(number - self.value) <= self.tolerance


@dataclass(frozen=True)
class Link:
    """A page in a given state: where the reader can see it."""

    page: str
    query: Mapping[str, str]


@dataclass(frozen=True)
class Item:
    """One question about one idea."""

    id: str
    kind: Kind
    question: Words
    options: tuple[Option, ...]  # for "order" in the right order
    answer: KnownNumber | None  # numeric
    lures: tuple[KnownNumber, ...]  # numeric: wrong numbers with a reason
    otherwise: Words | None  # numeric: any other number
    unit: str
    sources: tuple[str, ...]
    engine_version: str
    link: Link | None
    figure: str = ""  # curve: a name in `exhibits.quiz_curves`
    chapter: str = ""  # the name of its file
    level: Level = "apply"
    twin: str = ""  # items with the same name here ask the same: never in one exam, one round
    exhibit: str = ""  # what is to be read first: a name in `exhibits.evidence`
    after: str = ""  # before a chapter: the item that asks the same at its end

    @property
    def key(self) -> str:
        """Its name in the whole bank: 05/why_continuous."""
        return f"{self.chapter}/{self.id}"

    def takes(self, answer: object) -> bool:
        """Whether this could be an answer to it, right or wrong."""
        if self.kind == "numeric":
            return _is_number(answer)
        places = range(len(self.options))
        if self.kind in ("single", "curve"):
            return _is_place(answer, places)
        if not isinstance(answer, list) or not all(_is_place(one, places) for one in answer):
            return False
        is_whole = len(answer) == len(places) if self.kind == "order" else len(answer) > 0
        return is_whole and len(set(answer)) == len(answer)


def _is_number(answer: object) -> bool:
    is_number = isinstance(answer, int | float) and not isinstance(answer, bool)
    return is_number and abs(answer) < LARGEST_NUMBER  # type: ignore[arg-type]  # NaN is not


def _is_place(answer: object, places: range) -> bool:
    return type(answer) is int and answer in places


# Reading


def names() -> tuple[str, ...]:
    """The chapters that have questions, in reading order."""
    return tuple(sorted(file.stem for file in FOLDER.glob("[0-9]*.json")))


@cache
def all_items() -> dict[str, Item]:
    """The whole bank by key, chapter after chapter."""
    return {item.key: item for name in names() for item in load(name)}


@cache
def beforehand() -> dict[str, Item]:
    """What is asked before a chapter, by its number; nothing is said to an answer."""
    return {item.id: item for item in load(BEFORE)}


@cache
def load(name: str, folder: Path = FOLDER) -> tuple[Item, ...]:
    """The items of `assets/quiz/<name>.json`, checked."""
    file = folder / f"{name}.json"
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise QuizError(file.name, "-", where, f"not JSON: {error.msg}") from error
    raw_items = content.get("items") if isinstance(content, dict) else None
    if not isinstance(raw_items, list) or not raw_items:
        raise QuizError(file.name, "-", "items", "expected a list of items")
    items = tuple(_item(file, number, raw) for number, raw in enumerate(raw_items, start=1))
    seen: set[str] = set()
    for item in items:
        if item.id in seen:
            raise QuizError(file.name, item.id, "id", "used twice")
        seen.add(item.id)
    return items


class _ItemReader:
    """Takes fields out of one JSON object and says where one is wrong."""

    def __init__(self, file: str, item: str, raw: object, at: str = ""):
        self.file, self.item, self.at = file, item, at
        if not isinstance(raw, dict):
            raise self.error("", "expected an object")
        self.raw = raw

    def error(self, field: str, expected: str) -> QuizError:
        path = ".".join(part for part in (self.at, field) if part) or "-"
        return QuizError(self.file, self.item, path, expected)

    def text(self, field: str, default: str | None = None) -> str:
        value = self.raw.get(field, default)
        if not isinstance(value, str) or (default is None and not value.strip()):
            raise self.error(field, "expected a text")
        return value

    def one_of(self, field: str, known: tuple[str, ...]) -> str:
        value = self.text(field)
        if value not in known:
            raise self.error(field, f"expected one of {', '.join(known)}")
        return value

    def words(self, field: str) -> Words:
        both = self.inner(field)
        return Words(zh=both.text("zh"), en=both.text("en"))

    def number(self, field: str) -> float:
        value = self.raw.get(field)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.error(field, "expected a number")
        return float(value)

    def truth(self, field: str) -> bool:
        value = self.raw.get(field)
        if not isinstance(value, bool):
            raise self.error(field, "expected true or false")
        return value

    def inner(self, field: str) -> "_ItemReader":
        path = ".".join(part for part in (self.at, field) if part)
        return _ItemReader(self.file, self.item, self.raw.get(field), path)

    def each(self, field: str) -> "list[_ItemReader]":
        values = self.raw.get(field, [])
        if not isinstance(values, list):
            raise self.error(field, "expected a list")
        path = ".".join(part for part in (self.at, field) if part)
        return [
            _ItemReader(self.file, self.item, value, f"{path}[{index}]")
            for index, value in enumerate(values)
        ]

    def texts(self, field: str) -> tuple[str, ...]:
        values = self.raw.get(field)
        if not isinstance(values, list) or not values:
            raise self.error(field, "expected a list of texts, at least one")
        if not all(isinstance(value, str) and value.strip() for value in values):
            raise self.error(field, "expected a list of texts")
        return tuple(values)


def _item(file: Path, number: int, raw: object) -> Item:
    name = raw.get("id") if isinstance(raw, dict) else None
    reader = _ItemReader(file.name, str(name or f"number {number}"), raw)
    kind = reader.one_of("kind", KINDS)
    numeric = kind == "numeric"
    item = Item(
        id=reader.text("id"),
        kind=kind,  # type: ignore[arg-type]
        question=reader.words("question"),
        options=tuple(_option(part, kind, file.stem != BEFORE) for part in reader.each("options")),
        answer=_value(reader.inner("answer")) if numeric else None,
        lures=tuple(_value(part) for part in reader.each("lures")),
        otherwise=reader.words("otherwise") if numeric else None,
        unit=reader.inner("answer").text("unit", "") if numeric else "",
        sources=reader.texts("source"),
        engine_version=reader.text("engine_version", ""),
        link=_link(reader.inner("link")) if "link" in reader.raw else None,
        figure=reader.text("figure") if kind == "curve" else "",
        chapter=file.stem,
        level=reader.one_of("level", LEVELS),  # type: ignore[arg-type]
        twin=reader.text("twin", ""),
        exhibit=reader.text("exhibit", ""),
        after=reader.text("after", ""),
    )
    _check_options(reader, item)
    return item


def _option(reader: _ItemReader, kind: str, feedback: bool) -> Option:
    row = reader.number("misconception") if "misconception" in reader.raw else None
    return Option(
        text=reader.words("text"),
        right=kind == "order" or reader.truth("right"),
        feedback=reader.words("feedback") if feedback else Words("", ""),
        misconception=None if row is None else int(row),
        curve=reader.text("curve") if kind == "curve" else "",
    )


def _value(reader: _ItemReader) -> KnownNumber:
    tolerance = reader.number("tolerance")
    if tolerance < 0:
        raise reader.error("tolerance", "expected zero or more")
    return KnownNumber(reader.number("value"), tolerance, reader.words("feedback"))


def _link(reader: _ItemReader) -> Link:
    query = reader.inner("query")
    return Link(reader.text("page"), {key: query.text(key) for key in query.raw})


def _check_options(reader: _ItemReader, item: Item) -> None:
    num_right = sum(option.right for option in item.options)
    if item.kind == "numeric":
        if item.options:
            raise reader.error("options", "a numeric item has none")
    elif len(item.options) < FEWEST[item.kind]:
        raise reader.error("options", f"expected {FEWEST[item.kind]} or more")
    elif item.kind in ("single", "curve") and num_right != 1:
        raise reader.error("options", f"expected one right option, found {num_right}")
    elif item.kind == "several" and num_right == 0:
        raise reader.error("options", "expected at least one right option")


def plain(text: str) -> str:
    """Markdown links as their words, for names that are read aloud."""
    return re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", text)
