"""Mistral's jobs and files in our words."""

from datetime import UTC, datetime, timedelta
from typing import Final

from mistralai.client.models import BatchJob, CreateFileResponse, GetFileResponse

from shared.adapters.providers.openai.objects import METADATA_KEY
from shared.domain.chunks import BatchEnd
from shared.domain.errors import NotFound
from shared.domain.ids import BatchId, ChunkKey, FileId
from shared.domain.rows import MAX_MESSAGE
from shared.ports.providers import RemoteBatch, RemoteState, StagedFile

# A job does not tell for how long it may run, so its metadata does.
METADATA_HOURS: Final = "postern_hours"

CANCELLING: Final = "CANCELLATION_REQUESTED"
_ENDS: Final = {
    # All requests were processed; not all of them need have succeeded.
    "SUCCESS": BatchEnd.COMPLETED,
    "FAILED": BatchEnd.FAILED,
    "TIMEOUT_EXCEEDED": BatchEnd.EXPIRED,
    "CANCELLED": BatchEnd.CANCELLED,
}
_RUNNING: Final = frozenset({"QUEUED", "RUNNING", CANCELLING})


def read_job(job: BatchJob) -> RemoteBatch:
    end = _ENDS.get(job.status)
    created_at = _time(job.created_at)
    key = _text(_metadata(job).get(METADATA_KEY))
    # Zeros are what a new job tells; its count of completed requests holds the failed ones too.
    counted = job.total_requests > 0
    return RemoteBatch(
        id=BatchId(job.id),
        key=ChunkKey(key) if key else None,
        state=RemoteState.ENDED if end else RemoteState.RUNNING,
        raw_state=job.status,
        recognised=end is not None or job.status in _RUNNING,
        created_at=created_at,
        end=end,
        message=job.errors[0].message[:MAX_MESSAGE] if end is BatchEnd.FAILED and job.errors else None,
        input_file=FileId(job.input_files[0]) if job.input_files else None,
        output_file=_file_id(job.output_file),
        error_file=_file_id(job.error_file),
        completed=job.succeeded_requests if counted else None,
        failed=job.failed_requests if counted else None,
        expires_at=_expiry(job, created_at),
    )


def read_file(file: CreateFileResponse | GetFileResponse) -> StagedFile:
    """Raise `NotFound` for one that is deleted."""
    if isinstance(file, GetFileResponse) and file.deleted:
        raise NotFound(f"file {file.id!r} is deleted at the provider")
    return StagedFile(id=FileId(file.id), ready=True, expires_at=_time(file.expires_at))


def _metadata(job: BatchJob) -> dict[str, object]:
    return job.metadata if isinstance(job.metadata, dict) else {}


def _expiry(job: BatchJob, created_at: datetime | None) -> datetime | None:
    hours = _text(_metadata(job).get(METADATA_HOURS))
    if created_at is None or hours is None or not hours.isdecimal() or len(hours) > 3:
        return None
    return created_at + timedelta(hours=int(hours))


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _file_id(value: object) -> FileId | None:
    text = _text(value)
    return FileId(text) if text else None


def _time(seconds: object) -> datetime | None:
    """What is no time after 1970 is none; the SDK has an object of its own for what was not told."""
    if not isinstance(seconds, int) or seconds <= 0:
        return None
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return None
