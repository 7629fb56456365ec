"""Jobs, reports, usage and findings as clients read them. Links hang below the base URL that is passed in."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from shared.domain.catalog import Alias, Catalog, Deployment
from shared.domain.chunks import Chunk, ChunkState
from shared.domain.findings import Finding
from shared.domain.jobs import Job, JobStatus, Plan, Totals, add_up
from shared.domain.outcomes import Outcome, Tally
from shared.domain.usage import NOTHING_USED
from shared.wire.figures import cost_json, rfc3339, usage_json
from shared.wire.problems import MAX_ERRORS, LineError, error_json

# What a tenant reads of a chunk. `submitted` until the provider says that it has ended, `settled` for good.
CHUNK_STATUS: Final[Mapping[ChunkState, str]] = {
    ChunkState.PLANNED: "planned",
    ChunkState.WAITING: "waiting",
    ChunkState.INTENDED: "submitting",
    ChunkState.SUBMITTED: "submitted",
    ChunkState.ENDED: "ended",
    ChunkState.COLLECTED: "collected",
    ChunkState.SETTLED: "settled",
    ChunkState.CLEARED: "settled",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """Why a job is held, and how long yet. `position` counts from 1; None: not known."""

    reason: str
    position: int | None = None
    eta: datetime | None = None


def job_json(
    job: Job,
    chunks: Sequence[Chunk],
    *,
    base_url: str,
    waiting: Waiting | None = None,
    errors: Sequence[LineError] = (),
) -> dict[str, object]:
    """The job of the contract. `errors` are those of a job that failed with `invalid_input`."""
    totals = totals_of(job, chunks)
    return {
        "id": job.id,
        "tenant": job.tenant,
        "status": job.status.value,
        "reason": job.reason,
        "late": job.late,
        "alias": job.alias,
        "tags": dict(job.tags),
        "created_at": rfc3339(job.created_at),
        "finished_at": rfc3339(job.finished_at),
        "deadline_at": rfc3339(job.deadline_at),
        "errors": [error_json(e) for e in errors[:MAX_ERRORS]],
        "counts": counts_json(job.plan, totals.tally),
        "reasons": reasons_json(totals.tally),
        "usage": _usage_json(totals),
        "cost": cost_json(totals.spend),
        "chunks": [chunk_json(c) for c in chunks],
        "waiting": _waiting_json(waiting) if job.status is JobStatus.WAITING else None,
        "results_kept_until": None if job.erased_at else rfc3339(job.results_kept_until),
        "links": links_json(job, base_url),
    }


def report_json(job: Job, chunks: Sequence[Chunk]) -> dict[str, object]:
    """The reconciliation: what was submitted against what became of it. Counts are null before planning."""
    totals = totals_of(job, chunks)
    plan = job.plan
    return {
        "job_id": job.id,
        "submitted": plan.submitted if plan else None,
        "unique": plan.unique if plan else None,
        "reused": plan.reused if plan else None,
        "outcomes": {outcome.value: n for outcome, n in totals.tally.by_outcome().items()},
        "reasons": reasons_json(totals.tally),
        "chunks": [chunk_json(c) for c in chunks],
        "rows": {
            "received": totals.rows.received,
            "duplicate": totals.rows.duplicate,
            "alien": totals.rows.alien,
            "unreadable": totals.rows.unreadable,
            "missing": totals.rows.missing,
        },
        "usage": _usage_json(totals),
        "cost": cost_json(totals.spend),
        "balanced": plan is not None and plan.submitted == totals.tally.total,
    }


def totals_of(job: Job, chunks: Sequence[Chunk]) -> Totals:
    """The job's final totals, or what has been settled so far."""
    return job.totals if job.totals is not None else add_up(job.plan, chunks)


def counts_json(plan: Plan | None, tally: Tally) -> dict[str, int | None]:
    """From planning on, outcomes plus `pending` equal `submitted`; before it nothing is known."""
    names = ("submitted", "unique", "reused", "pending", *(outcome.value for outcome in Outcome))
    if plan is None:
        return dict.fromkeys(names)
    outcomes = tally.by_outcome()
    known = (plan.submitted, plan.unique, plan.reused, plan.submitted - tally.total)
    return dict(zip(names, (*known, *outcomes.values()), strict=True))


def reasons_json(tally: Tally) -> list[dict[str, object]]:
    """Most frequent first."""
    return [{"outcome": o.value, "reason": reason, "count": n} for o, reason, n in tally.reasons()]


def chunk_json(chunk: Chunk) -> dict[str, object]:
    """One attempt at a part of the job. What the provider has not told is null."""
    remote = chunk.remote
    return {
        "n": chunk.n,
        "attempt": chunk.attempt,
        "provider": chunk.provider,
        "deployment": chunk.deployment,
        "status": CHUNK_STATUS[chunk.state],
        "batch_id": remote.batch,
        "requests": chunk.requests,
        "progress": {"completed": remote.completed, "failed": remote.failed},
        "expires_at": rfc3339(remote.expires_at),
    }


def links_json(job: Job, base_url: str) -> dict[str, str]:
    own = f"{base_url.rstrip('/')}/v1/jobs/{job.id}"
    return {"self": own, "results": f"{own}/results", "report": f"{own}/report", "cancel": f"{own}/cancel"}


def finding_json(finding: Finding) -> dict[str, object]:
    return {
        "kind": finding.kind.value,
        "subject": finding.subject,
        "tenant": finding.tenant,
        "message": finding.message,
        "found_at": rfc3339(finding.found_at),
        "detail": dict(finding.detail),
    }


def alias_json(alias: Alias, catalog: Catalog) -> dict[str, object]:
    """What an app may name, and what it resolves to, the preferred deployment first."""
    return {
        "alias": alias.name,
        "minutes": [_deployment_json(catalog.deployment(name)) for name in alias.minutes],
        "hours": [_deployment_json(catalog.deployment(name)) for name in alias.hours],
        "max_output_tokens": alias.max_output_tokens,
    }


def page_json(data: Sequence[object], *, next_cursor: str | None) -> dict[str, object]:
    """One page of a list. `next` is the cursor of the following one, null on the last."""
    return {"data": list(data), "has_more": next_cursor is not None, "next": next_cursor}


def _deployment_json(deployment: Deployment) -> dict[str, str]:
    return {"deployment": deployment.name, "provider": deployment.provider, "model": deployment.model}


def _usage_json(totals: Totals) -> dict[str, object]:
    """`unattributed` is there when a paid row could not be read: tokens that belong to no request."""
    counts: dict[str, object] = dict(usage_json(totals.usage))
    if totals.unattributed != NOTHING_USED:
        counts["unattributed"] = usage_json(totals.unattributed)
    return counts


def _waiting_json(waiting: Waiting | None) -> dict[str, object]:
    told = waiting or Waiting(reason="capacity")
    return {"reason": told.reason, "position": told.position, "eta": rfc3339(told.eta)}
