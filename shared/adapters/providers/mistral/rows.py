"""Mistral's batch lines, in and out. Rows of failed lines hold their body as JSON inside a string."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec
from msgspec import Raw, Struct

from shared.adapters.providers.common.codes import code_name
from shared.adapters.providers.mistral.bodies import mistral_body
from shared.adapters.providers.openai.answers import ANSWER_READERS, Unreadable, chat_usage
from shared.adapters.providers.openai.lines import CONTENT_FILTER, guarded
from shared.adapters.providers.translation.answered import Answered, Called, answer_row
from shared.domain.catalog import Endpoint
from shared.domain.ids import RequestKey
from shared.domain.rows import MAX_MESSAGE, Finish, Row, RowKind

_NULL: Final = Raw(b"null")
_FINISHES: Final = {
    "length": Finish.LENGTH,
    "model_length": Finish.LENGTH,
    CONTENT_FILTER: Finish.CONTENT_FILTER,
}
_BROKE_OFF: Final = "error"
_BLOCKED: Final = 400


class _Response(Struct, gc=False):
    status_code: int | None = None
    body: Raw = _NULL


class _Line(Struct, gc=False):
    custom_id: str
    response: _Response | None = None
    error: Raw = _NULL


class _Chunk(Struct, gc=False):
    """`thinking` chunks have no text of their own, references neither."""

    type: str | None = None
    text: str | None = None


class _Function(Struct, gc=False):
    name: str
    arguments: Raw = Raw(b"{}")


class _Call(Struct, gc=False):
    function: _Function
    id: str | None = None


class _Message(Struct, gc=False):
    content: str | list[_Chunk] | None = None
    tool_calls: list[_Call] | None = None


class _Choice(Struct, gc=False):
    message: _Message
    finish_reason: str | None = None


class _Chat(Struct, gc=False):
    choices: list[_Choice]
    id: str | None = None
    model: str | None = None
    created: int | None = None
    usage: Raw = _NULL


class _Complaint(Struct, gc=False):
    """`message` is a text, a list of complaints, or an object with such a list as `detail`."""

    message: object = None
    detail: object = None
    type: object = None
    code: object = None


_read_line: Final = msgspec.json.Decoder(_Line).decode
_read_chat: Final = msgspec.json.Decoder(_Chat).decode
_read_complaint: Final = msgspec.json.Decoder(_Complaint).decode
_read_text: Final = msgspec.json.Decoder(str).decode
_encode: Final = msgspec.json.Encoder().encode


def url_of(endpoint: Endpoint) -> str:
    """Where a batch sends its lines: there is no responses API, so a response is asked for as a chat."""
    return (Endpoint.EMBEDDINGS if endpoint is Endpoint.EMBEDDINGS else Endpoint.CHAT).url


def write_line(key: RequestKey, endpoint: Endpoint, body: Mapping[str, Any]) -> bytes:
    """One request, newline included. The model is the job's."""
    return _encode({"custom_id": key, "body": mistral_body(endpoint, body)}) + b"\n"


def read_row(endpoint: Endpoint, line: bytes) -> Row:
    """One line of an output or error file. Never raises, whatever the bytes."""
    return guarded(line, lambda whole: _classify(endpoint, _read_line(whole)))


def complaint(body: bytes) -> tuple[str | None, str | None]:
    """Code and message of an error's body. None: not told.

    A name stands in `type`, sometimes in `code`, where otherwise a number is.
    """
    try:
        told = _read_complaint(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None, None
    message = told.message if told.message is not None else told.detail
    return code_name(told.code) or code_name(told.type), _message(message)


def _classify(endpoint: Endpoint, line: _Line) -> Row:
    key = RequestKey(line.custom_id)
    if line.response is None or not line.response.status_code:
        code, message = complaint(_unwrapped(line.error))
        if code is None and message is None:
            raise Unreadable("the row has neither a status nor an error")
        return Row(key=key, kind=RowKind.ERROR, code=code, message=message)
    status, body = line.response.status_code, _unwrapped(line.response.body)
    if 200 <= status < 300:
        return _answer(endpoint, key, status, body)
    code, message = complaint(body)
    # A guardrail that blocks a prompt answers as one does who lets nobody in.
    status = _BLOCKED if code == CONTENT_FILTER else status
    return Row(key=key, kind=RowKind.ERROR, status=status, code=code, message=message)


def _unwrapped(body: Raw) -> bytes:
    """JSON that stands inside a string; any other JSON as it is."""
    content = bytes(body)
    return _read_text(content).encode() if content.startswith(b'"') else content


def _answer(endpoint: Endpoint, key: RequestKey, status: int, body: bytes) -> Row:
    if endpoint is Endpoint.EMBEDDINGS:
        return ANSWER_READERS[endpoint](key, status, body)
    chat = _read_chat(body)
    if not chat.choices:
        raise Unreadable("the answer has no choices")
    choice, usage = chat.choices[0], chat_usage(chat.usage)
    if choice.finish_reason == _BROKE_OFF:
        message = "the model broke off with an error"
        return Row(key=key, kind=RowKind.ERROR, status=500, message=message, usage=usage)
    return answer_row(
        endpoint,
        key,
        Answered(
            id=chat.id,
            model=chat.model,
            created=chat.created,
            text=_text(choice.message.content),
            finish=_FINISHES.get(choice.finish_reason or "", Finish.STOP),
            calls=_calls(choice.message.tool_calls or ()),
            usage=usage,
        ),
    )


def _text(content: str | list[_Chunk] | None) -> str | None:
    """What is said, without what was thought. None if nothing is."""
    if not isinstance(content, list):
        return content
    texts = [chunk.text for chunk in content if chunk.text is not None]
    return "".join(texts) if texts else None


def _calls(calls: Sequence[_Call]) -> list[Called]:
    return [
        Called(
            id=call.id or f"call_{n}", name=call.function.name, arguments=_arguments(call.function.arguments)
        )
        for n, call in enumerate(calls)
    ]


def _arguments(told: Raw) -> str:
    """JSON text, or the object itself."""
    return _unwrapped(told).decode()


def _message(told: object) -> str | None:
    if isinstance(told, Mapping):
        told = told.get("detail")
    if isinstance(told, list):
        told = "; ".join(filter(None, map(_detail, told)))
    return (told.strip()[:MAX_MESSAGE] or None) if isinstance(told, str) else None


def _detail(told: object) -> str:
    """`body.temperature: Input should be less than or equal to 1.5`."""
    if not isinstance(told, Mapping):
        return ""
    where = told.get("loc")
    place = ".".join(map(str, where)) if isinstance(where, list) else ""
    return f"{place}: {told.get('msg', '')}" if place else str(told.get("msg", ""))
