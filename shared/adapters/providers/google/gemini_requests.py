"""A neutral question as the body of Gemini's `generateContent`. Pure.

Source: Google's "generateContent" reference of Vertex AI and "Thinking" guide, read 2026-11-30.
"""

import mimetypes
import re
from collections.abc import Mapping
from typing import Any, Final, assert_never

from shared.adapters.providers.google.gemini_schemas import written_schema
from shared.adapters.providers.translation.asked import Asked, Choosing, Tool, ToolChoice, read_asked
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

MAX_STOPS: Final = 5
# A batch's input is loaded as a table: so many levels, and names that columns may have.
MAX_LEVELS: Final = 15
_COLUMN: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")

_ROLES: Final = {Role.USER: "user", Role.ASSISTANT: "model"}
_MODES: Final = {
    Choosing.AUTO: "AUTO",
    Choosing.NONE: "NONE",
    Choosing.REQUIRED: "ANY",
    Choosing.NAMED: "ANY",
}
# Tokens, as Google's own OpenAI-compatible endpoint translates them for Gemini 2.5.
_BUDGETS: Final = {"none": 0, "minimal": 1024, "low": 1024, "medium": 8192, "high": 24576}
_LEVELS: Final = {"minimal": "MINIMAL", "low": "LOW", "medium": "MEDIUM", "high": "HIGH"}
_BY_BUDGET: Final = re.compile(r"gemini-2(\.|-|$)")
_FORMAT_FIELD: Final = {
    Endpoint.CHAT: "response_format.json_schema.schema",
    Endpoint.RESPONSES: "text.format.schema",
}

Body = dict[str, Any]


def write_request(model: str, endpoint: Endpoint, body: Mapping[str, Any]) -> Body:
    """Raise `Unaskable` for what Gemini cannot be asked."""
    asked = read_asked(endpoint, body)
    request: Body = {"contents": [_content(turn) for turn in asked.turns]}
    if asked.system:
        request["systemInstruction"] = {"parts": [{"text": asked.system}]}
    config = _config(model, endpoint, asked)
    if config:
        request["generationConfig"] = config
    if asked.tools:
        request["tools"] = [{"functionDeclarations": [_tool(n, tool) for n, tool in enumerate(asked.tools)]}]
    if asked.tool_choice is not None and asked.tools:
        request["toolConfig"] = {"functionCallingConfig": _choice(asked.tool_choice)}
    if asked.parallel_tool_calls is False and asked.tools:
        raise Unaskable("parallel_tool_calls", "cannot be false for this provider; leave it out")
    return request


def check_table(value: object, *, field: str, level: int = 1) -> None:
    """Raise `Unaskable` for what the load of a batch's input cannot take: the whole job would fail of it."""
    if level > MAX_LEVELS:
        raise Unaskable(field, f"is nested too deeply: batches of this provider take {MAX_LEVELS} levels")
    if isinstance(value, dict):
        if not value:
            raise Unaskable(field, "leads to an empty object, which batches of this provider do not take")
        for name, inner in value.items():
            if not _COLUMN.fullmatch(name):
                raise Unaskable(field, f"holds the name {name[:40]!r}, which batches of this provider refuse")
            check_table(inner, field=field, level=level + 1)
    elif isinstance(value, list):
        if len({_kind(inner) for inner in value}) > 1:
            raise Unaskable(field, "holds an array of several types; batches of this provider take one")
        for inner in value:
            check_table(inner, field=field, level=level)


def _kind(value: object) -> type:
    return float if type(value) is int else type(value)


def _content(turn: Turn) -> Body:
    return {"role": _ROLES[turn.role], "parts": [_part(part) for part in turn.parts]}


def _part(part: Part) -> Body:
    match part:
        case Text():
            return {"text": part.text}
        case Image():
            return _image(part)
        case ToolCall():
            call: Body = {"name": part.name}
            # Without arguments there is no object at all: an empty one is no column.
            return {"functionCall": {**call, "args": dict(part.arguments)} if part.arguments else call}
        case ToolResult():
            return {"functionResponse": {"name": part.name, "response": {"result": part.text}}}
        case _:
            assert_never(part)


def _image(image: Image) -> Body:
    if image.url is None:
        return {"inlineData": {"mimeType": image.media_type, "data": image.data}}
    kind = mimetypes.guess_type(image.url.partition("?")[0])[0]
    if kind is None or not kind.startswith("image/"):
        raise Unaskable("image_url", "must end in the image's type (.png, .jpg, ...), or be data:image/...")
    return {"fileData": {"fileUri": image.url, "mimeType": kind}}


def _config(model: str, endpoint: Endpoint, asked: Asked) -> Body:
    told: Body = {
        "maxOutputTokens": asked.max_output_tokens,
        "temperature": _real(asked.temperature),
        "topP": _real(asked.top_p),
        "stopSequences": list(asked.stop) or None,
        "seed": asked.seed,
        "frequencyPenalty": _real(asked.frequency_penalty),
        "presencePenalty": _real(asked.presence_penalty),
        "thinkingConfig": _thinking(model, endpoint, asked.effort),
    }
    if len(asked.stop) > MAX_STOPS:
        raise Unaskable("stop", f"may hold {MAX_STOPS} sequences for this provider")
    if asked.format is not None:
        told["responseMimeType"] = "application/json"
        if asked.format.schema is not None:
            told["responseSchema"] = written_schema(asked.format.schema, _FORMAT_FIELD[endpoint])
        if asked.tools and _BY_BUDGET.match(model):
            raise Unaskable("tools", f"cannot stand beside a JSON format for {model}")
    return {name: value for name, value in told.items() if value is not None}


def _real(number: float | None) -> float | None:
    """0 in one line and 0.5 in another would be a column of two types."""
    return None if number is None else float(number)


def _thinking(model: str, endpoint: Endpoint, effort: str | None) -> Body | None:
    if effort is None:
        return None
    field = "reasoning_effort" if endpoint is Endpoint.CHAT else "reasoning.effort"
    if _BY_BUDGET.match(model):
        if effort not in _BUDGETS or (effort == "none" and "pro" in model):
            raise Unaskable(field, f"cannot be {effort} for {model}")
        return {"thinkingBudget": _BUDGETS[effort]}
    if effort not in _LEVELS:
        raise Unaskable(field, f"must be one of {', '.join(_LEVELS)} for {model}")
    return {"thinkingLevel": _LEVELS[effort]}


def _tool(n: int, tool: Tool) -> Body:
    told: Body = {"name": tool.name}
    if tool.description:
        told["description"] = tool.description
    if tool.parameters:
        parameters = written_schema(tool.parameters, f"tools[{n}].parameters")
        if parameters.get("properties"):
            told["parameters"] = parameters
    return told


def _choice(choice: ToolChoice) -> Body:
    told: Body = {"mode": _MODES[choice.choosing]}
    return {**told, "allowedFunctionNames": [choice.name]} if choice.name else told
