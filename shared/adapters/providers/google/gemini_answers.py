"""What Gemini answers to `generateContent`, as rows. Knows nothing of batches.

Source: Google's "GenerateContentResponse" reference of Vertex AI, read 2026-11-30.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Final

import msgspec
from msgspec import Meta, Raw, Struct

from shared.adapters.providers.openai.answers import Unreadable
from shared.adapters.providers.translation.answered import Answered, Called, answer_row
from shared.domain.catalog import Endpoint
from shared.domain.ids import RequestKey
from shared.domain.rows import MAX_MESSAGE, Finish, Row, RowKind
from shared.domain.usage import Usage

# A count beyond this is a broken report, and a broken report is no report.
_MOST_TOKENS: Final = 2**53
Count = Annotated[int, Meta(ge=0, le=_MOST_TOKENS)]

_FILTERED: Final = frozenset(
    {"SAFETY", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "MODEL_ARMOR", "IMAGE_SAFETY"}
)
# Not a filter stopped it: the model broke off, for it recited or knows no such language.
_REFUSED: Final = frozenset({"RECITATION", "LANGUAGE"})
_ENDED: Final = frozenset({"STOP", "FINISH_REASON_UNSPECIFIED"})
_REFUSAL: Final = "the model broke off its answer"


class _Call(Struct, gc=False):
    name: str = ""
    id: str | None = None
    args: Raw = Raw(b"{}")


class _Part(Struct, gc=False, rename="camel"):
    text: str | None = None
    thought: bool | None = None
    function_call: _Call | None = None


class _Content(Struct, gc=False):
    parts: list[_Part] | None = None


class _Candidate(Struct, gc=False, rename="camel"):
    content: _Content | None = None
    finish_reason: str | None = None
    finish_message: str | None = None


class _Feedback(Struct, gc=False, rename="camel"):
    block_reason: str | None = None


class _Answer(Struct, gc=False, rename="camel"):
    candidates: list[_Candidate] | None = None
    prompt_feedback: _Feedback | None = None
    usage_metadata: Raw = Raw(b"null")
    model_version: str | None = None
    response_id: str | None = None
    create_time: str | None = None


class _Tokens(Struct, gc=False, rename="camel"):
    """What is zero is left out. Cached tokens are inside the prompt, thoughts beside the candidates."""

    prompt_token_count: Count = 0
    cached_content_token_count: Count = 0
    candidates_token_count: Count = 0
    thoughts_token_count: Count = 0
    tool_use_prompt_token_count: Count = 0


_read_answer: Final = msgspec.json.Decoder(_Answer).decode
_read_tokens: Final = msgspec.json.Decoder(_Tokens | None).decode


def read_answer(endpoint: Endpoint, key: RequestKey, content: bytes | Raw) -> Row:
    """Raise `msgspec.MsgspecError` or `Unreadable` for what is no such answer."""
    answer = _read_answer(content)
    if not answer.candidates:
        if answer.prompt_feedback is None or answer.prompt_feedback.block_reason is None:
            raise Unreadable("the answer has no candidates")
        return answer_row(endpoint, key, _answered(answer, finish=Finish.CONTENT_FILTER))
    candidate = answer.candidates[0]
    parts = (candidate.content.parts if candidate.content else None) or []
    reason = candidate.finish_reason or "STOP"
    text, calls = _text(parts), _calls(parts)
    if reason in _FILTERED:
        return answer_row(endpoint, key, _answered(answer, finish=Finish.CONTENT_FILTER, text=text))
    if reason in _REFUSED:
        refusal = candidate.finish_message or _REFUSAL
        return answer_row(endpoint, key, _answered(answer, text=text, refusal=refusal))
    if reason == "MAX_TOKENS":
        return answer_row(
            endpoint, key, _answered(answer, finish=Finish.LENGTH, text=text or "", calls=calls)
        )
    if reason not in _ENDED and not text and not calls:
        return _failed(key, reason, candidate.finish_message, _usage(answer.usage_metadata))
    said = text if text or calls else ""
    return answer_row(endpoint, key, _answered(answer, text=said, calls=calls))


def _answered(
    answer: _Answer,
    *,
    finish: Finish = Finish.STOP,
    text: str | None = None,
    refusal: str | None = None,
    calls: Sequence[Called] = (),
) -> Answered:
    return Answered(
        id=answer.response_id,
        model=answer.model_version,
        created=_seconds(answer.create_time),
        text=text,
        finish=finish,
        refusal=refusal,
        calls=calls,
        usage=_usage(answer.usage_metadata),
    )


def _failed(key: RequestKey, reason: str, message: str | None, usage: Usage | None) -> Row:
    """The model came to nothing (a broken tool call, or no reason at all): another try may do better."""
    return Row(
        key=key,
        kind=RowKind.ERROR,
        status=500,
        code=reason.lower(),
        message=(message or f"the model ended with {reason}")[:MAX_MESSAGE],
        usage=usage,
    )


def _text(parts: list[_Part]) -> str | None:
    """What is to be seen: thoughts are parts as well, where somebody asked for them."""
    texts = [part.text for part in parts if part.text is not None and not part.thought]
    return "".join(texts) if texts else None


def _calls(parts: list[_Part]) -> list[Called]:
    found = [part.function_call for part in parts if part.function_call is not None]
    return [
        Called(id=call.id or f"call_{n}", name=call.name, arguments=bytes(call.args).decode())
        for n, call in enumerate(found)
    ]


def _usage(report: Raw) -> Usage | None:
    """None for a report that cannot be read: the answer itself was paid for and is not lost over it."""
    try:
        tokens = _read_tokens(report)
    except (msgspec.MsgspecError, RecursionError):
        return None
    if tokens is None:
        return None
    return Usage.from_inclusive(
        input_=tokens.prompt_token_count + tokens.tool_use_prompt_token_count,
        cached=tokens.cached_content_token_count,
        output=tokens.candidates_token_count + tokens.thoughts_token_count,
        reasoning=tokens.thoughts_token_count,
    )


def _seconds(time: str | None) -> int | None:
    try:
        return int(datetime.fromisoformat(time).timestamp()) if time else None
    except (ValueError, OverflowError):
        return None
