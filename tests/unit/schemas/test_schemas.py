"""Tenants' schemas, and answers checked against them."""

from typing import Any

import pytest

from shared.adapters.schemas.checker import JsonschemaRsSchemas
from shared.domain.errors import Rejected
from shared.domain.rows import CheckAnswer, Flaw

INVOICE: dict[str, Any] = {
    "type": "object",
    "properties": {
        "total": {"type": "number", "minimum": 0},
        "currency": {"enum": ["EUR", "USD"]},
        "items": {"type": "array", "items": {"$ref": "#/$defs/item"}},
        "notes": {"type": "object", "additionalProperties": {"type": "string"}},
    },
    "required": ["total"],
    "additionalProperties": False,
    "$defs": {"item": {"type": "object", "properties": {"price": {"type": "number"}}}},
}
SECRET = "Ana Example, born 1980"


def checker(schema: object = INVOICE) -> CheckAnswer:
    return JsonschemaRsSchemas().checker(schema)


def flaw(text: str, schema: object = INVOICE) -> Flaw:
    found = checker(schema)(text)
    assert isinstance(found, Flaw)
    return found


@pytest.mark.parametrize(
    "text",
    [
        '{"total": 12.10,\n "currency": "EUR"}',
        ' \n{"total":12.10,"currency":"EUR"}\r\n',
        '```json\n{"total": 12.10, "currency": "EUR"}\n```',
        '```\n{"total": 12.10, "currency": "EUR"}```',
        ' ```JSON {"total": 12.10, "currency": "EUR"}\n```\n',
    ],
    ids=repr,
)
def test_a_valid_answer_comes_back_on_one_line_with_its_numbers_as_written(text: str) -> None:
    assert checker()(text) == b'{"total":12.10,"currency":"EUR"}'


def test_numbers_larger_than_a_machine_word_survive() -> None:
    assert checker({})('{"n": 123456789012345678901234567890}') == b'{"n":123456789012345678901234567890}'


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Sorry, I cannot do that.",
        'Here you are: {"total": 1}',
        '{"total": 1} as you asked',
        '{"total": 1}{"total": 1}',
        '{"total": 1',
        '{"total": NaN}',
        "{'total': 1}",
        '{"total": "\ud800"}',
        '{"total": 1e999}',
        '```json\n```json\n{"total": 1}\n```\n```',
        "[" * 100_000,
    ],
    ids=lambda text: repr(text[:40]),
)
def test_anything_but_the_json_itself_is_invalid_json(text: str) -> None:
    assert flaw(text, {}).reason == "invalid_json"


def test_an_answer_nested_too_deeply_to_check_is_flawed() -> None:
    assert isinstance(checker({"enum": [1]})("[" * 400 + "]" * 400), Flaw)


@pytest.mark.parametrize(
    ("text", "where", "expected"),
    [
        ('{"total": "Ana Example, born 1980"}', "$.total", "number"),
        ('{"total": -1980}', "$.total", "minimum of 0"),
        ('{"currency": "EUR"}', "$", '"total" is a required property'),
        ('{"total": 1, "currency": "Ana Example, born 1980"}', "$.currency", '"EUR" or "USD"'),
        ('{"total": 1, "items": [{}, {"price": "Ana Example, born 1980"}]}', "$.items[1].price", "number"),
        ('{"total": 1, "Ana Example, born 1980": 1}', "$", "does not allow"),
        ('{"total": 1, "notes": {"Ana Example, born 1980": 1980}}', "$.notes.*", "string"),
    ],
)
def test_a_flaw_says_where_and_what_was_expected_but_not_what_was_there(
    text: str, where: str, expected: str
) -> None:
    found = flaw(text)

    assert found.reason == "schema"
    assert found.message.startswith(f"{where}: ")
    assert expected in found.message
    assert SECRET not in found.message
    assert "1980" not in found.message


