"""A JSON Schema as a regular expression, for the part that one can express.

Every text of the pattern satisfies the schema; not every text that satisfies it has to be one of
the pattern.  Objects come in the order of their properties, without white space: `{"a":1,"b":[]}`;
those that are not required may be left out, and none is written that is not listed, except in a map
(`additionalProperties` alone).  Since nothing nests deeper than the schema says, a finite automaton
is enough; a schema that refers to itself would need a stack.  A keyword that cannot be honoured is
refused with the place where it stands.

Source: JSON Schema 2020-12; Willard and Louf 2023 (Outlines) go the same way.
"""

import json
from collections.abc import Sequence
from typing import Any, NoReturn

from sim.errors import SimError, require
from sim.model.constrained import schema_parts, schema_values
from sim.model.constrained.pattern import quoted

MAX_DEPTH = 6  # lists within lists: three groups each, of the 20 that a pattern may nest
MAX_ITEMS = 32
MAX_VALUES = 200  # of an `enum`
MAX_LENGTH = 64
MAX_DIGITS = 64  # of a whole number
MAX_PATTERN = 20_000  # letters
MAX_NODES = 500  # schemas within the schema, each as often as it is referred to
SILENT = {
    *("title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly"),
    *("$schema", "$comment", "$defs", "definitions"),
}  # change nothing

