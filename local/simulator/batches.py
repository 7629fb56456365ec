"""Batches: what is known about each, whatever the dialect that made it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType

import msgspec

from local.simulator.answers.replies import Usage
from local.simulator.clock import Clock
from local.simulator.database import Database
from local.simulator.failures import LineFault
from local.simulator.files import Page


class Status(StrEnum):
    VALIDATING = "validating"
    FAILED = "failed"
    IN_PROGRESS = "in_progress"
    FINALIZING = "finalizing"
    COMPLETED = "completed"
    EXPIRED = "expired"
    CANCELLING = "cancelling"
    CANCELLED = "cancelled"

    @property
    def is_terminal(self) -> bool:
        return self in TERMINAL


TERMINAL = frozenset({Status.FAILED, Status.COMPLETED, Status.EXPIRED, Status.CANCELLED})


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """What a rule has decided about a batch.

    `rows`: how many lines are answered before the ending; None: as many as the ending implies.
    `after_seconds`: since creation; the answered lines are spread over that time. `state`: where it is stuck.
    `cancel_seconds`: how long cancelling takes. `loses_output`: a cancelled batch forgets what was answered.
    """

    ending: str
    after_seconds: float = 0.0
    rows: int | float | None = None
    error_code: str | None = None
    message: str | None = None
    state: str = Status.IN_PROGRESS
    cancel_seconds: float = 0.0
    loses_output: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """`position` counts the lines that are done, in the batch's own shuffled order.

    `output_bytes` and `error_bytes` are the committed lengths of the result files: whatever lies behind
    them was written by a process that died. `lapsed` counts lines that a rule has let expire.
    `input_blob` and `output_folder` are addresses outside: then results are no files but blobs there.
    `ending` is set once the outcome is known, before it is shown. `entered` maps `{status}_at` to the time.
    """

    id: str
    provider: str
    endpoint: str
    input_file_id: str
    created_at: float
    expires_at: int
    completion_window: str = "24h"
    metadata: Mapping[str, str] | None = None
    output_expires_after: int | None = None
    status: Status = Status.VALIDATING
    entered: Mapping[str, int] = field(default_factory=dict)
    model: str | None = None
    script: Script | None = None
    ending: Status | None = None
    enqueued_tokens: int = 0
    total: int = 0
    position: int = 0
    completed: int = 0
    failed: int = 0
    lapsed: int = 0
    output_bytes: int = 0
    error_bytes: int = 0
    tail: bytes = b""
    output_file_id: str | None = None
    error_file_id: str | None = None
    input_blob: str | None = None
    output_folder: str | None = None
    output_blob: str | None = None
    error_blob: str | None = None
    faults: tuple[LineFault, ...] = ()
    usage: Usage = field(default_factory=Usage)
    listed_from: float = 0.0
    found_from: float = 0.0

    @property
    def key(self) -> str | None:
        """The caller's own name for it, by which it finds the batch again."""
        for name, value in (self.metadata or MappingProxyType({})).items():
            if name == "key" or name.endswith(("_key", "-key")):
                return value
        # Without metadata it is told by where its input lies.
        return self.input_blob.rsplit("/", 2)[-2] if self.input_blob else None


class Batches:
    """All providers' batches, newest first; one provider never sees another's."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._decoder = msgspec.json.Decoder(Batch)

    def add(self, batch: Batch) -> None:
        self._database.execute(
            "INSERT INTO batches (id, provider, status, record) VALUES (?, ?, ?, ?)",
            [batch.id, batch.provider, batch.status, msgspec.json.encode(batch)],
        )

    def save(self, batch: Batch) -> Batch:
        self._database.execute(
            "UPDATE batches SET status = ?, record = ? WHERE id = ?",
            [batch.status, msgspec.json.encode(batch), batch.id],
        )
        return batch

    def delete(self, batch_id: str) -> None:
        self._database.execute("DELETE FROM batches WHERE id = ?", [batch_id])

    def remove(self, batch: Batch) -> None:
        self._database.execute("DELETE FROM batches WHERE id = ?", [batch.id])

    def load(self, batch_id: str) -> Batch:
        row = self._database.execute("SELECT record FROM batches WHERE id = ?", [batch_id]).fetchone()
        return self._decoder.decode(row[0])

    def get(self, provider: str, batch_id: str) -> Batch | None:
        """As a caller sees it: None also while a rule still hides it."""
        row = self._database.execute(
            "SELECT record FROM batches WHERE id = ? AND provider = ?", [batch_id, provider]
        ).fetchone()
        batch = self._decoder.decode(row[0]) if row else None
        return batch if batch and batch.found_from <= self._clock.now() else None

    def page(self, provider: str, *, after: str | None, limit: int) -> Page[Batch]:
        rows = self._database.execute(
            "SELECT record FROM batches WHERE provider = ?"
            " AND (? IS NULL OR seq < (SELECT seq FROM batches WHERE id = ?)) ORDER BY seq DESC",
            [provider, after, after],
        )
        found: list[Batch] = []
        for row in rows:
            batch = self._decoder.decode(row[0])
            if batch.listed_from <= self._clock.now():
                found.append(batch)
            if len(found) > limit:
                break
        return Page(items=found[:limit], has_more=len(found) > limit)

    def unfinished(self) -> list[Batch]:
        """Every batch that still has a way to go, oldest first."""
        marks = ", ".join("?" * len(TERMINAL))
        rows = self._database.execute(
            f"SELECT record FROM batches WHERE status NOT IN ({marks}) ORDER BY seq", sorted(TERMINAL)
        ).fetchall()
        return [self._decoder.decode(row[0]) for row in rows]
