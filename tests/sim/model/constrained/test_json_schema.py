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
    "required": ["name", "age", "tags"],
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
    '{"type":["integer","date"]}': "schema_type_unknown",
    '{"type":[]}': "schema_type_unknown",
    '{"type":"date"}': "schema_type_unknown",
    '{"type":"integer","multipleOf":3}': "schema_unsupported",
    '{"type":"integer","minimum":3}': "schema_not_honoured",
    '{"type":"integer","minimum":3,"maximum":300}': "schema_not_honoured",
    '{"type":"number","minimum":3}': "schema_unsupported",
    '{"type":"string","pattern":"a"}': "schema_unsupported",
    '{"type":"string","format":"date"}': "schema_unsupported",
    '{"type":"array","items":{"type":"null"},"uniqueItems":true}': "schema_unsupported",
    '{"type":"array","prefixItems":[{"type":"null"}]}': "schema_unsupported",
    '{"type":"object","patternProperties":{}}': "schema_unsupported",
    '{"type":"object","minProperties":1}': "schema_unsupported",
    '{"not":{"type":"null"}}': "schema_unsupported",
    '{"$ref":"#"}': "schema_not_honoured",
    '{"$ref":"#/$defs/x"}': "schema_not_honoured",
    '{"$ref":"other.json"}': "schema_not_honoured",
    '{"$ref":"#/$defs/x","$defs":{"x":{"$ref":"#/$defs/x"}}}': "schema_too_deep",
    '{"$ref":"#/$defs/x","type":"null","$defs":{"x":{"type":"null"}}}': "schema_unsupported",
    '{"oneOf":[{"type":"string"},{"const":"a"}]}': "schema_not_honoured",
    '{"oneOf":[{"type":"integer"},{"type":"number"}]}': "schema_not_honoured",
    '{"oneOf":[{"const":1},{"enum":[1.0,2]}]}': "schema_not_honoured",
    '{"allOf":[{"type":"string"},{"type":"null"}]}': "schema_not_honoured",
    '{"anyOf":[]}': "schema_value_unreadable",
    '{"anyOf":[true]}': "schema_not_an_object",
    '{"type":"object","required":["id"]}': "schema_not_honoured",
    '{"type":"object","properties":{"a":{"type":"null"}},"required":true}': (
        "schema_value_unreadable"
    ),
    '{"type":"object","additionalProperties":{"type":"date"}}': "schema_type_unknown",
    '{"type":"integer","enum":["a",null,true,1.5]}': "schema_value_unreadable",
    '{"enum":[1],"const":2}': "schema_value_unreadable",
    '{"enum":["ab"],"minLength":3}': "schema_unsupported",
    '{"type":"array"}': "schema_value_unreadable",
    '{"type":"string","minLength":1000}': "schema_value_unreadable",
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
    for text, quoted in {"{}": "null", '{"type":["nil"]}': '["nil"]'}.items():
        with pytest.raises(SimError) as caught:
            json_schema.pattern(text)
        assert caught.value.values["value"] == quoted


def test_where_the_json_breaks_off_is_said():
    with pytest.raises(SimError) as caught:
        json_schema.pattern('{"type":}')
    assert caught.value.values["place"] == 9


def test_a_fault_is_told_with_the_way_to_it():
    deep = '{"type":"object","properties":{"a":{"type":"array","items":{"type":"date"}}}}'
    with pytest.raises(SimError) as caught:
        json_schema.pattern(deep)
    assert caught.value.values["at"] == "properties/a/items"


def test_what_is_not_required_may_be_left_out():
    own = {"type": "object", "properties": {key: {"type": "null"} for key in "abcd"}}
    texts = [{}, {"a": None}, {"b": None, "d": None}, {"a": None, "b": None, "c": None, "d": None}]
    for required, fits in (([], texts), (["b"], texts[2:]), (["c", "b"], texts[3:])):
        one = machine(own | {"required": required})
        assert [text for text in texts if one.accepts(written(text))] == fits
        assert not one.accepts('{"b":null,"a":null}')


def test_a_map_has_any_keys_and_values_of_its_schema():
    one = machine({"type": "object", "additionalProperties": {"type": "integer"}})
    assert one.accepts("{}")
    assert one.accepts('{"x":1,"":-20}')
    assert not one.accepts('{"x":"1"}')
    assert not one.accepts('{"x":1,}')
    needed = {"type": "object", "required": ["k"], "additionalProperties": {"type": "integer"}}
    assert machine(needed).accepts('{"k":5}')
    assert not machine(needed).accepts("{}")


def test_a_reference_is_what_it_refers_to_at_its_place():
    own = {
        "type": "array",
        "items": {"$ref": "#/$defs/a~1b"},
        "minItems": 1,
        "$defs": {"a/b": {"enum": ["x", "y"]}},
    }
    one = machine(own)
    assert one.accepts('["x","y"]')
    assert not one.accepts("[]")
    assert not one.accepts('["z"]')


@pytest.mark.parametrize("keyword", ["anyOf", "oneOf"])
def test_one_of_several_schemas_is_written(keyword):
    kind = {"type": "object", "properties": {"kind": {"const": "a"}}, "required": ["kind"]}
    other = {"type": "object", "properties": {"kind": {"const": "b"}}, "required": ["kind"]}
    one = machine({keyword: [kind, other, {"type": ["integer", "null"]}, {"const": "x"}]})
    right = ['{"kind":"a"}', '{"kind":"b"}', "7", "null", '"x"']
    assert [text for text in right if not one.accepts(text)] == []
    assert not one.accepts('{"kind":"c"}')


def test_whole_numbers_keep_near_bounds():
    near = {"type": "integer", "minimum": -1, "exclusiveMaximum": 3}
    one = machine(near)
    assert [n for n in range(-3, 6) if one.accepts(str(n))] == [-1, 0, 1, 2]
    natural = machine({"type": "integer", "minimum": 0})
    assert natural.accepts("120")
    assert not natural.accepts("-1")


def test_a_long_schema_with_many_optional_properties_is_small_enough():
    own = {"type": "object", "properties": {f"p{n}": {"type": "boolean"} for n in range(20)}}
    one = machine(own)
    assert one.accepts("{}")
    assert one.accepts('{"p0":true,"p19":false}')


@pytest.mark.parametrize(
    "schema",
    [
        {"anyOf": [{"anyOf": [{"anyOf": [{"type": "string"}] * 9}] * 9}] * 9},
        {
            "$ref": "#/$defs/a",
            "$defs": {
                "a": {"type": "array", "items": {"anyOf": [{"$ref": "#/$defs/b"}] * 30}},
                "b": {"type": "array", "items": {"anyOf": [{"type": "string"}] * 30}},
            },
        },
    ],
)
def test_a_schema_that_is_huge_when_written_out_is_given_up_early(schema):
    with pytest.raises(SimError) as caught:
        machine(schema)
    assert caught.value.code in ("schema_too_large", "schema_too_deep", "pattern_too_deep")
