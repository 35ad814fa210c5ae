"""What is accepted is honoured: texts of the mask satisfy the schema, patterns are those of `re`.

The authorities are the `jsonschema` library and Python's `re`.
"""

import json
import random
import re
import string
import warnings
from contextlib import suppress

import jsonschema
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sim.errors import SimError
from sim.model.constrained import json_schema
from sim.model.constrained.automaton import Automaton, compiled

LONGEST = 40  # bytes that are drawn before the way to the end is taken


def machine_of(pattern: str) -> Automaton:
    """The automaton, if the pattern is accepted."""
    try:
        return compiled(pattern)
    except SimError:
        assume(False)
        raise


def ways_to_the_end(machine: Automaton) -> list[int]:
    """How many bytes each state is from the end of the text."""
    far = len(machine.table) + 1
    left = [0 if may_end else far for may_end in machine.accepting.tolist()]
    for _ in range(machine.num_states):
        onto = [min(left[to] for to in set(row)) for row in machine.table.tolist()]
        better = [min(own, 1 + next_) for own, next_ in zip(left, onto, strict=True)]
        if better == left:
            break
        left = better
    return left


def texts_of(machine: Automaton, rng: random.Random, number: int) -> list[str]:
    """Some texts that the mask allows, drawn byte by byte."""
    left, rows = ways_to_the_end(machine), machine.table.tolist()
    found = []
    for _ in range(number):
        state, data = 0, bytearray()
        while not (machine.accepting[state] and (len(data) > LONGEST or rng.random() < 0.2)):
            ways = [byte for byte in range(256) if rows[state][byte] != machine.dead]
            if not ways:
                break
            if len(data) > LONGEST:
                nearest = min(left[rows[state][byte]] for byte in ways)
                ways = [byte for byte in ways if left[rows[state][byte]] == nearest]
            data.append(rng.choice(ways))
            state = rows[state][data[-1]]
        found.append(data.decode())
    return found


# -- schemas ----------------------------------------------------------------------------------

