"""Anthropic's message batches, read leniently. Readers raise `msgspec.MsgspecError` for what is none."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

import msgspec
from msgspec import Struct

from shared.domain.chunks import BatchEnd
from shared.domain.ids import BatchId, FileId
from shared.ports.providers import RemoteBatch, RemoteState

PAGE_SIZE: Final = 100

_ENDED: Final = "ended"
_RUNNING: Final = frozenset({"in_progress", "canceling", "cancelling"})


class _Counts(Struct):
    processing: object = None
    succeeded: object = None
    errored: object = None
    canceled: object = None
    expired: object = None


class _Batch(Struct):
    id: str
    processing_status: str
    request_counts: _Counts | None = None
    created_at: object = None
    expires_at: object = None
    results_url: object = None
    archived_at: object = None


class _Page(Struct):
    data: list[_Batch]
    has_more: bool = False


_decode_batch: Final = msgspec.json.Decoder(_Batch).decode
_decode_page: Final = msgspec.json.Decoder(_Page).decode


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """`has_results`: they can be fetched now. `is_archived`: never again."""

    batch: RemoteBatch
    has_results: bool
    is_archived: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """`after` is the cursor of the next page, None on the last one."""

    batches: list[RemoteBatch]
    after: str | None


def read_batch(content: bytes) -> Found:
    told = _decode_batch(content)
    return Found(
        batch=_batch(told),
        has_results=isinstance(told.results_url, str) and told.results_url != "",
        is_archived=told.archived_at is not None,
    )


def read_page(content: bytes) -> Page:
    page = _decode_page(content)
    return Page(
        batches=[_batch(told) for told in page.data],
        after=page.data[-1].id if page.has_more and page.data else None,
    )


def _batch(told: _Batch) -> RemoteBatch:
    status = told.processing_status.strip().lower()
    counts = told.request_counts or _Counts()
    parts = [counts.processing, counts.succeeded, counts.errored, counts.canceled, counts.expired]
    numbers = [part for part in parts if isinstance(part, int)]
    ended = status == _ENDED
    # By its documentation all counters but `processing` may stay 0 until the end.
    told_nothing = not ended and not any(numbers[1:])
    return RemoteBatch(
        id=BatchId(told.id),
        key=None,
        state=RemoteState.ENDED if ended else RemoteState.RUNNING,
        raw_state=told.processing_status,
        recognised=ended or status in _RUNNING,
        created_at=_time(told.created_at),
        end=_end(counts) if ended else None,
        output_file=FileId(told.id) if ended else None,
        # No batch is empty: one of nothing has not been counted yet.
        requests=sum(numbers) or None if len(numbers) == len(parts) else None,
        completed=None if told_nothing else _count(counts.succeeded),
        failed=None if told_nothing else _count(counts.errored),
        expires_at=_time(told.expires_at),
    )


def _end(counts: _Counts) -> BatchEnd:
    """There is no state for it: what was not run says why."""
    if _count(counts.canceled):
        return BatchEnd.CANCELLED
    return BatchEnd.EXPIRED if _count(counts.expired) else BatchEnd.COMPLETED


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and value >= 0 else None


def _time(value: object) -> datetime | None:
    try:
        time = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
    if time is None:
        return None
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