@pytest.mark.parametrize(
    "schema",
    [
        {"propertyNames": {"maxLength": 3}},
        {"unevaluatedProperties": False},
        {"patternProperties": {"^Ana": False}},
        {"not": {}},
        {"oneOf": [{}, {}]},
        {"const": 3},
        {"contains": {"type": "string"}, "type": "array"},
        {"minProperties": 3},
        {"additionalProperties": {"const": 1}},
        {"additionalProperties": {"format": "email", "pattern": "^x"}},
    ],
    ids=repr,
)
def test_no_keyword_lets_the_answer_into_the_flaw(schema: dict[str, Any]) -> None:
    found = flaw('{"Ana Example, born 1980": "Ana Example, born 1980"}', schema)

    assert found.reason == "schema"
    assert "Ana Ex" not in found.message


@pytest.mark.parametrize(
    "schema",
    [
        None,
        True,
        [],
        "object",
        {"type": "strin"},
        {"pattern": "("},
        {"pattern": "(a{1000}){1000}"},
        {"$ref": "#/$defs/absent"},
        {"$ref": "http://127.0.0.1/x.json"},
        {"$ref": "https://json-schema.org/draft/2020-12/schema"},
        {"$ref": "file:///etc/passwd"},
        {"$id": "http://127.0.0.1/a/", "properties": {"x": {"$ref": "b.json"}}},
        {"properties": {"x": {"$dynamicRef": "other.json#x"}}},
        {"$schema": "http://127.0.0.1/meta"},
        {"description": "x" * 70_000},
        {"const": float("nan"), "minimum": "x"},
    ],
    ids=lambda schema: repr(schema)[:60],
)
def test_an_unusable_schema_is_refused_at_once(schema: object) -> None:
    with pytest.raises(Rejected) as refused:
        checker(schema)

    assert refused.value.code == "invalid_schema"
    assert len(str(refused.value)) < 400


def test_a_refused_schema_is_told_where_it_is_wrong() -> None:
    with pytest.raises(Rejected, match=r"\$\.properties\.total\.type: "):
        checker({"properties": {"total": {"type": "strin"}}})


def test_a_schema_nested_too_deeply_is_refused() -> None:
    schema: dict[str, Any] = {}
    for _ in range(100_000):
        schema = {"not": schema}

    with pytest.raises(Rejected, match="nested"):
        checker(schema)


def test_a_schema_of_a_few_lines_cannot_ask_for_a_million_checks() -> None:
    doubling = {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(40)}

    with pytest.raises(Rejected, match="unfold"):
        checker({"$ref": "#/$defs/d0", "$defs": {**doubling, "d40": {"type": "object"}}})


def test_a_schema_may_refer_to_itself() -> None:
    tree = {"type": "object", "properties": {"left": {"$ref": "#"}, "right": {"$ref": "#"}}}

    assert checker(tree)('{"left": {"right": {}}}') == b'{"left":{"right":{}}}'
    assert flaw('{"left": {"right": 7}}', tree).message.startswith("$.left.right: ")


@pytest.mark.parametrize("reference", ["#/$defs/a~1b", "#named", "http://example.test/embedded"])
def test_every_way_to_refer_inside_the_schema_works(reference: str) -> None:
    schema = {
        "$ref": reference,
        "$defs": {
            "a/b": {"type": "string"},
            "other": {"$anchor": "named", "type": "string"},
            "embedded": {"$id": "http://example.test/embedded", "type": "string"},
        },
    }

    assert checker(schema)('"x"') == b'"x"'
    assert flaw("1", schema).reason == "schema"


def test_a_schema_of_an_older_draft_is_read_as_such() -> None:
    schema = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "items": [{"type": "string"}],
        "additionalItems": False,
    }

    assert checker(schema)('["a"]') == b'["a"]'
    assert flaw('["a", 1]', schema).reason == "schema"


@pytest.mark.parametrize("pattern", ["^(a+)+$", r"^(?=a)(a|aa)+\1$"])
@pytest.mark.timeout(60)
def test_a_pattern_that_would_never_end_is_cut_short(pattern: str) -> None:
    found = flaw('"' + "a" * 5000 + 'b"', {"pattern": pattern})

    assert found.reason == "schema"
