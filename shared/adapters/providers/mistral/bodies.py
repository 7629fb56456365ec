"""OpenAI's bodies as Mistral takes them: chat and responses become chat completions, embeddings stay what they are.

Mistral refuses every field it does not know, and in a batch the whole file over it. Facts from Mistral's API
reference and SDK (mistralai 3.7.0), and from what its API answers, read 2026-11-30.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any, Final

import msgspec

from shared.adapters.providers.translation.asked import Asked, Choosing, Format, Tool, ToolChoice, read_asked
from shared.adapters.providers.translation.asked_parts import (
    Image,
    Part,
    Text,
    ToolCall,
    ToolResult,
    Unaskable,
)
from shared.adapters.providers.translation.asked_turns import Role, Turn
from shared.domain.catalog import Endpoint
from shared.domain.objections import Objection

MOST_TEMPERATURE: Final = 1.5

# "Tool call id must be a-z, A-Z, 0-9, with a length of 9."
_CALL_ID: Final = re.compile(r"[A-Za-z0-9]{9}")
_CALL_ID_LENGTH: Final = 9

# OpenAI's own bookkeeping: the vectors are the same without it.
_NO_BEARING: Final = frozenset({"model", "user"})
_EMBEDDING_NAMES: Final = {
    "input": "input",
    "dimensions": "output_dimension",
    "encoding_format": "encoding_format",
}


def mistral_body(endpoint: Endpoint, body: Mapping[str, Any]) -> dict[str, Any]:
    """Without the model. Raise `Unaskable` for what Mistral does not take."""
    if endpoint is Endpoint.EMBEDDINGS:
        return _embeddings(body)
    asked = read_asked(endpoint, body)
    _refuse(endpoint, asked)
    return {
        "messages": list(_messages(asked)),
        **_said(
            max_tokens=asked.max_output_tokens,
            temperature=asked.temperature,
            top_p=asked.top_p,
            stop=list(asked.stop) or None,
            random_seed=asked.seed,
            frequency_penalty=asked.frequency_penalty,
            presence_penalty=asked.presence_penalty,
            response_format=_format(asked.format),
            tools=[_tool(tool) for tool in asked.tools] or None,
            tool_choice=_tool_choice(asked.tool_choice),
            parallel_tool_calls=asked.parallel_tool_calls,
            reasoning_effort=asked.effort,
        ),
    }


def objection(endpoint: Endpoint, body: Mapping[str, object]) -> Objection | None:
    try:
        mistral_body(endpoint, body)
    except Unaskable as unaskable:
        return unaskable.objection
    return None


def _said(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def _refuse(endpoint: Endpoint, asked: Asked) -> None:
    if asked.temperature is not None and not 0 <= asked.temperature <= MOST_TEMPERATURE:
        raise Unaskable("temperature", f"must be from 0 to {MOST_TEMPERATURE} for Mistral")
    if asked.turns[-1].role is not Role.USER:
        where = "messages" if endpoint is Endpoint.CHAT else "input"
        raise Unaskable(where, "must end with the user or a tool for Mistral")


def _messages(asked: Asked) -> Iterator[dict[str, Any]]:
    if asked.system is not None:
        yield {"role": "system", "content": asked.system}
    for turn in asked.turns:
        if turn.role is Role.ASSISTANT:
            yield _assistant(turn)
        else:
            yield from _user(turn)


def _assistant(turn: Turn) -> dict[str, Any]:
    calls = [_call(part) for part in turn.parts if isinstance(part, ToolCall)]
    said = "".join(part.text for part in turn.parts if isinstance(part, Text))
    return {"role": "assistant", "content": said, **_said(tool_calls=calls or None)}


def _user(turn: Turn) -> Iterator[dict[str, Any]]:
    """What tools reported first, then what the user says."""
    for part in turn.parts:
        if isinstance(part, ToolResult):
            yield {
                "role": "tool",
                "content": part.text,
                "tool_call_id": _call_id(part.id),
                "name": part.name,
            }
    said = [part for part in turn.parts if not isinstance(part, ToolResult)]
    if said:
        yield {"role": "user", "content": _content(said)}


def _content(parts: Sequence[Part]) -> str | list[dict[str, Any]]:
    if len(parts) == 1 and isinstance(parts[0], Text):
        return parts[0].text
    return [_chunk(part) for part in parts]


def _chunk(part: Part) -> dict[str, Any]:
    if isinstance(part, Image):
        return {
            "type": "image_url",
            "image_url": part.url or f"data:{part.media_type};base64,{part.data}",
        }
    return {"type": "text", "text": part.text if isinstance(part, Text) else ""}


def _call(call: ToolCall) -> dict[str, Any]:
    arguments = msgspec.json.encode(call.arguments).decode()
    return {
        "id": _call_id(call.id),
        "type": "function",
        "function": {"name": call.name, "arguments": arguments},
    }


def _call_id(told: str) -> str:
    """The same for the same id, wherever it stands; the id means nothing outside its own request."""
    if _CALL_ID.fullmatch(told):
        return told
    return sha256(told.encode("utf-8", "surrogatepass")).hexdigest()[:_CALL_ID_LENGTH]


def _format(wanted: Format | None) -> dict[str, Any] | None:
    if wanted is None:
        return None
    if wanted.schema is None:
        return {"type": "json_object"}
    schema = {"name": wanted.name or "answer", "schema": wanted.schema, "strict": wanted.strict}
    return {"type": "json_schema", "json_schema": schema}


def _tool(tool: Tool) -> dict[str, Any]:
    parameters = tool.parameters if tool.parameters is not None else {"type": "object", "properties": {}}
    function = {"name": tool.name, "parameters": parameters, **_said(description=tool.description)}
    if tool.strict:
        function["strict"] = True
    return {"type": "function", "function": function}


def _tool_choice(choice: ToolChoice | None) -> str | dict[str, Any] | None:
    if choice is None:
        return None
    if choice.choosing is Choosing.NAMED:
        return {"type": "function", "function": {"name": choice.name}}
    return choice.choosing.value


def _embeddings(body: Mapping[str, Any]) -> dict[str, Any]:
    wanted = {}
    for name, value in body.items():
        if value is None or name in _NO_BEARING:
            continue
        if name not in _EMBEDDING_NAMES:
            raise Unaskable(name, "is not taken by Mistral's embeddings; leave it out")
        wanted[_EMBEDDING_NAMES[name]] = value
    input_ = wanted.get("input")
    texts = input_ if isinstance(input_, list) else [input_]
    if not texts or not all(isinstance(text, str) for text in texts):
        raise Unaskable("input", "must be a string or an array of strings for Mistral")
    return wanted
