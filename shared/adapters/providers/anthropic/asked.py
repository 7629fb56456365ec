"""A neutral question as the parameters of Anthropic's Messages."""

from collections.abc import Mapping
from typing import Any, Final

from anthropic import transform_schema

from shared.adapters.providers.translation.asked import Asked, Choosing, Tool, read_asked
from shared.adapters.providers.translation.asked_parts import Image, Part, Text, ToolCall, Unaskable
from shared.adapters.providers.translation.asked_turns import Turn
from shared.domain.catalog import Endpoint
from shared.domain.objections import Objection

# Anthropic's "Versions" page, read 2026-11-30: from this one on the sampling parameters are refused.
WITHOUT_SAMPLING: Final = "2026-10-21"

_CHOICES: Final = {
    Choosing.AUTO: "auto",
    Choosing.NONE: "none",
    Choosing.REQUIRED: "any",
    Choosing.NAMED: "tool",
}
# OpenAI's words; Anthropic has no less than low, and leaves it out for none.
_EFFORTS: Final = {"none": None, "minimal": "low", "low": "low", "medium": "medium", "high": "high"} | {
    "xhigh": "xhigh"
}


class Translator:
    """Bodies to parameters, for one model and one version of the API."""

    def __init__(self, *, model: str, version: str) -> None:
        self._model = model
        self._samples = version < WITHOUT_SAMPLING

    def objection(self, endpoint: Endpoint, body: Mapping[str, object]) -> Objection | None:
        try:
            self.params(endpoint, body)
        except Unaskable as unaskable:
            return unaskable.objection
        return None

    def params(self, endpoint: Endpoint, body: Mapping[str, object]) -> dict[str, Any]:
        """Raise `Unaskable` for what Claude would refuse or ignore."""
        asked = read_asked(endpoint, body)
        self._check(asked)
        if asked.max_output_tokens is None:
            field = "max_output_tokens" if endpoint is Endpoint.RESPONSES else "max_completion_tokens"
            raise Unaskable(field, "is needed by Claude; set it, or max_output_tokens of the alias")
        given = {
            "model": self._model,
            "max_tokens": asked.max_output_tokens,
            "system": asked.system,
            "messages": [_message(turn) for turn in asked.turns],
            "temperature": asked.temperature,
            "top_p": asked.top_p,
            "stop_sequences": list(asked.stop) or None,
            "tools": [_tool(tool, n) for n, tool in enumerate(asked.tools)] or None,
            "tool_choice": _tool_choice(asked),
            "output_config": _output_config(asked, endpoint),
        }
        return {name: value for name, value in given.items() if value is not None}

    def _check(self, asked: Asked) -> None:
        refused = {
            "seed": asked.seed,
            "frequency_penalty": asked.frequency_penalty,
            "presence_penalty": asked.presence_penalty,
        }
        for name, value in refused.items():
            if value is not None:
                raise Unaskable(name, "is not taken by Claude; leave it out")
        for name, value in {"temperature": asked.temperature, "top_p": asked.top_p}.items():
            if value is None:
                continue
            if not self._samples:
                raise Unaskable(
                    name,
                    f"is not taken by Claude since version {WITHOUT_SAMPLING} of its API; leave it out, or"
                    " have an older api_version set for the deployment",
                )
            if not 0 <= value <= 1:
                raise Unaskable(name, "must be from 0 to 1 for Claude")


def _message(turn: Turn) -> dict[str, Any]:
    if len(turn.parts) == 1 and isinstance(turn.parts[0], Text):
        return {"role": turn.role.value, "content": turn.parts[0].text}
    return {"role": turn.role.value, "content": [_block(part) for part in turn.parts]}


def _block(part: Part) -> dict[str, Any]:
    if isinstance(part, Text):
        return {"type": "text", "text": part.text}
    if isinstance(part, Image):
        return {"type": "image", "source": _source(part)}
    if isinstance(part, ToolCall):
        return {"type": "tool_use", "id": part.id, "name": part.name, "input": part.arguments}
    return {"type": "tool_result", "tool_use_id": part.id, "content": part.text}


def _source(image: Image) -> dict[str, Any]:
    if image.url is not None:
        return {"type": "url", "url": image.url}
    return {"type": "base64", "media_type": image.media_type, "data": image.data}


def _tool(tool: Tool, n: int) -> dict[str, Any]:
    """Only where a tool is strict its schema is put into the form that Claude enforces."""
    schema = dict(tool.parameters or {"type": "object", "properties": {}})
    told: dict[str, Any] = {"name": tool.name, "input_schema": schema}
    if tool.description is not None:
        told["description"] = tool.description
    if tool.strict:
        told |= {"strict": True, "input_schema": _enforceable(schema, f"tools[{n}].parameters")}
    return told


def _tool_choice(asked: Asked) -> dict[str, Any] | None:
    choice = asked.tool_choice
    if not asked.tools or (choice is None and asked.parallel_tool_calls is not False):
        return None
    choosing = choice.choosing if choice else Choosing.AUTO
    told: dict[str, Any] = {"type": _CHOICES[choosing]}
    if choice is not None and choice.name is not None:
        told["name"] = choice.name
    if asked.parallel_tool_calls is False and choosing is not Choosing.NONE:
        told["disable_parallel_tool_use"] = True
    return told


def _output_config(asked: Asked, endpoint: Endpoint) -> dict[str, Any] | None:
    config: dict[str, Any] = {}
    if asked.effort is not None:
        if asked.effort not in _EFFORTS:
            field = "reasoning_effort" if endpoint is Endpoint.CHAT else "reasoning.effort"
            raise Unaskable(field, f"must be one of {', '.join(_EFFORTS)}")
        if effort := _EFFORTS[asked.effort]:
            config["effort"] = effort
    if asked.format is not None:
        field = "response_format" if endpoint is Endpoint.CHAT else "text.format"
        if asked.format.schema is None:
            raise Unaskable(field, "must have a JSON schema for Claude; json_object alone is not taken")
        schema = _enforceable(asked.format.schema, field)
        config["format"] = {"type": "json_schema", "schema": schema}
    return config or None


def _enforceable(schema: Mapping[str, Any], field: str) -> dict[str, Any]:
    """What Claude can hold itself to: closed objects, and bounds as words. The rest is checked by us."""
    try:
        return transform_schema(_one_type_each(schema))
    except (ValueError, TypeError, AttributeError, AssertionError, RecursionError):
        raise Unaskable(
            field, "has a JSON schema that Claude cannot be held to; give every part a type"
        ) from None


def _one_type_each(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The same schema with every list of types, as in `["string", "null"]`, as a choice of schemas."""
    told = {name: _one_type_each_below(name, value) for name, value in schema.items()}
    types = told.get("type")
    if not isinstance(types, list):
        return told
    about: dict[str, Any] = {
        name: told.pop(name) for name in ("description", "title", "$defs") if name in told
    }
    choices = [{"type": "null"} if kind == "null" else {**told, "type": kind} for kind in types]
    return {**about, "anyOf": choices}


def _one_type_each_below(name: str, value: Any) -> Any:
    if name in ("properties", "$defs") and isinstance(value, Mapping):
        return {key: _one_type_each(part) for key, part in value.items()}
    if name in ("anyOf", "oneOf", "allOf") and isinstance(value, list):
        return [_one_type_each(part) for part in value]
    return _one_type_each(value) if name == "items" and isinstance(value, Mapping) else value
