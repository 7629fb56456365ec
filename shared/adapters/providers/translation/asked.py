"""An OpenAI chat or responses body as one neutral question, for providers that speak another language.

Everything in the body is carried, has no bearing on the answer, or is objected to by its field.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from shared.adapters.providers.translation.asked_parts import Unaskable, a_text, an_array, an_object, one_of
from shared.adapters.providers.translation.asked_turns import Turn, Turns, read_input, read_messages
from shared.domain.catalog import Endpoint


class Choosing(StrEnum):
    """Whether the model must call a tool: as it likes, never, any one, or the one that is named."""

    AUTO = "auto"
    NONE = "none"
    REQUIRED = "required"
    NAMED = "named"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolChoice:
    choosing: Choosing
    name: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """`parameters` is a JSON Schema; None: it takes none."""

    name: str
    description: str | None = None
    parameters: Mapping[str, Any] | None = None
    strict: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """The answer is to be JSON. `schema` None: any object."""

    schema: Mapping[str, Any] | None = None
    name: str | None = None
    strict: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """`effort` is OpenAI's word for how much to think: none, minimal, low, medium, high, xhigh.

    What is None was not said. Whoever cannot carry what was said objects to it.
    """

    turns: tuple[Turn, ...]
    system: str | None = None
    max_output_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    stop: tuple[str, ...] = ()
    seed: int | None = None
    frequency_penalty: float | None = None
    presence_penalty: float | None = None
    format: Format | None = None
    tools: tuple[Tool, ...] = ()
    tool_choice: ToolChoice | None = None
    parallel_tool_calls: bool | None = None
    effort: str | None = None


# In order: a body that has several keeps the first.
_LIMITS: Final = ("max_output_tokens", "max_completion_tokens", "max_tokens")

_CARRIED: Final = {
    Endpoint.CHAT: frozenset(
        {"messages", "temperature", "top_p", "stop", "seed", "frequency_penalty", "presence_penalty", "tools"}
        | {"response_format", "tool_choice", "parallel_tool_calls", "reasoning_effort", *_LIMITS}
    ),
    Endpoint.RESPONSES: frozenset(
        {"input", "instructions", "temperature", "top_p", "tools", "tool_choice", "parallel_tool_calls"}
        | {"text", "reasoning", *_LIMITS}
    ),
}
# OpenAI's own bookkeeping: the answer is the same without it.
_NO_BEARING: Final = frozenset(
    {"model", "user", "metadata", "store", "service_tier", "safety_identifier"}
    | {"prompt_cache_key", "prompt_cache_retention"}
)
# Values that ask for nothing, wherever they stand.
_NOTHING: Final[tuple[object, ...]] = (None, False, {}, [])
_SAYS_NOTHING: Final[Mapping[str, tuple[object, ...]]] = {
    "n": (1,),
    "modalities": (["text"],),
    "truncation": ("disabled",),
}


def read_asked(endpoint: Endpoint, body: Mapping[str, Any]) -> Asked:
    """Raise `Unaskable` for what the question cannot carry."""
    if endpoint not in _CARRIED:
        raise Unaskable("input", "is for embeddings, which this provider's batches do not make")
    _refuse_unknown(endpoint, body)
    turns = Turns()
    if endpoint is Endpoint.CHAT:
        read_messages(turns, body.get("messages"))
    else:
        if body.get("instructions"):
            turns.instruct(a_text(body["instructions"], "instructions"), "instructions")
        read_input(turns, body.get("input"))
    if not turns.turns:
        where = "messages" if endpoint is Endpoint.CHAT else "input"
        raise Unaskable(where, "must have a message of the user")
    tools = _tools(body.get("tools"))
    return Asked(
        turns=turns.turns,
        system=turns.system,
        max_output_tokens=next((body[name] for name in _LIMITS if body.get(name) is not None), None),
        temperature=_number(body, "temperature"),
        top_p=_number(body, "top_p"),
        stop=_stop(body.get("stop")),
        seed=_whole(body, "seed"),
        frequency_penalty=_number(body, "frequency_penalty"),
        presence_penalty=_number(body, "presence_penalty"),
        format=_format(endpoint, body),
        tools=tools,
        tool_choice=_tool_choice(body.get("tool_choice"), tools),
        parallel_tool_calls=_flag(body, "parallel_tool_calls"),
        effort=_effort(endpoint, body),
    )


def _refuse_unknown(endpoint: Endpoint, body: Mapping[str, Any]) -> None:
    known = _CARRIED[endpoint] | _NO_BEARING
    for name, value in body.items():
        if name in known or value in _NOTHING or value in _SAYS_NOTHING.get(name, ()):
            continue
        raise Unaskable(name, "is not taken by this provider; leave it out")


def _number(body: Mapping[str, Any], name: str) -> float | None:
    value = body.get(name)
    if value is None:
        return None
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise Unaskable(name, "must be a number")
    return value


def _whole(body: Mapping[str, Any], name: str) -> int | None:
    value = body.get(name)
    if value is not None and type(value) is not int:
        raise Unaskable(name, "must be a whole number")
    return value


def _flag(body: Mapping[str, Any], name: str) -> bool | None:
    value = body.get(name)
    if not isinstance(value, bool | None):
        raise Unaskable(name, "must be true or false")
    return value


def _optional_text(members: Mapping[str, Any], name: str, field: str) -> str | None:
    value = members.get(name)
    if not isinstance(value, str | None):
        raise Unaskable(f"{field}.{name}", "must be a string")
    return value


def _stop(value: object) -> tuple[str, ...]:
    if value is None:
        return ()
    texts = [value] if isinstance(value, str) else an_array(value, "stop")
    return tuple(a_text(text, "stop") for text in texts)


def _effort(endpoint: Endpoint, body: Mapping[str, Any]) -> str | None:
    if endpoint is Endpoint.CHAT:
        effort = body.get("reasoning_effort")
        return None if effort is None else a_text(effort, "reasoning_effort")
    told = an_object(body.get("reasoning") or {}, "reasoning")
    for name, value in told.items():
        if name != "effort" and value is not None:
            raise Unaskable(f"reasoning.{name}", "is not taken by this provider; leave it out")
    effort = told.get("effort")
    return None if effort is None else a_text(effort, "reasoning.effort")


def _format(endpoint: Endpoint, body: Mapping[str, Any]) -> Format | None:
    if endpoint is Endpoint.CHAT:
        told = an_object(body.get("response_format") or {}, "response_format")
        nested = told.get("json_schema") if told.get("type") == "json_schema" else told
        return _read_format(told.get("type"), nested, "response_format")
    text = an_object(body.get("text") or {}, "text")
    if text.get("verbosity") is not None:
        raise Unaskable("text.verbosity", "is not taken by this provider; leave it out")
    told = an_object(text.get("format") or {}, "text.format")
    return _read_format(told.get("type"), told, "text.format")


def _read_format(kind: object, told: object, field: str) -> Format | None:
    match kind:
        case None | "text":
            return None
        case "json_object":
            return Format()
        case "json_schema":
            members = an_object(told, field)
            return Format(
                schema=an_object(members.get("schema"), f"{field}.schema"),
                name=_optional_text(members, "name", field),
                strict=members.get("strict") is True,
            )
        case _:
            raise Unaskable(f"{field}.type", "must be text, json_object or json_schema")


def _tools(value: object) -> tuple[Tool, ...]:
    if value is None:
        return ()
    return tuple(_tool(told, f"tools[{n}]") for n, told in enumerate(an_array(value, "tools")))


def _tool(told: object, field: str) -> Tool:
    """Chat wraps the function in an object, responses do not."""
    outer = an_object(told, field)
    if outer.get("type") != "function":
        raise Unaskable(f"{field}.type", "must be function; OpenAI's own tools are not taken elsewhere")
    members = an_object(outer.get("function", outer), f"{field}.function")
    parameters = members.get("parameters")
    return Tool(
        name=a_text(members.get("name"), f"{field}.name"),
        description=_optional_text(members, "description", field),
        parameters=None if parameters is None else an_object(parameters, f"{field}.parameters"),
        strict=members.get("strict") is True,
    )


def _tool_choice(value: object, tools: tuple[Tool, ...]) -> ToolChoice | None:
    if value is None:
        return None
    if value in ("auto", "none", "required"):
        return ToolChoice(choosing=Choosing(value))
    told = an_object(value, "tool_choice")
    named = an_object(told.get("function", told), "tool_choice").get("name")
    if told.get("type") != "function" or not one_of(named, {tool.name for tool in tools}):
        raise Unaskable("tool_choice", "must be auto, none, required, or the name of a function in tools")
    return ToolChoice(choosing=Choosing.NAMED, name=named)
