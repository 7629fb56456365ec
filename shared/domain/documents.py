"""A dropped document: one version of one path, its states, and what became of it."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from shared.domain.errors import IllegalMove
from shared.domain.ids import AliasName, DocumentId, JobId, TenantId
from shared.domain.outcomes import Outcome
from shared.domain.usage import NOTHING_SPENT, NOTHING_USED, Spend, Usage


class DocumentStatus(StrEnum):
    """Values are persisted and public: never rename one."""

    CLAIMED = "claimed"  # on record; its message may not be sent yet
    QUEUED = "queued"  # the message is on the queue, or will be delivered later
    GATHERED = "gathered"  # waits for its pipeline's cron, or runs in a job
    PROCESSING = "processing"  # somebody holds the lease
    COMPLETED = "completed"  # has its outcome: an answer, or part of one
    FAILED = "failed"  # has its outcome: there is no answer


FINISHED: Final = frozenset({DocumentStatus.COMPLETED, DocumentStatus.FAILED})
# Outcomes that leave something worth reading.
ANSWERED: Final = frozenset({Outcome.SUCCEEDED, Outcome.TRUNCATED})


class DocumentEvent(StrEnum):
    QUEUE = "queue"
    GATHER = "gather"
    BEGIN = "begin"
    DEFER = "defer"  # cannot be done now: a later message is on its way
    HOLD = "hold"  # cannot be done now, and the later message could not be sent either
    FINISH = "finish"
    FAIL = "fail"
    RETRY = "retry"  # somebody asked for it


def _moves() -> Mapping[tuple[DocumentStatus, DocumentEvent], DocumentStatus]:
    s, e = DocumentStatus, DocumentEvent
    moves = {
        (s.CLAIMED, e.QUEUE): s.QUEUED,
        (s.QUEUED, e.QUEUE): s.QUEUED,
        (s.CLAIMED, e.GATHER): s.GATHERED,
        (s.GATHERED, e.GATHER): s.GATHERED,
        # A message may overtake the note that it was sent.
        (s.CLAIMED, e.BEGIN): s.PROCESSING,
        (s.QUEUED, e.BEGIN): s.PROCESSING,
        # A lease that ran out is taken over.
        (s.PROCESSING, e.BEGIN): s.PROCESSING,
        (s.PROCESSING, e.DEFER): s.QUEUED,
        (s.PROCESSING, e.HOLD): s.CLAIMED,
        (s.COMPLETED, e.RETRY): s.CLAIMED,
        (s.FAILED, e.RETRY): s.CLAIMED,
    }
    for status in (s.CLAIMED, s.PROCESSING, s.GATHERED):
        moves[status, e.FINISH] = s.COMPLETED
        moves[status, e.FAIL] = s.FAILED
    return MappingProxyType(moves)


MOVES: Final = _moves()


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentLease:
    """The right to work on the document, until `until`. A crash frees it by time."""

    holder: str
    until: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One version of a dropped file.

    `path` is below the container `documents`: `tenant/pipeline/any/path`. `id` follows from path, ETag and
    the time the blob was written, so every event about the version names the same record; `version` numbers
    the versions of the path in the order in which they were seen. `known` False: no such tenant or pipeline,
    only operators see it.

    `generation` counts the messages that were meant to differ, `retries` those that somebody asked for.
    `attempts` counts the model calls that were begun; `asked_at` is set while the last of them is out.
    `faults` are the faults of infrastructure met in a row, the first of them at `troubled_since`; `crashes`
    counts the workers that died over it.
    """

    id: DocumentId
    tenant: TenantId
    pipeline: str
    path: str
    etag: str
    bytes: int
    content_type: str | None
    modified_at: datetime
    claimed_at: datetime
    status: DocumentStatus = DocumentStatus.CLAIMED
    version: int = 1
    known: bool = True
    alias: AliasName | None = None
    tags: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    run_id: str | None = None
    generation: int = 1
    retries: int = 0
    attempts: int = 0
    asked_at: datetime | None = None
    faults: int = 0
    troubled_since: datetime | None = None
    crashes: int = 0
    late: bool = False
    due_at: datetime | None = None
    lease: DocumentLease | None = None
    job_id: JobId | None = None
    outcome: Outcome | None = None
    reason: str | None = None
    message: str | None = None
    media_type: str | None = None
    pages: int | None = None
    pages_without_text: tuple[int, ...] = ()
    usage: Usage | None = NOTHING_USED
    spend: Spend | None = NOTHING_SPENT
    provider: str | None = None
    model: str | None = None
    finished_at: datetime | None = None
    erased_at: datetime | None = None

    @property
    def is_finished(self) -> bool:
        return self.status in FINISHED

    @property
    def message_id(self) -> str:
        """What duplicate detection goes by: the same for every event about this version and generation."""
        return message_id(self.path, self.etag, self.generation)

    @property
    def name(self) -> str:
        """The file's own name, without its folders."""
        return self.path.rsplit("/", 1)[-1]

    def after(self, event: DocumentEvent) -> "Document":
        """This document moved by `event`. Raises `IllegalMove` if the table has no such move."""
        target = MOVES.get((self.status, event))
        if target is None:
            raise IllegalMove(f"document {self.id}: {event!s} is not allowed in {self.status!s}")
        return replace(self, status=target)


