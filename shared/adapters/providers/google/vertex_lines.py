"""Lines of Vertex AI's batches, in and out.

Results are in any order and repeat what stood beside the request: our key. It is prefixed with letters, for
what looks like a number comes back as one ("000000" as 0; seen of the service in September 2026).
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import msgspec
from msgspec import Raw, Struct

from shared.adapters.providers.google.gemini_answers import read_answer
from shared.adapters.providers.google.gemini_errors import Complaint, read_complaint
from shared.adapters.providers.google.gemini_requests import check_table, write_request
from shared.adapters.providers.openai.answers import Unreadable
from shared.adapters.providers.openai.lines import guarded
from shared.adapters.providers.translation.asked_parts import Unaskable
from shared.domain.catalog import Endpoint
from shared.domain.ids import RequestKey
from shared.domain.objections import Objection
from shared.domain.rows import MAX_MESSAGE, Row, RowKind

PREFIX: Final = "k-"
_NOTHING: Final = (Raw(b""), Raw(b"null"), Raw(b"{}"))
# The phrase before the error's JSON, where there is no such JSON.
_PHRASES: Final = {"Bad Request": 400, "Too Many Requests": 429, "Service Unavailable": 503}
# Where what stands there came from.
_FIELDS: Final = {
    Endpoint.CHAT: {"contents": "messages", "generationConfig": "response_format"},
    Endpoint.RESPONSES: {"contents": "input", "generationConfig": "text.format"},
}


class _Line(Struct, gc=False):
    custom_id: str
    status: str | None = None
    response: Raw = Raw(b"null")


_read_line: Final = msgspec.json.Decoder(_Line).decode
_encode: Final = msgspec.json.Encoder().encode


def objection(model: str, endpoint: Endpoint, body: Mapping[str, Any]) -> Objection | None:
    try:
        for name, part in write_request(model, endpoint, body).items():
            check_table({name: part}, field=_FIELDS[endpoint].get(name, name), level=2)
    except Unaskable as unaskable:
        return unaskable.objection
    return None


def write_line(model: str, key: RequestKey, endpoint: Endpoint, body: Mapping[str, Any]) -> bytes:
    """One request, newline included."""
    request = write_request(model, endpoint, body)
    return _encode({"custom_id": PREFIX + key, "request": request}) + b"\n"


def read_row(endpoint: Endpoint, line: bytes) -> Row:
    """One line of a shard. Never raises, whatever the bytes."""
    row = guarded(line, lambda clean: _classify(endpoint, _read_line(clean)))
    return row if row.key is None else replace(row, key=RequestKey(row.key.removeprefix(PREFIX)))


def _classify(endpoint: Endpoint, line: _Line) -> Row:
    key = RequestKey(line.custom_id)
    if line.status:
        return _error_row(key, line.status)
    if line.response in _NOTHING:
        raise Unreadable("the row has neither an answer nor an error")
    return read_answer(endpoint, key, line.response)


def _error_row(key: RequestKey, status: str) -> Row:
    """The status is a phrase, and mostly the error's JSON behind it."""
    phrase, _, told = status.partition(": ")
    try:
        complaint = read_complaint(told)
    except (msgspec.MsgspecError, RecursionError):
        complaint = Complaint(status=None, code=None, message=status[:MAX_MESSAGE])
    return Row(
        key=key,
        kind=RowKind.ERROR,
        status=complaint.status or _PHRASES.get(phrase),
        code=complaint.code,
        message=complaint.message,
    )
