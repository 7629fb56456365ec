"""OpenAI's bodies as neutral questions: what is carried, and what is objected to."""

from typing import Any

import pytest

from shared.adapters.providers.translation.asked import (
    Asked,
    Choosing,
    Format,
    Tool,
    ToolChoice,
    read_asked,
)
from shared.adapters.providers.translation.asked_parts import Image, Text, ToolCall, ToolResult, Unaskable
from shared.adapters.providers.translation.asked_turns import Role, Turn
from shared.domain.catalog import Endpoint

HELLO = {"role": "user", "content": "hello"}
SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}}
WEATHER = {"name": "weather", "description": "of a place", "parameters": SCHEMA, "strict": True}
CHAT, RESPONSES = Endpoint.CHAT, Endpoint.RESPONSES


def says(text: str) -> tuple[Turn, ...]:
    return (Turn(role=Role.USER, parts=(Text(text=text),)),)


def test_a_chat_body_is_carried_whole() -> None:
    body = {
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "developer", "content": "Very."},
            HELLO,
        ],
        "max_completion_tokens": 50,
        "temperature": 0.5,
        "top_p": 1,
        "stop": "END",
        "seed": 7,
        "frequency_penalty": 0.1,
        "presence_penalty": 0.2,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "n", "strict": True, "schema": SCHEMA},
        },
        "tools": [{"type": "function", "function": WEATHER}],
        "tool_choice": {"type": "function", "function": {"name": "weather"}},
        "parallel_tool_calls": False,
        "reasoning_effort": "low",
    }

    asked = read_asked(CHAT, body)

    assert asked == Asked(
        turns=says("hello"),
        system="Be brief.\n\nVery.",
        max_output_tokens=50,
        temperature=0.5,
        top_p=1,
        stop=("END",),
        seed=7,
        frequency_penalty=0.1,
        presence_penalty=0.2,
        format=Format(schema=SCHEMA, name="n", strict=True),
        tools=(Tool(name="weather", description="of a place", parameters=SCHEMA, strict=True),),
        tool_choice=ToolChoice(choosing=Choosing.NAMED, name="weather"),
        parallel_tool_calls=False,
        effort="low",
    )


def test_a_responses_body_asks_the_same() -> None:
    chat = {
        "messages": [{"role": "system", "content": "Be brief."}, HELLO],
        "max_tokens": 50,
        "response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": SCHEMA}},
        "tools": [{"type": "function", "function": WEATHER}],
        "tool_choice": "required",
        "reasoning_effort": "high",
    }
    responses = {
        "instructions": "Be brief.",
        "input": "hello",
        "max_output_tokens": 50,
        "text": {"format": {"type": "json_schema", "name": "n", "schema": SCHEMA}},
        "tools": [{"type": "function", **WEATHER}],
        "tool_choice": "required",
        "reasoning": {"effort": "high"},
    }

    assert read_asked(RESPONSES, responses) == read_asked(CHAT, chat)


def test_a_conversation_with_tools_keeps_its_order_and_joins_neighbours() -> None:
    def call(id_: str, place: str) -> dict[str, Any]:
        return {
            "id": id_,
            "type": "function",
            "function": {"name": "weather", "arguments": f'{{"a":"{place}"}}'},
        }

    body = {
        "messages": [
            HELLO,
            {"role": "assistant", "content": None, "tool_calls": [call("1", "Ghent"), call("2", "Riga")]},
            {"role": "tool", "tool_call_id": "1", "content": "rain"},
            {"role": "tool", "tool_call_id": "2", "content": [{"type": "text", "text": "snow"}]},
            {"role": "user", "content": "And now?"},
        ]
    }

    turns = read_asked(CHAT, body).turns

    assert turns[1:] == (
        Turn(
            role=Role.ASSISTANT,
            parts=(
                ToolCall(id="1", name="weather", arguments={"a": "Ghent"}),
                ToolCall(id="2", name="weather", arguments={"a": "Riga"}),
            ),
        ),
        Turn(
            role=Role.USER,
            parts=(
                ToolResult(id="1", name="weather", text="rain"),
                ToolResult(id="2", name="weather", text="snow"),
                Text(text="And now?"),
            ),
        ),
    )


def test_items_of_a_responses_body_are_the_same_turns() -> None:
    items = {
        "input": [
            {"role": "user", "content": [{"type": "input_text", "text": "hello"}]},
            {"type": "function_call", "call_id": "1", "name": "weather", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "1", "output": "rain"},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Rain."}]},
        ]
    }

    turns = read_asked(RESPONSES, items).turns

    assert [turn.role for turn in turns] == [Role.USER, Role.ASSISTANT, Role.USER, Role.ASSISTANT]
    assert turns[1].parts == (ToolCall(id="1", name="weather", arguments={}),)
    assert turns[2].parts == (ToolResult(id="1", name="weather", text="rain"),)


