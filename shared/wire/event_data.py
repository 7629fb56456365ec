"""What an event about a job says: figures and where to look, no content."""

from collections.abc import Mapping

from shared.domain.jobs import Job
from shared.wire.figures import cost_json, rfc3339, usage_json
from shared.wire.views import counts_json, reasons_json, totals_of


def job_event_data(job: Job) -> Mapping[str, object]:
    totals = totals_of(job, ())
    return {
        "job_id": job.id,
        "tenant": job.tenant,
        "status": job.status.value,
        "reason": job.reason,
        "late": job.late,
        "alias": job.alias,
        "tags": dict(job.tags),
        "created_at": rfc3339(job.created_at),
        "finished_at": rfc3339(job.finished_at),
        "deadline_at": rfc3339(job.deadline_at),
        # Before it is finished a job's figures lie in its chunks: what is not known here is not guessed.
        "counts": counts_json(job.plan if job.totals else None, totals.tally),
        "reasons": reasons_json(totals.tally),
        "usage": usage_json(totals.usage) if job.totals else None,
        "cost": cost_json(totals.spend) if job.totals else None,
        "links": {"self": f"/v1/jobs/{job.id}", "results": f"/v1/jobs/{job.id}/results"},
    }
