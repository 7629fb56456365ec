"""Anthropic's messages and result lines as rows. Row-level truth: a batch only ever ends."""

from typing import Annotated, Final

import msgspec
from msgspec import Meta, Raw, Struct

from shared.adapters.providers.anthropic.errors import read_complaint
from shared.adapters.providers.openai.lines import guarded
from shared.adapters.providers.translation.answered import Answered, Called, answer_row
from shared.domain.catalog import Endpoint
from shared.domain.ids import RequestKey
from shared.domain.rows import MAX_MESSAGE, Finish, Row, RowKind
from shared.domain.usage import Usage

# A count beyond this is a broken report, and a broken report is no report.
_MOST_TOKENS: Final = 2**53
Count = Annotated[int, Meta(ge=0, le=_MOST_TOKENS)]

_NULL: Final = Raw(b"null")
_CUT: Final = frozenset({"max_tokens", "model_context_window_exceeded"})
_REFUSED: Final = "the model refused to answer"
_NEVER_RAN: Final = {"expired": RowKind.EXPIRED, "canceled": RowKind.CANCELLED}


class _Thinking(Struct, gc=False):
    thinking_tokens: Count | None = None


class _Tokens(Struct, gc=False):
    input_tokens: Count
    output_tokens: Count
    cache_creation_input_tokens: Count | None = None
    cache_read_input_tokens: Count | None = None
    output_tokens_details: _Thinking | None = None


class _Block(Struct, gc=False):
    type: str
    text: str | None = None
    id: str | None = None
    name: str | None = None
    input: Raw = _NULL


class _StopDetails(Struct, gc=False):
    category: str | None = None
    explanation: str | None = None


class _Message(Struct, gc=False):
    content: list[_Block]
    id: str | None = None
    model: str | None = None
    stop_reason: str | None = None
    stop_details: _StopDetails | None = None
    usage: Raw = _NULL


class _Result(Struct, gc=False):
    type: str
    message: Raw = _NULL
    error: Raw = _NULL


class _Line(Struct, gc=False):
    custom_id: str
    result: _Result


_read_line: Final = msgspec.json.Decoder(_Line).decode
_read_message: Final = msgspec.json.Decoder(_Message).decode
_read_tokens: Final = msgspec.json.Decoder(_Tokens).decode


def read_row(endpoint: Endpoint, line: bytes) -> Row:
    """One line of a batch's results. Never raises, whatever the bytes."""
    return guarded(line, lambda clean: _classify(endpoint, _read_line(clean)))


def read_message(endpoint: Endpoint, key: RequestKey, content: bytes | Raw) -> Row:
    """Raise `msgspec.MsgspecError` for what is no message."""
    message = _read_message(content)
    texts = [block.text for block in message.content if block.type == "text" and block.text is not None]
    answered = Answered(
        id=message.id,
        model=message.model,
        # Messages do not say when they were made.
        created=None,
        text="".join(texts) if texts else None,
        finish=_finish(message),
        refusal=_refusal(message.stop_details) if message.stop_reason == "refusal" else None,
        calls=[
            Called(id=block.id or "", name=block.name or "", arguments=bytes(block.input).decode())
            for block in message.content
            if block.type == "tool_use"
        ],
        usage=_usage(message.usage),
    )
    return answer_row(endpoint, key, answered)


def read_error(key: RequestKey | None, content: bytes | Raw, *, status: int | None = None) -> Row:
    """`status` is the HTTP status it came with, if it came over HTTP."""
    complaint = read_complaint(content)
    return Row(
        key=key,
        kind=RowKind.ERROR,
        status=complaint.status or status,
        code=complaint.code,
        message=complaint.message,
    )


def _classify(endpoint: Endpoint, line: _Line) -> Row:
    key, result = RequestKey(line.custom_id), line.result
    if result.type == "succeeded":
        return read_message(endpoint, key, result.message)
    if result.type == "errored":
        return read_error(key, result.error)
    if result.type in _NEVER_RAN:
        return Row(key=key, kind=_NEVER_RAN[result.type])
    return Row(
        key=key,
        kind=RowKind.UNREADABLE,
        message=f"the row has a result of the unknown type {result.type!r}"[:MAX_MESSAGE],
    )


def _finish(message: _Message) -> Finish:
    """A refusal that nothing is said about is a filter's: the answer broke off, or never began."""
    if message.stop_reason == "refusal" and message.stop_details is None:
        return Finish.CONTENT_FILTER
    return Finish.LENGTH if message.stop_reason in _CUT else Finish.STOP


def _refusal(details: _StopDetails | None) -> str | None:
    if details is None:
        return None
    if details.explanation:
        return details.explanation
    return f"{_REFUSED} ({details.category})" if details.category else _REFUSED


def _usage(report: Raw) -> Usage | None:
    """Anthropic counts cached and uncached input apart, and thinking as output."""
    try:
        tokens = _read_tokens(report)
    except (msgspec.MsgspecError, RecursionError):
        return None
    thought = tokens.output_tokens_details.thinking_tokens if tokens.output_tokens_details else None
    return Usage(
        uncached_input=tokens.input_tokens,
        cached_input=tokens.cache_read_input_tokens or 0,
        cache_write=tokens.cache_creation_input_tokens or 0,
        output=tokens.output_tokens,
        reasoning=min(thought or 0, tokens.output_tokens),
    )
