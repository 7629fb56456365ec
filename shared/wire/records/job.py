"""How a job is stored."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from shared.domain.catalog import Endpoint
from shared.domain.ids import AliasName, DeploymentName, FileId, JobId, TenantId
from shared.domain.jobs import BatchFiles, Job, JobStatus, Plan, Source, SourceKind, Totals
from shared.ports.tables import Fields
from shared.wire.records.document import instant, moment, needed_moment, pack, unpack
from shared.wire.records.figures import (
    rows_from,
    rows_to,
    spend_from,
    spend_to,
    tally_from,
    tally_to,
    usage_from,
    usage_to,
)

SCHEMA: Final = "job/1"


def to_fields(job: Job) -> Fields:
    document = {
        "id": job.id,
        "tenant": job.tenant,
        "status": job.status.value,
        "created_at": instant(job.created_at),
        "deadline_at": instant(job.deadline_at),
        "alias": job.alias,
        "endpoint": job.endpoint.value,
        "deployment": job.deployment,
        "provider": job.provider,
        "model": job.model,
        "run_id": job.run_id,
        "source": _source_to(job.source),
        "tags": dict(job.tags),
        "dedupe": job.dedupe,
        "fresh": job.fresh,
        "retry_of": job.retry_of,
        "late": job.late,
        "reason": job.reason,
        "held_by": job.held_by,
        "cancel_requested_at": instant(job.cancel_requested_at),
        "batch": _batch_to(job.batch),
        "plan": _plan_to(job.plan),
        "planned_at": instant(job.planned_at),
        "settling_at": instant(job.settling_at),
        "totals": _totals_to(job.totals),
        "finished_at": instant(job.finished_at),
        "results_kept_until": instant(job.results_kept_until),
        "erased_at": instant(job.erased_at),
    }
    return pack(SCHEMA, document, status=job.status.value, alias=job.alias, created_at=job.created_at)


def from_fields(fields: Fields) -> Job:
    record = unpack(fields, known=(SCHEMA,))
    return Job(
        id=JobId(record["id"]),
        tenant=TenantId(record["tenant"]),
        status=JobStatus(record["status"]),
        created_at=needed_moment(record["created_at"]),
        deadline_at=needed_moment(record["deadline_at"]),
        alias=AliasName(record["alias"]),
        endpoint=Endpoint(record["endpoint"]),
        deployment=DeploymentName(record["deployment"]),
        provider=record["provider"],
        model=record["model"],
        run_id=record["run_id"],
        source=_source_from(record["source"]),
        tags=MappingProxyType(record["tags"]),
        dedupe=record["dedupe"],
        fresh=record["fresh"],
        retry_of=JobId(record["retry_of"]) if record["retry_of"] else None,
        late=record["late"],
        reason=record["reason"],
        held_by=JobId(record["held_by"]) if record.get("held_by") else None,
        cancel_requested_at=moment(record["cancel_requested_at"]),
        batch=_batch_from(record.get("batch")),
        plan=_plan_from(record["plan"]),
        planned_at=moment(record.get("planned_at")),
        settling_at=moment(record.get("settling_at")),
        totals=_totals_from(record["totals"]),
        finished_at=moment(record["finished_at"]),
        results_kept_until=moment(record["results_kept_until"]),
        erased_at=moment(record["erased_at"]),
    )


def _source_to(source: Source) -> dict[str, Any]:
    return {
        "kind": source.kind.value,
        "path": source.path,
        "checked": source.checked,
        "upload": source.upload,
    }


def _source_from(record: Mapping[str, Any]) -> Source:
    return Source(
        kind=SourceKind(record["kind"]),
        path=record["path"],
        checked=record["checked"],
        upload=record.get("upload"),
    )


def _batch_to(batch: BatchFiles | None) -> dict[str, Any] | None:
    if batch is None:
        return None
    return {
        "input": batch.input,
        "output_seconds": batch.output_seconds,
        "output": batch.output,
        "errors": batch.errors,
        "completed": batch.completed,
        "failed": batch.failed,
    }


def _batch_from(record: Mapping[str, Any] | None) -> BatchFiles | None:
    if record is None:
        return None
    return BatchFiles(
        input=FileId(record["input"]),
        output_seconds=record["output_seconds"],
        output=FileId(record["output"]) if record["output"] else None,
        errors=FileId(record["errors"]) if record["errors"] else None,
        completed=record["completed"],
        failed=record["failed"],
    )


def _plan_to(plan: Plan | None) -> dict[str, Any] | None:
    if plan is None:
        return None
    return {
        "submitted": plan.submitted,
        "unique": plan.unique,
        "reused": plan.reused,
        "chunks": plan.chunks,
        "rounds": list(plan.rounds),
        "tally": tally_to(plan.tally),
    }


def _plan_from(record: Mapping[str, Any] | None) -> Plan | None:
    if record is None:
        return None
    return Plan(
        submitted=record["submitted"],
        unique=record["unique"],
        reused=record["reused"],
        chunks=record["chunks"],
        rounds=tuple(record["rounds"]),
        tally=tally_from(record["tally"]),
    )


def _totals_to(totals: Totals | None) -> dict[str, Any] | None:
    if totals is None:
        return None
    return {
        "tally": tally_to(totals.tally),
        "rows": rows_to(totals.rows),
        "usage": usage_to(totals.usage),
        "unattributed": usage_to(totals.unattributed),
        "spend": spend_to(totals.spend),
    }


def _totals_from(record: Mapping[str, Any] | None) -> Totals | None:
    if record is None:
        return None
    return Totals(
        tally=tally_from(record["tally"]),
        rows=rows_from(record["rows"]),
        usage=usage_from(record["usage"]),
        unattributed=usage_from(record["unattributed"]),
        spend=spend_from(record["spend"]),
    )
