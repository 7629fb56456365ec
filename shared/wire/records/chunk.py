"""How a chunk is stored."""

from collections.abc import Mapping
from typing import Any, Final

from shared.domain.chunks import BatchEnd, Chunk, ChunkState, Lease, Remote, Settlement
from shared.domain.ids import BatchId, DeploymentName, FileId, JobId
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

SCHEMA: Final = "chunk/1"


def to_fields(chunk: Chunk) -> Fields:
    document = {
        "job_id": chunk.job_id,
        "n": chunk.n,
        "attempt": chunk.attempt,
        "deployment": chunk.deployment,
        "provider": chunk.provider,
        "planned_by": chunk.planned_by,
        "requests": chunk.requests,
        "bytes": chunk.bytes,
        "tokens": chunk.tokens,
        "first": chunk.first,
        "state": chunk.state.value,
        "submission": chunk.submission,
        "deferrals": chunk.deferrals,
        "due_at": instant(chunk.due_at),
        "intended_at": instant(chunk.intended_at),
        "lease": _lease_to(chunk.lease),
        "remote": _remote_to(chunk.remote),
        "end": chunk.end.value if chunk.end else None,
        "end_code": chunk.end_code,
        "end_message": chunk.end_message,
        "cancel_sent_at": instant(chunk.cancel_sent_at),
        "booked_at": instant(chunk.booked_at),
        "last_try": chunk.last_try,
        "settlement": _settlement_to(chunk.settlement),
    }
    return pack(SCHEMA, document, state=chunk.state.value, batch_id=chunk.remote.batch or "")


def from_fields(fields: Fields) -> Chunk:
    record = unpack(fields, known=(SCHEMA,))
    return Chunk(
        job_id=JobId(record["job_id"]),
        n=record["n"],
        attempt=record["attempt"],
        deployment=DeploymentName(record["deployment"]),
        provider=record["provider"],
        planned_by=record["planned_by"],
        requests=record["requests"],
        bytes=record["bytes"],
        tokens=record["tokens"],
        first=record["first"],
        state=ChunkState(record["state"]),
        submission=record["submission"],
        deferrals=record["deferrals"],
        due_at=moment(record["due_at"]),
        intended_at=moment(record["intended_at"]),
        lease=_lease_from(record["lease"]),
        remote=_remote_from(record["remote"]),
        end=BatchEnd(record["end"]) if record["end"] else None,
        end_code=record["end_code"],
        end_message=record["end_message"],
        cancel_sent_at=moment(record["cancel_sent_at"]),
        booked_at=moment(record["booked_at"]),
        last_try=record.get("last_try", False),
        settlement=_settlement_from(record["settlement"]),
    )


def _lease_to(lease: Lease | None) -> dict[str, Any] | None:
    return {"holder": lease.holder, "epoch": lease.epoch, "until": instant(lease.until)} if lease else None


def _lease_from(record: Mapping[str, Any] | None) -> Lease | None:
    if record is None:
        return None
    return Lease(holder=record["holder"], epoch=record["epoch"], until=needed_moment(record["until"]))


def _remote_to(remote: Remote) -> dict[str, Any]:
    return {
        "input_file": remote.input_file,
        "batch": remote.batch,
        "output_file": remote.output_file,
        "error_file": remote.error_file,
        "completed": remote.completed,
        "failed": remote.failed,
        "expires_at": instant(remote.expires_at),
        "output_expires_at": instant(remote.output_expires_at),
        "usage": usage_to(remote.usage) if remote.usage else None,
    }


def _remote_from(record: Mapping[str, Any]) -> Remote:
    return Remote(
        input_file=FileId(record["input_file"]) if record["input_file"] else None,
        batch=BatchId(record["batch"]) if record["batch"] else None,
        output_file=FileId(record["output_file"]) if record["output_file"] else None,
        error_file=FileId(record["error_file"]) if record["error_file"] else None,
        completed=record["completed"],
        failed=record["failed"],
        expires_at=moment(record["expires_at"]),
        output_expires_at=moment(record["output_expires_at"]),
        usage=usage_from(record["usage"]) if record["usage"] else None,
    )


def _settlement_to(settlement: Settlement | None) -> dict[str, Any] | None:
    if settlement is None:
        return None
    return {
        "tally": tally_to(settlement.tally),
        "again": settlement.again,
        "rows": rows_to(settlement.rows),
        "usage": usage_to(settlement.usage),
        "spend": spend_to(settlement.spend),
        "unattributed": usage_to(settlement.unattributed),
    }


def _settlement_from(record: Mapping[str, Any] | None) -> Settlement | None:
    if record is None:
        return None
    return Settlement(
        tally=tally_from(record["tally"]),
        again=record["again"],
        rows=rows_from(record["rows"]),
        usage=usage_from(record["usage"]),
        spend=spend_from(record["spend"]),
        unattributed=usage_from(record["unattributed"]),
    )
