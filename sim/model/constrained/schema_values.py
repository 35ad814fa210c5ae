"""JSON values against types, and schemas that no value can satisfy both of.

`oneOf` wants exactly one of its schemas to hold.  A pattern can only offer one after the other, so
they must exclude each other: by type, by the values they list, or by one property that tells them
apart.
"""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

NUMBERS = {"integer", "number"}


def has_type(value: object, kinds: Sequence[str]) -> bool:
    """Whether a JSON value is of one of the types; 1.0 is a whole number, `true` is none."""
    return any(_is(value, kind) for kind in kinds)


def _is(value: object, kind: str) -> bool:
    if isinstance(value, bool) or value is None:
        return kind == ("null" if value is None else "boolean")
    if isinstance(value, int | float):
        return kind == "number" or (kind == "integer" and float(value).is_integer())
    own: dict[type, str] = {str: "string", list: "array", dict: "object"}
    return kind == own[type(value)]


def same(one: object, other: object) -> bool:
    """Whether two JSON values are equal: 1 and 1.0 are, 1 and `true` are not."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    return one == other


def are_apart(schemas: Sequence[Any]) -> bool:
    """Whether no value satisfies two of them, as far as that is seen."""
    return all(_apart(one, other) for one, other in combinations(schemas, 2))


def _apart(one: Any, other: Any) -> bool:
    if not isinstance(one, dict) or not isinstance(other, dict):
        return False
    values, others = _values(one), _values(other)
    if values is not None and others is not None:
        return not any(same(mine, theirs) for mine in values for theirs in others)
    kinds, theirs = _kinds(one), _kinds(other)
    if kinds and theirs and not kinds & theirs:
        return True
    return kinds == theirs == {"object"} and _told_by_a_property(one, other)


def _told_by_a_property(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether both require a property that must have different values."""
    mine, theirs = (schema.get("properties") for schema in (one, other))
    needed = [schema.get("required") for schema in (one, other)]
    if not isinstance(mine, dict) or not isinstance(theirs, dict):
        return False
    if not all(isinstance(keys, list) for keys in needed):
        return False
    return any(
        key in theirs and all(key in keys for keys in needed if keys) and _apart(own, theirs[key])
        for key, own in mine.items()
        if all(needed) and isinstance(own, dict) and _values(own) is not None
    )


def _values(schema: dict[str, Any]) -> list[Any] | None:
    """The values that a schema lists; None if it lists none."""
    if "const" in schema:
        return [schema["const"]]
    listed = schema.get("enum")
    return listed if isinstance(listed, list) else None


def _kinds(schema: dict[str, Any]) -> set[str]:
    """The types that a schema asks for, whole numbers as numbers; empty: it may be any."""
    given = schema.get("type")
    if given is None:
        values = _values(schema)
        return set() if values is None else {_kind_of(value) for value in values}
    kinds = given if isinstance(given, list) else [given]
    return {"number" if kind in NUMBERS else kind for kind in kinds if isinstance(kind, str)}


def _kind_of(value: object) -> str:
    kinds = ("null", "boolean", "number", "string", "array", "object")
    return next(kind for kind in kinds if _is(value, kind))
