"""Batch and file objects of OpenAI-shaped APIs, read leniently.

Services differ in capitals, in empty strings for null, in seconds or ISO texts for times, and in what they
leave out. Readers raise `msgspec.MsgspecError` for what is no such object at all.
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

import msgspec
from msgspec import Raw, Struct

from shared.adapters.providers.common.codes import code_name
from shared.adapters.providers.openai.answers import responses_usage
from shared.domain.chunks import BatchEnd
from shared.domain.errors import NotFound, Rejected
from shared.domain.ids import BatchId, ChunkKey, FileId
from shared.domain.rows import MAX_MESSAGE
from shared.domain.usage import NOTHING_USED, Usage
from shared.ports.providers import RemoteBatch, RemoteState, StagedFile
from shared.wire.paths import JOBS, key_of_own_batch

METADATA_KEY: Final = "postern_key"
PAGE_SIZE: Final = 100

_TOKEN_LIMIT: Final = "token_limit_exceeded"  # noqa: S105 - a provider's error code
_ENDS: Final = {
    "completed": BatchEnd.COMPLETED,
    "failed": BatchEnd.FAILED,
    "expired": BatchEnd.EXPIRED,
    "cancelled": BatchEnd.CANCELLED,
    "canceled": BatchEnd.CANCELLED,
}
_RUNNING: Final = frozenset({"validating", "in_progress", "finalizing", "cancelling", "canceling"})
_FILE_READY: Final = frozenset({"processed", "succeeded", ""})
_FILE_BROKEN: Final = frozenset({"error", "failed", "cancelled", "canceled"})
_FILE_GONE: Final = frozenset({"deleted", "deleting"})
# Seconds since 1970 do not reach this before the year 5138; milliseconds did in 1973.
_MILLISECONDS: Final = 10**11


class _Counts(Struct):
    completed: object = None
    failed: object = None


class _Complaint(Struct):
    code: object = None
    message: object = None


class _Complaints(Struct):
    data: list[_Complaint] | None = None


class _Batch(Struct):
    id: str
    status: str
    created_at: object = None
    expires_at: object = None
    input_file_id: object = None
    output_file_id: object = None
    error_file_id: object = None
    # Own storage: addresses in the place of files.
    input_blob: object = None
    output_blob: object = None
    error_blob: object = None
    errors: _Complaints | list[_Complaint] | None = None
    request_counts: _Counts | None = None
    metadata: dict[str, object] | None = None
    usage: Raw = Raw(b"null")


class _Page(Struct):
    data: list[_Batch]
    has_more: bool | None = None


class _File(Struct):
    id: str
    status: str | None = None
    expires_at: object = None


_decode_batch: Final = msgspec.json.Decoder(_Batch).decode
_decode_page: Final = msgspec.json.Decoder(_Page).decode
_decode_file: Final = msgspec.json.Decoder(_File).decode


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """`after` is the cursor of the next page, None on the last one."""

    batches: list[RemoteBatch]
    after: str | None


def read_batch(content: bytes) -> RemoteBatch:
    return _batch(_decode_batch(content))


def read_page(content: bytes) -> Page:
    page = _decode_page(content)
    more = page.has_more if page.has_more is not None else len(page.data) >= PAGE_SIZE
    return Page(
        batches=[_batch(told) for told in page.data],
        after=page.data[-1].id if more and page.data else None,
    )


def read_file(content: bytes) -> StagedFile:
    """Raise `Rejected` for a file the provider could not take in, `NotFound` for one that it is deleting."""
    told = _decode_file(content)
    status = (told.status or "").strip().lower()
    if status in _FILE_BROKEN:
        raise Rejected(f"the provider could not process file {told.id!r}: {status}", code="invalid_file")
    if status in _FILE_GONE:
        raise NotFound(f"file {told.id!r} is deleted at the provider")
    return StagedFile(id=FileId(told.id), ready=status in _FILE_READY, expires_at=_time(told.expires_at))


def _batch(told: _Batch) -> RemoteBatch:
    status = told.status.strip().lower()
    end = _ENDS.get(status)
    complaints = (told.errors.data if isinstance(told.errors, _Complaints) else told.errors) or []
    first = complaints[0] if complaints else _Complaint()
    counts = told.request_counts or _Counts()
    key = _text((told.metadata or {}).get(METADATA_KEY)) or _key_of_blob(told.input_blob)
    return RemoteBatch(
        id=BatchId(told.id),
        key=ChunkKey(key) if key else None,
        state=RemoteState.ENDED if end else RemoteState.RUNNING,
        raw_state=told.status,
        recognised=end is not None or status in _RUNNING,
        created_at=_time(told.created_at),
        end=end,
        out_of_capacity=end is BatchEnd.FAILED and _names_token_limit(complaints),
        code=code_name(first.code),
        message=(_text(first.message) or "")[:MAX_MESSAGE] or None,
        input_file=_file_id(told.input_file_id) or _file_id(told.input_blob),
        output_file=_file_id(told.output_file_id) or _file_id(told.output_blob),
        error_file=_file_id(told.error_file_id) or _file_id(told.error_blob),
        completed=_count(counts.completed),
        failed=_count(counts.failed),
        expires_at=_time(told.expires_at),
        usage=_usage(told.usage) if end else None,
    )


def _names_token_limit(complaints: list[_Complaint]) -> bool:
    return any((_text(complaint.code) or "").lower() == _TOKEN_LIMIT for complaint in complaints)


def _usage(report: Raw) -> Usage | None:
    """Zeros are what services write that do not count."""
    usage = responses_usage(report)
    return None if usage == NOTHING_USED else usage


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _key_of_blob(url: object) -> ChunkKey | None:
    """A batch whose input is a blob of ours lies in a folder that is named after its chunk."""
    _, container, name = (_text(url) or "").partition(f"/{JOBS}/")
    return key_of_own_batch(f"{JOBS}/{name}") if container else None


def _file_id(value: object) -> FileId | None:
    text = _text(value)
    return FileId(text) if text else None


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and value >= 0 else None


def _time(value: object) -> datetime | None:
    """From seconds or milliseconds since 1970, as a number or digits, or from an ISO text."""
    try:
        if isinstance(value, str):
            return _from_text(value.strip())
        return _from_number(value) if isinstance(value, int | float) else None
    except (ValueError, OverflowError, OSError):
        return None


def _from_number(seconds: float) -> datetime | None:
    if seconds <= 0:
        return None
    return datetime.fromtimestamp(seconds / 1000 if seconds >= _MILLISECONDS else seconds, UTC)


def _from_text(text: str) -> datetime | None:
    if text.isdecimal():
        return _from_number(int(text))
    time = datetime.fromisoformat(text)
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
