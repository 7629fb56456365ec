"""OpenAI's bodies as Gemini is asked them."""

from typing import Any

import pytest

from shared.adapters.providers.google.gemini_requests import MAX_LEVELS, check_table, write_request
from shared.adapters.providers.google.vertex_lines import objection
from shared.adapters.providers.translation.asked_parts import Unaskable
from shared.domain.catalog import Endpoint

MODEL = "gemini-3.8-flash"
ASKED = {"messages": [{"role": "user", "content": "Hello"}]}
TOOL = {"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {}}}}


def written(body: dict[str, Any], model: str = MODEL, endpoint: Endpoint = Endpoint.CHAT) -> dict[str, Any]:
    return write_request(model, endpoint, body)


def test_a_conversation_keeps_its_turns_and_its_system_text() -> None:
    request = written(
        {
            "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": "One?"},
                {"role": "assistant", "content": "One."},
                {"role": "user", "content": [{"type": "text", "text": "Two?"}]},
            ]
        }
    )

    assert request == {
        "contents": [
            {"role": "user", "parts": [{"text": "One?"}]},
            {"role": "model", "parts": [{"text": "One."}]},
            {"role": "user", "parts": [{"text": "Two?"}]},
        ],
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
    }


def test_both_endpoints_ask_the_same() -> None:
    chat = written({**ASKED, "max_completion_tokens": 9, "temperature": 0.5, "top_p": 0.9})
    response = written(
        {"input": "Hello", "max_output_tokens": 9, "temperature": 0.5, "top_p": 0.9},
        endpoint=Endpoint.RESPONSES,
    )

    assert chat == response
    assert chat["generationConfig"] == {"maxOutputTokens": 9, "temperature": 0.5, "topP": 0.9}


def test_a_schema_goes_along_as_the_models_own() -> None:
    schema = {
        "type": "object",
        "properties": {"who": {"$ref": "#/$defs/P"}},
        "$defs": {"P": {"type": "string"}},
    }
    form = {"type": "json_schema", "json_schema": {"name": "n", "strict": True, "schema": schema}}

    config = written({**ASKED, "response_format": form})["generationConfig"]

    assert config == {
        "responseMimeType": "application/json",
        "responseSchema": {
            "type": "OBJECT",
            "properties": {"who": {"type": "STRING"}},
            "propertyOrdering": ["who"],
        },
    }


def test_images_are_sent_along_or_pointed_to() -> None:
    images = ["data:image/png;base64,AAAA", "https://example.com/a.jpg?size=2"]
    parts = [{"type": "image_url", "image_url": {"url": url}} for url in images]

    request = written({"messages": [{"role": "user", "content": parts}]})

    assert request["contents"][0]["parts"] == [
        {"inlineData": {"mimeType": "image/png", "data": "AAAA"}},
        {"fileData": {"fileUri": images[1], "mimeType": "image/jpeg"}},
    ]


def test_tools_and_what_came_of_them() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    request = written(
        {
            "messages": [
                {"role": "user", "content": "Look."},
                {"role": "assistant", "content": None, "tool_calls": [call]},
                {"role": "tool", "tool_call_id": "c1", "content": "Nothing."},
            ],
            "tools": [TOOL],
            "tool_choice": {"type": "function", "function": {"name": "look"}},
        }
    )

    # Neither an empty object of arguments nor one of parameters: they would fail the whole job.
    assert request["contents"][1] == {"role": "model", "parts": [{"functionCall": {"name": "look"}}]}
    assert request["contents"][2]["parts"] == [
        {"functionResponse": {"name": "look", "response": {"result": "Nothing."}}}
    ]
    assert request["tools"] == [{"functionDeclarations": [{"name": "look"}]}]
    assert request["toolConfig"] == {
        "functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["look"]}
    }


@pytest.mark.parametrize(
    ("model", "effort", "thinking"),
    [
        ("gemini-2.5-flash", "none", {"thinkingBudget": 0}),
        ("gemini-2.5-pro", "medium", {"thinkingBudget": 8192}),
        ("gemini-3.8-flash", "low", {"thinkingLevel": "LOW"}),
    ],
)
def test_effort_is_told_as_the_model_knows_it(model: str, effort: str, thinking: dict[str, Any]) -> None:
    config = written({**ASKED, "reasoning_effort": effort}, model)["generationConfig"]

    assert config["thinkingConfig"] == thinking


@pytest.mark.parametrize(
    ("body", "model", "field"),
    [
        ({"reasoning_effort": "none"}, "gemini-3.8-flash", "reasoning_effort"),
        ({"reasoning_effort": "none"}, "gemini-2.5-pro", "reasoning_effort"),
        ({"reasoning_effort": "xhigh"}, "gemini-2.5-flash", "reasoning_effort"),
        ({"stop": ["a", "b", "c", "d", "e", "f"]}, MODEL, "stop"),
        ({"tools": [TOOL], "parallel_tool_calls": False}, MODEL, "parallel_tool_calls"),
        ({"tools": [TOOL], "response_format": {"type": "json_object"}}, "gemini-2.5-flash", "tools"),
        ({"logit_bias": {"1": 2}}, MODEL, "logit_bias"),
        ({"n": 2}, MODEL, "n"),
    ],
)
def test_what_gemini_cannot_be_asked_is_objected_to(body: dict[str, Any], model: str, field: str) -> None:
    found = objection(model, Endpoint.CHAT, {**ASKED, **body})

    assert found is not None
    assert found.field == field


def test_a_schema_that_refers_to_itself_is_objected_to_by_its_place() -> None:
    schema = {"type": "object", "properties": {"next": {"$ref": "#"}}}
    form = {"type": "json_schema", "name": "n", "schema": schema}

    found = objection(MODEL, Endpoint.RESPONSES, {"input": "Hello", "text": {"format": form}})

    assert found is not None
    assert found.field == "text.format.schema"


def test_a_schema_with_too_many_levels_for_a_table_is_objected_to() -> None:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(MAX_LEVELS // 2):
        schema = {"type": "object", "properties": {"inner": schema}}
    form = {"type": "json_schema", "json_schema": {"name": "n", "schema": schema}}

    found = objection(MODEL, Endpoint.CHAT, {**ASKED, "response_format": form})

    assert found is not None
    assert found.field == "response_format"
    assert "nested" in found.message


@pytest.mark.parametrize("value", [{"a": {}}, {"$ref": "x"}, {"a.b": 1}, {"a": [1, "b"]}, {"a": [{"b": {}}]}])
def test_what_is_no_table_is_objected_to(value: dict[str, Any]) -> None:
    with pytest.raises(Unaskable):
        check_table(value, field="messages")


def test_an_ordinary_request_is_a_table() -> None:
    assert objection(MODEL, Endpoint.CHAT, {**ASKED, "max_tokens": 5}) is None


@pytest.mark.parametrize("levels", [20, 400, 5_000])
def test_a_schema_that_is_nested_without_end_is_objected_to(levels: int) -> None:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(levels):
        schema = {"type": "array", "items": schema}
    form = {"type": "json_schema", "json_schema": {"name": "n", "schema": schema}}

    found = objection(MODEL, Endpoint.CHAT, {**ASKED, "response_format": form})

    assert found is not None
    assert "nested" in found.message
