"""Batches, files and models as OpenAI's clients read them. Times are Unix seconds."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from shared.domain.catalog import Alias
from shared.domain.chunks import Chunk
from shared.domain.files import File
from shared.domain.jobs import INVALID_INPUT, Job, JobStatus
from shared.domain.outcomes import Outcome, Tally
from shared.domain.usage import Usage
from shared.wire.problems import LineError
from shared.wire.views import totals_of

# What OpenAI promises; ours goes on if the provider does.
WINDOW: Final = timedelta(hours=24)
# Outcomes of requests that were answered, whatever the answer says. A filtered one may have been or not.
ANSWERED: Final = (Outcome.SUCCEEDED, Outcome.REFUSED, Outcome.TRUNCATED, Outcome.INVALID)


class BatchStatus(StrEnum):
    """OpenAI's words."""

    VALIDATING = "validating"
    IN_PROGRESS = "in_progress"
    FINALIZING = "finalizing"
    COMPLETED = "completed"
    FAILED = "failed"
    EXPIRED = "expired"
    CANCELLING = "cancelling"
    CANCELLED = "cancelled"


_NEVER_FINALIZED: Final = frozenset({BatchStatus.FAILED, BatchStatus.CANCELLING, BatchStatus.CANCELLED})


def status_of(job: Job) -> BatchStatus:
    """A job whose every input has an outcome is a completed batch, also if no outcome is a success."""
    if job.reason == INVALID_INPUT:
        # Known as soon as it is planned, shown when it is finished.
        return BatchStatus.FAILED if job.is_finished else BatchStatus.VALIDATING
    if job.is_finished:
        return _end_of(job)
    if job.is_cancelling:
        return BatchStatus.CANCELLING
    if job.plan is None:
        return BatchStatus.VALIDATING
    return BatchStatus.FINALIZING if job.status is JobStatus.SETTLING else BatchStatus.IN_PROGRESS


def _end_of(job: Job) -> BatchStatus:
    if job.status is JobStatus.CANCELLED:
        return BatchStatus.CANCELLED
    expired = job.totals is not None and job.totals.tally.by_outcome()[Outcome.EXPIRED]
    return BatchStatus.EXPIRED if expired else BatchStatus.COMPLETED


def batch_json(job: Job, chunks: Sequence[Chunk], errors: Sequence[LineError] = ()) -> dict[str, object]:
    """`errors` are those of a job that failed with `invalid_input`. A native job has no files here."""
    status, totals, files = status_of(job), totals_of(job, chunks), job.batch
    ended = {status: _seconds(job.finished_at)} if job.is_finished else {}
    shown_errors = {"object": "list", "data": [_error_json(e) for e in errors]} if errors else None
    return {
        "id": job.id,
        "object": "batch",
        "endpoint": job.endpoint.url,
        "model": (job.alias or None) if job.plan is not None else None,
        "errors": shown_errors if status is BatchStatus.FAILED else None,
        "input_file_id": files.input if files else "",
        "completion_window": "24h",
        "status": status.value,
        "output_file_id": files.output if files else None,
        "error_file_id": files.errors if files else None,
        "created_at": _seconds(job.created_at),
        "expires_at": _seconds(job.created_at + WINDOW),
        "in_progress_at": _seconds(job.planned_at),
        "finalizing_at": _seconds(job.settling_at) if status not in _NEVER_FINALIZED else None,
        "completed_at": ended.get(BatchStatus.COMPLETED),
        "failed_at": ended.get(BatchStatus.FAILED),
        "expired_at": ended.get(BatchStatus.EXPIRED),
        "cancelling_at": _seconds(job.cancel_requested_at),
        "cancelled_at": ended.get(BatchStatus.CANCELLED),
        "request_counts": _counts(job, chunks, totals.tally),
        "usage": _usage(totals.usage),
        "metadata": dict(job.tags) or None,
    }


def _counts(job: Job, chunks: Sequence[Chunk], tally: Tally) -> dict[str, int]:
    if job.plan is None or job.reason == INVALID_INPUT:
        return {"total": 0, "completed": 0, "failed": 0}
    total = job.plan.submitted
    if job.batch is not None and job.batch.completed is not None and job.batch.failed is not None:
        return {"total": total, "completed": job.batch.completed, "failed": job.batch.failed}
    outcomes = tally.by_outcome()
    running = [chunk.remote for chunk in chunks if chunk.settlement is None]
    completed = sum(outcomes[outcome] for outcome in ANSWERED) + sum(r.completed or 0 for r in running)
    failed = outcomes[Outcome.FAILED] + sum(r.failed or 0 for r in running)
    return {
        "total": total,
        "completed": min(completed, total),
        "failed": min(failed, total - min(completed, total)),
    }


def _usage(usage: Usage) -> dict[str, object]:
    return {
        "input_tokens": usage.input,
        "input_tokens_details": {"cached_tokens": usage.cached_input},
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning},
        "total_tokens": usage.input + usage.output,
    }


def _error_json(error: LineError) -> dict[str, object]:
    place = f"'{error.field}'" if error.field else "the line" if error.line is not None else "the file"
    message = f"{place}: {error.message}"
    return {"code": error.code, "message": message, "param": error.field, "line": error.line}


def file_json(file: File) -> dict[str, object]:
    return {
        "id": file.id,
        "object": "file",
        "bytes": file.bytes,
        "created_at": _seconds(file.created_at),
        "filename": file.filename,
        "purpose": file.purpose.value,
        "status": "processed",
        "expires_at": _seconds(file.expires_at),
        "status_details": None,
    }


def deleted_json(file_id: str) -> dict[str, object]:
    return {"id": file_id, "object": "file", "deleted": True}


def model_json(alias: Alias) -> dict[str, object]:
    """An alias was not made at any time; clients want a number there."""
    return {"id": alias.name, "object": "model", "created": 0, "owned_by": "postern"}


def list_json(data: Sequence[Mapping[str, object]], *, has_more: bool) -> dict[str, object]:
    """One page. A following one begins after `last_id`."""
    return {
        "object": "list",
        "data": list(data),
        "first_id": data[0]["id"] if data else None,
        "last_id": data[-1]["id"] if data else None,
        "has_more": has_more,
    }


def _seconds(moment: datetime | None) -> int | None:
    return None if moment is None else int(moment.timestamp())
