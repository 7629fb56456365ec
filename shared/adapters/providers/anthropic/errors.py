"""What Anthropic complains about, over HTTP and in rows, and what its SDK raises, told in our words.

Anthropic's types are coarse: two complaints that mean something else than their type are told by text only.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

import anthropic
import httpx2
import msgspec
from msgspec import Raw, Struct

from shared.adapters.providers.common.codes import code_name
from shared.adapters.providers.common.faults import Call, from_status, lost, without_answer
from shared.domain.rows import MAX_MESSAGE
from shared.ports.clock import Clock

BILLING: Final = "billing_error"

# Anthropic's "Errors" page, read 2026-11-30.
_STATUS: Final = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    BILLING: 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}
# A type of Anthropic's to the word that results have for it, whoever the provider was.
_CODES: Final = {"invalid_request_error": "invalid_request"}
# All told as `invalid_request_error`. The account is empty; the model's answer was withheld; the prompt is
# longer than the model reads.
_TOLD_BY_TEXT: Final = (
    ("credit balance is too low", BILLING),
    ("credit balance too low", BILLING),
    ("content filtering policy", "content_filter"),
    ("prompt is too long", "context_length_exceeded"),
)


class _Error(Struct, gc=False):
    type: object = None
    message: object = None


class _Envelope(Struct, gc=False):
    error: _Error


@dataclass(frozen=True, slots=True, kw_only=True)
class Complaint:
    """`status` is what the type stands for; None: nobody knows this type."""

    status: int | None
    code: str | None
    message: str | None


_read: Final = msgspec.json.Decoder(_Envelope).decode


def read_complaint(content: bytes | Raw) -> Complaint:
    """Raise `msgspec.MsgspecError` for what is no error of Anthropic's."""
    error = _read(content).error
    text = error.message.strip() if isinstance(error.message, str) else ""
    kind = next((kind for part, kind in _TOLD_BY_TEXT if part in text.lower()), None) or code_name(error.type)
    return Complaint(
        status=_STATUS.get(kind or "", 400 if kind != code_name(error.type) else None),
        code=_CODES.get(kind or "", kind),
        message=text[:MAX_MESSAGE] or None,
    )


@contextmanager
def translated(call: Call, clock: Clock) -> Iterator[None]:
    """Raise ours for whatever the SDK raises inside. Nothing of its text travels on."""
    try:
        yield
    except anthropic.APIStatusError as fault:
        status, code = fault.status_code, code_name(fault.type)
        if _complaint_of(fault).code == BILLING:
            status, code = _STATUS[BILLING], BILLING
        raise from_status(call, status, code, fault.response.headers, now=clock.now()) from None
    except (anthropic.AnthropicError, httpx2.HTTPError, TimeoutError) as fault:
        raise without_answer(call, fault) from None
    except msgspec.MsgspecError:
        raise lost(call, "the answer was not what this call answers") from None


def _complaint_of(fault: anthropic.APIStatusError) -> Complaint:
    try:
        return read_complaint(fault.response.content)
    except (msgspec.MsgspecError, httpx2.StreamError):
        return Complaint(status=fault.status_code, code=None, message=None)
