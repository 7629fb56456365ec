"""Vertex AI's batch prediction jobs in our words."""

import re
from typing import Final

from google.genai import types

from shared.domain.chunks import BatchEnd
from shared.domain.ids import BatchId, ChunkKey, FileId
from shared.domain.rows import MAX_MESSAGE
from shared.ports.providers import RemoteBatch, RemoteState

_STATE: Final = "JOB_STATE_"
# One mapping for all who ask; `BatchJob.done` is no help: it is false for a job that partially succeeded.
_ENDS: Final = {
    "SUCCEEDED": BatchEnd.COMPLETED,
    # What it has no row for is missing, and missing rows are sent again.
    "PARTIALLY_SUCCEEDED": BatchEnd.COMPLETED,
    "FAILED": BatchEnd.FAILED,
    "CANCELLED": BatchEnd.CANCELLED,
    "EXPIRED": BatchEnd.EXPIRED,
}
_UNDER_WAY: Final = frozenset(
    {"UNSPECIFIED", "QUEUED", "PENDING", "RUNNING", "PAUSED", "UPDATING", "CANCELLING"}
)
CANCELLING: Final = "JOB_STATE_CANCELLING"

# A display name is anybody's to give; ours is a chunk's key: job, chunk, attempt, submission.
_KEY: Final = re.compile(r"[A-Za-z]+_[A-Za-z0-9_]+(-\d+){3}")

# gRPC's codes (google.rpc.Code). What is the account's own trouble (a bucket that is not there or may not be
# written) has no code that a tenant could be blamed by.
_RESOURCE_EXHAUSTED: Final = 8
_CODES: Final = {3: "invalid_request", 4: "timeout", 13: "internal_error", 14: "service_unavailable"}


def read_job(job: types.BatchJob) -> RemoteBatch:
    """Raise `ValueError` for what is no job at all."""
    if not job.name or job.state is None:
        raise ValueError("a job without name or state")
    state = str(job.state.value)
    word = state.removeprefix(_STATE)
    end = _ENDS.get(word)
    stats, error = job.completion_stats, job.error
    completed = _count(stats.successful_count if stats else None)
    failed = _count(stats.failed_count if stats else None)
    code = error.code if error else None
    return RemoteBatch(
        id=BatchId(job.name.rpartition("/")[2]),
        key=_key(job.display_name),
        state=RemoteState.ENDED if end else RemoteState.RUNNING,
        raw_state=state,
        created_at=job.create_time,
        recognised=end is not None or word in _UNDER_WAY,
        end=end,
        out_of_capacity=end is BatchEnd.FAILED and code == _RESOURCE_EXHAUSTED,
        code=_CODES.get(code or 0) if end is BatchEnd.FAILED else None,
        message=((error.message if error else None) or "")[:MAX_MESSAGE] or None,
        input_file=_input(job),
        output_file=_output(job) if end and (completed, failed) != (0, 0) else None,
        completed=completed,
        failed=failed,
    )


def _key(name: str | None) -> ChunkKey | None:
    return ChunkKey(name) if name and _KEY.fullmatch(name) else None


def _count(told: int | None) -> int | None:
    """-1 stands for unknown."""
    return told if told is not None and told >= 0 else None


def _input(job: types.BatchJob) -> FileId | None:
    uris = job.src.gcs_uri if job.src else None
    return FileId(uris[0]) if uris else None


def _output(job: types.BatchJob) -> FileId | None:
    """A directory: whoever reads it reads all that is in it."""
    told = job.output_info.gcs_output_directory if job.output_info else None
    return FileId(told.rstrip("/") + "/") if told else None
