"""The way back: another provider's answer as the body OpenAI would have given, and the row that holds it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from shared.adapters.providers.openai.answers import ANSWER_READERS
from shared.domain.catalog import Endpoint
from shared.domain.ids import RequestKey
from shared.domain.rows import Finish, Row
from shared.domain.usage import Usage

_OK: Final = 200
_encode: Final = msgspec.json.Encoder().encode


@dataclass(frozen=True, slots=True, kw_only=True)
class Called:
    """A tool the model wants called. `arguments` is JSON text."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """What came back. `created` is in Unix seconds; None, as everywhere: not told.

    `refusal`: the model said no, in these words; a text beside it is what it had said before.
    """

    id: str | None
    model: str | None
    created: int | None
    text: str | None
    finish: Finish
    refusal: str | None = None
    calls: Sequence[Called] = ()
    usage: Usage | None = None


def answer_row(endpoint: Endpoint, key: RequestKey, answered: Answered) -> Row:
    """Read back as if OpenAI had written it: one reading for all providers."""
    body = _chat(answered) if endpoint is Endpoint.CHAT else _response(answered)
    return ANSWER_READERS[endpoint](key, _OK, _encode(body))


def _chat(answered: Answered) -> dict[str, Any]:
    message: dict[str, Any] = {
        "role": "assistant",
        "content": answered.text,
        "refusal": answered.refusal,
    }
    if answered.calls:
        message["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for call in answered.calls
        ]
    return {
        "id": answered.id,
        "object": "chat.completion",
        "created": answered.created,
        "model": answered.model,
        "choices": [
            {"index": 0, "message": message, "logprobs": None, "finish_reason": _finish_reason(answered)}
        ],
        "usage": None if answered.usage is None else _chat_usage(answered.usage),
    }


def _finish_reason(answered: Answered) -> str:
    if answered.finish is Finish.STOP and answered.calls:
        return "tool_calls"
    return answered.finish.value


def _chat_usage(usage: Usage) -> dict[str, Any]:
    return {
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.input + usage.output,
        "prompt_tokens_details": _input_details(usage),
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning},
    }


def _response(answered: Answered) -> dict[str, Any]:
    complete = answered.finish is Finish.STOP
    return {
        "id": answered.id,
        "object": "response",
        "created_at": answered.created,
        "status": "completed" if complete else "incomplete",
        "error": None,
        "incomplete_details": None if complete else {"reason": _incomplete_reason(answered.finish)},
        "model": answered.model,
        "output": _items(answered),
        "usage": None if answered.usage is None else _responses_usage(answered.usage),
    }


def _incomplete_reason(finish: Finish) -> str:
    return "content_filter" if finish is Finish.CONTENT_FILTER else "max_output_tokens"


def _items(answered: Answered) -> list[dict[str, Any]]:
    status = "completed" if answered.finish is Finish.STOP else "incomplete"
    said: list[dict[str, Any]] = []
    if answered.text is not None:
        said.append({"type": "output_text", "text": answered.text, "annotations": []})
    if answered.refusal is not None:
        said.append({"type": "refusal", "refusal": answered.refusal})
    items: list[dict[str, Any]] = []
    if said:
        items.append(
            {"type": "message", "id": answered.id, "role": "assistant", "status": status, "content": said}
        )
    items += [
        {
            "type": "function_call",
            "call_id": call.id,
            "name": call.name,
            "arguments": call.arguments,
            "status": status,
        }
        for call in answered.calls
    ]
    return items


def _responses_usage(usage: Usage) -> dict[str, Any]:
    return {
        "input_tokens": usage.input,
        "input_tokens_details": _input_details(usage),
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning},
        "total_tokens": usage.input + usage.output,
    }


def _input_details(usage: Usage) -> dict[str, int]:
    return {"cached_tokens": usage.cached_input, "cache_write_tokens": usage.cache_write}