CHARACTER = r'([^"\\\x00-\x1f]|\\["\\/bfnrt])'
INTEGER = r"-?(0|[1-9][0-9]*)"
NUMBER = INTEGER + r"(\.[0-9]+)?([eE][+-]?[0-9]+)?"
BOUNDS = {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"}
KNOWN = {
    "string": {"minLength", "maxLength"},
    "object": {"properties", "required", "additionalProperties"},
    "array": {"items", "minItems", "maxItems", "uniqueItems"},
    "integer": BOUNDS,
    "number": set(),
    "boolean": set(),
    "null": set(),
}  # type -> keywords

Schema = dict[str, Any]


def pattern(text: str) -> str:
    """The regular expression of texts that a schema, given as text, allows.

    Raises:
        SimError: `schema_not_json` with `place`; all others with `at`, the way to where it is:
            `schema_not_an_object`, `schema_unsupported`, `schema_type_unknown`,
            `schema_value_unreadable`, `schema_not_honoured` with `value`; `schema_too_deep`,
            `schema_too_large`.
    """
    try:
        root = json.loads(text, parse_constant=_no_number, parse_int=_whole)
        return _Walk(root).any(root, ())
    except json.JSONDecodeError as error:
        raise SimError("schema_not_json", place=error.pos + 1) from None
    except RecursionError:
        raise SimError("schema_too_deep", limit=MAX_DEPTH, at="") from None


class _Walk:
    """Goes through a schema from its root; `path` are the keys on the way."""

    def __init__(self, root: Any):
        self.root = root
        self.num_nodes = 0

    def any(self, schema: Any, path: tuple[str, ...], depth: int = 0) -> str:
        require(
            isinstance(schema, dict), "schema_not_an_object", value=_quoted(schema), at=_at(path)
        )
        require(depth <= MAX_DEPTH, "schema_too_deep", limit=MAX_DEPTH, at=_at(path))
        self.num_nodes += 1
        found = self._one(schema, path, depth)
        fits = len(found) <= MAX_PATTERN and self.num_nodes <= MAX_NODES
        require(fits, "schema_too_large", at=_at(path))
        return found

    def _one(self, schema: Schema, path: tuple[str, ...], depth: int) -> str:
        if "$ref" in schema:
            _only(schema, {"$ref"}, path)
            return self.any(self._referred(schema["$ref"], path), (*path, "$ref"), depth + 1)
        for keyword in ("anyOf", "oneOf", "allOf"):
            if keyword in schema:
                _only(schema, {keyword}, path)
                return self._combined(keyword, schema[keyword], path, depth)
        if "enum" in schema or "const" in schema:
            _only(schema, {"type", "enum", "const"}, path)
            return schema_parts.choice([_literal(value, path) for value in _listed(schema, path)])
        _only(schema, {"type"}.union(*KNOWN.values()), path)
        kinds = self._kinds(schema, path)
        return schema_parts.choice([self._of_kind(kind, schema, path, depth) for kind in kinds])

    def _of_kind(self, kind: str, schema: Schema, path: tuple[str, ...], depth: int) -> str:
        if kind == "object":
            return self._object(schema, path, depth)
        if kind == "array":
            return self._array(schema, path, depth)
        if kind == "string":
            low, high = _limits(schema, "minLength", "maxLength", MAX_LENGTH, path)
            return f'"{CHARACTER}{{{low},{high}}}"'
        if kind == "integer":
            return _integer(schema, path)
        if kind == "number":
            for keyword in BOUNDS & set(schema):
                raise SimError("schema_unsupported", value=keyword, at=_at(path))
        return {"number": NUMBER, "boolean": "(true|false)", "null": "null"}[kind]

    def _kinds(self, schema: Schema, path: tuple[str, ...]) -> list[str]:
        """The types that are asked for; without any, the one whose keywords are there."""
        given = schema.get("type")
        if given is None and "type" not in schema:
            named = [kind for kind in KNOWN if KNOWN[kind] & set(schema)]
            require(bool(named), "schema_type_unknown", value=_quoted(None), at=_at(path))
            return named[:1]
        kinds = given if isinstance(given, list) else [given]
        known = bool(kinds) and all(isinstance(kind, str) and kind in KNOWN for kind in kinds)
        require(known, "schema_type_unknown", value=_quoted(given), at=_at(path))
        return list(dict.fromkeys(kinds))

    def _referred(self, ref: Any, path: tuple[str, ...]) -> Any:
        """What stands at `#/$defs/x`."""
        require(isinstance(ref, str), "schema_value_unreadable", value="$ref", at=_at(path))
        begin, *keys = ref.split("/")
        found = self.root
        for key in keys:
            own = key.replace("~1", "/").replace("~0", "~")
            found = found.get(own) if isinstance(found, dict) else None
        known = begin == "#" and bool(keys) and "%" not in ref and isinstance(found, dict)
        require(known, "schema_not_honoured", value=f"$ref {ref[:40]}", at=_at(path))
        return found

    def _combined(self, keyword: str, given: Any, path: tuple[str, ...], depth: int) -> str:
        fits = isinstance(given, list) and 1 <= len(given) <= MAX_ITEMS
        require(fits, "schema_value_unreadable", value=keyword, at=_at(path))
        if keyword == "allOf":
            require(len(given) == 1, "schema_not_honoured", value=keyword, at=_at(path))
        if keyword == "oneOf":
            resolved = [self._resolved(each, path) for each in given]
            apart = schema_values.are_apart(resolved)
            require(apart, "schema_not_honoured", value=keyword, at=_at(path))
        return schema_parts.choice(
            [
                self.any(each, (*path, keyword, str(number)), depth + 1)
                for number, each in enumerate(given)
            ]
        )

    def _resolved(self, schema: Any, path: tuple[str, ...]) -> Any:
        """A schema that only refers to another one, as that one."""
        for _ in range(MAX_DEPTH):
            if not isinstance(schema, dict) or "$ref" not in schema:
                return schema
            schema = self._referred(schema["$ref"], path)
        raise SimError("schema_too_deep", limit=MAX_DEPTH, at=_at(path))

    # -- objects and lists ------------------------------------------------------------------------

    def _object(self, schema: Schema, path: tuple[str, ...], depth: int) -> str:
        listed, others = schema.get("properties", {}), schema.get("additionalProperties", True)
        required = schema.get("required", [])
        _readable(isinstance(listed, dict), "properties", path)
        _readable(isinstance(others, bool | dict), "additionalProperties", path)
        named = isinstance(required, list) and all(isinstance(key, str) for key in required)
        _readable(named, "required", path)
        own = dict(listed)
        for key in required:
            if key not in own:  # what it may be is said by `additionalProperties`, if anywhere
                known = isinstance(others, dict)
                require(known, "schema_not_honoured", value=f"required: {key[:20]}", at=_at(path))
                own[key] = others
        members = []
        for key, each in own.items():
            value = self.any(each, (*path, "properties", key), depth + 1)
            members.append((f"{_literal(key, path)}:{value}", key in required))
        if not members and isinstance(others, dict):
            value = self.any(others, (*path, "additionalProperties"), depth + 1)
            return schema_parts.wrapped(r"\{", f'"{CHARACTER}*":{value}', 0, "", r"\}")
        return r"\{" + schema_parts.members(members) + r"\}"

    def _array(self, schema: Schema, path: tuple[str, ...], depth: int) -> str:
        low, high = _limits(schema, "minItems", "maxItems", MAX_ITEMS, path)
        if schema.get("uniqueItems", False) is not False and high not in ("0", "1"):
            raise SimError("schema_unsupported", value="uniqueItems", at=_at(path))
        if high == "0":
            return r"\[\]"
        _readable("items" in schema, "items", path)
        item = self.any(schema["items"], (*path, "items"), depth + 1)
        return schema_parts.wrapped(r"\[", item, int(low), high, r"\]")


# -- values and limits --------------------------------------------------------------------------


def _limits(
    schema: Schema, least: str, most: str, limit: int, path: tuple[str, ...]
) -> tuple[str, str]:
    """Both as text; the upper one empty where nothing limits it, and never beyond `limit`."""
    low, high = schema.get(least, 0), schema.get(most)
    for name, value in ((least, low), (most, high)):
        fits = type(value) is int and value >= 0 and (name == most or value <= limit)
        _readable(fits or (value is None and name == most), name, path)
    _readable(high is None or low <= high, most, path)
    return str(low), "" if high is None else str(min(high, limit))


def _integer(schema: Schema, path: tuple[str, ...]) -> str:
    """A whole number; between two bounds that are near each other, or not below 0 or 1."""
    given = {name: schema[name] for name in BOUNDS & set(schema)}
    for name, value in given.items():
        _readable(type(value) is int, name, path)
    lows = [schema[name] + more for name, more in (("minimum", 0), ("exclusiveMinimum", 1))
            if name in given]  # fmt: skip
    highs = [schema[name] - less for name, less in (("maximum", 0), ("exclusiveMaximum", 1))
             if name in given]  # fmt: skip
    if lows and highs:
        low, high = max(lows), min(highs)
        fits = low <= high < low + MAX_ITEMS
        require(fits, "schema_not_honoured", value=", ".join(sorted(given)), at=_at(path))
        return schema_parts.choice([str(value) for value in range(low, high + 1)])
    if not given:
        return INTEGER
    known = {(0,): "(0|[1-9][0-9]*)", (1,): "[1-9][0-9]*"}
    found = known.get(tuple(lows[:1])) if len(given) == 1 else None
    if found is None:
        raise SimError("schema_not_honoured", value=", ".join(sorted(given)), at=_at(path))
    return found


def _listed(schema: Schema, path: tuple[str, ...]) -> list[Any]:
    """The values of `enum` or `const` that have the type, if one is given."""
    values = schema.get("enum", [schema.get("const")])
    fits = isinstance(values, list) and 1 <= len(values) <= MAX_VALUES
    _readable(fits, "enum", path)
    if "const" in schema:
        values = [value for value in values if schema_values.same(value, schema["const"])]
    kinds = schema.get("type")
    if kinds is not None:
        wanted = kinds if isinstance(kinds, list) else [kinds]
        known = all(isinstance(kind, str) and kind in KNOWN for kind in wanted)
        require(known, "schema_type_unknown", value=_quoted(kinds), at=_at(path))
        values = [value for value in values if schema_values.has_type(value, wanted)]
    _readable(bool(values), "enum", path)
    return values


def _only(schema: Schema, known: set[str], path: tuple[str, ...]) -> None:
    for keyword in schema:
        fits = keyword in known | SILENT or (keyword == "$id" and not path)
        require(fits, "schema_unsupported", value=keyword[:20], at=_at(path))


def _readable(fits: bool, keyword: str, path: tuple[str, ...]) -> None:
    require(fits, "schema_value_unreadable", value=keyword, at=_at(path))


def _literal(value: object, path: tuple[str, ...]) -> str:
    """A pattern for the value as JSON, without white space."""
    try:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        text.encode()
    except ValueError:  # infinity, or half a surrogate pair, which JSON can write and UTF-8 cannot
        raise SimError("schema_value_unreadable", value=ascii(value)[:20], at=_at(path)) from None
    return quoted(text)


def _at(path: Sequence[str]) -> str:
    """The way to a place of the schema, for a message."""
    return "/".join(key[:20] for key in path)


def _quoted(value: object) -> str:
    """The beginning of a value as it stands in JSON, for a message."""
    return json.dumps(value, ensure_ascii=False)[:20]


def _no_number(name: str) -> NoReturn:
    raise SimError("schema_value_unreadable", value=name, at="")  # NaN and Infinity are not JSON


def _whole(digits: str) -> int:
    require(len(digits) <= MAX_DIGITS, "schema_value_unreadable", value=digits[:20], at="")
    return int(digits)