@pytest.mark.parametrize(
    ("endpoint", "part"),
    [
        (CHAT, {"type": "image_url", "image_url": {"url": "data:image/png;base64,QUJD", "detail": "low"}}),
        (RESPONSES, {"type": "input_image", "image_url": "data:image/png;base64,QUJD"}),
    ],
)
def test_images_come_as_data_or_address(endpoint: Endpoint, part: dict[str, Any]) -> None:
    where = "messages" if endpoint is CHAT else "input"
    far = {"type": part["type"], "image_url": "https://example.com/a.png"}

    turns = read_asked(endpoint, {where: [{"role": "user", "content": [part, far]}]}).turns

    assert turns[0].parts == (
        Image(media_type="image/png", data="QUJD"),
        Image(url="https://example.com/a.png"),
    )


def test_an_empty_text_is_kept_only_where_nothing_else_is_said() -> None:
    empty = {"type": "text", "text": ""}
    full = {"type": "text", "text": "x"}

    alone = read_asked(CHAT, {"messages": [{"role": "user", "content": [empty]}]})
    beside = read_asked(CHAT, {"messages": [{"role": "user", "content": [empty, full]}]})

    assert alone.turns == says("")
    assert beside.turns == says("x")


def test_what_has_no_bearing_on_the_answer_or_asks_for_nothing_is_left_out() -> None:
    body = {
        "messages": [HELLO],
        "user": "u",
        "metadata": {"a": "b"},
        "store": False,
        "n": 1,
        "logprobs": False,
        "logit_bias": None,
        "modalities": ["text"],
        "response_format": {"type": "text"},
    }

    assert read_asked(CHAT, body) == Asked(turns=says("hello"))


def test_the_format_may_be_any_object() -> None:
    body = {"messages": [HELLO], "response_format": {"type": "json_object"}}

    assert read_asked(CHAT, body).format == Format()


@pytest.mark.parametrize(
    ("endpoint", "body", "field"),
    [
        (CHAT, {"messages": [HELLO], "logprobs": True}, "logprobs"),
        (CHAT, {"messages": [HELLO], "logit_bias": {"1": 2}}, "logit_bias"),
        (CHAT, {"messages": [HELLO], "web_search_options": {"a": 1}}, "web_search_options"),
        (CHAT, {"messages": [HELLO], "temperature": "hot"}, "temperature"),
        (CHAT, {"messages": [HELLO], "seed": 1.5}, "seed"),
        (CHAT, {"messages": [HELLO], "stop": [""]}, "stop"),
        (CHAT, {"messages": [HELLO], "response_format": {"type": "xml"}}, "response_format.type"),
        (CHAT, {"messages": [HELLO], "response_format": "json"}, "response_format"),
        (CHAT, {"messages": [HELLO], "tools": [{"type": "web_search"}]}, "tools[0].type"),
        (CHAT, {"messages": [HELLO], "tool_choice": "always"}, "tool_choice"),
        (
            CHAT,
            {"messages": [HELLO], "tool_choice": {"type": "function", "function": {"name": "x"}}},
            "tool_choice",
        ),
        (CHAT, {"messages": [HELLO, {"role": "system", "content": "x"}]}, "messages[1].role"),
        (CHAT, {"messages": [{"role": "system", "content": "x"}]}, "messages"),
        (CHAT, {"messages": [{"role": "function", "content": "x"}]}, "messages[0].role"),
        (CHAT, {"messages": [{"role": "user", "content": None}]}, "messages[0].content"),
        (
            CHAT,
            {"messages": [{"role": "user", "content": [{"type": "file"}]}]},
            "messages[0].content[0].type",
        ),
        (
            CHAT,
            {"messages": [{"role": "tool", "tool_call_id": "9", "content": "x"}]},
            "messages[0].tool_call_id",
        ),
        (
            CHAT,
            {
                "messages": [
                    {
                        "role": "assistant",
                        "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": "["}}],
                    }
                ]
            },
            "messages[0].tool_calls[0].arguments",
        ),
        (
            CHAT,
            {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": "ftp://x"}]}]},
            "messages[0].content[0].image_url",
        ),
        (RESPONSES, {"input": "x", "previous_response_id": "resp_1"}, "previous_response_id"),
        (RESPONSES, {"input": "x", "background": True}, "background"),
        (RESPONSES, {"input": "x", "reasoning": {"summary": "auto"}}, "reasoning.summary"),
        (RESPONSES, {"input": "x", "text": {"verbosity": "low"}}, "text.verbosity"),
        (RESPONSES, {"input": [{"type": "item_reference", "id": "1"}]}, "input[0].type"),
        (Endpoint.EMBEDDINGS, {"input": "x"}, "input"),
    ],
)
def test_what_cannot_be_carried_is_named_by_its_field(
    endpoint: Endpoint, body: dict[str, Any], field: str
) -> None:
    with pytest.raises(Unaskable) as unaskable:
        read_asked(endpoint, body)

    assert unaskable.value.objection.field == field
    assert unaskable.value.objection.message
