"""A dropped document: one version of one path, its states, and what became of it."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
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
    the time the blob was written, so every event about the version names the same record. `generation`
    counts the messages that were meant to differ; `attempts` the model calls that were begun, `faults` the
    faults of infrastructure met in a row.
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
    known: bool = True
    alias: AliasName | None = None
    tags: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    run_id: str | None = None
    generation: int = 1
    faults: int = 0
    attempts: int = 0
    due_at: datetime | None = None
    lease: DocumentLease | None = None
    job_id: JobId | None = None
    outcome: Outcome | None = None
    reason: str | None = None
    message: str | None = None
    media_type: str | None = None
    pages: int | None = None
    pages_without_text: tuple[int, ...] = ()
    usage: Usage = NOTHING_USED
    spend: Spend = NOTHING_SPENT
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
        named = f"{self.path}\0{self.etag}\0{self.generation}"
        return hashlib.sha256(named.encode()).hexdigest()

    def after(self, event: DocumentEvent) -> "Document":
        """This document moved by `event`. Raises `IllegalMove` if the table has no such move."""
        target = MOVES.get((self.status, event))
        if target is None:
            raise IllegalMove(f"document {self.id}: {event!s} is not allowed in {self.status!s}")
        return replace(self, status=target)


def document_id(path: str, etag: str, modified_at: datetime) -> DocumentId:
    """`doc_`, twelve hex digits of time, sixteen of the version: sortable, and found again from an event."""
    version = hashlib.sha256(f"{path}\0{etag}".encode()).hexdigest()[:16]
    return DocumentId(f"doc_{int(modified_at.timestamp() * 1000):012x}{version}")