def message_id(path: str, etag: str, generation: int) -> str:
    return hashlib.sha256(f"{path}\0{etag}\0{generation}".encode()).hexdigest()


def document_id(path: str, etag: str, modified_at: datetime) -> DocumentId:
    """`doc_`, twelve hex digits of time, sixteen of the version: sortable, and found again from an event."""
    version = hashlib.sha256(f"{path}\0{etag}".encode()).hexdigest()[:16]
    return DocumentId(f"doc_{int(modified_at.timestamp() * 1000):012x}{version}")


class Turn(StrEnum):
    """What a delivery may do with its document."""

    TAKE = "take"
    WAIT = "wait"  # somebody works on it
    SKIP = "skip"  # it is done, or a later message stands for it


def turn_of(document: Document, generation: int, now: datetime) -> Turn:
    """Whether the message of this generation may be worked on.

    A message may be ahead of its record: it is sent before the record says so.
    """
    waiting = (DocumentStatus.CLAIMED, DocumentStatus.QUEUED, DocumentStatus.PROCESSING)
    if document.status not in waiting or generation < document.generation:
        return Turn.SKIP
    if document.lease is not None and document.lease.until > now:
        return Turn.WAIT
    return Turn.TAKE


@dataclass(frozen=True, slots=True, kw_only=True)
class PathVersions:
    """What is known of all versions of one path.

    `newest` is the number of the version seen last, `standing` of the one whose result lies there (0: none).
    """

    path: str
    newest: int
    newest_id: DocumentId
    newest_etag: str
    standing: int = 0


class Rescue(StrEnum):
    """What a sweep does for a document that nobody may be working on any more."""

    NOTHING = "nothing"
    SEND = "send"  # its message was never sent
    SEND_ANEW = "send_anew"  # whoever had its message is gone
    SEND_IF_NONE = "send_if_none"  # its message should be on the queue; when that is empty it is lost
    GIVE_UP = "give_up"


def rescue_of(
    document: Document, now: datetime, *, stuck_after: timedelta, lost_after: timedelta, max_crashes: int
) -> Rescue:
    """What waits on the queue, or for its pipeline's cron, is left alone: a queue that is there forgets nothing.

    After `lost_after` it is worth a look whether it is there.
    """
    waited = now - (document.due_at or document.claimed_at)
    if document.status is DocumentStatus.CLAIMED:
        return Rescue.SEND if waited > stuck_after else Rescue.NOTHING
    if document.status is DocumentStatus.QUEUED:
        return Rescue.SEND_IF_NONE if waited > lost_after else Rescue.NOTHING
    if document.status is not DocumentStatus.PROCESSING:
        return Rescue.NOTHING
    lease = document.lease
    if lease is not None and now - lease.until <= stuck_after:
        return Rescue.NOTHING
    dead = document.crashes + (lease is not None)
    return Rescue.GIVE_UP if dead >= max_crashes else Rescue.SEND_ANEW
