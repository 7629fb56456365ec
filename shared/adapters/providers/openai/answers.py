"""What OpenAI-shaped APIs answer: chat completions, responses, embeddings. Knows nothing of batches.

Each reader takes the answer's JSON and makes a row of it. It raises `msgspec.MsgspecError` or `Unreadable`
when the bytes are no such answer.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Annotated, Final

import msgspec
from msgspec import Meta, Raw, Struct

from shared.domain.catalog import Endpoint
from shared.domain.ids import RequestKey
from shared.domain.rows import MAX_MESSAGE, Finish, Row, RowKind
from shared.domain.usage import Usage

# A count beyond this is a broken report, and a broken report is no report.
_MOST_TOKENS: Final = 2**53

Count = Annotated[int, Meta(ge=-_MOST_TOKENS, le=_MOST_TOKENS)]


class Unreadable(ValueError):
    """Well-formed JSON that is no answer. The text names what is missing, never what is there."""


class _InputDetails(Struct, gc=False):
    cached_tokens: Count | None = None
    cache_write_tokens: Count | None = None


class _OutputDetails(Struct, gc=False):
    reasoning_tokens: Count | None = None


class _ChatTokens(Struct, gc=False):
    prompt_tokens: Count
    completion_tokens: Count | None = None
    prompt_tokens_details: _InputDetails | None = None
    completion_tokens_details: _OutputDetails | None = None


class _ResponsesTokens(Struct, gc=False):
    input_tokens: Count
    output_tokens: Count | None = None
    input_tokens_details: _InputDetails | None = None
    output_tokens_details: _OutputDetails | None = None


class _Part(Struct, gc=False):
    text: str | None = None
    refusal: str | None = None


class _Message(Struct, gc=False):
    content: str | list[_Part] | None = None
    refusal: str | None = None


class _Choice(Struct, gc=False):
    message: _Message
    finish_reason: str | None = None


class _Chat(Struct, gc=False):
    choices: list[_Choice]
    usage: Raw = Raw(b"null")


class _Item(Struct, gc=False):
    type: str | None = None
    content: Raw = Raw(b"null")


class _Incomplete(Struct, gc=False):
    reason: str | None = None


class _Failure(Struct, gc=False):
    code: str | None = None
    message: str | None = None


class _Responses(Struct, gc=False):
    output: list[_Item]
    status: str | None = None
    incomplete_details: _Incomplete | None = None
    error: _Failure | None = None
    usage: Raw = Raw(b"null")


class _Vector(Struct, gc=False):
    embedding: Raw
    index: int = 0


class _Embeddings(Struct, gc=False):
    data: list[_Vector]
    usage: Raw = Raw(b"null")


_read_chat: Final = msgspec.json.Decoder(_Chat).decode
_read_responses: Final = msgspec.json.Decoder(_Responses).decode
_read_embeddings: Final = msgspec.json.Decoder(_Embeddings).decode
_read_parts: Final = msgspec.json.Decoder(list[_Part]).decode
_read_chat_tokens: Final = msgspec.json.Decoder(_ChatTokens).decode
_read_responses_tokens: Final = msgspec.json.Decoder(_ResponsesTokens).decode
_encode: Final = msgspec.json.Encoder().encode

_FINISHES: Final = {"length": Finish.LENGTH, "content_filter": Finish.CONTENT_FILTER}

# A failure told inside a 200 answer, with the HTTP status it would have had by itself.
_FAILURE_STATUS: Final = {"server_error": 500, "vector_store_timeout": 504, "rate_limit_exceeded": 429}


def _read_chat_row(key: RequestKey, status: int, body: bytes) -> Row:
    chat = _read_chat(body)
    if not chat.choices:
        raise Unreadable("the answer has no choices")
    choice = chat.choices[0]
    message, content = choice.message, choice.message.content
    text = _joined(content) if isinstance(content, list) else content
    return Row(
        key=key,
        kind=RowKind.ANSWER,
        status=status,
        text=text,
        output=None if text is None else _encode(text),
        refusal=message.refusal or None,
        finish=_FINISHES.get(choice.finish_reason or "", Finish.STOP),
        usage=chat_usage(chat.usage),
        body=body,
    )


def _read_responses_row(key: RequestKey, status: int, body: bytes) -> Row:
    answer = _read_responses(body)
    if answer.error is not None or answer.status == "failed":
        return _failed_response(key, answer.error or _Failure())
    if answer.status in ("queued", "in_progress"):
        raise Unreadable("the answer was not finished")
    parts = [part for item in answer.output if item.type == "message" for part in _parts(item.content)]
    text = _joined(parts)
    return Row(
        key=key,
        kind=RowKind.ANSWER,
        status=status,
        text=text,
        output=None if text is None else _encode(text),
        refusal=next((part.refusal for part in parts if part.refusal), None),
        finish=_responses_finish(answer),
        usage=responses_usage(answer.usage),
        body=body,
    )


def _read_embeddings_row(key: RequestKey, status: int, body: bytes) -> Row:
    answer = _read_embeddings(body)
    vectors = [bytes(vector.embedding) for vector in sorted(answer.data, key=lambda vector: vector.index)]
    if not vectors or any(vector in (b"null", b"[]") for vector in vectors):
        raise Unreadable("the answer has no vector")
    return Row(
        key=key,
        kind=RowKind.ANSWER,
        status=status,
        output=vectors[0] if len(vectors) == 1 else b"[" + b",".join(vectors) + b"]",
        usage=chat_usage(answer.usage),
        body=body,
    )


ReadAnswer = Callable[[RequestKey, int, bytes], Row]

# By endpoint: (key, HTTP status, the answer's JSON) to the row.
ANSWER_READERS: Final[Mapping[Endpoint, ReadAnswer]] = MappingProxyType(
    {
        Endpoint.CHAT: _read_chat_row,
        Endpoint.RESPONSES: _read_responses_row,
        Endpoint.EMBEDDINGS: _read_embeddings_row,
    }
)


def _failed_response(key: RequestKey, failure: _Failure) -> Row:
    return Row(
        key=key,
        kind=RowKind.ERROR,
        status=_FAILURE_STATUS.get(failure.code or "server_error", 400),
        code=failure.code or None,
        message=(failure.message or "")[:MAX_MESSAGE] or None,
    )


def _responses_finish(answer: _Responses) -> Finish:
    if answer.status != "incomplete" and answer.incomplete_details is None:
        return Finish.STOP
    reason = answer.incomplete_details.reason if answer.incomplete_details else None
    return Finish.CONTENT_FILTER if reason == "content_filter" else Finish.LENGTH


def _parts(content: Raw) -> list[_Part]:
    return [] if content == b"null" else _read_parts(content)


def _joined(parts: list[_Part]) -> str | None:
    """What the parts say together; None if none of them is text."""
    texts = [part.text for part in parts if part.text is not None]
    return "".join(texts) if texts else None


def chat_usage(report: Raw) -> Usage | None:
    """None for a report that cannot be read: the answer itself was paid for and is not lost over it."""
    try:
        tokens = _read_chat_tokens(report)
    except (msgspec.MsgspecError, RecursionError):
        return None
    return _usage(
        tokens.prompt_tokens,
        tokens.prompt_tokens_details,
        tokens.completion_tokens,
        tokens.completion_tokens_details,
    )


def responses_usage(report: Raw) -> Usage | None:
    try:
        tokens = _read_responses_tokens(report)
    except (msgspec.MsgspecError, RecursionError):
        return None
    return _usage(
        tokens.input_tokens, tokens.input_tokens_details, tokens.output_tokens, tokens.output_tokens_details
    )


def _usage(
    input_: int, inside: _InputDetails | None, output: int | None, outside: _OutputDetails | None
) -> Usage:
    return Usage.from_inclusive(
        input_=input_,
        cached=(inside.cached_tokens or 0) if inside else 0,
        cache_write=(inside.cache_write_tokens or 0) if inside else 0,
        output=output or 0,
        reasoning=(outside.reasoning_tokens or 0) if outside else 0,
    )
