"""A job, its states, and what it adds up to."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from shared.domain.catalog import Endpoint
from shared.domain.chunks import NO_ROWS, Chunk, ChunkState, RowCounts
from shared.domain.errors import IllegalMove
from shared.domain.ids import AliasName, DeploymentName, FileId, JobId, TenantId
from shared.domain.outcomes import NO_OUTCOMES, Outcome, Tally
from shared.domain.usage import NOTHING_SPENT, NOTHING_USED, Spend, Usage


class JobStatus(StrEnum):
    """Values are persisted and public: never rename one."""

    ACCEPTED = "accepted"
    PLANNING = "planning"
    WAITING = "waiting"
    RUNNING = "running"
    SETTLING = "settling"
    COMPLETED = "completed"
    PARTIAL = "partial"
    FAILED = "failed"
    CANCELLED = "cancelled"


# The reason of a job whose input was refused. Persisted and public.
INVALID_INPUT: Final = "invalid_input"
FINISHED: Final = frozenset({JobStatus.COMPLETED, JobStatus.PARTIAL, JobStatus.FAILED, JobStatus.CANCELLED})


class JobEvent(StrEnum):
    PLAN = "plan"  # planning began, or began again
    HOLD = "hold"  # nothing can be sent for now
    RUN = "run"
    SETTLE = "settle"  # nothing is out any more
    COMPLETE = "complete"
    FINISH_PARTLY = "finish_partly"
    FAIL = "fail"
    CANCEL = "cancel"


def _moves() -> Mapping[tuple[JobStatus, JobEvent], JobStatus]:
    moving = {
        JobEvent.HOLD: JobStatus.WAITING,
        JobEvent.RUN: JobStatus.RUNNING,
        JobEvent.SETTLE: JobStatus.SETTLING,
    }
    ending = {
        JobEvent.COMPLETE: JobStatus.COMPLETED,
        JobEvent.FINISH_PARTLY: JobStatus.PARTIAL,
        JobEvent.FAIL: JobStatus.FAILED,
        JobEvent.CANCEL: JobStatus.CANCELLED,
    }
    moves = {
        (status, event): target
        for status in (JobStatus.PLANNING, JobStatus.WAITING, JobStatus.RUNNING, JobStatus.SETTLING)
        for event, target in moving.items()
    }
    moves |= {(JobStatus.SETTLING, event): target for event, target in ending.items()}
    moves |= {
        (status, JobEvent.PLAN): JobStatus.PLANNING
        for status in (JobStatus.ACCEPTED, JobStatus.PLANNING, JobStatus.WAITING)
    }
    return MappingProxyType(moves)


MOVES: Final = _moves()


class SourceKind(StrEnum):
    """Where a job's input comes from. Values are persisted."""

    REQUESTS = "requests"
    INPUTS = "inputs"
    UPLOAD = "upload"
    DOCUMENTS = "documents"  # of the drop zone; only we write such an input


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """The input as it was accepted: a blob of ours that nobody writes again.

    `checked`: the door has validated every line, so planning cannot find a bad one. `upload`: the blob that
    the client wrote, of which `path` is a copy.
    """

    kind: SourceKind
    path: str
    checked: bool = False
    upload: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What planning found. `tally` counts inputs that got their outcome without being sent.

    `rounds` holds, for each round so far, the number of the orchestration that planned it; the files of a
    round carry that number, so that two planners never write the same file. `chunks` counts all rounds.
    """

    submitted: int
    unique: int
    reused: int
    chunks: int
    rounds: tuple[int, ...]
    tally: Tally = NO_OUTCOMES


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """What a job adds up to. Frozen into the record when it finishes."""

    tally: Tally = NO_OUTCOMES
    rows: RowCounts = NO_ROWS
    usage: Usage = NOTHING_USED
    unattributed: Usage = NOTHING_USED
    spend: Spend = NOTHING_SPENT


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchFiles:
    """What a job has besides, when it came as a batch of the OpenAI-compatible API, or is looked at as one.

    `input` is empty for a job that came the native way.

    `output` and `errors` are the tenant's files of results; None: not written yet, or there is nothing in it.
    `completed` and `failed` count their lines that have an answer, once they are written.
    """

    input: FileId
    output_seconds: int
    output: FileId | None = None
    errors: FileId | None = None
    completed: int | None = None
    failed: int | None = None


# Of a batch whose file names no alias that could be used: its planning finds out why, as for any bad line.
NO_DEPLOYMENT: Final = DeploymentName("")


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What a tenant submitted to the hours lane.

    `planned_at`: since when its input is known to be good. `settling_at`: since when nothing is out any more.
    `held_by` is a job of the same run that buys some of the same answers: until it has ended, this one waits.
    """

    id: JobId
    tenant: TenantId
    status: JobStatus
    created_at: datetime
    deadline_at: datetime
    alias: AliasName
    endpoint: Endpoint
    deployment: DeploymentName
    provider: str
    model: str
    run_id: str
    source: Source
    tags: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    dedupe: bool = True
    fresh: bool = False
    retry_of: JobId | None = None
    late: bool = False
    reason: str | None = None
    held_by: JobId | None = None
    cancel_requested_at: datetime | None = None
    batch: BatchFiles | None = None
    plan: Plan | None = None
    planned_at: datetime | None = None
    settling_at: datetime | None = None
    totals: Totals | None = None
    finished_at: datetime | None = None
    results_kept_until: datetime | None = None
    erased_at: datetime | None = None

    @property
    def is_finished(self) -> bool:
        return self.status in FINISHED

    @property
    def is_cancelling(self) -> bool:
        return self.cancel_requested_at is not None

    def after(self, event: JobEvent) -> "Job":
        """This job moved by `event`. Raises `IllegalMove` if the table has no such move."""
        target = MOVES.get((self.status, event))
        if target is None:
            raise IllegalMove(f"job {self.id}: {event!s} is not allowed in {self.status!s}")
        return replace(self, status=target)


