"""OpenAI's messages and input items as a system text and turns of user and assistant."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from shared.adapters.providers.translation.asked_parts import (
    Part,
    Text,
    ToolCall,
    ToolResult,
    Unaskable,
    a_text,
    an_array,
    an_object,
    one_of,
    read_call,
    read_content,
    read_text,
)

_SYSTEM: Final = frozenset({"system", "developer"})


class Role(StrEnum):
    USER = "user"
    ASSISTANT = "assistant"


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """Never without parts. Results of tools are the user's."""

    role: Role
    parts: tuple[Part, ...]


@dataclass(slots=True)
class Turns:
    """Collects what a body says in order. Neighbours of one role become one turn."""

    _system: list[str] = field(default_factory=list)
    _turns: list[tuple[Role, list[Part]]] = field(default_factory=list)
    _calls: dict[str, str] = field(default_factory=dict)

    @property
    def system(self) -> str | None:
        return "\n\n".join(text for text in self._system if text) or None

    @property
    def turns(self) -> tuple[Turn, ...]:
        return tuple(Turn(role=role, parts=tuple(parts)) for role, parts in self._turns)

    def instruct(self, text: str, where: str) -> None:
        if self._turns:
            raise Unaskable(where, "must come before all other messages: this provider has one system text")
        self._system.append(text)

    def say(self, role: Role, parts: list[Part]) -> None:
        if not parts:
            return
        if self._turns and self._turns[-1][0] is role:
            self._turns[-1][1].extend(parts)
        else:
            self._turns.append((role, parts))
        self._calls.update({part.id: part.name for part in parts if isinstance(part, ToolCall)})

    def report(self, call: object, text: str, where: str) -> None:
        """What came of a tool that was called before."""
        id_ = a_text(call, where)
        if id_ not in self._calls:
            raise Unaskable(where, "must be the id of a tool call that comes before it")
        self.say(Role.USER, [ToolResult(id=id_, name=self._calls[id_], text=text)])


def read_messages(turns: Turns, messages: object) -> None:
    """The `messages` of a chat body."""
    for n, message in enumerate(an_array(messages, "messages")):
        where = f"messages[{n}]"
        members = an_object(message, where)
        _read_message(turns, members, where)


def read_input(turns: Turns, given: object) -> None:
    """The `input` of a responses body: a text, or items."""
    if isinstance(given, str):
        turns.say(Role.USER, [Text(text=given)])
        return
    for n, item in enumerate(an_array(given, "input")):
        where = f"input[{n}]"
        members = an_object(item, where)
        kind = members.get("type") or "message"
        read = _ITEMS.get(kind) if isinstance(kind, str) else None
        if read is None:
            raise Unaskable(f"{where}.type", f"must be one of {', '.join(sorted(_ITEMS))}")
        read(turns, members, where)


def _read_message(turns: Turns, members: Mapping[str, Any], where: str) -> None:
    role, content = members.get("role"), members.get("content")
    if one_of(role, _SYSTEM):
        turns.instruct(read_text(content, f"{where}.content"), f"{where}.role")
    elif role == "user":
        turns.say(Role.USER, read_content(content, f"{where}.content"))
    elif role == "assistant":
        turns.say(Role.ASSISTANT, _assistant_parts(members, where))
    elif role == "tool":
        turns.report(
            members.get("tool_call_id"), read_text(content, f"{where}.content"), f"{where}.tool_call_id"
        )
    else:
        raise Unaskable(f"{where}.role", "must be system, developer, user, assistant or tool")


def _assistant_parts(members: Mapping[str, Any], where: str) -> list[Part]:
    if members.get("function_call"):
        raise Unaskable(f"{where}.function_call", "is the old form; use tool_calls")
    said = members.get("content") or members.get("refusal")
    calls = members.get("tool_calls") or []
    parts = read_content(said, f"{where}.content") if said else []
    for n, call in enumerate(an_array(calls, f"{where}.tool_calls")):
        at = f"{where}.tool_calls[{n}]"
        told = an_object(call, at)
        parts.append(read_call(told.get("id"), told.get("function"), at))
    return parts


def _read_item_call(turns: Turns, members: Mapping[str, Any], where: str) -> None:
    turns.say(Role.ASSISTANT, [read_call(members.get("call_id"), members, where)])


def _read_item_result(turns: Turns, members: Mapping[str, Any], where: str) -> None:
    turns.report(members.get("call_id"), read_text(members.get("output"), f"{where}.output"), where)


_ITEMS: Final[Mapping[str, Callable[[Turns, Mapping[str, Any], str], None]]] = {
    "message": _read_message,
    "function_call": _read_item_call,
    "function_call_output": _read_item_result,
}
