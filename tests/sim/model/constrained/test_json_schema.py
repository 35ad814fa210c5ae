"""A schema becomes a pattern: what it accepts is JSON that fits, and nothing else."""

import json

import pytest

from sim.errors import SimError
from sim.model.constrained import json_schema, pattern
from sim.model.constrained.automaton import compiled

PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 1, "maxLength": 5},
        "age": {"type": "integer"},
        "tags": {"type": "array", "items": {"enum": ["a", "b"]}, "maxItems": 2},
    },
}


def machine(schema):
    return compiled(json_schema.pattern(json.dumps(schema)))


def written(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def test_an_object_has_its_properties_in_their_order():
    person = machine(PERSON)
    assert person.accepts(written({"name": "Li", "age": 3, "tags": ["a", "b"]}))
    assert person.accepts(written({"name": "李", "age": -30, "tags": []}))
    for wrong in (
        {"age": 3, "name": "Li", "tags": []},
        {"name": "Li", "age": 3},
        {"name": "", "age": 3, "tags": []},
        {"name": "Li Lei", "age": 3, "tags": []},
        {"name": "Li", "age": 3.5, "tags": []},
        {"name": "Li", "age": 3, "tags": ["c"]},
        {"name": "Li", "age": 3, "tags": ["a", "a", "a"]},
    ):
        assert not person.accepts(written(wrong)), wrong


@pytest.mark.parametrize(
    ("kind", "right", "wrong"),
    [
        ("integer", ["0", "-1", "907"], ["01", "+1", "1.0", "", "-"]),
        ("number", ["0", "-1.5", "2e9", "1E-3"], [".5", "1.", "NaN", "1e"]),
        ("boolean", ["true", "false"], ["True", "1"]),
        ("null", ["null"], ["", "None"]),
        ("string", ['""', r'"a\"b"', '"中"'], ['"', '"a"b"', '"\n"', r'"\q"']),
    ],
)
def test_a_simple_type_is_what_json_writes(kind, right, wrong):
    one = machine({"type": kind})
    assert [text for text in right if not one.accepts(text)] == []
    assert [text for text in wrong if one.accepts(text)] == []
    for text in right:
        json.loads(text)


def test_arrays_have_as_many_items_as_they_may():
    for low, high in ((0, 0), (0, 2), (1, 2), (2, 2), (1, None)):
        limits = {"minItems": low} | ({} if high is None else {"maxItems": high})
        one = machine({"type": "array", "items": {"type": "null"}, **limits})
        fits = [number for number in range(5) if one.accepts(written([None] * number))]
        assert fits == list(range(low, (4 if high is None else high) + 1))


def test_any_value_can_be_one_of_a_list():
    values = ["a.b", 'q"', 1, None, {"x": [True]}]
    one = machine({"enum": values})
    assert all(one.accepts(written(value)) for value in values)
    assert not one.accepts(written("aXb"))
    assert machine({"const": 7}).accepts("7")


FAULTS = {
    "{": "schema_not_json",
    '{"type":"integer"': "schema_not_json",
    "[]": "schema_not_an_object",
    "{}": "schema_type_unknown",
    '{"type":["integer","null"]}': "schema_type_unknown",
    '{"type":"date"}': "schema_type_unknown",
    '{"type":"integer","minimum":3}': "schema_unsupported",
    '{"enum":["ab"],"minLength":3}': "schema_unsupported",
    '{"$ref":"#"}': "schema_type_unknown",
    '{"type":"array"}': "schema_value_unreadable",
    '{"type":"string","maxLength":1000}': "schema_value_unreadable",
    '{"type":"string","maxLength":true}': "schema_value_unreadable",
    '{"type":"string","minLength":3,"maxLength":2}': "schema_value_unreadable",
    '{"enum":[]}': "schema_value_unreadable",
    '{"enum":[NaN]}': "schema_value_unreadable",
    '{"enum":["\\ud800"]}': "schema_value_unreadable",
    '{"type":"object","properties":[]}': "schema_value_unreadable",
    '{"type":"array","items":' * 10 + '{"type":"null"}' + "}" * 10: "schema_too_deep",
    '{"const":' + "[" * 100_000 + "]" * 100_000 + "}": "schema_too_deep",
    '{"const":' + "9" * 100_000 + "}": "schema_value_unreadable",
}


@pytest.mark.parametrize("text", FAULTS, ids=lambda text: text[:60])
def test_what_cannot_be_read_is_refused_with_a_code(text):
    with pytest.raises(SimError) as caught:
        json_schema.pattern(text)
    assert caught.value.code == FAULTS[text]


def test_a_number_too_large_for_a_float_is_no_json():
    with pytest.raises(SimError):
        json_schema.pattern('{"const":1e999}')


@pytest.mark.parametrize("innermost", ["null", "string", "number", "boolean"])
def test_a_pattern_holds_whatever_is_not_too_deep_for_a_schema(innermost):
    deepest = json_schema.MAX_DEPTH
    lists = '{"type":"array","items":' * deepest + f'{{"type":"{innermost}"}}' + "}" * deepest
    pattern.parse(json_schema.pattern(lists))


def test_a_value_is_quoted_as_it_stands_in_json():
    for text, quoted in {"{}": "null", '{"type":["null"]}': '["null"]'}.items():
        with pytest.raises(SimError) as caught:
            json_schema.pattern(text)
        assert caught.value.values["value"] == quoted


def test_where_the_json_breaks_off_is_said():
    with pytest.raises(SimError) as caught:
        json_schema.pattern('{"type":}')
    assert caught.value.values["place"] == 9
