"""How a dropped document and the versions of its path are stored."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from shared.domain.documents import Document, DocumentLease, DocumentStatus, PathVersions
from shared.domain.ids import AliasName, DocumentId, JobId, TenantId
from shared.domain.outcomes import Outcome
from shared.ports.tables import Fields
from shared.wire.records.document import instant, moment, needed_moment, pack, unpack
from shared.wire.records.figures import spend_from, spend_to, usage_from, usage_to

SCHEMA: Final = "document/1"
VERSIONS: Final = "path/1"


def to_fields(document: Document) -> Fields:
    lease = document.lease
    record = {
        "id": document.id,
        "tenant": document.tenant,
        "pipeline": document.pipeline,
        "path": document.path,
        "etag": document.etag,
        "bytes": document.bytes,
        "content_type": document.content_type,
        "modified_at": instant(document.modified_at),
        "claimed_at": instant(document.claimed_at),
        "status": document.status.value,
        "version": document.version,
        "known": document.known,
        "alias": document.alias,
        "tags": dict(document.tags),
        "run_id": document.run_id,
        "generation": document.generation,
        "retries": document.retries,
        "attempts": document.attempts,
        "asked_at": instant(document.asked_at),
        "faults": document.faults,
        "troubled_since": instant(document.troubled_since),
        "crashes": document.crashes,
        "late": document.late,
        "due_at": instant(document.due_at),
        "lease": {"holder": lease.holder, "until": instant(lease.until)} if lease else None,
        "job_id": document.job_id,
        **_end_to(document),
    }
    status = document.status.value
    return pack(SCHEMA, record, status=status, pipeline=document.pipeline, claimed_at=document.claimed_at)


def _end_to(document: Document) -> dict[str, Any]:
    return {
        "outcome": document.outcome.value if document.outcome else None,
        "reason": document.reason,
        "message": document.message,
        "media_type": document.media_type,
        "pages": document.pages,
        "pages_without_text": list(document.pages_without_text),
        "usage": usage_to(document.usage) if document.usage is not None else None,
        "spend": spend_to(document.spend) if document.spend is not None else None,
        "provider": document.provider,
        "model": document.model,
        "finished_at": instant(document.finished_at),
        "erased_at": instant(document.erased_at),
    }


def from_fields(fields: Fields) -> Document:
    record = unpack(fields, known=(SCHEMA,))
    return Document(
        id=DocumentId(record["id"]),
        tenant=TenantId(record["tenant"]),
        pipeline=record["pipeline"],
        path=record["path"],
        etag=record["etag"],
        bytes=record["bytes"],
        content_type=record["content_type"],
        modified_at=needed_moment(record["modified_at"]),
        claimed_at=needed_moment(record["claimed_at"]),
        status=DocumentStatus(record["status"]),
        version=record["version"],
        known=record["known"],
        alias=AliasName(record["alias"]) if record["alias"] is not None else None,
        tags=MappingProxyType(record["tags"]),
        run_id=record["run_id"],
        generation=record["generation"],
        retries=record["retries"],
        attempts=record["attempts"],
        asked_at=moment(record["asked_at"]),
        faults=record["faults"],
        troubled_since=moment(record["troubled_since"]),
        crashes=record["crashes"],
        late=record["late"],
        due_at=moment(record["due_at"]),
        lease=_lease_from(record["lease"]),
        job_id=JobId(record["job_id"]) if record["job_id"] is not None else None,
        outcome=Outcome(record["outcome"]) if record["outcome"] else None,
        reason=record["reason"],
        message=record["message"],
        media_type=record["media_type"],
        pages=record["pages"],
        pages_without_text=tuple(record["pages_without_text"]),
        usage=usage_from(record["usage"]) if record["usage"] is not None else None,
        spend=spend_from(record["spend"]) if record["spend"] is not None else None,
        provider=record["provider"],
        model=record["model"],
        finished_at=moment(record["finished_at"]),
        erased_at=moment(record["erased_at"]),
    )


def _lease_from(record: Mapping[str, Any] | None) -> DocumentLease | None:
    if record is None:
        return None
    return DocumentLease(holder=record["holder"], until=needed_moment(record["until"]))


def versions_to_fields(versions: PathVersions) -> Fields:
    record = {
        "path": versions.path,
        "newest": versions.newest,
        "newest_id": versions.newest_id,
        "newest_etag": versions.newest_etag,
        "standing": versions.standing,
    }
    return pack(VERSIONS, record)


def versions_from_fields(fields: Fields) -> PathVersions:
    record = unpack(fields, known=(VERSIONS,))
    return PathVersions(
        path=record["path"],
        newest=record["newest"],
        newest_id=DocumentId(record["newest_id"]),
        newest_etag=record["newest_etag"],
        standing=record["standing"],
    )
