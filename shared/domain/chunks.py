"""The life of a chunk: its states, and the only moves between them."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from shared.domain.errors import IllegalMove
from shared.domain.ids import BatchId, ChunkKey, DeploymentName, FileId, JobId
from shared.domain.outcomes import NO_OUTCOMES, Tally
from shared.domain.usage import NOTHING_SPENT, NOTHING_USED, Spend, Usage


class ChunkState(StrEnum):
    """Values are persisted: never rename one."""

    PLANNED = "planned"
    WAITING = "waiting"  # the provider had no room; asked again after a while
    INTENDED = "intended"  # about to be created, or we died while doing so
    SUBMITTED = "submitted"  # the provider's receipt is on record
    ENDED = "ended"  # the provider will do no more, or was never asked
    COLLECTED = "collected"  # everything the provider wrote is in our storage
    SETTLED = "settled"  # every request of the chunk has an outcome or is handed on
    CLEARED = "cleared"  # and the provider's files are deleted


class ChunkEvent(StrEnum):
    INTEND = "intend"
    RECEIPT = "receipt"
    DEFER = "defer"
    END = "end"
    COLLECT = "collect"
    SETTLE = "settle"
    CLEAR = "clear"


MOVES: Final[Mapping[tuple[ChunkState, ChunkEvent], ChunkState]] = MappingProxyType(
    {
        (ChunkState.PLANNED, ChunkEvent.INTEND): ChunkState.INTENDED,
        (ChunkState.WAITING, ChunkEvent.INTEND): ChunkState.INTENDED,
        # A later holder takes the intent over under the next epoch.
        (ChunkState.INTENDED, ChunkEvent.INTEND): ChunkState.INTENDED,
        (ChunkState.INTENDED, ChunkEvent.RECEIPT): ChunkState.SUBMITTED,
        (ChunkState.PLANNED, ChunkEvent.DEFER): ChunkState.WAITING,
        (ChunkState.WAITING, ChunkEvent.DEFER): ChunkState.WAITING,
        (ChunkState.INTENDED, ChunkEvent.DEFER): ChunkState.WAITING,
        # Accepted, then refused for capacity during validation: nothing ran.
        (ChunkState.SUBMITTED, ChunkEvent.DEFER): ChunkState.WAITING,
        # Cancelled before it was sent, or refused for good.
        (ChunkState.PLANNED, ChunkEvent.END): ChunkState.ENDED,
        (ChunkState.WAITING, ChunkEvent.END): ChunkState.ENDED,
        (ChunkState.INTENDED, ChunkEvent.END): ChunkState.ENDED,
        (ChunkState.SUBMITTED, ChunkEvent.END): ChunkState.ENDED,
        (ChunkState.ENDED, ChunkEvent.COLLECT): ChunkState.COLLECTED,
        (ChunkState.COLLECTED, ChunkEvent.SETTLE): ChunkState.SETTLED,
        (ChunkState.SETTLED, ChunkEvent.CLEAR): ChunkState.CLEARED,
    }
)

_KEY: Final = re.compile(r"(?P<job>(?:job|batch)_[0-9a-f]+)-(?P<n>\d{1,6})-\d{1,6}-\d{1,6}")

DONE: Final = frozenset({ChunkState.SETTLED, ChunkState.CLEARED})


class BatchEnd(StrEnum):
    """How the provider's batch ended. Values are persisted."""

    COMPLETED = "completed"
    FAILED = "failed"  # refused as a whole; nothing ran
    EXPIRED = "expired"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """The right to create the chunk's batch, held by one caller until `until`."""

    holder: str
    epoch: int
    until: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Remote:
    """What the provider has of ours, each id recorded right after the call that made it."""

    input_file: FileId | None = None
    batch: BatchId | None = None
    output_file: FileId | None = None
    error_file: FileId | None = None
    completed: int | None = None
    failed: int | None = None
    expires_at: datetime | None = None
    output_expires_at: datetime | None = None
    usage: Usage | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RowCounts:
    """What came back, line by line. Duplicates and aliens change nothing but these figures."""

    received: int = 0
    duplicate: int = 0
    alien: int = 0
    unreadable: int = 0
    missing: int = 0

    def __add__(self, other: "RowCounts") -> "RowCounts":
        return RowCounts(
            received=self.received + other.received,
            duplicate=self.duplicate + other.duplicate,
            alien=self.alien + other.alien,
            unreadable=self.unreadable + other.unreadable,
            missing=self.missing + other.missing,
        )


NO_ROWS: Final = RowCounts()


@dataclass(frozen=True, slots=True, kw_only=True)
class Settlement:
    """What a settled chunk made of its requests.

    `tally` counts inputs (a request that occurs three times counts three), `again` requests handed on to
    the next round. `unattributed` are tokens the provider billed that no readable row accounts for.
    """

    tally: Tally = NO_OUTCOMES
    again: int = 0
    rows: RowCounts = NO_ROWS
    usage: Usage = NOTHING_USED
    spend: Spend = NOTHING_SPENT
    unattributed: Usage = NOTHING_USED


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """The requests of one provider batch.

    `attempt` is the round it belongs to, from 1, and `planned_by` the orchestration that planned that round.
    `submission` counts the batches it asked for, from 1: a further one is asked for only after the provider
    said that the former never ran. `tokens` is an estimate; None where nobody needed one.
    `first` is the lowest input position answered by it. `last_try`: the job was being cancelled when the
    chunk was collected, so nothing of it is sent again; fixed then, so that two settlers agree.
    """

    job_id: JobId
    n: int
    attempt: int
    deployment: DeploymentName
    provider: str
    planned_by: int
    requests: int
    bytes: int
    tokens: int | None
    first: int
    state: ChunkState = ChunkState.PLANNED
    submission: int = 1
    deferrals: int = 0
    due_at: datetime | None = None
    intended_at: datetime | None = None
    lease: Lease | None = None
    remote: Remote = field(default_factory=Remote)
    end: BatchEnd | None = None
    end_code: str | None = None
    end_message: str | None = None
    cancel_sent_at: datetime | None = None
    booked_at: datetime | None = None
    last_try: bool = False
    settlement: Settlement | None = None

    @property
    def key(self) -> ChunkKey:
        """Stable across crashes: the same submission always asks under the same name."""
        return ChunkKey(f"{self.job_id}-{self.n}-{self.attempt}-{self.submission}")

    @property
    def is_done(self) -> bool:
        return self.state in DONE

    @property
    def holds_capacity(self) -> bool:
        """Whether its tokens may count against the provider's enqueued-token quota."""
        return self.state in {ChunkState.INTENDED, ChunkState.SUBMITTED}

    def after(self, event: ChunkEvent) -> "Chunk":
        """This chunk moved by `event`. Raises `IllegalMove` if the table has no such move."""
        target = MOVES.get((self.state, event))
        if target is None:
            raise IllegalMove(f"chunk {self.job_id}/{self.n}: {event!s} is not allowed in {self.state!s}")
        return replace(self, state=target)


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedChunk:
    """What a chunk key names."""

    job_id: JobId
    n: int


def read_chunk_key(key: str) -> NamedChunk | None:
    """The chunk that asked under this key; None if no chunk of ours has such a key."""
    found = _KEY.fullmatch(key)
    return NamedChunk(job_id=JobId(found["job"]), n=int(found["n"])) if found else None