def in_step(job: Job, event: JobEvent, now: datetime) -> Job:
    """The job as its chunks say it stands; a finished one stays as it is."""
    if job.is_finished:
        return job
    settling_at = (job.settling_at or now) if event is JobEvent.SETTLE else None
    return replace(job.after(event), settling_at=settling_at)


def add_up(plan: Plan | None, chunks: Iterable[Chunk]) -> Totals:
    """The totals of what has been settled so far; right at every moment."""
    totals = Totals(tally=plan.tally if plan else NO_OUTCOMES)
    for settlement in (c.settlement for c in chunks if c.settlement is not None):
        totals = Totals(
            tally=totals.tally + settlement.tally,
            rows=totals.rows + settlement.rows,
            usage=totals.usage + settlement.usage,
            unattributed=totals.unattributed + settlement.unattributed,
            spend=totals.spend + settlement.spend,
        )
    return totals


def event_of_progress(chunks: Iterable[Chunk]) -> JobEvent:
    """What the chunks say of a job that has been planned and is not finished."""
    open_chunks = [c for c in chunks if not c.is_done]
    if not open_chunks:
        return JobEvent.SETTLE
    if all(c.state is ChunkState.WAITING for c in open_chunks):
        return JobEvent.HOLD
    return JobEvent.RUN


def event_of_end(tally: Tally, *, cancelling: bool) -> JobEvent:
    """How a job ends whose every input has an outcome.

    A cancel that came too late, when everything had already succeeded, is no cancel.
    """
    outcomes = tally.by_outcome()
    succeeded = outcomes[Outcome.SUCCEEDED]
    if cancelling and outcomes[Outcome.CANCELLED]:
        return JobEvent.CANCEL
    if succeeded == tally.total:
        return JobEvent.COMPLETE
    return JobEvent.FINISH_PARTLY if succeeded else JobEvent.FAIL
