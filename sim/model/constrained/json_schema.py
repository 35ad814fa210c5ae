"""A JSON Schema as a regular expression, for the part that one can express.

Objects come in the order of their properties, all of them, without white space: `{"a":1,"b":[]}`.
Since nothing nests deeper than the schema says, a finite automaton is enough; a schema that refers
to itself would need a stack (`$ref` is refused, as is every other keyword that is not known here).

Source: JSON Schema 2020-12; Willard and Louf 2023 (Outlines) go the same way.
"""

import json
from typing import Any, NoReturn

from sim.errors import SimError, require
from sim.model.constrained.pattern import quoted

MAX_DEPTH = 6  # lists within lists: three groups each, of the 20 that a pattern may nest
MAX_ITEMS = 32
MAX_LENGTH = 64
MAX_DIGITS = 64  # of a whole number
SILENT = {"title", "description", "$schema", "required", "additionalProperties"}  # change nothing

CHARACTER = r'([^"\\\x00-\x1f]|\\["\\/bfnrt])'
INTEGER = r"-?(0|[1-9]\d*)"
NUMBER = INTEGER + r"(\.\d+)?([eE][+-]?\d+)?"
KNOWN = {
    "string": {"minLength", "maxLength"},
    "object": {"properties"},
    "array": {"items", "minItems", "maxItems"},
    "integer": set(),
    "number": set(),
    "boolean": set(),
    "null": set(),
}  # type -> keywords


def pattern(text: str) -> str:
    """The regular expression of all texts that a schema, given as text, allows.

    Raises:
        SimError: `schema_not_json` with `place`; `schema_not_an_object`, `schema_unsupported`,
            `schema_type_unknown`, `schema_value_unreadable` with `value`; `schema_too_deep`.
    """
    try:
        return _any(json.loads(text, parse_constant=_no_number, parse_int=_whole), 0)
    except json.JSONDecodeError as error:
        raise SimError("schema_not_json", place=error.pos + 1) from None
    except RecursionError:
        raise SimError("schema_too_deep", limit=MAX_DEPTH) from None


def _any(schema: Any, depth: int) -> str:
    require(isinstance(schema, dict), "schema_not_an_object", value=_quoted(schema))
    require(depth <= MAX_DEPTH, "schema_too_deep", limit=MAX_DEPTH)
    for keyword, values in (("enum", schema.get("enum")), ("const", [schema.get("const")])):
        if keyword in schema:
            _only(schema, {"type", keyword})
            fits = isinstance(values, list) and 1 <= len(values) <= MAX_ITEMS
            require(fits, "schema_value_unreadable", value=keyword)
            return "(" + "|".join(_literal(value) for value in values) + ")"
    kind = schema.get("type")
    known = isinstance(kind, str) and kind in KNOWN
    require(known, "schema_type_unknown", value=_quoted(kind), known=tuple(KNOWN))
    _only(schema, {"type", *KNOWN[kind]})
    if kind == "object":
        return _object(schema, depth)
    if kind == "array":
        return _array(schema, depth)
    if kind == "string":
        low, high = _limits(schema, "minLength", "maxLength", MAX_LENGTH)
        return f'"{CHARACTER}{{{low},{high}}}"'
    return {"integer": INTEGER, "number": NUMBER, "boolean": "(true|false)", "null": "null"}[kind]


def _object(schema: dict[str, Any], depth: int) -> str:
    properties = schema.get("properties", {})
    require(isinstance(properties, dict), "schema_value_unreadable", value="properties")
    members = (f"{_literal(key)}:{_any(each, depth + 1)}" for key, each in properties.items())
    return r"\{" + ",".join(members) + r"\}"


def _array(schema: dict[str, Any], depth: int) -> str:
    require("items" in schema, "schema_value_unreadable", value="items")
    item = f"({_any(schema['items'], depth + 1)})"
    low, high = _limits(schema, "minItems", "maxItems", MAX_ITEMS)
    if high == "0":
        return r"\[\]"
    least = max(int(low) - 1, 0)
    most = str(int(high) - 1) if high else ""
    inside = f"{item}(,{item}){{{least},{most}}}"
    return rf"\[({inside})?\]" if low == "0" else rf"\[{inside}\]"


def _limits(schema: dict[str, Any], least: str, most: str, limit: int) -> tuple[str, str]:
    """Both as text; the upper one empty where nothing limits it."""
    low, high = schema.get(least, 0), schema.get(most)
    for name, value in ((least, low), (most, high)):
        fits = type(value) is int and 0 <= value <= limit
        require(fits or (value is None and name == most), "schema_value_unreadable", value=name)
    require(high is None or low <= high, "schema_value_unreadable", value=most)
    return str(low), "" if high is None else str(high)


def _only(schema: dict[str, Any], known: set[str]) -> None:
    for keyword in schema:
        require(keyword in known | SILENT, "schema_unsupported", value=keyword[:20])


def _literal(value: object) -> str:
    """A pattern for the value as JSON, without white space."""
    try:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        text.encode()
    except ValueError:  # infinity, or half a surrogate pair, which JSON can write and UTF-8 cannot
        raise SimError("schema_value_unreadable", value=ascii(value)[:20]) from None
    return quoted(text)


def _quoted(value: object) -> str:
    """The beginning of a value as it stands in JSON, for a message."""
    return json.dumps(value, ensure_ascii=False)[:20]


def _no_number(name: str) -> NoReturn:
    raise SimError("schema_value_unreadable", value=name)  # NaN and Infinity are not JSON


def _whole(digits: str) -> int:
    require(len(digits) <= MAX_DIGITS, "schema_value_unreadable", value=digits[:20])
    return int(digits)
