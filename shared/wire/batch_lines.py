"""Lines of a batch's output and error files, made of result lines: OpenAI's shape, whoever answered."""

from typing import Final

import msgspec

from shared.domain.ids import JobId
from shared.domain.outcomes import Outcome
from shared.wire.problems import INVALID_REQUEST

_NULL: Final = msgspec.Raw(b"null")

# The status that such an error has by itself; every other one is the request's own fault.
_STATUS: Final = {
    "rate_limited": 429,
    "timeout": 408,
    "missing": 500,
    "unreadable": 500,
    "provider_error": 500,
    "infrastructure": 500,
}
_NEVER_RAN: Final = {
    Outcome.EXPIRED: (
        "batch_expired",
        "This request could not be executed before the completion window expired.",
    ),
    Outcome.CANCELLED: (
        "batch_cancelled",
        "This request was not executed because the batch was cancelled.",
    ),
}


class _Result(msgspec.Struct, frozen=True, gc=False):
    custom_id: msgspec.Raw
    outcome: Outcome
    reason: str | None = None
    message: str | None = None
    response: msgspec.Raw = _NULL


_read: Final = msgspec.json.Decoder(_Result).decode
_encode: Final = msgspec.json.Encoder().encode


class BatchLine(msgspec.Struct, frozen=True, gc=False):
    """`content` with its newline. `answered`: it belongs into the output file, else into that of errors.

    `ran` is false for a request that was never tried.
    """

    content: bytes
    answered: bool
    ran: bool


def batch_line(job_id: JobId, position: int, result: bytes) -> BatchLine:
    """The line of the request at `position`, counted from 0. The same at every call."""
    read = _read(result)
    name = b"%s%08x" % (job_id.rpartition("_")[2].encode(), position)
    if read.response != _NULL:
        response = _response(200, name, bytes(read.response))
        return BatchLine(_line(name, read.custom_id, response, b"null"), answered=True, ran=True)
    if read.outcome in _NEVER_RAN:
        code, message = _NEVER_RAN[read.outcome]
        error = _encode({"code": code, "message": message})
        return BatchLine(_line(name, read.custom_id, b"null", error), answered=False, ran=False)
    response = _response(*_failure(name, read))
    return BatchLine(_line(name, read.custom_id, response, b"null"), answered=False, ran=True)


def _failure(name: bytes, read: _Result) -> tuple[int, bytes, bytes]:
    code = read.reason or read.outcome.value
    status = _STATUS.get(code, 400)
    kind = {429: "rate_limit_error", 500: "server_error"}.get(status, "invalid_request_error")
    message = read.message or f"The request ended as {read.outcome.value}: {code}."
    error = {
        "message": message,
        "type": kind,
        "param": None,
        "code": None if code == INVALID_REQUEST else code,
    }
    return status, name, _encode({"error": error})


def _response(status: int, name: bytes, body: bytes) -> bytes:
    return b'{"status_code":%d,"request_id":"req_%s","body":%s}' % (status, name, body)


def _line(name: bytes, custom_id: msgspec.Raw, response: bytes, error: bytes) -> bytes:
    custom = bytes(custom_id)
    return b'{"id":"batch_req_%s","custom_id":%s,"response":%s,"error":%s}\n' % (
        name,
        custom,
        response,
        error,
    )
