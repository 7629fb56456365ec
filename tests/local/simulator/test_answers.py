"""The offline model: it quotes, it keeps to schemas, and it always says the same."""

import jsonschema_rs
import pytest

from local.simulator.answers import model
from local.simulator.answers.questions import Question
from local.simulator.answers.shapes import shaped
from local.simulator.answers.summary import summarize
from local.simulator.answers.vectors import embed

TICKET = (
    "Good morning. I hope you are well. The printer in room 4 printed the invoice 2026-11-30 twice, and the "
    "printer billed 1250 EUR for one invoice. My colleague says hello. Please write to ana@example.com."
)


def test_a_summary_quotes_the_sentences_that_say_most() -> None:
    assert summarize(TICKET, limit=1).startswith("The printer in room 4")


def test_a_short_text_is_its_own_summary() -> None:
    assert summarize("Version 1.5 is out.\nAll is well!") == "Version 1.5 is out. All is well!"


def test_a_text_without_sentences_is_cut() -> None:
    assert len(summarize("x" * 100_000)) == 400


SCHEMAS = {
    "enum": {"enum": ["billing", "printer", "other"]},
    "nullable": {"anyOf": [{"type": "null"}, {"type": "string", "maxLength": 20}]},
    "types": {"type": ["number", "null"], "maximum": 100},
    "list": {"type": "array", "items": {"type": "string"}, "minItems": 5},
    "formats": {
        "type": "object",
        "properties": {
            "day": {"type": "string", "format": "date"},
            "mail": {"type": "string", "format": "email"},
            "when": {"type": "string", "format": "date-time"},
        },
        "required": ["day", "mail", "when"],
    },
    "references": {
        "$defs": {
            "person": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
        },
        "type": "object",
        "properties": {"people": {"type": "array", "items": {"$ref": "#/$defs/person"}}},
        "required": ["people"],
        "additionalProperties": False,
    },
    "bounds": {
        "type": "object",
        "properties": {
            "score": {"type": "integer", "minimum": 1, "maximum": 5},
            "steps": {"type": "integer", "multipleOf": 5},
            "sure": {"type": "boolean"},
            "kind": {"const": "ticket"},
        },
        "required": ["score", "steps", "sure", "kind"],
    },
}


@pytest.mark.parametrize("schema", SCHEMAS.values(), ids=SCHEMAS)
@pytest.mark.parametrize("text", [TICKET, "", "42"], ids=["ticket", "nothing", "number"])
def test_what_is_made_for_a_schema_is_valid_under_it(schema: dict[str, object], text: str) -> None:
    assert jsonschema_rs.is_valid(schema, shaped(schema, text), validate_formats=True)


def test_values_are_taken_from_the_text() -> None:
    made = shaped(
        {
            "type": "object",
            "properties": {
                "invoice": {"type": "string", "format": "date"},
                "billed": {"type": "number"},
                "team": {"enum": ["sales", "printer"]},
            },
        },
        TICKET,
    )

    assert made == {"invoice": "2026-11-30", "billed": 1250, "team": "printer"}


def test_a_reference_to_itself_ends() -> None:
    tree = {"type": "object", "properties": {"child": {"$ref": "#"}}}

    assert "child" in shaped(tree, TICKET)


def test_the_bound_of_tokens_is_kept() -> None:
    bounded = model.answer(Question(text=TICKET, max_tokens=5))
    free = model.answer(Question(text=TICKET))

    assert (bounded.finish, free.finish) == ("length", "stop")
    assert bounded.usage.output_tokens <= 5 < free.usage.output_tokens


def test_thinking_is_part_of_the_output() -> None:
    usage = model.answer(Question(text=TICKET, thinks=True)).usage

    assert 0 < usage.reasoning_tokens < usage.output_tokens


def test_long_common_instructions_are_cached() -> None:
    usage = model.answer(Question(instructions="Be brief. " * 1000, text=TICKET)).usage

    assert usage.cached_tokens % 128 == 0
    assert 0 < usage.cached_tokens < usage.input_tokens


def test_a_translation_says_that_it_is_none() -> None:
    reply = model.answer(Question(instructions="Translate the text into German.", text="Good morning."))

    assert reply.text == "[simulated translation, German] Good morning."


def test_vectors_have_length_one_and_stay_the_same() -> None:
    vector = embed(TICKET, 256)

    assert vector == embed(TICKET, 256)
    assert sum(value * value for value in vector) == pytest.approx(1, abs=1e-4)
    assert embed("", 8) != (0.0,) * 8