KEYS = st.sampled_from(["a", "b", "id", "type", 'q"', "键", "a/b"])
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.sampled_from([1.0, 0.5, "", "a", "x.y", "中"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(KEYS, inner, max_size=2),
    max_leaves=3,
)
TYPES = st.sampled_from([*json_schema.KNOWN])
BOUND = st.integers(-2, 4)
KEYWORDS = {
    "title": st.just("t"),
    "default": VALUES,
    "type": TYPES | st.lists(TYPES, min_size=1, max_size=3),
    "enum": st.lists(VALUES, min_size=1, max_size=4),
    "const": VALUES,
    "minLength": st.integers(0, 3),
    "maxLength": st.integers(0, 80),
    "minItems": st.integers(0, 3),
    "maxItems": st.integers(0, 40),
    "uniqueItems": st.booleans(),
    "minimum": BOUND,
    "maximum": BOUND,
    "exclusiveMinimum": BOUND,
    "exclusiveMaximum": BOUND,
    "required": st.lists(KEYS, max_size=3, unique=True),
    "$ref": st.sampled_from(["#/$defs/x", "#/$defs/a~1b", "#/properties/a", "#"]),
}


def nested(inner):
    own = KEYWORDS | {
        "properties": st.dictionaries(KEYS, inner, max_size=3),
        "additionalProperties": st.booleans() | inner,
        "items": inner,
        "anyOf": st.lists(inner, min_size=1, max_size=3),
        "oneOf": st.lists(inner, min_size=1, max_size=3),
        "allOf": st.lists(inner, min_size=1, max_size=2),
        "$defs": st.dictionaries(st.sampled_from(["x", "a/b"]), inner, max_size=2),
    }
    few = st.lists(st.sampled_from(sorted(own)), min_size=1, max_size=4, unique=True)
    typed = few.map(lambda keys: {"type": KEYWORDS["type"]} | {key: own[key] for key in keys})
    return st.one_of(few.map(lambda keys: {key: own[key] for key in keys}), typed).flatmap(
        st.fixed_dictionaries
    )


SCHEMAS = st.recursive(
    st.fixed_dictionaries({"type": TYPES}) | st.fixed_dictionaries({"enum": KEYWORDS["enum"]}),
    nested,
    max_leaves=6,
)


def violations(schema, rng, number=12):
    """Texts of the mask that the schema does not allow."""
    machine = machine_of(json_schema.pattern(json.dumps(schema)))
    check = jsonschema.Draft202012Validator(schema)
    return [text for text in texts_of(machine, rng, number) if not check.is_valid(json.loads(text))]


@given(SCHEMAS, st.integers(0, 2**20))
def test_every_text_of_an_accepted_schema_satisfies_it(schema, seed):
    try:
        json_schema.pattern(json.dumps(schema))
    except SimError:
        assume(False)
    assert violations(schema, random.Random(seed)) == []


FIXED = [
    {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
    {"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": False},
    {"type": "object", "additionalProperties": {"type": ["string", "null"]}},
    {"type": "object", "required": ["x"], "additionalProperties": {"type": "integer"}},
    {"type": "string", "enum": ["on", "off", None]},
    {"type": "integer", "enum": [1, 1.0, 1.5, "1", True]},
    {"type": ["integer", "null"], "minimum": 0},
    {"type": "array", "items": {"type": "boolean"}, "minItems": 2, "maxItems": 3},
    {"type": "array", "items": {"$ref": "#/$defs/p"}, "$defs": {"p": {"enum": ["x", 2]}}},
    {"oneOf": [{"type": "string", "maxLength": 2}, {"type": "integer"}, {"const": None}]},
    {"anyOf": [{"type": "object", "properties": {"k": {"const": 1}}}, {"type": "null"}]},
    {"properties": {"a": {"type": "null"}, "b": {"type": "null"}}, "required": ["b"]},
    {"type": "integer", "minimum": 1},
    {"type": "number"},
    {"type": "string", "minLength": 2, "maxLength": 1000},
    {"title": "Invoice", "type": "object", "$schema": "https://json-schema.org/draft/2020-12/schema",
     "properties": {"no": {"type": "integer", "description": "d", "default": 1},
                    "lines": {"type": "array", "items": {"$ref": "#/$defs/line"}, "minItems": 1}},
     "required": ["lines", "no"], "additionalProperties": False,
     "$defs": {"line": {"type": "object", "properties": {"q": {"type": "number"},
               "unit": {"enum": ["kg", "m"]}, "note": {"type": ["string", "null"]}},
               "required": ["q"]}}},
]  # fmt: skip


@pytest.mark.parametrize("schema", FIXED, ids=range(len(FIXED)))
def test_texts_of_usual_schemas_satisfy_them(schema):
    assert violations(schema, random.Random(3), 150) == []


TEMPTING = [  # what is easily accepted and then violated
    {"oneOf": [{"type": "string"}, {"const": "a"}]},
    {"oneOf": [{"type": "integer"}, {"type": "number"}]},
    {"oneOf": [{"enum": [1, "a"]}, {"enum": [1.0, "b"]}]},
    {"oneOf": [{"type": "object", "properties": {"a": {"const": 1}}},
               {"type": "object", "properties": {"a": {"const": 2}}}]},
    {"allOf": [{"type": "string"}, {"maxLength": 1}]},
    {"type": "object", "properties": {"a": {"type": "null"}}, "required": ["b"]},
    {"type": "array", "items": {"type": "boolean"}, "minItems": 3, "uniqueItems": True},
    {"type": "object", "additionalProperties": {"type": "null"}, "minProperties": 2},
    {"type": "string", "pattern": "^a+$"},
    {"type": "integer", "minimum": 5},
    {"$ref": "#/$defs/a", "maxLength": 1, "$defs": {"a": {"type": "string"}}},
    {"type": "string", "not": {"const": ""}},
    {"anyOf": [{"type": "string"}], "maxLength": 1},
    {"const": "a", "enum": ["b"]},
]  # fmt: skip


@pytest.mark.parametrize("schema", TEMPTING, ids=range(len(TEMPTING)))
def test_what_is_easily_violated_is_refused_or_kept(schema):
    with suppress(SimError):
        machine = compiled(json_schema.pattern(json.dumps(schema)))
        check = jsonschema.Draft202012Validator(schema)
        texts = texts_of(machine, random.Random(2), 100)
        assert [text for text in texts if not check.is_valid(json.loads(text))] == []


def test_texts_that_are_drawn_differ():
    machine = compiled(json_schema.pattern(json.dumps(FIXED[0])))
    assert len(set(texts_of(machine, random.Random(1), 50))) > 20


# -- patterns ---------------------------------------------------------------------------------

ATOMS = (
    *"ab1-_ .中é٣",
    *(r"\d", r"\w", r"\s", r"\D", r"\W", r"\S", r"\.", r"\n", r"\x41", r"\u4e2d", "\n"),
    *("[ab]", "[^a]", r"[\d-]", "[-a]", "[]a]", "[^]a]", r"[\w.]", "[a-c1-3]", r"[^\s\d]"),
    *("[a-b-c]", r"[\-a]", r"[a\]]", "[--a]", r"[\d-a]", "(?i)", "^", "$", r"\b", r"\1", "["),
    *("{2}", "(?=a)"),
)
TIMES = st.sampled_from(
    ["", "*", "+", "?", "{2}", "{1,3}", "{0,2}", "{2,}", "*?", "+?", "??", "{1,2}?"]
)
PATTERNS = st.recursive(
    st.tuples(st.sampled_from(ATOMS), TIMES).map("".join),
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map("".join),
        st.lists(inner, min_size=2, max_size=3).map("|".join),
        st.tuples(inner, TIMES).map(lambda pair: "({}){}".format(*pair)),
        inner.map("(?:{})".format),
        inner.map("^{}$".format),
    ),
    max_leaves=5,
)
LETTERS = [*"ab1-_ .A中é٣\n]", "Ⅷ", "\u2003", "😀"]


def agrees(machine, pattern, texts):
    """Whether our automaton and `re` say the same of all texts."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # "possible nested set"
        theirs = re.compile(pattern)
    own = texts_of(machine, random.Random(len(texts)), 6)
    for text in [*texts, *own]:
        if len(text) < 12:  # `re` tries and goes back
            assert machine.accepts(text) == (theirs.fullmatch(text) is not None), text


@pytest.mark.parametrize("atom", ATOMS)
def test_every_atom_that_is_accepted_agrees_with_re(atom):
    with suppress(SimError):
        agrees(compiled(atom), atom, LETTERS)


@given(PATTERNS, st.lists(st.lists(st.sampled_from(LETTERS), max_size=5).map("".join), max_size=12))
def test_every_accepted_pattern_agrees_with_re(pattern, texts):
    agrees(machine_of(pattern), pattern, texts)


@given(st.text(string.printable + "中٣", max_size=14))
def test_any_text_is_refused_or_a_pattern_of_re(text):
    agrees(machine_of(text), text, ["", "a", "1", "-", "]"])


SCRAPS = ("", "{", "}", "[", ",", '"', "null", "true", "-1", "1e999", '{"$ref":"#"}', "\\ud800")


def test_mutated_schemas_are_read_or_refused_with_a_code():
    rng = random.Random(5)
    for _ in range(1_500):
        text = json.dumps(rng.choice(FIXED))
        for _ in range(rng.randint(1, 4)):
            at, length = rng.randrange(len(text) + 1), rng.randint(0, 12)
            text = text[:at] + rng.choice(SCRAPS) + text[at + length :]
        with suppress(SimError):
            json_schema.pattern(text)
