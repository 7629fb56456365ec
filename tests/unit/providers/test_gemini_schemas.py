"""JSON Schemas as Gemini takes them: nothing is stricter than what was asked for."""

from typing import Any

import pytest

from shared.adapters.providers.google.gemini_schemas import written_schema
from shared.adapters.providers.translation.asked_parts import Unaskable

TEXT = {"type": "string"}


def written(schema: dict[str, Any]) -> dict[str, Any]:
    return written_schema(schema, "response_format.schema")


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "string"}, {"type": "STRING"}),
        ({"type": "integer", "minimum": 1, "maximum": 5}, {"type": "INTEGER", "minimum": 1, "maximum": 5}),
        ({"type": "array", "items": TEXT}, {"type": "ARRAY", "items": {"type": "STRING"}}),
        ({"type": ["string", "null"]}, {"type": "STRING", "nullable": True}),
        ({"type": "string", "enum": ["a", "b"]}, {"type": "STRING", "enum": ["a", "b"]}),
        ({"enum": ["a", None]}, {"type": "STRING", "enum": ["a"], "nullable": True}),
        ({"const": "invoice"}, {"type": "STRING", "enum": ["invoice"]}),
        ({"type": "string", "format": "date-time"}, {"type": "STRING", "format": "date-time"}),
        ({"type": "object", "properties": {}}, {"type": "OBJECT"}),
        ({"type": "object", "additionalProperties": False}, {"type": "OBJECT"}),
    ],
)
def test_what_both_can_say_is_said(schema: dict[str, Any], expected: dict[str, Any]) -> None:
    assert written(schema) == expected


def test_properties_keep_their_order_and_what_is_required() -> None:
    schema = {
        "type": "object",
        "properties": {"total": {"type": "number"}, "currency": TEXT},
        "required": ["currency", "total", "absent"],
        "additionalProperties": False,
    }

    assert written(schema) == {
        "type": "OBJECT",
        "properties": {"total": {"type": "NUMBER"}, "currency": {"type": "STRING"}},
        "propertyOrdering": ["total", "currency"],
        "required": ["currency", "total"],
    }


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        # Values of other types, or several, would make a table with two types in a column.
        ({"enum": [1, 2]}, {"type": "INTEGER"}),
        ({"const": True}, {"type": "BOOLEAN"}),
        ({"type": "string", "enum": ["", "a"]}, {"type": "STRING"}),
        ({"type": "string", "format": "email"}, {"type": "STRING"}),
        ({"type": "integer", "exclusiveMinimum": 0, "multipleOf": 5}, {"type": "INTEGER"}),
        ({"type": "string", "$comment": "c", "default": "d", "examples": ["e"]}, {"type": "STRING"}),
        ({"type": "object", "patternProperties": {"^x": TEXT}}, {"type": "OBJECT"}),
    ],
)
def test_what_it_cannot_say_is_left_out(schema: dict[str, Any], expected: dict[str, Any]) -> None:
    assert written(schema) == expected


@pytest.mark.parametrize("name", ["$defs", "definitions"])
def test_references_are_written_out_wherever_they_are_used(name: str) -> None:
    person = {"type": "object", "properties": {"name": TEXT}}
    schema = {
        "type": "object",
        "properties": {"from": {"$ref": f"#/{name}/P"}, "to": {"$ref": f"#/{name}/P"}},
        name: {"P": person},
    }

    made = written(schema)

    there = {"type": "OBJECT", "properties": {"name": {"type": "STRING"}}, "propertyOrdering": ["name"]}
    assert made["properties"] == {"from": there, "to": there}
    assert "$" not in repr(made)


def test_a_reference_may_lead_to_another_and_have_escapes() -> None:
    schema = {"$ref": "#/$defs/a~1b", "$defs": {"a/b": {"$ref": "#/$defs/c~0d"}, "c~d": TEXT}}

    assert written(schema) == {"type": "STRING"}


def test_an_optional_reference_is_nullable() -> None:
    schema = {"anyOf": [{"$ref": "#/$defs/A"}, {"type": "null"}], "description": "Who.", "$defs": {"A": TEXT}}

    assert written(schema) == {"type": "STRING", "nullable": True, "description": "Who."}


