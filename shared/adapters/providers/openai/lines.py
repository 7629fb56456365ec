"""Lines of OpenAI's batch format, in and out: plain functions for every adapter that speaks it.

Rows are classified by their status first: an error row may say `"error": null` beside a status of 400.
"""

import re
from collections.abc import Callable, Mapping
from typing import Final

import msgspec
from msgspec import Raw, Struct

from shared.adapters.providers.common.codes import code_name
from shared.adapters.providers.openai.answers import ANSWER_READERS, Unreadable
from shared.domain.catalog import Endpoint
from shared.domain.ids import RequestKey
from shared.domain.rows import MAX_MESSAGE, Row, RowKind

_NULL: Final = Raw(b"null")
_BOM: Final = b"\xef\xbb\xbf"

CONTENT_FILTER: Final = "content_filter"
_FILTER_CODES: Final = frozenset({CONTENT_FILTER, "ResponsibleAIPolicyViolation", "content_policy_violation"})
_NEVER_RAN: Final = {"batch_expired": RowKind.EXPIRED, "batch_cancelled": RowKind.CANCELLED}

# Where it stands in a line that breaks off or is not UTF-8: before the answer, so never inside one.
_LEADING_KEY: Final = re.compile(
    rb'\s*\{\s*(?:"id"\s*:\s*(?:"[^"\\]*"|null)\s*,\s*)?"custom_id"\s*:\s*"([A-Za-z0-9_-]{1,64})"'
)
# A hint, cheap enough for every row: half a surrogate pair, or an escaped backslash before such letters.
_MAYBE_HALF_PAIR: Final = re.compile(
    rb"\\u[dD](?:[89abAB]..(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB]..\\u[dD])[c-fC-F])", re.DOTALL
)
# Any escape; whole pairs first, so that what is left of `\ud...` is half a pair.
_ESCAPE: Final = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(\\u[dD][89a-fA-F][0-9a-fA-F]{2})|\\."
)


class _Response(Struct, gc=False):
    status_code: int | None = None
    body: Raw = _NULL


class _Line(Struct, gc=False):
    custom_id: str
    response: _Response | None = None
    error: Raw = _NULL


class _Keyed(Struct, gc=False):
    custom_id: str


class _Error(Struct, gc=False):
    """Providers and the gateways before them fill these with anything; what is no string is ignored."""

    error: Raw = _NULL
    code: object = None
    message: object = None
    innererror: object = None


_read_line: Final = msgspec.json.Decoder(_Line).decode
_read_keyed: Final = msgspec.json.Decoder(_Keyed).decode
_read_error: Final = msgspec.json.Decoder(_Error | str).decode
_encode: Final = msgspec.json.Encoder().encode

_FAULTS: Final = (msgspec.MsgspecError, Unreadable, UnicodeDecodeError, RecursionError)


def write_line(key: RequestKey, *, url: str, model: str, body: Mapping[str, object]) -> bytes:
    """One request, newline included. Whatever model the body names, `model` is asked."""
    return _encode({"custom_id": key, "method": "POST", "url": url, "body": {**body, "model": model}}) + b"\n"


def read_row(endpoint: Endpoint, line: bytes) -> Row:
    """One line of an output or error file. Never raises, whatever the bytes."""
    return guarded(line, lambda clean: _classify(endpoint, _read_line(clean)))


def guarded(line: bytes, read: Callable[[bytes], Row]) -> Row:
    """What `read` makes of the line, mended where that can be done; an unreadable row where it raises."""
    line = line.removeprefix(_BOM).strip()
    try:
        if not line.isascii():
            line.decode()
        if b"\\" in line and _MAYBE_HALF_PAIR.search(line):
            line = _mend_half_pairs(line)
        return read(line)
    except _FAULTS as fault:
        return Row(key=_key_of(line), kind=RowKind.UNREADABLE, message=_reason(fault))


def one_line(content: bytes) -> bytes:
    """JSON as it came, or null for anything else: a gateway's page, half an answer."""
    try:
        msgspec.json.decode(content, type=Raw)
    except msgspec.MsgspecError:
        return b"null"
    # Between the parts of JSON only; inside a string they are escaped.
    return content.replace(b"\n", b" ").replace(b"\r", b" ")


def _classify(endpoint: Endpoint, line: _Line) -> Row:
    key = RequestKey(line.custom_id)
    status = line.response.status_code if line.response else None
    if line.response is None or not status:
        return _row_without_answer(key, line.error)
    if 200 <= status < 300:
        return _answer_row(endpoint, key, status, line.response.body)
    return _error_row(key, status, line.response.body, line.error)


def _answer_row(endpoint: Endpoint, key: RequestKey, status: int, body: Raw) -> Row:
    try:
        return ANSWER_READERS[endpoint](key, status, bytes(body))
    except (msgspec.MsgspecError, Unreadable):
        # An error may come under a good status too.
        code, message = _complaint(body)
        if code is None:
            raise
    return Row(key=key, kind=RowKind.ERROR, status=status, code=code, message=message)


def _row_without_answer(key: RequestKey, error: Raw) -> Row:
    """It never ran, or nobody knows."""
    code, message = _complaint(error)
    if code is None:
        return Row(key=key, kind=RowKind.UNREADABLE, message="the row has neither a status nor an error code")
    return Row(key=key, kind=_NEVER_RAN.get(code, RowKind.ERROR), code=code, message=message)


def _error_row(key: RequestKey, status: int, body: Raw, error: Raw) -> Row:
    code, message = _complaint(body)
    if code is None and message is None:
        code, message = _complaint(error)
    return Row(key=key, kind=RowKind.ERROR, status=status, code=code, message=message)


def _complaint(told: Raw) -> tuple[str | None, str | None]:
    """Code and message: nested under `error` as OpenAI does it, bare, or mere text. None: not told."""
    try:
        error = _read_error(told)
        if isinstance(error, _Error) and error.error != _NULL:
            error = _read_error(error.error)
    except _FAULTS:
        return None, None
    if isinstance(error, str):
        return None, _message(error)
    inner = error.innererror.get("code") if isinstance(error.innererror, dict) else None
    code = CONTENT_FILTER if inner in _FILTER_CODES else _code(error.code)
    return code, _message(error.message)


def _code(told: object) -> str | None:
    code = code_name(told)
    return CONTENT_FILTER if code in _FILTER_CODES else code


def _message(text: object) -> str | None:
    return (text.strip()[:MAX_MESSAGE] or None) if isinstance(text, str) else None


def _mend_half_pairs(line: bytes) -> bytes:
    """Half a surrogate pair (an emoji cut at the token limit) becomes U+FFFD: no reader may choke on it."""
    return _ESCAPE.sub(lambda match: rb"\ufffd" if match.group(1) else match.group(), line)


def _key_of(line: bytes) -> RequestKey | None:
    """Whose row it would have been, if that much can be read."""
    try:
        line.decode()
        return RequestKey(_read_keyed(line).custom_id)
    except _FAULTS:
        found = _LEADING_KEY.match(line)
        return RequestKey(found.group(1).decode()) if found else None


def _reason(fault: Exception) -> str:
    """What was wrong, without what was there: decoders name types and places only."""
    if isinstance(fault, UnicodeDecodeError):
        return "the row is not UTF-8"
    if isinstance(fault, RecursionError):
        return "the row is nested too deeply"
    return f"the row could not be read: {fault}"[:MAX_MESSAGE]
