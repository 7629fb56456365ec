"""Whatever a body holds, it is a question or is objected to: what a client sends never breaks the door."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.adapters.providers.anthropic.asked import Translator
from shared.adapters.providers.translation.asked import read_asked
from shared.domain.catalog import Endpoint

NAMES = ["type", "role", "content", "text", "name", "function", "arguments", "parameters", "schema", "id"]
NAMES += ["call_id", "tool_call_id", "tool_calls", "image_url", "url", "output", "json_schema", "format"]
WORDS = ["user", "assistant", "system", "tool", "function", "text", "image_url", "input_text", "message"]
WORDS += [
    "function_call",
    "function_call_output",
    "json_schema",
    "json_object",
    "auto",
    "required",
    "object",
    "",
]
ATOMS = st.none() | st.booleans() | st.integers(-3, 3) | st.floats(-2, 2) | st.sampled_from(WORDS)
ANYTHING = st.recursive(
    ATOMS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=4),
    max_leaves=12,
)
SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
WEATHER = {"name": "weather", "description": "of a place", "parameters": SCHEMA, "strict": True}
CALL = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": '{"a":"x"}'}}
IMAGE = "data:image/png;base64,QUJD"
# Everything that can be said, at either endpoint.
WHOLE: dict[Endpoint, dict[str, Any]] = {
    Endpoint.CHAT: {
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": [{"type": "text", "text": "hi"}]},
            {"role": "user", "content": [{"type": "image_url", "image_url": {"url": IMAGE}}]},
            {"role": "assistant", "content": "So.", "tool_calls": [CALL]},
            {"role": "tool", "tool_call_id": "c1", "content": "rain"},
        ],
        "max_completion_tokens": 9,
        "stop": ["END"],
        "seed": None,
        "temperature": None,
        "top_p": None,
        "n": 1,
        "response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": SCHEMA}},
        "tools": [{"type": "function", "function": WEATHER}],
        "tool_choice": {"type": "function", "function": {"name": "weather"}},
        "parallel_tool_calls": False,
        "reasoning_effort": "low",
    },
    Endpoint.RESPONSES: {
        "instructions": "Be brief.",
        "input": [
            {"role": "user", "content": [{"type": "input_text", "text": "hi"}]},
            {"role": "user", "content": [{"type": "input_image", "image_url": IMAGE}]},
            {"type": "function_call", "call_id": "c1", "name": "weather", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "c1", "output": "rain"},
        ],
        "max_output_tokens": 9,
        "text": {"format": {"type": "json_schema", "name": "n", "schema": SCHEMA}},
        "tools": [{"type": "function", **WEATHER}],
        "tool_choice": {"type": "function", "name": "weather"},
        "reasoning": {"effort": "low"},
    },
}
STRANGE: list[Any] = [[], {}, [[]], {"a": []}, 1, "x", None, True, [None], ["x"]]
ENDPOINTS = pytest.mark.parametrize("endpoint", list(WHOLE))


def places_in(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The path to every part of a JSON value, itself left out."""
    found: list[tuple[Any, ...]] = []
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, part in parts:
        found += [(*path, name), *places_in(part, (*path, name))]
    return found


def with_part(value: Any, path: tuple[Any, ...], part: Any) -> Any:
    """A copy that has `part` in that place."""
    if not path:
        return part
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = with_part(value[path[0]], path[1:], part)
    return copy


@st.composite
def bodies(draw: st.DrawFn, endpoint: Endpoint) -> Any:
    whole = WHOLE[endpoint]
    return with_part(whole, draw(st.sampled_from(places_in(whole))), draw(ANYTHING))


@ENDPOINTS
def test_everything_that_can_be_said_is_taken(endpoint: Endpoint) -> None:
    read_asked(endpoint, WHOLE[endpoint])
    assert Translator(model="claude-x", version="2026-10-21").objection(endpoint, WHOLE[endpoint]) is None


@ENDPOINTS
@given(st.data())
def test_with_anything_in_any_place_it_is_a_question_or_objected_to(
    endpoint: Endpoint, data: st.DataObject
) -> None:
    body = data.draw(bodies(endpoint))

    for version in ("2026-10-21", "2023-06-01"):
        found = Translator(model="claude-x", version=version).objection(endpoint, body)
        assert found is None or (found.field and found.message)


@ENDPOINTS
def test_with_a_list_or_an_object_in_any_place_it_is_a_question_or_objected_to(endpoint: Endpoint) -> None:
    translator = Translator(model="claude-x", version="2023-06-01")
    for path in places_in(WHOLE[endpoint]):
        for part in STRANGE:
            found = translator.objection(endpoint, with_part(WHOLE[endpoint], path, part))
            assert found is None or (found.field and found.message)