def test_alternatives_are_written_side_by_side() -> None:
    number = {"type": "number"}

    assert written({"oneOf": [TEXT, number]}) == {"anyOf": [{"type": "STRING"}, {"type": "NUMBER"}]}
    assert written({"type": ["string", "number"]}) == {"anyOf": [{"type": "STRING"}, {"type": "NUMBER"}]}


def test_what_stands_beside_alternatives_holds_for_each() -> None:
    schema = {
        "type": "object",
        "properties": {"kind": TEXT},
        "anyOf": [{"properties": {"a": TEXT}}, {"properties": {"b": TEXT}}],
    }

    made = written(schema)

    assert [sorted(option["properties"]) for option in made["anyOf"]] == [["a", "kind"], ["b", "kind"]]


def test_schemas_that_hold_together_become_one() -> None:
    schema = {
        "allOf": [
            {"$ref": "#/$defs/Base"},
            {"type": "object", "properties": {"b": TEXT}, "required": ["b"]},
        ],
        "$defs": {"Base": {"type": "object", "properties": {"a": TEXT}, "required": ["a"]}},
    }

    made = written(schema)

    assert made["propertyOrdering"] == ["a", "b"]
    assert made["required"] == ["a", "b"]


def test_the_same_part_may_be_used_by_what_extends_it() -> None:
    schema = {
        "allOf": [{"$ref": "#/$defs/A"}, {"properties": {"parent": {"$ref": "#/$defs/A"}}}],
        "$defs": {"A": {"type": "object", "properties": {"name": TEXT}}},
    }

    assert written(schema)["properties"]["parent"]["propertyOrdering"] == ["name"]


@pytest.mark.parametrize("schema", [{}, {"description": "Anything."}])
def test_a_value_without_a_type_may_be_any_that_is_not_made_of_others(schema: dict[str, Any]) -> None:
    assert [option["type"] for option in written(schema)["anyOf"]] == ["STRING", "NUMBER", "BOOLEAN"]


def test_an_array_says_of_what_in_any_case() -> None:
    assert written({"type": "array", "prefixItems": [TEXT]})["items"] == {"type": "STRING"}
    assert "anyOf" in written({"type": "array"})["items"]


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"next": {"$ref": "#"}}},
        {"$ref": "#/$defs/A", "$defs": {"A": {"$ref": "#/$defs/A"}}},
        {"$ref": "#/$defs/A", "$defs": {"A": {"allOf": [{"$ref": "#/$defs/A"}, {"$ref": "#/$defs/A"}]}}},
        {
            "$ref": "#/$defs/Tree",
            "$defs": {"Tree": {"type": "array", "items": {"anyOf": [TEXT, {"$ref": "#/$defs/Tree"}]}}},
        },
    ],
)
def test_a_schema_that_refers_to_itself_is_objected_to(schema: dict[str, Any]) -> None:
    with pytest.raises(Unaskable) as raised:
        written(schema)

    assert raised.value.objection.field == "response_format.schema"


@pytest.mark.parametrize("name", ["straße", "a.b", "$id", "a b", "", "1st"])
def test_a_property_that_is_no_name_of_a_column_is_objected_to(name: str) -> None:
    with pytest.raises(Unaskable, match="property"):
        written({"type": "object", "properties": {name: TEXT}})


@pytest.mark.parametrize("ref", ["#/$defs/none", "https://example.com/schema.json", "other.json#/a"])
def test_a_reference_that_leads_nowhere_is_objected_to(ref: str) -> None:
    with pytest.raises(Unaskable, match="refers to"):
        written({"$ref": ref, "$defs": {"a": TEXT}})


def test_a_small_schema_that_becomes_huge_is_objected_to() -> None:
    defs = {
        f"L{n}": {"type": "object", "properties": {name: {"$ref": f"#/$defs/L{n + 1}"} for name in "abcd"}}
        for n in range(8)
    }

    with pytest.raises(Unaskable, match="parts"):
        written({"$ref": "#/$defs/L0", "$defs": {**defs, "L8": TEXT}})
